"""Flexible bodies against published results: rotating beams, buckling, flutter. Everything comes from `linearize`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from spacectl import (
    Beam,
    BodyForce,
    ModalBody,
    Part,
    Revolute,
    RigidBody,
    System,
    Thruster,
    UniformGravity,
    find_operating_point,
    form_equations,
    linearize,
)
from spacectl.dynamics.waist.equations import EquationsOfMotion
from tests.oracles.flexible.beam_frequencies import rotating_flap

# Wright, Smith, Thresher, Wang: Vibration modes of centrifugally stiffened beams, J. Appl. Mech. 49 (1982) 197-202:
# flap frequencies 1 to 3 of a uniform cantilever without hub, in sqrt(EI / m L^4), for rotation speeds in the same unit
WRIGHT = np.array([
    [3.5160, 22.0345, 61.6972], [3.6817, 22.1810, 61.8418], [4.1373, 22.6149, 62.2732], [4.7973, 23.3203, 62.9850],
    [5.5850, 24.2734, 63.9668], [6.4495, 25.4461, 65.2050], [7.3604, 26.8091, 66.6839], [8.2996, 28.3341, 68.3860],
    [9.2568, 29.9954, 70.2930], [10.2257, 31.7705, 72.3867], [11.2023, 33.6404, 74.6493], [12.1843, 35.5890, 77.0638],
    [13.1702, 37.6031, 79.6145],
])  # fmt: skip
SPEEDS = np.arange(13.0)
LAG = np.sqrt(WRIGHT**2 - SPEEDS[:, None] ** 2)  # the same equation with omega^2 + rate^2 in place of omega^2

UNIT = {"length": 1.0, "mass": 1.0, "EI": 1.0}


def test_the_table_solves_the_differential_equation() -> None:
    for rate, row in zip(SPEEDS, WRIGHT, strict=True):
        np.testing.assert_allclose(rotating_flap(rate, 3), row, atol=6e-5)  # half of its last digit, and 1e-6 of ours


@cache
def rotor(direction: str, shapes: str, order: str = "consistent") -> EquationsOfMotion:
    """A beam on a hub that turns about z and is too heavy to be disturbed; bending along z is flap, along y is lag."""
    beam = Beam(name="blade", bending=(direction,), modes=6, shapes=shapes, **UNIT)
    body: Beam | ModalBody = replace(beam, order=order) if order != "none" else beam
    if order == "none":  # points and shapes of the same beam without second-order shapes: classical assumed modes
        points = beam.material
        body = ModalBody(
            name="blade", points=points.X, masses=points.mass, shapes=points.Phi, stiffness=beam.elasticity
        )
    hub = RigidBody(name="hub", mass=1.0, inertia=(1e8, 1e8, 1e8))
    parts = (Part(hub, joint=Revolute(name="spin", axis="z")), Part(body, on="hub"))
    return form_equations(System(name="rotor", parts=parts))


def squares(eom: EquationsOfMotion, rate: float) -> np.ndarray:
    """Squares of the blade's frequencies, ascending; negative ones are unstable."""
    A = linearize(eom, eom.state(spin_dot=rate)).A
    n = eom.n_v  # the hub rests: without damping or gyroscopic terms in one plane, the blade's block decides
    assert np.max(np.abs(A[n + 1 :, n + 1 :])) < 1e-6
    return np.sort(np.linalg.eigvals(-A[n + 1 :, 1:n]).real)


@pytest.mark.parametrize(("direction", "table"), [("z", WRIGHT), ("y", LAG)], ids=["flap", "lag"])
def test_rotating_cantilever_with_six_polynomials(direction: str, table: np.ndarray) -> None:
    eom = rotor(direction, "polynomials")
    for rate, row in zip(SPEEDS, table, strict=True):
        np.testing.assert_allclose(np.sqrt(squares(eom, rate)[:2]), row[:2], rtol=2e-4)  # six shapes


