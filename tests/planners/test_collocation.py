"""Direct collocation against closed forms, published switch times and independent integration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Condition,
    HermiteSimpson,
    JointForce,
    ModelError,
    Phases,
    Problem,
    Radau,
    Refinement,
    SolverError,
    form_equations,
    keep_out_box,
    keep_out_sphere,
    plan_collocation,
    replay,
)
from tests.oracles.bang_bang import end_of_two_links, two_mass_spring
from tests.planners.systems import cart, sledge, two_links, two_masses

REST = {"x": 1.0, "x_dot": 0.0}


@pytest.fixture(scope="module")
def rail():
    return form_equations(cart())


def reflown(eom, plan):
    """Largest difference between a plan and its replay, at its end and on the way."""
    sim = replay(eom, plan)
    return np.abs(sim.x[-1] - plan.x(plan.final_time)).max(), np.abs(sim.x - plan.x(sim.t)).max()


@pytest.mark.parametrize("scheme", [Radau(15), Radau(10, degree=2), HermiteSimpson(15)], ids=str)
def test_double_integrator_switches_at_half_time(rail, scheme):
    plan = plan_collocation(Problem(eom=rail, end=REST), scheme=scheme)
    np.testing.assert_allclose([*plan.switch_times, plan.final_time], [1.0, 2.0], atol=1e-9)  # 2 sqrt(distance)
    assert [arc.limit for arc in plan.arcs] == ["x at its upper limit", "x at its lower limit"]
    assert max(reflown(rail, plan)) < 1e-8


def test_speed_limit_makes_an_arc_of_its_own(rail):
    plan = plan_collocation(Problem(eom=rail, end=REST, bounds={"x_dot": (-0.5, 0.5)}), scheme=Radau(20))
    np.testing.assert_allclose([*plan.switch_times, plan.final_time], [0.5, 2.0, 2.5], atol=1e-8)
    assert plan.arcs[1].limit == "x_dot at its upper limit"
    assert max(reflown(rail, plan)) < 1e-6


def test_rate_limited_force_follows_the_trapezoid(rail):
    """Ramps of a = limit / rate: the top speed is T / 2 - a, and by symmetry the distance (T / 2 - a) T / 2."""
    problem = Problem(eom=rail, end=REST, rate_limits={"x": 5.0}, inputs_start={"x": 0.0}, inputs_end={"x": 0.0})
    plan = plan_collocation(problem, scheme=Radau(20))
    np.testing.assert_allclose(plan.final_time, 0.2 + np.sqrt(0.2**2 + 4.0), atol=1e-7)
    assert max(reflown(rail, plan)) < 1e-6
    assert np.abs(plan.u.rates).max() < 5.0 + 1e-6


def test_least_energy_is_a_cubic(rail):
    problem = Problem(eom=rail, end=REST, duration=3.0, time_weight=0.0, cost_rate=lambda s: s.input("x") ** 2)
    plan = plan_collocation(problem, scheme=HermiteSimpson(4))
    np.testing.assert_allclose(plan.outcome.stats["cost"], 12.0 / 3.0**3, rtol=1e-9)  # 12 d^2 / T^3
    assert max(reflown(rail, plan)) < 1e-9


def test_two_mass_spring_has_the_published_switches():
    eom = form_equations(two_masses())
    plan = plan_collocation(Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0, "stretch": 0.0, "stretch_dot": 0.0}))
    found = np.array([*plan.switch_times, plan.final_time])
    np.testing.assert_allclose(found, two_mass_spring(), atol=1e-7)
    np.testing.assert_allclose(found, [1.003, 2.109, 3.215, 4.218], atol=1e-3)  # as published by Liu and Wie
    assert max(reflown(eom, plan)) < 1e-6


def test_two_links_reach_their_target_in_luus_equations():
    eom = form_equations(two_links())
    end = {"shoulder": 0.522, "elbow": 0.5, "shoulder_dot": 0.0, "elbow_dot": 0.0}
    plan = plan_collocation(Problem(eom=eom, start={"elbow": 0.5}, end=end))
    middles = [(arc.begin + arc.end) / 2.0 for arc in plan.arcs]
    pieces = [(arc.end - arc.begin, *plan.u(t)) for arc, t in zip(plan.arcs, middles, strict=True)]
    reached = end_of_two_links(np.array([0.0, 0.0, 0.5, 0.0]), pieces)
    np.testing.assert_allclose(reached, [0.0, 0.0, 0.5, 0.522], atol=1e-7)
    assert abs(plan.final_time - 2.98) < 5e-3  # published to three digits


@pytest.fixture(scope="module")
def table():
    return form_equations(sledge())


@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_obstacle_is_passed_at_its_distance_and_named(table, kind):
    if kind == "sphere":
        region = keep_out_sphere("post", "sledge", center=(1.0, 0.05, 0.0), radius=0.3)
    else:
        region = keep_out_box("post", "sledge", center=(1.0, 0.05, 0.0), half_lengths=(0.2, 0.3, 1.0))
    end = {"x": 2.0, "y": 0.0, "x_dot": 0.0, "y_dot": 0.0}
    cost = {"time_weight": 0.0, "duration": 4.0, "cost_rate": lambda s: s.input("x") ** 2 + s.input("y") ** 2}
    free = plan_collocation(Problem(eom=table, end=end, **cost), scheme=Radau(20))
    plan = plan_collocation(Problem(eom=table, end=end, path=(region,), **cost), scheme=Radau(20))
    assert plan.outcome.stats["cost"] > free.outcome.stats["cost"] * 1.01  # the way round costs more
    sim = replay(table, plan)
    offset = np.column_stack([sim["x"] - 1.0, sim["y"] - 0.05])
    if kind == "sphere":
        closest = np.hypot(*offset.T).min()
        assert 0.3 - 1e-8 <= closest < 0.302  # touched, and not entered between the points either
    else:
        assert np.all(np.abs(offset / [0.2, 0.3]).max(axis=1) > 1.0)
    assert any("post at its lower limit" in arc.limit for arc in plan.arcs)


def test_target_inside_an_obstacle_is_named(table):
    region = keep_out_sphere("post", "sledge", center=(2.0, 0.0, 0.0), radius=0.3)
    with pytest.raises(SolverError, match="'post' cannot be satisfied at the end"):
        plan_collocation(Problem(eom=table, end={"x": 2.0, "y": 0.0}, path=(region,)))


def test_phases_meet_at_a_via_point(rail):
    """Through x = 1 at no more than half speed, then on to 2."""
    first = Problem(eom=rail, end={"x": 1.0, "x_dot": (0.0, 0.5)}, name="there")
    plan = plan_collocation(Phases(phases=(first, Problem(eom=rail, end={"x": 2.0, "x_dot": 0.0}, name="on"))))
    one = 2.0 * np.sqrt(1.0 + 0.5**2 / 2.0) - 0.5  # up to the top speed, down to 0.5, over a unit distance
    np.testing.assert_allclose(plan.final_time, 2.0 * one, atol=1e-8)
    np.testing.assert_allclose(plan.x(one), [1.0, 0.5], atol=1e-7)
    assert max(reflown(rail, plan)) < 1e-6


def test_error_estimate_is_honoured_by_the_replay():
    """A smooth plan: the replayed end differs by no more than the sum of the estimated errors, amplified by the motion."""
    eom = form_equations(two_links())
    end = {"shoulder": 1.0, "elbow": -0.5, "shoulder_dot": 0.0, "elbow_dot": 0.0}
    smooth = {
        "cost_rate": lambda s: s.input("shoulder") ** 2 + s.input("elbow") ** 2,
        "time_weight": 0.0,
        "duration": 7.0,
    }
    problem = Problem(eom=eom, start={"elbow": 0.5}, end=end, **smooth)
    coarse = plan_collocation(problem, scheme=HermiteSimpson(8), refine=Refinement(rounds=0), check=False)
    assert not coarse.outcome.is_success and "end of elbow" in coarse.outcome.message  # its flight misses the end
    estimate, real = coarse.outcome.stats["mesh_error"], reflown(eom, coarse)[0]
    assert 0.1 * estimate < real < 8 * 30.0 * estimate
    fine = plan_collocation(problem, scheme=HermiteSimpson(8), refine=Refinement(tolerance=1e-8))
    assert fine.outcome.stats["mesh_error"] <= 1e-8
    assert reflown(eom, fine)[0] < 1e-6


def test_unreachable_target_is_named(rail):
    problem = Problem(eom=rail, end=REST, duration=(0.0, 1.0))  # two seconds are needed
    with pytest.raises(SolverError, match="'x"):
        plan_collocation(problem)
    failed = plan_collocation(problem, check=False)
    assert not failed.outcome.is_success


def test_contradictions_raise_before_solving(rail):
    with pytest.raises(ModelError, match="x_dot"):
        plan_collocation(Problem(eom=rail, end={"x_dot": 2.0}, bounds={"x_dot": (-1.0, 1.0)}))
    with pytest.raises(ModelError, match="did you mean 'x'"):
        Problem(eom=rail, end={"xx": 1.0})
    start_on_wall = Condition(name="wall", rule=lambda s: s["x"], low=0.5, high=2.0)
    with pytest.raises(SolverError, match="wall.*at the start"):
        plan_collocation(Problem(eom=rail, end=REST, path=(start_on_wall,)))


def test_plan_of_another_planner_is_a_guess(rail):
    first = plan_collocation(Problem(eom=rail, end=REST), scheme=Radau(10))
    again = plan_collocation(Problem(eom=rail, end={"x": 1.1, "x_dot": 0.0}), scheme=Radau(10), guess=first)
    np.testing.assert_allclose(again.final_time, 2.0 * np.sqrt(1.1), atol=1e-8)


def test_a_replay_warns_of_inputs_beyond_the_limits(rail):
    plan = plan_collocation(Problem(eom=rail, end=REST), scheme=Radau(15))
    weak = replace(cart(), actuators=(JointForce(joint="x", limit=0.5),))
    with pytest.warns(UserWarning, match="asks 'x' for -1 to 1 N, its limits are -0.5 and 0.5"):
        replay(form_equations(weak), plan)
