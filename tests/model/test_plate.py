"""Plates: published frequencies, second-order shapes, frames, files, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

from spacectl import Frame, ModelError, Part, Plate, System, load_system, save_system
from spacectl.model.bodies.plate.shapes import Flat, beam_functions
from spacectl.model.bodies.surface.basis import gauss, product_table
from spacectl.model.bodies.surface.fields import Fields
from spacectl.model.bodies.surface.ritz import isotropic_section, strain_energy

# Leissa, The free vibration of rectangular plates, J. Sound Vib. 31 (1973) 257-293: square, nu = 0.3, omega a^2 sqrt(rho h / D)
LEISSA = np.array([3.4917, 8.5246, 21.429, 27.331, 31.111, 54.443])
UNIT = {
    "length": 1.0,
    "width": 1.0,
    "thickness": 0.01,
    "mass": 1.0,
    "bending_stiffness": 1.0,
    "stretch_stiffness": 1.2e5,
}
FREE = ("free",) * 4


def plate(**changes) -> Plate:
    return Plate(**{"name": "panel", "rotary": False, **UNIT, **changes})


def test_leissas_own_36_products_give_his_digits() -> None:
    flat = Flat(1.0, 1.0)
    families = tuple(
        beam_functions(span, ends, 6)
        for span, ends in zip(flat.ranges, (("clamped", "free"), ("free", "free")), strict=True)
    )
    (x, wx), (y, wy) = (gauss(span, 40) for span in flat.ranges)
    S, T = (part.ravel() for part in np.meshgrid(x, y, indexing="ij"))
    table, weights = product_table(families, S, T), np.outer(wx, wy).ravel()
    section = isotropic_section(1.0, 1.0, 0.3, 1.0, 0.0)
    K = strain_energy(flat.geometry(S, T), Fields.along(table, (2,)), section, weights)
    M = table[0].T @ (weights[:, None] * table[0])
    found = np.sqrt(eigh(K, M, eigvals_only=True)[:6])
    np.testing.assert_allclose(found, LEISSA, rtol=2e-5)  # half of his last digit


def test_modes_of_a_square_cantilever_lie_below_leissas_upper_bounds() -> None:
    """Both are bounds from above; ours are lower by up to 0.7 %, and a finer set changes them by less than 0.01 %."""
    found, finer = plate(modes=6).frequencies, plate(modes=6, terms=14).frequencies
    assert np.all(found < LEISSA) and np.all(finer <= found * (1.0 + 1e-9))
    np.testing.assert_allclose(found, finer, rtol=1e-4)
    np.testing.assert_allclose(found, LEISSA, rtol=7e-3)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (("supported",) * 4, np.pi**2 * np.array([2.0, 5.0, 5.0, 8.0])),  # exact
        (("clamped",) * 4, [35.992, 73.413, 73.413, 108.27]),  # Leissa 1973, upper bounds
        (("supported", "free", "free", "free"), [6.6480, 15.023, 25.492, 26.126]),
        (FREE, [13.489, 19.789, 24.432, 35.024]),
        (("clamped", "clamped", "free", "free"), [22.272, 26.529, 43.664, 61.466]),
    ],
)  # fmt: skip
def test_square_plates_have_the_published_frequencies(edges: tuple[str, ...], expected: list[float]) -> None:
    """Leissa's free edges are up to 1 % high (the completely free plate and SFFF)."""
    found = plate(modes=4, edges=edges).frequencies
    np.testing.assert_allclose(found, expected, rtol=1e-9 if edges[2] == "supported" else 1.1e-2)
    assert np.all(found <= np.asarray(expected) * (1.0 + 1e-9))


def test_rotary_inertia_lowers_a_supported_plate_as_its_equation_says() -> None:
    """``omega^2 = D k^4 / (rho h (1 + h^2 k^2 / 12))`` for a simply supported plate, k^2 = 2 pi^2."""
    found = plate(modes=1, edges=("supported",) * 4, thickness=0.1, rotary=True).frequencies[0]
    k2 = 2.0 * np.pi**2
    assert found == pytest.approx(k2 / np.sqrt(1.0 + 0.01 * k2 / 12.0), rel=1e-9)


