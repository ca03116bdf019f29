"""Artificial-constraint tracking: exact on the path, back to it after a disturbance, adrift without feedback."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Beam,
    Constraint,
    Frame,
    JointTorque,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    design_pd,
    form_equations,
    make_consistent,
    simulate,
)


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
                Beam(name="upper", length=0.8, mass=2.51, EI=930.0, damping=0.02),
                joint=Revolute(name="shoulder", axis="z"),
            ),
            Part(
                Beam(name="lower", length=0.8, mass=2.51, EI=930.0, damping=0.02),
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


def test_zero_dynamics_and_check_speak_about_the_chosen_actuator(arm):
    law = law_for(arm, 10.0)
    x0 = start(arm, law)
    assert law.check(0.0, x0).adequacy > 1e-3
    model = law.zero_dynamics(x0)
    assert len(model.x) == 2 * (arm.n_v - 1)


def test_an_input_has_one_master(arm):
    pd = design_pd(arm, kp=1.0, kd=1.0, inputs=("shoulder", "wrist"))
    constraint = Constraint(name="level", rule=keep_level, kind=Artificial(by=("wrist",)))
    with pytest.raises(ModelError, match="'wrist'"):
        ArtificialConstraintTracking(arm, constraints=(constraint,), others=pd)
    with pytest.raises(ModelError, match="natural"):
        ArtificialConstraintTracking(arm, constraints=(Constraint(name="level", rule=keep_level),))
