"""`plan_bang_bang`: minimum time on the exact flow, against closed forms, collocation and flights by another integrator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Beam,
    Condition,
    FreeSpace,
    JointForce,
    JointTorque,
    LineCurve,
    ModelError,
    Part,
    Problem,
    Revolute,
    RigidBody,
    SolverError,
    System,
    TaskPath,
    form_equations,
    library,
    plan_bang_bang,
    plan_collocation,
    plan_phase_plane,
    replay,
)
from spacectl.planners.bang_bang.flow import Flow
from tests.planners.systems import cart, two_masses


@pytest.fixture(scope="module")
def rail():
    return form_equations(cart())


def way(eom, **more):
    return Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0}, name="way", **more)


def slew_system(modes=1):
    """A hub with one flexible appendage, 3-D beams bending in the plane of the turn."""
    hub = RigidBody(name="hub", mass=50.0, inertia=(8.0, 8.0, 8.0))
    beam = Beam(name="boom", length=2.0, mass=2.0, EI=40.0, bending=("y",), modes=modes, damping=0.005)
    return System(
        name="hub and boom",
        environment=FreeSpace(),
        parts=(Part(hub, on="world", joint=Revolute(name="turn", axis="z")), Part(beam, on="hub")),
        actuators=(JointTorque(joint="turn", limit=10.0),),
    )


def test_double_integrator(rail):
    plan = plan_bang_bang(way(rail), cells=100)
    assert plan.final_time == pytest.approx(2.0, abs=1e-9)  # the switch lies between two cells: no loss
    assert plan.switch_times[0] == pytest.approx(1.0, abs=1e-6)
    assert plan.outcome.stats["end_error"] < 1e-9


def test_a_switch_inside_a_cell_is_one_switch(rail):
    """The cell in which a control passes from one limit to the other used to be an arc of its own: two switch times for one."""
    plan = plan_bang_bang(way(rail, duration=(0.0, 5.0)), cells=101, restarts=0)
    assert [arc.limit for arc in plan.arcs] == ["x at its upper limit", "x at its lower limit"]
    assert plan.switch_times == pytest.approx([0.5 * plan.final_time], abs=1e-6)


def test_speed_bound_is_satisfied_and_named(rail):
    """Of a unit mass, unit force and v <= 1/2: T = d / v + v / a = 2.5."""
    plan = plan_bang_bang(way(rail, bounds={"x_dot": (-1.0, 0.5)}), cells=300)
    assert plan.final_time == pytest.approx(2.5, abs=5e-5)  # cells of 8 ms that do not end where the arc begins
    assert np.max(np.asarray(plan.x.values)[:, 1]) <= 0.5 + 1e-12
    assert any("x_dot at its upper limit" in arc.limit for arc in plan.arcs)


def test_end_may_be_a_range_or_a_condition(rail):
    near = Problem(eom=rail, end={"x": (1.0, 3.0), "x_dot": 0.0}, name="range")
    assert plan_bang_bang(near, cells=100).final_time == pytest.approx(2.0, abs=1e-9)
    rule = Condition(name="sum", rule=lambda s: s["x"] + s["x_dot"], low=1.5, high=1.5)
    passing = Problem(eom=rail, conditions_end=(rule,), name="condition")  # t^2 / 2 + t = 1.5: t = 1
    assert plan_bang_bang(passing, cells=100).final_time == pytest.approx(1.0, abs=1e-8)


def test_two_masses_come_to_the_published_time_from_above():
    """4.2178669 s by the switch-time equations (see test_collocation); constant controls in cells cost a little."""
    eom = form_equations(two_masses())
    problem = Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0, "stretch": 0.0, "stretch_dot": 0.0}, name="oscillator")
    coarse, fine = (plan_bang_bang(problem, cells=cells) for cells in (100, 800))
    loss = [plan.final_time - 4.2178669 for plan in (coarse, fine)]
    assert -1e-7 < loss[1] < 1e-5
    assert loss[1] < 0.1 * loss[0]
    flight = replay(eom, fine)
    assert np.abs(np.asarray(flight.x)[-1] - [1.0, 0.0, 0.0, 0.0]).max() < 1e-8


def test_flexible_slew_agrees_with_collocation():
    """Two methods that share no discretisation: polished collocation on its mesh, programmes on the exact flow."""
    eom = form_equations(slew_system())
    end = {"turn": 0.6, **{name: 0.0 for name in eom.states if name != "turn"}}
    problem = Problem(eom=eom, end=end, name="slew")
    sharp = plan_collocation(problem)
    plan = plan_bang_bang(problem, cells=600)
    assert 0.0 <= plan.final_time / sharp.final_time - 1.0 < 1e-5
    for item in (plan, sharp):  # 1.7 % off: the boom bends a lot; the plan says so before anybody flies it
        assert any("bends beyond the range" in text for text in item.outcome.stats["flown"]["warnings"])
    flight = replay(eom, plan, rest=1.0)
    after = np.asarray(flight.t) >= plan.final_time
    assert np.abs(np.asarray(flight.x)[after] - [end[name] for name in eom.states]).max() < 1e-7


def test_three_modes_end_at_rest():
    """The third mode is 18 times as fast as the first: several steps a cell."""
    eom = form_equations(slew_system(modes=3))
    end = {"turn": 0.6, **{name: 0.0 for name in eom.states if name != "turn"}}
    plan = plan_bang_bang(Problem(eom=eom, end=end, name="slew"), cells=100)
    assert plan.outcome.stats["steps"] > 1
    last = np.asarray(replay(eom, plan).x)[-1]
    assert np.abs(last - [end[name] for name in eom.states]).max() < 1e-6  # cubics between the knots of u


@pytest.fixture(scope="module")
def retrieval():
    """Sadigh (1995), section 8.3: the free path of the flexible arm, the payload's attitude held by the wrist."""
    eom = form_equations(library.retrieval_arm(flexible=True))
    rigid = form_equations(library.retrieval_arm())
    line = TaskPath(
        name="line", curve=LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 3.0, 0.0)),
        outputs=("payload.x", "payload.y", "attitude.s3"), at={"shoulder": 1.175, "elbow": 0.79, "wrist": 1.175},
    )  # fmt: skip
    guess = plan_phase_plane(rigid, line, points=200)
    begin, last = (dict(zip(rigid.states, map(float, np.asarray(guess.x.values)[k]), strict=True)) for k in (0, -1))
    end = dict.fromkeys(eom.states, 0.0) | last
    held = Condition(name="attitude", rule=lambda s: s.output("attitude.s3"))
    problem = Problem(eom=eom, start=begin, end=end, path=(held,), duration=(5.0, 100.0), name="retrieval")
    return problem, plan_bang_bang(problem, guess=guess, cells=400, restarts=0)


