"""Shells: published frequencies of cylinders and shallow shells, second order against exact geometry, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import ModalBody, ModelError, Part, Plate, ShapeError, SurfacePatch, System, load_system, save_system
from spacectl.model.bodies.surface.basis import legendre_family
from spacectl.model.bodies.surface.ritz import RitzSpace, isotropic_section
from tests.oracles.flexible.cylinder_shell import cylinder_frequency

MATERIAL = {"E": 0.91, "nu": 0.3, "density": 1.0}  # E / (1 - nu^2) = 1: frequencies are the usual parameter omega R / c


def tube(length: float) -> SurfacePatch:
    return SurfacePatch(
        position=lambda s, t: (s, np.cos(t), np.sin(t)), s=(0.0, length), t=(0.0, 2.0 * np.pi), periodic="t"
    )


def arch(angle: float, length: float, radius: float = 1.0) -> SurfacePatch:
    """A panel of a cylinder, flat along x, its middle line through the origin."""
    return SurfacePatch(
        position=lambda s, t: (s, radius * np.sin(t), radius * (np.cos(t) - 1.0)),
        s=(0.0, length),
        t=(-0.5 * angle, 0.5 * angle),
    )


def test_a_closed_cylinder_between_diaphragms() -> None:
    """Sanders's theory, and the published parameters of Loy, Lam and Shu (1997) for L / R = 20, R / h = 100, m = 1."""
    body = ModalBody.from_surface(
        tube(20.0),
        name="tube",
        thickness=0.01,
        edges=("diaphragm",) * 4,
        modes=8,
        terms=(9, 11),
        rotary=False,
        **MATERIAL,
    )
    found = body.frequencies[[0, 2, 6]]
    np.testing.assert_allclose(body.frequencies[::2], body.frequencies[1::2], rtol=1e-6)  # cosine and sine
    np.testing.assert_allclose(
        found, [0.009382, 0.016101, 0.022105], rtol=1.2e-3
    )  # theories differ by h / R of the bending part
    data = {"radius": 1.0, "length": 20.0, "thickness": 0.01, **MATERIAL}
    np.testing.assert_allclose(found, [cylinder_frequency(1, n, **data) for n in (2, 1, 3)], rtol=1e-3)
    assert body.frequencies[4] == pytest.approx(cylinder_frequency(2, 2, **data), rel=2e-3)


def test_a_short_thin_cylinder_has_many_waves() -> None:
    body = ModalBody.from_surface(
        tube(2.0),
        name="tube",
        thickness=0.01,
        edges=("diaphragm",) * 4,
        modes=6,
        terms=(9, 17),
        rotary=False,
        **MATERIAL,
    )
    data = {"radius": 1.0, "length": 2.0, "thickness": 0.01, **MATERIAL}
    expected = sorted(cylinder_frequency(1, n, **data) for n in (4, 5, 6))
    np.testing.assert_allclose(body.frequencies[::2], expected, rtol=2e-3)


def test_a_free_ring_has_rayleighs_frequencies() -> None:
    """Inextensional: ``omega^2 = D n^2 (n^2 - 1)^2 / (rho h R^4 (n^2 + 1))`` for nu = 0."""
    body = ModalBody.from_surface(
        tube(0.5), name="ring", thickness=0.01, E=1.0, nu=0.0, density=1.0, edges=("free",) * 4, modes=2, terms=(7, 9),
        rotary=False,
    )  # fmt: skip
    rayleigh = np.sqrt(0.01**2 / 12.0 * 4.0 * 9.0 / 5.0)
    np.testing.assert_allclose(body.frequencies, rayleigh, rtol=1e-4)


def test_the_fan_blade_of_olson_and_lindberg() -> None:
    """Steel panel clamped along a curved edge; measured: J. Sound Vib. 19 (1971) 299-318."""
    blade = ModalBody.from_surface(
        arch(0.5, 0.3048, 0.6096), name="blade", thickness=0.003048, E=2.0685e11, density=7857.2, modes=6, terms=10
    )
    hertz = blade.frequencies / (2.0 * np.pi)
    np.testing.assert_allclose(hertz, [85.6, 134.5, 259.0, 351.0, 395.0, 531.0], rtol=5e-2)  # measured
    # quadratic finite elements for the same data (11 x 11 nodes)
    np.testing.assert_allclose(hertz, [85.71, 138.56, 245.93, 340.94, 382.99, 527.98], rtol=1.1e-2)


