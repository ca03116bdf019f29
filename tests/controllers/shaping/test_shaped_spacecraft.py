"""Shaped torques on a hub with a flexible boom leave the vibration that the shaper predicts, mode by mode."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from spacectl import (
    Beam,
    EquationsOfMotion,
    Fixed,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    System,
    Trajectory,
    design_shaper,
    form_equations,
    linearize,
    make_law,
    modes,
    shape_command,
    shape_modes,
    shape_trajectory,
    simulate,
    smoothed_bang_bang,
)

TORQUE = 0.02  # [N m]: small, so that what is not linear stays near 1e-6 of the vibration
PUSH = 3.3  # [s] of each half of the bang-bang


@cache
def spacecraft() -> EquationsOfMotion:
    hub = RigidBody(name="hub", mass=50.0, inertia=(10.0, 10.0, 12.0))
    boom = Beam(name="boom", length=6.0, mass=3.0, EI=30.0, modes=2, damping=0.01)
    parts = (Part(hub, joint=Revolute(name="turn", axis="z")), Part(boom, on="hub", at=(0.5, 0.0, 0.0), joint=Fixed()))
    return form_equations(System(name="hub and boom", parts=parts, actuators=(JointTorque(joint="turn"),)))


@cache
def vibration() -> tuple[np.ndarray, np.ndarray]:
    """Poles of the two vibrations and the rows that take a state to their complex amplitudes."""
    eom = spacecraft()
    poles, right = np.linalg.eig(np.asarray(linearize(eom, eom.state()).A))
    rows = np.linalg.inv(right)
    chosen = sorted(np.flatnonzero(poles.imag > 0.1), key=lambda k: abs(poles[k]))
    return poles[chosen], rows[chosen]


def amplitudes_at_end(command: Trajectory) -> np.ndarray:
    """Sizes of the two vibrations at the last knot of an open-loop command."""
    eom = spacecraft()
    law = make_law(lambda s: s.r, name="command", states=eom.labels.x, inputs=eom.labels.u, reference=command)
    end = float(command.t[-1])
    sim = simulate(eom, law, t_span=(0.0, end), grid=[end], rtol=1e-11, atol=1e-13)
    return np.abs(vibration()[1] @ sim.x[-1])


@cache
def unshaped() -> np.ndarray:
    bang = Trajectory(t=[0.0, PUSH, 2 * PUSH], values=[[TORQUE], [-TORQUE], [0.0]], interpolation="previous")
    return amplitudes_at_end(bang)


def shaped(shaper) -> np.ndarray:
    command = shape_command(shaper, [0.0, PUSH, 2 * PUSH], [TORQUE, -TORQUE, 0.0])
    return amplitudes_at_end(command) / unshaped()


def test_modes_agree_with_the_poles() -> None:
    found = modes(linearize(spacecraft(), spacecraft().state()))
    shaper = shape_modes(found, ("boom.eta1", "boom.eta2"), kind="ZV")
    np.testing.assert_allclose(shaper.frequencies, np.abs(vibration()[0]), rtol=1e-9)
    assert unshaped()[0] > 1e-5


@pytest.mark.parametrize("kind", ["ZV", "ZVD", "EI", "UM-ZV"])
@pytest.mark.parametrize("wrong", [1.0, 0.8, 1.2])
def test_residual_is_the_predicted_one(kind: str, wrong: float) -> None:
    """For both modes, with a shaper for the first at its true frequency or beside it."""
    poles = vibration()[0]
    w, z = np.abs(poles), -poles.real / np.abs(poles)
    shaper = design_shaper(wrong * w[0], z[0], kind=kind)
    found, predicted = shaped(shaper), shaper.residual(w, z)
    np.testing.assert_allclose(found, predicted, atol=2e-5)  # what is not linear, see below
    if wrong == 1.0:
        assert predicted[0] == pytest.approx(0.05 if kind == "EI" else 0.0, abs=1e-12)


def test_robust_shapers_are_robust() -> None:
    poles = vibration()[0]
    w, z = abs(poles[0]), -poles[0].real / abs(poles[0])
    left = {kind: shaped(design_shaper(1.1 * w, z, kind=kind))[0] for kind in ("ZV", "ZVD", "EI")}
    assert left["ZVD"] < 0.3 * left["ZV"] and left["EI"] < 0.05 < left["ZV"]


def test_both_modes_are_at_rest_after_a_shaper_for_both() -> None:
    found = modes(linearize(spacecraft(), spacecraft().state()))
    both = shaped(shape_modes(found, ("boom.eta1", "boom.eta2"), kind="ZV"))
    assert np.max(both) < 2e-5  # as above
    one = shaped(shape_modes(found, "boom.eta1", kind="ZV"))
    assert one[0] < 2e-5 and one[1] > 0.1  # the second mode needs its own impulses


def test_what_is_left_is_not_linear() -> None:
    """It grows with the third power of the torque, as the first term that a symmetric structure has: hence the tolerance."""
    poles = vibration()[0]
    shaper = design_shaper(abs(poles[0]), -poles[0].real / abs(poles[0]), kind="ZV")
    left = []
    for torque in (10 * TORQUE, TORQUE):
        command = shape_command(shaper, [0.0, PUSH, 2 * PUSH], [torque, -torque, 0.0])
        left.append(amplitudes_at_end(command)[0])
    np.testing.assert_allclose(left[0] / left[1], 1000.0, rtol=0.05)  # the next power, and the tolerance of the run


def test_smoothed_and_shaped_torques() -> None:
    """Edges of one period leave half a percent, because of the damping; shaped as well, nothing."""
    poles = vibration()[0]
    period = 2.0 * np.pi / abs(poles[0])
    slew = smoothed_bang_bang(40 * TORQUE, acceleration=TORQUE, jerk=TORQUE / period)
    assert slew.edge == pytest.approx(period)
    smooth = amplitudes_at_end(slew.acceleration)
    assert smooth[0] < 0.01 * unshaped()[0] and smooth[1] < 0.05 * unshaped()[1]
    shaper = design_shaper(abs(poles[0]), -poles[0].real / abs(poles[0]), kind="ZV")
    quiet = amplitudes_at_end(shape_trajectory(shaper, slew.acceleration))
    assert quiet[0] < 1e-3 * smooth[0]