def test_stretch_of_a_strip_is_that_of_a_bar() -> None:
    """nu = 0 and in-plane motion along x only: a fixed-free bar, ``omega = pi / 2 sqrt(C / rho) / length``."""
    body = plate(nu=0.0, modes=1, membrane=4, width=0.1)
    bar = 0.5 * np.pi * np.sqrt(1.2e5 * 0.1)
    assert np.min(np.abs(body.frequencies / bar - 1.0)) < 1e-9


def test_product_shapes_are_those_asked_for() -> None:
    body = plate(shapes="products", modes=((1, 1), (1, 2)))
    M, K = body.modal_mass, body.elasticity
    np.testing.assert_allclose(
        M, np.diag([0.25, 1.0 / 12.0]), atol=1e-12
    )  # beam function of largest value 1; y from -1 to 1
    assert K[0, 0] / M[0, 0] == pytest.approx(1.8751040687119611**4, rel=1e-10)
    assert plate(shapes="products", modes=2).frequencies == pytest.approx(body.frequencies, rel=1e-12)
    mine = plate(shapes=(lambda x, y: x**2, lambda x, y: x**2 * y), modes=2)
    np.testing.assert_allclose(np.diag(mine.elasticity), [4.0, 1.4 * 4.0 / 3.0 + 4.0 / 12.0], rtol=1e-10)


def test_bending_to_a_cylinder_shortens_like_a_beam() -> None:
    """w = x^2 is developable with nu = 0, so that ``G = int w'^2 dx`` exactly, by both methods."""
    for way in ("energy", "line"):
        body = plate(nu=0.0, shapes=(lambda x, y: x**2,), shortening=way)
        X, G = body.material.X, body.material.G
        np.testing.assert_allclose(G[:, 0, 0, 0], 4.0 / 3.0 * X[:, 0] ** 3, atol=1e-10)
        np.testing.assert_allclose(G[:, 1:], 0.0, atol=1e-10)


def test_second_order_shapes_leave_no_cubic_energy() -> None:
    """The membrane force of what is left of the strains does no work on any displacement that the edges allow."""
    body = plate(modes=3)
    x, y, _ = body._stretching.places
    geometry, u, v = body._flat.geometry(x, y), body._first(x, y), body._second(x, y)
    left = geometry.stretch(v).reshape(len(x), 3, 3, 3) + geometry.stretch2(u)
    trial = geometry.stretch(body._stretching.trial(x, y).combine(body._stretching.basis))
    work = np.einsum("nak,ab,nbij,n->kij", trial, body.section.membrane, left, body._stretching.weights, optimize=True)
    size = np.einsum(
        "nak,ab,nbij,n->kij",
        np.abs(trial),
        body.section.membrane,
        np.abs(left),
        body._stretching.weights,
        optimize=True,
    )
    assert np.max(np.abs(work)) < 1e-9 * np.max(size)


def test_frames_move_with_their_slices() -> None:
    """Displacement of a frame off the plate differs from that of its foot by the slice's true rotation, to second order."""
    body = plate(modes=3, frames=("left", "corner_left", Frame(name="camera", at=(0.7, -0.2, 0.1))))
    foot, camera = body.shapes_at(np.array([0.7, -0.2, 0.0])), body.shapes_at(np.array([0.7, -0.2, 0.1]))
    arm, misses = np.array([0.0, 0.0, 0.1]), []
    for eta in (np.array([0.02, -0.01, 0.004]), np.array([0.01, -0.005, 0.002])):
        theta = foot.Psi @ eta + 0.5 * foot.H @ eta @ eta
        turned = np.cross(theta, arm) + 0.5 * np.cross(theta, np.cross(theta, arm))
        moved = (camera.Phi - foot.Phi) @ eta - 0.5 * (camera.G - foot.G) @ eta @ eta
        misses.append(np.linalg.norm(moved - turned))
    assert misses[0] < 1e-6 and misses[0] / misses[1] > 7.9  # third order
    np.testing.assert_allclose(foot.Psi[2], 0.0, atol=1e-12)


