"""Plates that turn or accelerate against finite elements with geometric stiffness, which know no second-order shapes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from spacectl import Part, Plate, Prismatic, Revolute, System, form_equations, linearize
from tests.oracles.flexible.plate_elements import ElementPlate

STRETCH, NU = 1.2e5, 0.3


@cache
def elements() -> ElementPlate:
    return ElementPlate(1.0, 1.0, 1.0, STRETCH, NU, 1.0, 8)


def squares(joint, shortening: str = "energy", modes: int = 6) -> np.ndarray:
    """Squared frequencies of the plate whose edge moves as prescribed."""
    body = Plate(
        name="plate", length=1.0, width=1.0, thickness=0.01, mass=1.0, bending_stiffness=1.0, stretch_stiffness=STRETCH, nu=NU,
        modes=modes, rotary=False, shortening=shortening, terms=10,
    )  # fmt: skip
    eom = form_equations(System(name="moved", parts=(Part(body, joint=joint),)))
    A = linearize(eom, eom.state()).A
    return np.sort(np.linalg.eigvals(-A[modes:, :modes]).real)


def turning(rate: float, axis: str) -> Revolute:
    return Revolute(name="hub", axis=axis, prescribed=lambda s: rate * s.t)


def moving(acceleration: float, axis: str) -> Prismatic:
    return Prismatic(name="base", axis=axis, prescribed=lambda s: 0.5 * acceleration * s.t * s.t)


@pytest.mark.parametrize("axis", ["y", "z"])
def test_a_rotating_plate_has_the_frequencies_of_elements(axis: str) -> None:
    """About y the plate's own motion is in the plane of rotation, about z across it (a blade in flap)."""
    fe, rate = elements(), 3.471
    load = (lambda x, y: (x, 0.0 * x)) if axis == "y" else (lambda x, y: (x, y))
    extra = fe.geometric(load) - (fe.mass if axis == "y" else 0.0)
    found = squares(turning(rate, axis), modes=5)
    expected = fe.squares(5, rate**2 * extra)
    np.testing.assert_allclose(np.sqrt(found), np.sqrt(expected), rtol=2e-3)  # five modes at rest, 64 elements
    assert np.all(found > fe.squares(5))  # stiffer than at rest


@pytest.mark.slow
def test_fast_rotation_converges_with_more_modes() -> None:
    fe, rate = elements(), 10.0
    expected = np.sqrt(fe.squares(4, rate**2 * (fe.geometric(lambda x, y: (x, 0.0 * x)) - fe.mass)))
    few, many = (np.sqrt(squares(turning(rate, "y"), modes=m))[:4] for m in (6, 12))
    assert np.max(np.abs(many / expected - 1.0)) < 1e-2 < np.max(np.abs(few / expected - 1.0))
    assert np.all(many < few * (1.0 + 1e-9))


@pytest.mark.parametrize("acceleration", [4.0, -4.0])
def test_acceleration_along_the_plate_softens_forwards_and_stiffens_backwards(acceleration: float) -> None:
    fe = elements()
    expected = fe.squares(6, -acceleration * fe.geometric(lambda x, y: (1.0 + 0.0 * x, 0.0 * x)))
    found = squares(moving(acceleration, "x"), modes=4)
    np.testing.assert_allclose(found, expected[:4], rtol=5e-3)  # four modes at rest
    assert np.all((found < fe.squares(4)) == (acceleration > 0.0))


def test_acceleration_along_the_clamped_edge_couples_bending_and_twist() -> None:
    """The first mode softens whichever way the plate is accelerated: no effect of first order, by symmetry."""
    fe = elements()
    expected = fe.squares(6, -10.0 * fe.geometric(lambda x, y: (0.0 * x, 1.0 + 0.0 * x)))
    found = squares(moving(10.0, "y"))
    np.testing.assert_allclose(found[:5], expected[:5], rtol=1.5e-2)  # six modes at rest; eight come to 1 %
    assert found[0] < 0.95 * fe.squares(1)[0]


@pytest.mark.slow
def test_line_integrals_miss_acceleration_along_the_clamped_edge() -> None:
    """Sadigh (1995), Eq 5.34 leaves out shear: nothing softens, forwards or backwards."""
    at_rest = elements().squares(1)[0]
    by_lines = squares(moving(10.0, "y"), shortening="line")
    assert abs(by_lines[0] / at_rest - 1.0) < 1e-2
    there, back = (squares(moving(a, "y")) for a in (10.0, -10.0))
    np.testing.assert_allclose(there, back, rtol=1e-8)
