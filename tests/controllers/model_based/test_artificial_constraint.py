"""Artificial-constraint tracking: exact on the path, back to it after a disturbance, adrift without feedback."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Beam,
    Constraint,
    FeedbackLinearization,
    Frame,
    JointTorque,
    Labels,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    Trajectory,
    design_pd,
    form_equations,
    library,
    make_consistent,
    make_law,
    simulate,
)
from tests.controllers.model_based.test_feedback_linearization import decay


@pytest.fixture(scope="module")
def arm():
    """Flexible three-link arm; the wrist keeps the orientation of the hand."""
    hand = RigidBody(
        name="hand",
        mass=5.0,
        inertia=(0.01, 0.01, 0.02),
        com=(0.05, 0, 0),
        frames=(Frame(name="tip", at=(0.15, 0, 0)),),
    )
    system = System(
        name="flexible arm",
        parts=(
            Part(
                Beam(name="upper", length=0.8, mass=2.51, EI=930.0, shapes="modes", damping=0.02),
                joint=Revolute(name="shoulder", axis="z"),
            ),
            Part(
                Beam(name="lower", length=0.8, mass=2.51, EI=930.0, shapes="modes", damping=0.02),
                on="upper.tip",
                joint=Revolute(name="elbow", axis="z"),
            ),
            Part(hand, on="lower.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=tuple(JointTorque(joint=name) for name in ("shoulder", "elbow", "wrist")),
    )
    return form_equations(system)


def keep_level(s):
    R = s.rotation("hand")
    return R[1, 0]  # the hand's x axis has no y component


def law_for(arm, frequency):
    pd = design_pd(arm, kp=30.0, kd=11.0, inputs=("shoulder", "elbow"), reference=lambda s: [0.5, 1.2])
    constraint = Constraint(name="level", rule=keep_level, kind=Artificial(by=("wrist",)))
    return ArtificialConstraintTracking(arm, constraints=(constraint,), others=pd, frequency=frequency)


def start(arm, law, **extra):
    x0 = arm.state(shoulder=0.2, elbow=1.8, wrist=np.pi - 2.0, **extra)
    return np.array(make_consistent(law.constrained, x0, hold=("shoulder", "elbow")).x)


def level_error(arm, sim):
    rows = arm.along("placements", np.asarray(sim.t), np.asarray(sim.x))
    return np.abs(rows[:, 2, 3])  # R[1, 0] of the hand


def test_the_output_stays_on_its_path_while_the_links_vibrate(arm):
    law = law_for(arm, 10.0)
    sim = simulate(arm, law, x0=start(arm, law), t_span=(0.0, 2.0), rtol=1e-9, atol=1e-11)
    assert np.max(level_error(arm, sim)) < 1e-6
    assert np.ptp(np.asarray(sim.x)[:, arm.labels.x.index("upper.eta1")]) > 1e-3  # they do vibrate


def test_error_feedback_brings_the_output_back_and_without_it_the_error_stays(arm):
    errors = {}
    for frequency in (0.0, 10.0):
        law = law_for(arm, frequency)
        x0 = start(arm, law)
        x0[arm.labels.x.index("wrist")] += 0.05
        sim = simulate(arm, law, x0=x0, t_span=(0.0, 2.0), rtol=1e-9, atol=1e-11)
        errors[frequency] = level_error(arm, sim)[-1]
    assert errors[10.0] < 1e-6  # (1 + 20) exp(-20) of 0.05
    assert errors[0.0] > 0.01


def test_zero_dynamics_and_check_refer_to_the_chosen_actuator(arm):
    law = law_for(arm, 10.0)
    x0 = start(arm, law)
    assert law.check(0.0, x0).adequacy > 1e-3
    model = law.zero_dynamics(x0)
    assert len(model.x) == 2 * (arm.n_v - 1)


def test_an_input_has_one_source(arm):
    pd = design_pd(arm, kp=1.0, kd=1.0, inputs=("shoulder", "wrist"))
    constraint = Constraint(name="level", rule=keep_level, kind=Artificial(by=("wrist",)))
    with pytest.raises(ModelError, match="'wrist'"):
        ArtificialConstraintTracking(arm, constraints=(constraint,), others=pd)
    with pytest.raises(ModelError, match="natural"):
        ArtificialConstraintTracking(arm, constraints=(Constraint(name="level", rule=keep_level),))


def test_a_path_is_examined_before_it_is_flown(arm):
    law = law_for(arm, 10.0)
    ways = np.linspace(0.0, 1.0, 5)
    x = [start(arm, law) if part == 0.0 else rest_at(arm, law, part) for part in ways]
    found = law.examine(ways, x)
    assert found.is_adequate and found.is_stable and found.poles.shape == (5, 2 * (arm.n_v - 1))
    # independent solution: the nonlinear loop with the law, linearised at the end by differences of its right-hand side
    end = rest_at(arm, law, 1.0)

    def rate(state):
        return arm.x_dot(0.0, state, law(0.0, state))

    step = 1e-6
    A = np.array([(rate(end + d) - rate(end - d)) / (2 * step) for d in step * np.eye(arm.n_x)]).T
    whole = np.linalg.eigvals(A)  # the free ones, and a double pole at -10 of the constraint's error
    assert max(np.min(np.abs(whole - pole)) / abs(pole) for pole in found.poles[-1]) < 1e-5
    assert np.sum(np.abs(whole + 10.0) < 0.01) == 2


def rest_at(arm, law, part):
    shoulder, elbow = 0.2 + part * 0.3, 1.8 - part * 0.6
    x = arm.state(shoulder=shoulder, elbow=elbow, wrist=np.pi - shoulder - elbow)
    return np.array(make_consistent(law.constrained, x, hold=("shoulder", "elbow")).x)


def test_inadequate_actuators_and_growing_motions_are_reported(arm):
    """Uniform links, the first angle kept by the elbow: lost where cos(elbow) = -2/3, though no entry vanishes there."""
    links = library.planar_arm()
    eom = form_equations(links)
    constraint = Constraint(name="first", rule=lambda s: s["joint1"], kind=Artificial(by=("joint2",)))
    law = ArtificialConstraintTracking(eom, constraints=(constraint,))
    M = eom.mass_matrix(0.0, np.zeros(2))
    # M12 = d + e cos(joint2) vanishes at cos = -d / e
    square = eom.mass_matrix(0.0, np.array([0.0, 0.5 * np.pi]))
    lost = float(np.arccos(-square[0, 1] / (M[0, 1] - square[0, 1])))
    found = law.examine([0.0, 1.0], [eom.state(joint2=0.5), eom.state(joint2=lost)])
    assert found.adequacy[0] > 0.05 and found.adequacy[1] < 1e-12
    assert not found.is_adequate and "joint2 can hardly enforce" in found.message and "t = 1 s" in found.message


def test_computed_torque_or_an_operator_commands_what_is_left(arm):
    """Shoulder and elbow are damped oscillators exactly, while the wrist keeps the hand level; or follow a stick."""
    bare = law_for(arm, 10.0)
    x0 = start(arm, bare)
    goal = {"shoulder": 0.5, "elbow": 1.2}
    computed = FeedbackLinearization(
        bare.constrained, frequency=3.0, damping=0.8, reference=goal, speeds=("shoulder_dot", "elbow_dot")
    )
    constraint = Constraint(name="level", rule=keep_level, kind=Artificial(by=("wrist",)))
    law = ArtificialConstraintTracking(arm, constraints=(constraint,), others=computed)
    sim = simulate(arm, law, x0=x0, t_span=(0.0, 2.0), rtol=1e-9, atol=1e-11)
    for name in goal:
        at = float(x0[arm.states.index(name)])
        assert np.max(np.abs(sim[name] - goal[name] - decay(sim.t, at - goal[name], 0.0, 3.0, 0.8))) < 1e-6
    assert np.max(level_error(arm, sim)) < 1e-6
    table = Trajectory(
        t=[0.0, 0.5, 1.0], values=[[2.0, 0.0], [-2.0, 1.0], [0.0, -1.0]], labels=Labels(("shoulder", "elbow"))
    )
    stick = make_law(
        lambda s: s.r,
        name="operator",
        states=arm.labels.x,
        inputs=Labels(("shoulder", "elbow"), ("N m", "N m"), "input"),
        reference=table,
    )
    law = ArtificialConstraintTracking(arm, constraints=(constraint,), others=stick)
    sim = simulate(arm, law, x0=x0, t_span=(0.0, 1.0), rtol=1e-9, atol=1e-11)
    assert np.max(level_error(arm, sim)) < 1e-6 and np.ptp(sim["shoulder"]) > 0.05