def test_a_shallow_spherical_shell_between_diaphragms() -> None:
    """Reissner: ``omega^2 = (D k^4 + E h / R^2) / (rho h)`` with k^2 = 2 (pi / a)^2; shallow, so right to (a / R)^2."""
    a, R, h = 1.0, 8.0, 0.02
    cap = SurfacePatch(
        position=lambda s, t: (s, t, np.sqrt(R**2 - s**2 - t**2) - R), s=(-0.5 * a, 0.5 * a), t=(-0.5 * a, 0.5 * a)
    )
    body = ModalBody.from_surface(
        cap, name="cap", thickness=h, edges=("diaphragm",) * 4, modes=1, terms=10, rotary=False, **MATERIAL
    )
    k4 = (2.0 * np.pi**2 / a**2) ** 2
    expected = np.sqrt(h**2 / 12.0 * k4 + 0.91 / R**2)
    assert body.frequencies[0] == pytest.approx(expected, rel=5e-3)


def test_a_flat_surface_is_a_plate() -> None:
    flat = SurfacePatch(position=lambda s, t: (s, t, 0.0), s=(0.0, 1.0), t=(-0.25, 0.25))
    data = {"thickness": 0.01, "E": 7e10, "modes": 3, "terms": 9}
    shell = ModalBody.from_surface(flat, name="panel", density=2700.0, frames={"tip": (1.0, 0.0)}, **data)
    plate = Plate(name="panel", length=1.0, width=0.5, mass=2700.0 * 0.01 * 0.5, **data)
    np.testing.assert_allclose(shell.frequencies, plate.frequencies, rtol=1e-6)
    ours, theirs = (body.shapes_at(np.array([1.0, 0.0, 0.0])) for body in (shell, plate))
    size = np.sqrt(np.diag(shell.elasticity) / np.diag(plate.elasticity))  # shapes are scaled at other points
    sign = np.array([ours.Phi[2, 0] * theirs.Phi[2, 0], 1.0, ours.Phi[2, 2] * theirs.Phi[2, 2]])
    scale = size * np.sign(sign)
    np.testing.assert_allclose(ours.G[0], theirs.G[0] * np.outer(scale, scale), atol=1e-6 * np.max(np.abs(ours.G[0])))


def exact_energy(space: RitzSpace, c: np.ndarray) -> float:
    """Strain energy of the displaced surface from its own fundamental forms, nothing expanded."""
    s, t, _ = space.places
    g, u = space.geometry, space.trial(s, t).combine(c[:, None])
    a = g.tangents + u.first[..., 0]
    b = g.curvature + u.second[..., 0]
    n = np.cross(a[:, 0], a[:, 1])
    n = n / np.linalg.norm(n, axis=1)[:, None]
    T = np.einsum("nix,nax->nia", g.axes, g.dual)
    pairs = ((0, 0), (0, 1), (1, 1))

    def local(values: list[np.ndarray]) -> np.ndarray:
        A = np.array([[values[0], values[1]], [values[1], values[2]]]).transpose(2, 0, 1)
        B = T @ A @ T.transpose(0, 2, 1)
        return np.stack([B[:, 0, 0], B[:, 1, 1], 2.0 * B[:, 0, 1]], axis=1)

    E = local([0.5 * np.sum(a[:, i] * a[:, j] - g.tangents[:, i] * g.tangents[:, j], axis=1) for i, j in pairs])
    K = local([np.sum(b[:, k] * n, axis=1) - np.sum(g.curvature[:, k] * g.normal, axis=1) for k in range(3)])
    density = np.einsum("na,ab,nb->n", E, space.section.membrane, E) + np.einsum(
        "na,ab,nb->n", K, space.section.bending, K
    )
    return float(0.5 * space.weights @ density)