@pytest.mark.parametrize(("direction", "table"), [("z", WRIGHT), ("y", LAG)], ids=["flap", "lag"])
def test_rotating_cantilever_with_six_modes_at_rest(direction: str, table: np.ndarray) -> None:
    """0.1 % at all speeds, but for the first lag frequency at 12, the small difference of two large squares: 0.12 %."""
    eom = rotor(direction, "modes")
    for rate, row in zip(SPEEDS, table, strict=True):
        found = np.sqrt(squares(eom, rate)[:2])
        np.testing.assert_allclose(found, row[:2], rtol=1e-3 if rate < 12.0 or direction == "z" else 1.3e-3)
        assert np.all(found > row[:2] - 6e-5)  # Ritz: from above


def test_lag_is_flap_less_the_rotation() -> None:
    flap, lag = rotor("z", "modes"), rotor("y", "modes")
    for rate in (3.0, 12.0):  # exact for the same shapes, but for the finite hub: 1e-8
        np.testing.assert_allclose(squares(lag, rate), squares(flap, rate) - rate**2, rtol=1e-6, atol=1e-6)


def test_without_second_order_shapes_rotation_stiffens_nothing() -> None:
    """Early linearisation: flap does not change at all, and lag becomes unstable above the first frequency at rest."""
    flap, lag = rotor("z", "modes", "none"), rotor("y", "modes", "none")
    at_rest = WRIGHT[0, 0]
    for rate in (2.0, 4.0, 12.0):
        assert np.sqrt(squares(flap, rate)[0]) == pytest.approx(at_rest, rel=1e-4)  # the table's digits
        assert squares(lag, rate)[0] == pytest.approx(at_rest**2 - rate**2, rel=1e-3, abs=1e-3)
    assert squares(lag, 4.0)[0] < 0.0 < squares(rotor("y", "modes"), 4.0)[0]  # wrong, and right
    assert WRIGHT[12, 0] / at_rest > 3.7  # the flap frequency it misses at speed 12


@pytest.mark.parametrize("direction", ["z", "y"])
def test_orders_stiffen_as_they_should(direction: str) -> None:
    """About the undeformed spin all orders but the premature one have the consistent stiffness."""
    right, wrong = rotor(direction, "modes"), rotor(direction, "modes", "none")
    for order, expected in (("linearised", right), ("pseudo_potential", right), ("premature", wrong)):
        found = squares(rotor(direction, "modes", order), 5.0)
        np.testing.assert_allclose(found, squares(expected, 5.0), rtol=1e-9, atol=1e-7)  # rounding of squares up to 1e5


def test_steady_stretch_of_a_rotating_bar() -> None:
    """``EA u'' + m rate^2 (x + u) = 0``: u(L) = tan(k L) / k - L, which begins with m rate^2 L^3 / (3 EA)."""
    EA = 100.0
    bar = Beam(name="bar", length=1.0, mass=1.0, EA=EA, bending=(), extension=6)
    hub = RigidBody(name="hub", mass=1.0, inertia=(1.0, 1.0, 1.0))
    parts = (Part(hub, joint=Revolute(name="spin", axis="z")), Part(bar, on="hub"))
    eom = form_equations(System(name="bar", parts=parts))
    free = tuple(name for name in eom.coordinates if ".eta" in name)
    tip = bar.shapes_at(np.array([1.0, 0.0, 0.0])).Phi[0]
    for rate, leading in ((0.1, 1e-3), (2.0, 0.03)):
        point = find_operating_point(eom, v={"spin_dot": rate}, free=free)
        stretch = float(tip @ np.asarray(point.x)[1 : eom.n_q])
        k = rate / np.sqrt(EA)
        assert stretch == pytest.approx(
            np.tan(k) / k - 1.0, rel=1e-4
        )  # six shapes: the strain's series ends like 1/n^3
        assert stretch == pytest.approx(rate**2 / (3.0 * EA), rel=leading)


def critical(square, low: float, high: float) -> float:
    """Load at which the largest square of an eigenvalue passes zero."""
    return brentq(square, low, high, xtol=1e-6)


def largest(eom: EquationsOfMotion, load: float) -> float:
    A = linearize(eom, eom.state(), np.array([load]), check=False).A
    return float(np.max((np.linalg.eigvals(A) ** 2).real))


