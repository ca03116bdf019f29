"""A bang-bang turn planned for a rigid craft, flown by a flexible one: damped during the turn, or after it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from spacectl import (
    Beam,
    Fixed,
    JointTorque,
    Labels,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    Trajectory,
    form_equations,
    make_law,
    simulate,
    suppress_vibration,
)

END, TORQUE, LENGTH, MASS = 5.0, 2.0, 6.0, 3.0
WEIGHTS = {"turn": 100.0, "turn_dot": 10.0, "boom.eta1": 200.0, "boom.eta1_dot": 100.0}
TIGHT = {"rtol": 1e-9, "atol": 1e-12}


def craft(is_flexible, limit=10.0):
    hub = RigidBody(name="hub", mass=50.0, inertia=(10.0, 10.0, 12.0))
    across = MASS * LENGTH**2 / 12.0
    rod = RigidBody(name="boom", mass=MASS, com=(0.5 * LENGTH, 0.0, 0.0), inertia=(0.0, across, across))
    beam = Beam(name="boom", length=LENGTH, mass=MASS, EI=200.0, damping=0.002, modes=2)
    boom = Part(beam if is_flexible else rod, on="hub", at=(0.5, 0.0, 0.0), joint=Fixed())
    turn = Part(hub, joint=Revolute(name="turn", axis="z"))
    return form_equations(System(name="craft", parts=(turn, boom), actuators=(JointTorque(joint="turn", limit=limit),)))


def torque(*values):
    return Trajectory(
        t=[0.0, 0.5 * END, END], values=np.array(values)[:, None], labels=Labels(("turn",)), interpolation="previous"
    )


def push(eom, table):
    return make_law(lambda s: s.r, name="push", states=eom.labels.x, inputs=eom.labels.u, reference=table)


@pytest.fixture(scope="module")
def turn():
    rigid, flexible = craft(False), craft(True)
    law = push(rigid, torque(TORQUE, -TORQUE, -TORQUE))
    plan = simulate(rigid, law, t_span=(0.0, END), grid=np.linspace(0.0, END, 61), **TIGHT)
    alone = simulate(flexible, push(flexible, torque(TORQUE, -TORQUE, 0.0)), t_span=(0.0, 30.0), grid=1501, **TIGHT)
    return SimpleNamespace(rigid=rigid, flexible=flexible, plan=plan, alone=alone, goal=float(plan["turn"][-1]))


def fly(turn, when):
    law = suppress_vibration(turn.flexible, turn.rigid, turn.plan, Q=WEIGHTS, R=1.0, when=when, breaks=(0.5 * END,))
    return law, simulate(turn.flexible, law, t_span=(0.0, 30.0), grid=1501, stops=law.breaks, **TIGHT)


def largest(sim, begin, end, column="boom.eta1", middle=0.0):
    chosen = (sim.t >= begin) & (sim.t <= end)
    return float(np.max(np.abs(sim[column][chosen] - middle)))


def test_feedback_during_the_turn_leaves_little_vibration_at_its_end(turn):
    law, sim = fly(turn, "during")
    assert law.breaks == (0.5 * END, END) and law.maneuver_time == END
    assert law.reserve == {"turn": pytest.approx(10.0 - TORQUE)}
    assert largest(sim, END, END + 6.0) < 0.15 * largest(turn.alone, END, END + 6.0)
    assert largest(sim, 25.0, 30.0, "turn", turn.goal) < 0.02 * turn.goal


def test_cost_of_the_turn_is_the_one_that_the_law_predicts(turn):
    """The drift of the elastic rows included: the rigid motion does not meet them (Sadigh 1995, Eq 8.6.a)."""
    law, sim = fly(turn, "during")
    eom, table = turn.flexible, law.reference
    inside = sim.t <= float(np.asarray(law.feedback.model.t)[-1])
    names = table.labels.names
    first = len(names) - eom.n_x
    t, x = sim.t[inside], np.asarray(sim.x)[inside]
    e = x - table(t)[:, first:]
    plan_u = np.where(t < 0.5 * END, TORQUE, -TORQUE) * (t < END)
    du = sim.u[inside, 0] - plan_u
    Q = np.array([WEIGHTS.get(name, 0.0) for name in eom.states])
    rest = e[-1] @ np.asarray(law.feedback.S)[-1][: eom.n_x, : eom.n_x] @ e[-1]
    cost = trapezoid(e**2 @ Q + du**2, t) + rest
    # deflections of a twentieth of the length, and a grid of 0.02 s over inputs that jump
    assert cost == pytest.approx(law.feedback.predict_cost(eom.state()), rel=0.02)


def test_feedback_after_the_turn_starts_with_all_of_the_vibration_and_takes_it_out(turn):
    law, sim = fly(turn, "after")
    before = sim.t < END
    assert np.max(np.abs(sim["boom.eta1"][before] - turn.alone["boom.eta1"][before])) < 1e-6  # the same open loop
    slowest = float(np.max(law.feedback.poles.real))
    late = END - 4.0 / slowest  # four time constants
    assert late < 29.0 and largest(sim, late, 30.0) < 0.05 * largest(turn.alone, END, 30.0)
    assert largest(sim, late, 30.0, "turn", turn.goal) < 0.1 * turn.goal


def test_during_keeps_the_deflection_smaller_than_after(turn):
    during, after = (fly(turn, when)[1] for when in ("during", "after"))
    assert largest(during, 0.0, END) < 0.5 * largest(after, 0.0, END)


def test_a_plan_of_tables_is_the_same_motion(turn):
    """Two knots one rounding apart are a jump, as planners write it."""
    plan, half = turn.plan, 0.5 * END
    knots = [0.0, float(np.nextafter(half, 0.0)), half, END]
    tables = SimpleNamespace(
        x=Trajectory(t=plan.t, values=plan.x, labels=turn.rigid.labels.x),
        u=Trajectory(
            t=knots,
            values=[[TORQUE], [TORQUE], [-TORQUE], [-TORQUE]],
            labels=Labels(("turn",)),
            interpolation="linear",
        ),
    )
    one, _ = fly(turn, "during")
    two = suppress_vibration(turn.flexible, turn.rigid, tables, Q=WEIGHTS, R=1.0)
    for t in (0.1, 2.49, 2.51, 4.9, 10.0):
        np.testing.assert_allclose(two.feedback.gain(t), one.feedback.gain(t), rtol=1e-6)


def test_wrong_motions_raise(turn):
    t, x, u = turn.plan.t[:30], turn.plan.x[:30], turn.plan.u[:30]
    with pytest.raises(ModelError, match="ends with 'turn_dot'"):
        suppress_vibration(turn.flexible, turn.rigid, (t, x, u), Q=WEIGHTS, R=1.0)
    with pytest.raises(ModelError, match=r"rigid system has a state.*'boom\.eta1'"):
        suppress_vibration(turn.rigid, turn.flexible, turn.plan, Q=WEIGHTS, R=1.0)
    with pytest.raises(ModelError, match="when is 'before'"):
        suppress_vibration(turn.flexible, turn.rigid, turn.plan, Q=WEIGHTS, R=1.0, when="before")