def test_the_second_order_leaves_no_cubic_energy_of_the_exact_surface() -> None:
    """Odd part of the exact energy along ``Phi eta + 1/2 eta' V eta``: third order without V, fifth with it."""
    patch = arch(1.2, 1.0)
    section = isotropic_section(1.0, 0.02**2 / 12.0, 0.3, 1.0, 0.0)
    families = tuple(legendre_family(span, 8) for span in patch.ranges)
    space = RitzSpace(patch, section, families, (0, 1, 2), ("clamped", "free", "free", "free"))
    modes = space.modes(2)[1]
    s, t, _ = space.places
    V = space.second_order(space.trial(s, t).combine(modes)).reshape(-1, 2, 2)
    eta = np.array([0.004, 0.003]) / np.max(np.abs(space.trial(s, t).combine(modes).value))

    def odd(size: float, with_second: float) -> float:
        e = size * eta
        both = [exact_energy(space, sign * modes @ e + 0.5 * with_second * V @ e @ e) for sign in (1.0, -1.0)]
        return abs(both[0] - both[1])

    assert np.log2(odd(1.0, 0.0) / odd(0.5, 0.0)) == pytest.approx(3.0, abs=0.2)
    assert np.log2(odd(1.0, 1.0) / odd(0.5, 1.0)) > 4.5 and odd(1.0, 1.0) < 0.01 * odd(1.0, 0.0)


def test_frames_hub_and_mesh_of_a_shell(tmp_path) -> None:
    body = ModalBody.from_surface(
        tube(2.0), name="tank", thickness=0.02, modes=2, terms=(7, 9), frames={"top": (2.0, 0.0)}, **MATERIAL
    )
    hub = body.shapes_at(np.zeros(3))
    assert hub is not None and not np.any(hub.Phi) and not np.any(hub.G)  # the rim is clamped to the axis' end
    assert body.frames[0].name == "top" and np.allclose(np.asarray(body.frames[0].at), [2.0, 1.0, 0.0])
    assert float(body.integrals["mass"]) == pytest.approx(2.0 * np.pi * 2.0 * 0.02, rel=1e-9)
    mesh = body.surface_mesh()
    p = mesh.points[mesh.triangles]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum()
    assert area == pytest.approx(4.0 * np.pi, rel=0.02) and mesh.shapes.shape == (len(mesh.points), 3, 2)
    system = System(name="tank", parts=(Part(body),))
    assert load_system(save_system(system, tmp_path / "tank.toml")) == system


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thickness": 0.0}, ("thickness",)),
        ({"density": -1.0}, ("density",)),
        ({"nu": 0.6}, ("nu",)),
        ({"edges": ("clamped",)}, ("edges", "four")),
        ({"modes": 0}, ("modes",)),
        ({"modes": 999}, ("terms",)),
        ({"terms": 2}, ("terms",)),
        ({"frames": {"top": (9.0, 0.0)}}, ("top", "s = 9")),
    ],
)  # fmt: skip
def test_a_wrong_shell_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    fields = {"thickness": 0.02, "modes": 2, "terms": 6, **MATERIAL}
    with pytest.raises(ModelError) as error:
        ModalBody.from_surface(arch(0.5, 1.0), name="panel", **{**fields, **changes})
    for word in ("panel", *words):
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"s": (1.0, 0.0)}, ("ascending",)),
        ({"periodic": "x"}, ("periodic",)),
        ({"position": 3.0}, ("function",)),
        ({"position": lambda s, t: (s, t)}, ("(x, y, z)",)),
        ({"position": lambda s, t: (abs(s - 0.4), t, 0.0)}, ("smooth",)),
        ({"position": lambda s, t: (s * np.cos(t), s * np.sin(t), 0.0)}, ("pole",)),
        ({"position": lambda s, t: (1.0 / 0.0, t, 0.0)}, ("failed",)),
    ],
)  # fmt: skip
def test_a_wrong_surface_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    fields = {"position": lambda s, t: (s, t, 0.0), "s": (0.0, 1.0), "t": (0.0, 1.0)}
    with pytest.raises((ModelError, ShapeError)) as error:
        SurfacePatch(**{**fields, **changes})
    for word in words:
        assert word in str(error.value)


def test_a_mesh_is_not_a_patch() -> None:
    with pytest.raises(ModelError, match="SurfacePatch"):
        ModalBody.from_surface(None, name="mesh", thickness=1.0, **MATERIAL)