def test_euler_column() -> None:
    """A dead load along the axis: pi^2 / 4 EI / L^2."""
    beam = Beam(name="column", modes=4, shapes="polynomials", **UNIT)
    load = BodyForce(name="load", on="column.tip", direction="-x", axes="world")
    eom = form_equations(System(name="Euler", parts=(Part(beam),), actuators=(load,)))
    assert critical(lambda P: largest(eom, P), 2.0, 3.0) == pytest.approx(np.pi**2 / 4.0, rel=3e-6)  # four shapes


@pytest.mark.parametrize(("modes", "tolerance"), [(1, 5e-3), (3, 5e-4)])
def test_column_under_its_own_weight(modes: int, tolerance: float) -> None:
    """Greenhill 1881: m g L = 7.8373 EI / L^2."""
    up = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # the beam's x along the root's z
    part = Part(Beam(name="mast", modes=modes, **UNIT), rotation=up)
    eom = form_equations(System(name="mast", parts=(part,), environment=UniformGravity(g=(0.0, 0.0, -1.0))))

    def square(g: float) -> float:
        p = eom.parameters.vector({"environment.g": [0.0, 0.0, -g]})
        return float(np.max((np.linalg.eigvals(linearize(eom, eom.state(), p=p).A) ** 2).real))

    assert critical(square, 7.0, 9.0) == pytest.approx(7.8373, rel=tolerance)


def test_becks_follower_load() -> None:
    """A thruster at the tip: two frequencies meet at 20.05 EI / L^2 (Beck 1952) and flutter begins."""
    beam = Beam(name="rocket", modes=4, **UNIT)
    jet = Thruster(name="jet", on="rocket.tip", direction="-x", limit=100.0)
    eom = form_equations(System(name="Beck", parts=(Part(beam),), actuators=(jet,)))

    def poles(P: float) -> np.ndarray:
        return np.linalg.eigvals(linearize(eom, eom.state(), np.array([P])).A)

    assert np.max(poles(19.9).real) < 1e-6  # rounding of a neutral pole
    found = brentq(lambda P: np.max(poles(P).real) - 1e-3, 19.9, 21.0, xtol=1e-6)
    assert found == pytest.approx(20.05, rel=1e-3)
    before, after = np.sort(np.abs(poles(found - 0.01).imag)), np.sort(np.abs(poles(found + 0.01).imag))
    assert before[2] - before[0] > 0.1 and after[2] - after[0] < 1e-6  # they have met
    worst = poles(found + 1.0)[np.argmax(poles(found + 1.0).real)]
    assert worst.real > 0.5 and abs(worst.imag) > 5.0  # it oscillates: flutter, not divergence


@pytest.mark.parametrize(("modes", "tolerance"), [(2, 1e-2), (4, 3e-3)])
def test_prandtls_lateral_buckling(modes: int, tolerance: float) -> None:
    """A deep cantilever under a dead load at its tip turns over at 4.013 sqrt(EI GJ) / L^2 (Prandtl 1899).

    It comes from second-order terms of bending with torsion alone (Sadigh 1995, Eq 5.31 omits them). The depth makes bending
    in the plane of the load 1e4 times stiffer, so that its deflection there does not count.
    """
    EI, GJ = 2.0, 0.7
    blade = Beam(
        name="blade", length=1.0, mass=1.0, EI=(EI, 1e4 * EI), GJ=GJ, rotary=(0.01, 0.0, 0.0), bending=("y", "z"),
        modes=(modes, 1), torsion=modes,
    )  # fmt: skip
    load = BodyForce(name="load", on="blade.tip", direction="-z", axes="world")
    eom = form_equations(System(name="Prandtl", parts=(Part(blade),), actuators=(load,)))

    def square(P: float) -> float:
        point = find_operating_point(eom, u={"load": P}, free=("all",))
        return float(np.max((np.linalg.eigvals(linearize(eom, point).A) ** 2).real))

    unit = np.sqrt(EI * GJ)
    assert critical(square, 3.5 * unit, 4.5 * unit) / unit == pytest.approx(4.013, rel=tolerance)
