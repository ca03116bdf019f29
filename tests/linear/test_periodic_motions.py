"""Motions that are steady in their speeds only: a warning from `linearize`, and Floquet multipliers that judge them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from spacectl import (
    CircularOrbit,
    EquationsOfMotion,
    Free,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    Spherical,
    System,
    Universal,
    floquet,
    form_equations,
    library,
    linearize,
    linearize_along,
    make_consistent,
    simulate,
)
from spacectl.core.errors import ModelError

RADIUS = 0.5
G = 9.80665


def rolling(speed: float) -> tuple[EquationsOfMotion, np.ndarray]:
    """An upright thin disc that rolls straight on."""
    eom = form_equations(library.rolling_disc(radius=RADIUS))
    start = eom.state(**{"base.wy": speed / RADIUS, "base.x_dot": speed})
    return eom, np.asarray(make_consistent(eom, start, hold=("base.wy",)).x)


def lean_stiffness(speed: float) -> float:
    """Of the lean: ``theta_ddot = -k theta``, ``(A + m r^2) k = C (C + m r^2) / A spin^2 - m g r`` (thin disc)."""
    return 12.0 / 5.0 * (speed / RADIUS) ** 2 - 4.0 / 5.0 * G / RADIUS


def test_linearize_warns_about_a_disc_that_rolls() -> None:
    eom, x0 = rolling(3.0)
    with pytest.warns(UserWarning, match="steady in its speeds only.*floquet"):
        model = linearize(eom, x0)
    assert lean_stiffness(3.0) > 70.0  # the lean is stable, and yet
    assert np.max(np.linalg.eigvals(model.A).real) > 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linearize(eom, x0, check=False)


@pytest.mark.parametrize("speed", [3.0, 0.7])
def test_multipliers_of_a_rolling_disc_are_those_of_its_lean(speed: float) -> None:
    eom, x0 = rolling(speed)
    period = 2.0 * np.pi * RADIUS / speed
    sim = simulate(eom, x0=x0, t_span=(0.0, period), grid=121, rtol=1e-11, atol=1e-12)
    found = floquet(eom, sim)
    lean = np.sqrt(complex(-lean_stiffness(speed)))  # of exp(lean t)
    expected = np.exp(np.array([lean, -lean]) * period)
    for value in expected:
        assert np.min(np.abs(found.multipliers - value)) < 1e-3 * max(1.0, abs(value))
    assert found.is_stable(1e-2) == (lean_stiffness(speed) > 0.0)
    assert len(found.x) == 8  # all coordinates but the height; three speeds


def test_multipliers_of_a_spinning_satellite_are_those_of_a_frame_that_does_not_spin() -> None:
    rate, spin = 0.01, 2.0
    body = RigidBody(name="body", mass=100.0, inertia=(100.0, 100.0, 130.0))
    turning = form_equations(
        System(
            name="in body axes", environment=CircularOrbit(rate=rate), parts=(Part(body, joint=Spherical(name="ball")),)
        )
    )
    ring = RigidBody(name="ring", mass=0.0, inertia=(0.0, 0.0, 0.0))
    parts = (
        Part(ring, joint=Universal(name="tilt", first="x", second="y")),
        Part(body, on="ring", joint=Revolute(name="spin", axis="z")),
    )
    carried = form_equations(System(name="carried", environment=CircularOrbit(rate=rate), parts=parts))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # steady in these coordinates
        poles = np.linalg.eigvals(linearize(carried, carried.state(spin_dot=spin * rate)).A)
    x0 = turning.state(**{"ball.wz": spin * rate})
    with pytest.warns(UserWarning, match="steady in its speeds only"):
        linearize(turning, x0)
    period = 2.0 * np.pi / (spin * rate)
    sim = simulate(turning, x0=x0, t_span=(0.0, period), grid=161, rtol=1e-11, atol=1e-13)
    found = floquet(turning, sim)
    for value in np.exp(poles * period):
        assert np.min(np.abs(found.multipliers - value)) < 1e-3
    assert found.is_stable(1e-2)
    assert found.period == pytest.approx(period)
    assert np.exp(found.exponents * period) == pytest.approx(found.multipliers)


def test_steady_spins_and_straight_flights_do_not_warn() -> None:
    body = RigidBody(name="body", mass=10.0, inertia=(1.0, 2.0, 2.5), com=(0.0, 0.0, 0.0))
    eom = form_equations(System(name="free", parts=(Part(body, joint=Free(name="base")),)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linearize(eom, eom.state(**{"base.wz": 3.0, "base.x_dot": 2.0}))
        linearize(eom, eom.state())


def test_a_motion_that_is_no_period_is_refused() -> None:
    eom, x0 = rolling(3.0)
    sim = simulate(eom, x0=x0, t_span=(0.0, 0.3), grid=31, rtol=1e-9)
    with pytest.raises(ModelError, match="does not repeat after 0.3 s"):
        floquet(eom, sim)
    with pytest.raises(ModelError, match="has 4 times"):
        floquet(eom, (sim.t[:4], sim.x[:4], sim.u[:4]))


def test_too_few_times_are_warned_about() -> None:
    eom, x0 = rolling(3.0)
    sim = simulate(eom, x0=x0, t_span=(0.0, 2.0 * np.pi * RADIUS / 3.0), grid=9, rtol=1e-9)
    with pytest.warns(UserWarning, match="too few"):
        floquet(eom, sim)


def test_a_change_of_speeds_does_not_change_a_model_along_a_motion() -> None:
    """Speeds of the user's choice: kinematic part of A follows V(q, v), as at a point."""
    parts = (
        Part(RigidBody(name="a", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0)), joint=Revolute(name="one")),
        Part(
            RigidBody(name="b", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0)),
            on="a",
            at=(1.0, 0.0, 0.0),
            joint=Revolute(name="two"),
        ),
    )
    system = System(name="arm", parts=parts, actuators=(JointTorque(joint="one"), JointTorque(joint="two")))
    speeds = {"two_dot": ("w2", lambda s: s["one_dot"] + s["two_dot"])}
    eom = form_equations(system, speeds=speeds)
    x = np.array([[0.3, 0.4, 1.0, 2.5], [0.31, 0.42, 1.0, 2.5]])
    along = linearize_along(eom, ([0.0, 0.01], x, np.zeros((2, 2))))
    point = linearize(eom, x[0], check=False)
    assert np.asarray(along.A)[0] == pytest.approx(np.asarray(point.A), abs=1e-12)
