"""Shell triangles: constant strains exactly, plates and shells made of them against Ritz's method, rotation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from spacectl import (
    FemModel,
    ModalBody,
    ModelError,
    Part,
    Plate,
    Revolute,
    ShapeError,
    SurfacePatch,
    System,
    assemble_shell,
    form_equations,
    linearize,
)

DATA = {"thickness": 0.01, "E": 7e10, "nu": 0.3}


def grid(n: int, m: int, position) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points position(s, t) for s, t in 0..1, triangles with diagonals in both directions, numbers of the points by rows."""
    s, t = np.meshgrid(np.linspace(0.0, 1.0, n + 1), np.linspace(0.0, 1.0, m + 1), indexing="ij")
    points = np.array([position(a, b) for a, b in zip(s.ravel(), t.ravel(), strict=True)])
    number = np.arange((n + 1) * (m + 1)).reshape(n + 1, m + 1)
    triangles = []
    for i in range(n):
        for j in range(m):
            a, b, c, d = number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]
            triangles += [[a, b, c], [a, c, d]] if (i + j) % 2 else [[a, b, d], [b, c, d]]
    return points, np.array(triangles), number


@cache
def panel(n: int) -> tuple[FemModel, np.ndarray]:
    points, triangles, number = grid(n, n, lambda s, t: (s, t - 0.5, 0.0))
    return assemble_shell(points, triangles, density=2700.0, total_mass=27.0, **DATA), number


def panel_body(n: int, **changes) -> ModalBody:
    model, number = panel(n)
    return ModalBody.from_fem(model, name="panel", root=tuple(number[0].tolist()), modes=4, **changes)


@cache
def plate() -> Plate:
    return Plate(name="panel", length=1.0, width=1.0, mass=27.0, modes=4, **DATA)


def test_constant_strains_and_curvatures_are_exact_on_any_mesh() -> None:
    rng = np.random.default_rng(3)
    points, triangles, _ = grid(3, 3, lambda s, t: (s, 0.7 * t, 0.0))
    inside = (points[:, 0] % 1.0 > 1e-9) & (points[:, 1] % 0.7 > 1e-9) & (points[:, 1] < 0.69)
    points[inside, :2] += 0.02 * rng.normal(size=(inside.sum(), 2))
    model = assemble_shell(points, triangles, density=1.0, **DATA)
    x, y = points[:, 0], points[:, 1]
    C = 7e10 * 0.01 / 0.91
    a, b, c = 1e-3, 2e-3, -1.5e-3
    zero = np.zeros_like(x)
    stretched = np.stack([a * x + c * y, b * y + c * x, zero, zero, zero, zero], axis=1).ravel()
    bent = np.stack(
        [zero, zero, 0.5 * a * x**2 + 0.5 * b * y**2 + c * x * y, b * y + c * x, -(a * x + c * y), zero], axis=1
    ).ravel()
    form = a**2 + b**2 + 0.6 * a * b + 0.35 * (2.0 * c) ** 2
    for field, stiffness in ((stretched, C), (bent, C * 0.01**2 / 12.0)):
        assert field @ model.stiffness @ field == pytest.approx(stiffness * 0.7 * form, rel=1e-9)


def test_a_plate_of_triangles_has_the_frequencies_of_the_plate() -> None:
    coarse, fine = (np.abs(panel_body(n, geometric=None).frequencies / plate().frequencies - 1.0) for n in (10, 20))
    assert np.max(fine) < 1e-3 and np.max(coarse) / np.max(fine) > 2.5