def test_normal_and_tangents_stay_perpendicular_to_second_order() -> None:
    """The rotation of the slice takes z to the normal of the deformed plate: differences fall with the third power."""
    body = plate(modes=3, membrane=1)
    place, h = np.array([0.6, 0.3, 0.0]), 1e-4
    misses = []
    for size in (0.02, 0.01):
        eta = size * np.array([1.0, -0.5, 0.3, 0.2])

        def at(dx: float, dy: float, eta: np.ndarray = eta) -> np.ndarray:
            X = place + [dx, dy, 0.0]
            found = body.shapes_at(X)
            return X + found.Phi @ eta - 0.5 * found.G @ eta @ eta

        normal = np.cross(at(h, 0.0) - at(-h, 0.0), at(0.0, h) - at(0.0, -h))
        here = body.shapes_at(place)
        theta = here.Psi @ eta + 0.5 * here.H @ eta @ eta
        turned = (
            np.array([0.0, 0.0, 1.0])
            + np.cross(theta, [0, 0, 1.0])
            + 0.5 * np.cross(theta, np.cross(theta, [0, 0, 1.0]))
        )
        misses.append(np.linalg.norm(normal / np.linalg.norm(normal) - turned))
    assert np.log2(misses[0] / misses[1]) > 2.8


def test_the_mesh_covers_the_plate_and_carries_its_shapes() -> None:
    body = plate(modes=2)
    mesh = body.surface_mesh()
    p = mesh.points[mesh.triangles]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    assert area.sum() == pytest.approx(1.0, rel=1e-12) and mesh.lines.shape == (0, 2)
    corner = int(np.argmin(np.linalg.norm(mesh.points - [1.0, 0.5, 0.0], axis=1)))
    at = body.shapes_at(np.array([1.0, 0.5, 0.0]))
    eta = np.array([0.1, 0.05])
    np.testing.assert_allclose(
        mesh.displaced(eta)[corner], [1.0, 0.5, 0.0] + at.Phi @ eta - 0.5 * at.G @ eta @ eta, atol=1e-12
    )


def test_a_pressure_does_work_on_the_shapes() -> None:
    body = plate(shapes=(lambda x, y: x**2,), width=0.5, terms=8)
    weights = body.load_weights(3.0)  # [N/m^2]
    assert weights.sum() == pytest.approx(1.5, rel=1e-12)
    assert weights @ body.material.Phi[:, 2, 0] == pytest.approx(3.0 * 0.5 / 3.0, rel=1e-12)


def test_a_plate_survives_files(tmp_path) -> None:
    shaped = plate(
        name="shaped", terms=8, shapes=(lambda x, y: x**2 * (1.0 + y),), damping=(0.01,), frames=("corner_left",)
    )
    products = plate(name="products", terms=8, shapes="products", modes=((1, 1), (2, 1)), shortening="line")
    system = System(
        name="panels",
        parts=(Part(shaped), Part(products, on="shaped.tip"), Part(plate(terms=8), on="shaped.corner_left")),
    )
    assert load_system(save_system(system, tmp_path / "panels.toml")) == system
    assert hash(replace(shaped)) == hash(shaped)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thickness": 10.0}, ("thickness", "units")),
        ({"mass": -1.0}, ("mass", "positive")),
        ({"nu": 0.7}, ("nu", "0.5")),
        ({"edges": ("clamped", "free")}, ("edges", "four")),
        ({"edges": ("clamped", "free", "free", "loose")}, ("loose", "diaphragm")),
        ({"modes": 0}, ("modes",)),
        ({"modes": ((1, 1),)}, ("products",)),
        ({"modes": ((0, 1),), "shapes": "products"}, ("from 1",)),
        ({"modes": 500}, ("terms",)),
        ({"membrane": -1}, ("membrane",)),
        ({"shortening": "none"}, ("shortening", "line")),
        ({"order": "strain"}, ("strain",)),
        ({"frames": ("middle",)}, ("middle", "corner_left")),
        ({"frames": (Frame(name="tip", at=(0.5, 0.0, 0.0)),)}, ("tip", "belongs")),
        ({"frames": (Frame(name="far", at=(2.0, 0.0, 0.0)),)}, ("far", "expected x")),
        ({"stretch_stiffness": None}, ("E is 0",)),
        ({"bending_stiffness": -1.0}, ("bending_stiffness",)),
        ({"shapes": ("waves",)}, ("waves",)),
        ({"shapes": (lambda x, y: abs(y),)}, ("smooth",)),
        ({"shapes": (lambda x, y: 1.0 + x,)}, ("stiffness is not positive",)),
    ],
)  # fmt: skip
def test_a_wrong_plate_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        plate(**changes)
    assert "panel" in str(error.value)
    for word in words:
        assert word in str(error.value)