def test_retrieval_arrives_at_rest_within_all_limits(retrieval):
    problem, plan = retrieval
    eom = problem.eom
    flight = replay(eom, plan, rtol=1e-11, atol=1e-12)
    target = np.array([problem.end[name][0] for name in eom.states])
    assert np.abs(np.asarray(flight.x)[-1] - target).max() < 1e-6  # speeds of modes reach 13 m/s on the way
    assert np.abs(flight["attitude.s3"]).max() < 1e-6
    u = np.abs(np.asarray(plan.u(np.linspace(0.0, plan.final_time, 200001))))
    assert np.all(u.max(axis=0) <= np.array([800.0, 800.0, 400.0]) * (1.0 + 1e-9))
    assert u[:, 2].max() > 390.0  # the wrist's limit is what the plan has to mind
    assert plan.outcome.stats["busy"] == ("wrist",)


def test_retrieval_is_warm_started_by_its_neighbour(retrieval):
    problem, plan = retrieval
    eom = form_equations(library.retrieval_arm(flexible=True, payload_mass=4010.0))
    near = plan_bang_bang(replace(problem, eom=eom, p=None), guess=plan, cells=400, restarts=0)
    assert near.outcome.stats["rounds"] <= plan.outcome.stats["rounds"]
    assert 0.0 < near.final_time - plan.final_time < 0.1


def test_retrieval_keeps_a_bound_of_a_mode(retrieval):
    problem, plan = retrieval
    free = np.abs(plan.x.column("upper.eta1")).max()
    bound = 0.85 * free
    tight = plan_bang_bang(replace(problem, bounds={"upper.eta1": (-bound, bound)}), guess=plan, cells=400, restarts=0)
    assert np.abs(tight.x.column("upper.eta1")).max() <= bound * (1.0 + 1e-6)
    assert tight.final_time >= plan.final_time - 1e-4


