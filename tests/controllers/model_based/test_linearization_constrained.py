"""Feedback linearisation under constraints (Sadigh 1995, Eqs 6.4-6.6), and what the modified law reports as left over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    FeedbackLinearization,
    ModelError,
    ModifiedFeedbackLinearization,
    find_operating_point,
    form_equations,
    library,
    linearize,
    make_consistent,
    simulate,
)
from tests.controllers.model_based.test_feedback_linearization import decay, free_flyer

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def test_joints_of_a_free_flyer_without_momentum_are_linearised_as_with_the_momentum_as_a_motion():
    """Conserved momentum as a constraint (Sadigh 1995, case 3) or as a consequence: the same torques, the same oscillators."""
    system = library.momentum_flyer()
    held, free = form_equations(system), form_equations(replace(system, constraints=()))
    joints = ("shoulder_dot", "elbow_dot")
    goal = {"shoulder": 0.3, "elbow": -0.5}
    laws = [
        FeedbackLinearization(eom, frequency=2.0, damping=0.7, reference=goal, speeds=joints) for eom in (held, free)
    ]
    x0 = np.array(make_consistent(held, held.state(shoulder=0.6, shoulder_dot=0.2), hold=("shoulder_dot",)).x)
    np.testing.assert_allclose(laws[0](0.0, x0), laws[1](0.0, x0), rtol=1e-9)
    sim = simulate(held, laws[0], x0=x0, t_span=(0.0, 5.0), **TIGHT)
    rate = float(x0[held.states.index("shoulder_dot")])
    assert np.max(np.abs(sim["shoulder"] - 0.3 - decay(sim.t, 0.3, rate, 2.0, 0.7))) < 1e-6  # the integrator's error
    found = laws[0].report(x0)
    assert found.is_stable  # the base drifts with zero momentum: poles at the origin


def test_the_attitude_is_controlled_by_joint_torques_alone():
    eom = form_equations(library.momentum_flyer())
    law = FeedbackLinearization(eom, frequency=1.0, damping=0.9, speeds=("base.wz", "elbow_dot"))
    angle = 0.02
    x0 = eom.state(**{"base.qw": np.cos(0.5 * angle), "base.qz": np.sin(0.5 * angle), "elbow": 0.1})
    sim = simulate(eom, law, x0=np.array(make_consistent(eom, x0).x), t_span=(0.0, 5.0), **TIGHT)
    turned = 2.0 * np.arctan2(sim["base.qz"], sim["base.qw"])
    assert np.max(np.abs(turned - decay(sim.t, angle, 0.0, 1.0, 0.9))) < 1e-6


@pytest.mark.parametrize("name", ["four_bar", "redundant_four_bar", "slider_crank", "spatial_four_bar"])
def test_a_closed_loop_is_the_damped_oscillator_of_the_design(name):
    eom = form_equations(getattr(library, name)())
    x0 = np.array(make_consistent(eom, eom.x_rest).x)
    first = eom.coordinates[0]
    goal = {first: float(x0[0]) + 0.2}
    law = FeedbackLinearization(
        eom, frequency=4.0, damping=0.6, reference=goal, speeds=eom.speeds[:1], inputs=eom.inputs[:1]
    )
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 2.0), **TIGHT)
    assert np.max(np.abs(sim[first] - goal[first] - decay(sim.t, -0.2, 0.0, 4.0, 0.6))) < 1e-6


@pytest.mark.slow
def test_two_arms_that_hold_one_bar_are_controlled_by_one_of_them():
    eom = form_equations(library.two_arm_flyer())
    joints = tuple(name for name in eom.speeds if name.startswith("left_"))
    inputs = tuple(name for name in eom.inputs if name.startswith("left_"))
    x0 = np.array(make_consistent(eom, eom.x_rest).x)
    goal = x0.copy()
    goal[eom.states.index("left_elbow")] += 0.05
    law = FeedbackLinearization(eom, frequency=1.0, damping=0.7, reference=goal, speeds=joints, inputs=inputs)
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 4.0), **TIGHT)
    start = float(x0[eom.states.index("left_elbow")])
    assert np.max(np.abs(sim["left_elbow"] - start - 0.05 - decay(sim.t, -0.05, 0.0, 1.0, 0.7))) < 1e-6
    moved = make_consistent(
        eom, x0 + 0.01 * np.cos(np.arange(eom.n_x))
    ).x  # away from rest, where something is asked for
    assert law.report(moved).missed < 1e-9  # base and the other arm move as they must, and are not controlled


def test_more_inputs_than_degrees_of_freedom_raise():
    eom = form_equations(library.redundant_four_bar())
    with pytest.raises(ModelError, match=r"rocker_pin_dot.*under the constraints.*inputs="):
        FeedbackLinearization(eom, frequency=1.0, speeds=("crank_pin_dot", "rocker_pin_dot"))
    with pytest.raises(ModelError, match="inputs names an unknown input 'motor'"):
        FeedbackLinearization(eom, frequency=1.0, speeds=("crank_pin_dot",), inputs=("motor",))


def test_modified_law_in_the_metric_of_inertia_leaves_the_tether_to_itself():
    orbiter = library.TetherOrbiter()
    eom = form_equations(orbiter.system(200.0))
    goal = orbiter.coordinates(orbiter.FIXED_POINT)
    point = find_operating_point(eom, q=goal)
    law = ModifiedFeedbackLinearization(eom, frequency=5e-3, damping=0.8, reference=goal)
    found = law.report(point.x)
    # independent solution: the equation of the tether with pitch and arm at rest, M_ss s_ddot = (M A)_ss s
    A, M = np.asarray(linearize(eom, point).A), eom.mass_matrix(0.0, np.asarray(point.x)[:4])
    expected = np.sqrt(complex((M @ A[4:, :4])[3, 3] / M[3, 3]))
    assert np.max(np.abs(np.abs(found.zero_dynamics) - abs(expected))) < 1e-6 * abs(expected)
    assert found.states == (("swing",), ("swing",)) and found.is_stable
    moved = np.asarray(point.x) + 0.01
    off = law.report(moved)
    assert "swing_dot" in off.message and off.missed > 0.01
    assert all(abs(off.reached[f"{name}_dot"] - off.wanted[f"{name}_dot"]) < 1e-12 for name in goal if name != "swing")
    # the residual is what the definition says
    u = law(0.0, moved)
    wanted = np.array(list(off.wanted.values()))
    q, v = moved[:4], moved[4:]
    left = eom.input_map(0.0, q) @ u - eom.mass_matrix(0.0, q) @ wanted - eom.bias(0.0, q, v)
    np.testing.assert_allclose(list(off.residual.values()), left, rtol=1e-6, atol=1e-6 * np.max(np.abs(left)))


def test_growing_zero_dynamics_are_named():
    """An inverted tether: held by nothing, it falls over while the law does all it promised."""
    orbiter = library.TetherOrbiter()
    eom = form_equations(orbiter.system(200.0))
    sideways = orbiter.coordinates([0.5 * np.pi, 0.25 * np.pi, 0.75 * np.pi, 1.5 * np.pi])  # along the orbit: unstable
    law = ModifiedFeedbackLinearization(eom, frequency=5e-3, reference=sideways)
    found = law.report(eom.state(**sideways))
    assert not found.is_stable and "grow: " in found.message and "swing" in found.message


def test_full_linearisation_leaves_nothing():
    eom = form_equations(library.planar_arm())
    found = FeedbackLinearization(eom, frequency=2.0, damping=0.5).report(eom.state(joint1=0.3, joint2=-0.2))
    assert found.missed < 1e-12 and len(found.zero_dynamics) == 0 and "no zero dynamics" in found.message


def test_zero_dynamics_of_chosen_speeds_are_the_motion_of_the_rest():
    eom = form_equations(free_flyer())
    law = FeedbackLinearization(eom, frequency=1.0, damping=0.9, speeds=("base.wx", "base.wy", "base.wz", "elbow_dot"))
    found = law.report(eom.state())
    assert len(found.zero_dynamics) == 6 and np.max(np.abs(found.zero_dynamics)) < 1e-6  # translation: integrators