def test_a_curved_shell_of_triangles_meets_ritz() -> None:
    position = lambda s, t: (0.3048 * s, 0.6096 * np.sin(0.5 * t - 0.25), 0.6096 * (np.cos(0.5 * t - 0.25) - 1.0))  # noqa: E731
    steel = {"thickness": 0.003048, "E": 2.0685e11, "density": 7857.2}
    points, triangles, number = grid(14, 14, position)
    body = ModalBody.from_fem(
        assemble_shell(points, triangles, **steel),
        name="blade",
        root=tuple(number[0].tolist()),
        modes=4,
        geometric=None,
    )
    patch = SurfacePatch(position=position, s=(0.0, 1.0), t=(0.0, 1.0))
    ritz = ModalBody.from_surface(patch, name="blade", modes=4, terms=10, **steel)
    np.testing.assert_allclose(
        body.frequencies, ritz.frequencies, rtol=1.2e-2
    )  # flat triangles, 14 along each edge: (h / size)^2


def turning(part, rate: float, check: bool = True) -> np.ndarray:
    hub = Revolute(name="hub", axis="y", prescribed=lambda s: rate * s.t)
    eom = form_equations(System(name="spin", parts=(Part(part, joint=hub),)))
    A = linearize(eom, eom.state(), check=check).A
    return np.sort(np.linalg.eigvals(A).imag)[len(A) // 2 :]


@pytest.mark.slow
def test_a_rotating_shell_of_triangles_meets_ritz() -> None:
    """Second order of the exact surface against that of the matrices: gains of the squared frequencies of the fan blade."""
    position = lambda s, t: (0.3048 * s, 0.6096 * np.sin(0.5 * t - 0.25), 0.6096 * (np.cos(0.5 * t - 0.25) - 1.0))  # noqa: E731
    steel = {"thickness": 0.003048, "E": 2.0685e11, "density": 7857.2}
    points, triangles, number = grid(20, 20, position)
    model = assemble_shell(points, triangles, **steel)
    body = ModalBody.from_fem(model, name="blade", root=tuple(number[0].tolist()), modes=4)
    middle = tuple(float(x) for x in points[number[0]].mean(axis=0))
    patch = SurfacePatch(position=lambda s, t: np.subtract(position(s, t), middle), s=(0.0, 1.0), t=(0.0, 1.0))
    ritz = ModalBody.from_surface(patch, name="blade", modes=4, terms=10, **steel)
    rate = 0.5 * ritz.frequencies[0]
    gains = [(turning(part, rate, False) ** 2 - turning(part, 1e-3, False) ** 2) / rate**2 for part in (ritz, body)]
    np.testing.assert_allclose(gains[1], gains[0], rtol=0.03, atol=0.03)  # 20 flat triangles along each edge


def test_rotation_stiffens_triangles_as_it_does_the_plate() -> None:
    """Second-order shapes from the matrices against those of least energy; rate is that of the first mode."""
    rate = plate().frequencies[0]
    expected = turning(plate(), rate)
    np.testing.assert_allclose(turning(panel_body(12), rate), expected, rtol=4e-3)
    assert abs(turning(panel_body(12, geometric=None), rate)[0]) < 0.1 * expected[0]  # all stiffness lost at this rate


@pytest.mark.slow
def test_a_rotating_plate_of_fine_triangles_is_the_plate() -> None:
    rate = plate().frequencies[0]
    np.testing.assert_allclose(turning(panel_body(28), rate), turning(plate(), rate), rtol=1e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"triangles": [[0, 1, 9]]}, ("0 to 3",)),
        ({"triangles": [[0, 1, 2]]}, ("unused",)),
        ({"triangles": [[0, 1, 1], [0, 2, 3]]}, ("no area",)),
        ({"triangles": [0, 1, 2]}, ("shapes",)),
        ({"thickness": -1.0}, ("positive",)),
        ({"nu": 0.9}, ("nu",)),
        ({"total_mass": 27e3}, ("units",)),
    ],
)  # fmt: skip
def test_a_wrong_mesh_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    fields = {
        "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
        "triangles": [[0, 1, 2], [0, 2, 3]],
        "density": 2700.0,
    }
    fields = {**fields, **DATA, **changes}
    with pytest.raises((ModelError, ShapeError)) as error:
        assemble_shell(fields.pop("points"), fields.pop("triangles"), **fields)
    for word in words:
        assert word in str(error.value)