def test_flow_derivatives_and_reference(retrieval):
    problem, _ = retrieval
    flow = Flow(problem, ("wrist",))
    rng = np.random.default_rng(3)
    x0 = np.array([problem.start.get(name, (0.0,))[0] for name in problem.eom.states])
    w, h = rng.uniform(-800.0, 800.0, (6, 2)), rng.uniform(0.01, 0.03, 6)
    x = flow.integrate(x0, w, h, 2)
    linear = flow.linear(x, w, h, 2)
    for k, (i, step) in ((0, (2, 1e-4)), (5, (8, 1e-4))):
        e = np.eye(problem.eom.n_x)[i] * step
        moved = [flow.integrate(x[2 * k] + sign * e, w[k : k + 1], h[k : k + 1], 2)[-1] for sign in (1.0, -1.0)]
        np.testing.assert_allclose(
            (moved[0] - moved[1]) / (2.0 * step), linear.A[k][:, i], rtol=1e-6, atol=1e-6
        )  # rounding 5e-12 over the step
    flow._code._library = None  # as without a compiler
    np.testing.assert_allclose(flow.integrate(x0, w, h, 2), x, atol=1e-10)
    again = flow.linear(x, w, h, 2)
    for name in ("A", "B", "c"):
        np.testing.assert_allclose(getattr(again, name), getattr(linear, name), rtol=1e-8, atol=1e-8)


def test_unsupported_problems_raise(rail):
    with pytest.raises(ModelError, match="rate_limits.*plan_collocation"):
        plan_bang_bang(way(rail, rate_limits={"x": 1.0}))
    with pytest.raises(ModelError, match="start of 'x' is not fixed"):
        plan_bang_bang(way(rail, start={"x": (-1.0, 0.0)}))
    with pytest.raises(ModelError, match="cells is 1"):
        plan_bang_bang(way(rail), cells=1)
    with pytest.raises(ModelError, match="busy has 1 inputs"):
        plan_bang_bang(way(rail), busy=("x",), guess=plan_collocation(way(rail)))
    with pytest.raises(ModelError, match="no limits"):
        free = form_equations(replace(cart(), actuators=(JointForce(joint="x"),)))
        plan_bang_bang(Problem(eom=free, end={"x": 1.0}, duration=(0.1, 5.0)), guess=plan_collocation(way(rail)))
    with pytest.raises(SolverError, match="at the end 'x"):
        guess = plan_collocation(way(rail))
        plan_bang_bang(way(rail, duration=(0.1, 1.5)), guess=guess, cells=50)


def boom_slew(**more):
    """The hub with a boom of one mode, turned by 0.6 rad."""
    eom = form_equations(slew_system())
    return Problem(eom=eom, end=dict.fromkeys(eom.states, 0.0) | {"turn": 0.6}, name="slew", **more)


def test_flexible_collocation_reports_its_restarts():
    assert len(plan_collocation(boom_slew()).outcome.stats["restarts"]) == 3


def test_switches_that_cannot_be_polished_keep_the_plan_of_the_programmes(monkeypatch):
    """A failed polish used to start collocation over many periods: two minutes for a slew with soft arrays."""
    problem = boom_slew()
    sharp = plan_collocation(problem, restarts=0)
    monkeypatch.setattr("spacectl.planners.plan_collocation.polish_arcs", lambda *_, **__: None)
    plan = plan_collocation(problem, restarts=0)
    assert plan.outcome.is_success and "linear programmes" in plan.outcome.stats["polish"]
    assert 0.0 <= plan.final_time / sharp.final_time - 1.0 < 1e-5
    assert max(plan.outcome.stats["flown"]["violations"].values(), default=0.0) < 1e-5


def test_polished_switches_respect_a_range_of_the_duration():
    """The durations of arcs have no bounds together: the plan came out at 1.633 s, its least time without the range."""
    plan = plan_collocation(boom_slew(duration=(1.64, 20.0)), restarts=0)
    assert plan.final_time == pytest.approx(1.64, abs=1e-6)
