"""Which coordinates depend where loops share them, repeat or contradict each other, or are drawn in a special position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Constraint,
    JointForce,
    JointTorque,
    Loop,
    Part,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    SolverError,
    System,
    close_loops,
    close_positions,
    form_equations,
    make_consistent,
)
from spacectl.dynamics.partitioning.elimination import LoopEquations, eliminate
from tests.dynamics.bar_systems import TILT, crank_slider, four_bar, parallel_cranks


def gap(eom: Any, q: np.ndarray, t: float = 0.0) -> float:
    return float(np.max(np.abs(eom.residual(t, q, np.zeros(eom.n_v))[: len(eom.position_rows)])))


def with_rail(system: System) -> System:
    """The coupler's end on a line: with the pins no freedom is left, and the rail has none of the rows to itself."""
    eom = form_equations(system)
    place = eom.placements(0.0, eom.state()[: eom.n_q])[[part.name for part in system.parts].index("coupler")]
    end = place[9:] + place[:9].reshape(3, 3) @ np.array([0.9, 0.0, 0.0])
    rail = PointOnPlane(name="rail", a="world", at_a=tuple(end), b="coupler.end", normal="y")
    return replace(system, constraints=(*system.constraints, rail))


def on_a_car(system: System) -> System:
    car = Part(RigidBody(name="car", mass=2.0, inertia=(0.1, 0.1, 0.1)), joint=Prismatic(name="car", axis="y"))
    parts = [replace(part, on="car") if part.on == "world" else part for part in system.parts]
    drives = (JointTorque(joint="crank_pin"), JointForce(joint="car"))
    return replace(system, parts=(car, *parts), actuators=drives)


@pytest.mark.parametrize("make", [lambda: with_rail(four_bar()), lambda: with_rail(on_a_car(four_bar()))])
def test_loops_that_share_their_coordinates_close_together(make: Any) -> None:
    """Each loop by itself would open the other again: 4e-6 and 4e-4 m were left open without a word."""
    eom = form_equations(make(), formulation="partitioned")
    plan = eom.reduction
    dependent = [j for loop in plan.loops for j in loop.preferred]
    assert len(dependent) == len(set(dependent)) == 3
    start = eom.state()
    start[: eom.n_q] += 0.003 * np.random.default_rng(0).standard_normal(eom.n_q)
    state = close_loops(eom, start)
    assert state.residual < 1e-14
    closed = close_positions(eom, start[None, : eom.n_q])
    assert gap(eom, closed[0]) < 1e-14
    assert len(state.independent) == eom.n_v - 3


def test_loops_that_cannot_close_together_are_named() -> None:
    """The rail 5 m away and the car held: both loops stay open, and the error has the least of both."""
    system = with_rail(on_a_car(four_bar()))
    far = tuple(replace(c, at_a=(0.0, 5.0, 0.0)) if c.name == "rail" else c for c in system.constraints)
    eom = form_equations(replace(system, constraints=far), formulation="partitioned", independent=("car",))
    with pytest.raises(SolverError, match=r"'rail'.* cannot close; .*at joint '(crank|coupler|rocker)_pin'") as caught:
        close_loops(eom, eom.state())
    partial = caught.value.partial
    assert partial.shape == (eom.n_x,)
    rng, best = np.random.default_rng(1), np.linalg.norm(eom.residual(0.0, partial[:4], np.zeros(4))[:3])
    free = [j for block in eom.reduction.blocks for j in block.speeds]
    for _ in range(20):
        q = partial[:4].copy()
        q[free] += 1e-3 * rng.standard_normal(len(free))
        assert np.linalg.norm(eom.residual(0.0, q, np.zeros(4))[:3]) > best
    assert np.all(np.isnan(close_positions(eom, eom.state()[None, :4])))


@pytest.mark.parametrize("closing", ["hinge", "pin"])
def test_a_loop_that_repeats_another_is_examined_and_omitted(closing: str) -> None:
    """A second hinge on the same axis, as a door has; moved aside it contradicts the first."""
    system = four_bar(closing=closing)
    second = tuple(
        replace(c, name=f"{c.name}_again", at_a=(0.0, 0.0, 0.1), at_b=(0.0, 0.0, 0.1)) for c in system.constraints
    )
    door = replace(system, constraints=(*system.constraints, *second))
    eom = form_equations(door, formulation="partitioned", vary=tuple(f"{c.name}.at_b" for c in second))
    start = eom.state(crank_pin=0.2, coupler_pin=0.01)
    state = close_loops(eom, start)
    assert state.residual < 1e-14
    assert sorted(loop.method for loop in state.loops) == ["closed form", "nothing to move"]
    np.testing.assert_allclose(
        close_positions(eom, start[None, : eom.n_q])[0], np.asarray(state.x)[: eom.n_q], atol=1e-14
    )
    aside = tuple(replace(c, at_b=(0.01, 0.0, 0.1)) for c in second)
    p = eom.parameters_of(replace(system, constraints=(*system.constraints, *aside)))
    with pytest.raises(SolverError, match=r"is redundant and contradicts the other loops: a residual of 0\.0"):
        close_loops(eom, start, p=p)
    assert np.all(np.isnan(close_positions(eom, start[None, : eom.n_q], p=p)))


def test_contradictory_rules_are_named() -> None:
    rules = tuple(
        Constraint(name=name, rule=lambda s, value=value: s["crank_pin"] - value)
        for name, value in (("one", 0.2), ("two", 0.25))
    )
    system = four_bar()
    eom = form_equations(replace(system, constraints=(*system.constraints, *rules)), formulation="partitioned")
    with pytest.raises(
        SolverError, match=r"loop '(one|two)' .*contradicts the other loops: a residual of 0\.05 remains"
    ) as caught:
        close_loops(eom, eom.state())
    assert caught.value.partial[0] == pytest.approx(0.225)  # half way
    assert np.all(np.isnan(close_positions(eom, eom.state()[None, :3])))


def test_a_linkage_drawn_in_its_singular_position_is_planned_beside_it() -> None:
    """A parallelogram drawn flat: there one row repeats the other, and a plan made there closes it nowhere else."""
    eom = form_equations(four_bar((0.5, 1.0, 0.5), angle=0.0), formulation="partitioned", independent=("crank_pin",))
    (loop,) = eom.reduction.loops
    assert loop.rank == 2 and len(loop.preferred) == 2
    start = eom.state(crank_pin=0.5, coupler_pin=-0.4, rocker_pin=0.4)
    state = close_loops(eom, start)
    np.testing.assert_allclose(np.asarray(state.x)[:3], [0.5, -0.5, 0.5], atol=1e-12)
    for method in ("auto", "newton"):
        closed = close_positions(eom, start[None, :3], method=method)
        np.testing.assert_allclose(closed[0], [0.5, -0.5, 0.5], atol=1e-12)


def test_a_linkage_that_moves_because_of_its_proportions_closes() -> None:
    eom = form_equations(parallel_cranks(), formulation="partitioned", independent=("pin0",))
    assert sum(loop.rank for loop in eom.reduction.loops) == 3
    expected = np.array([0.3, -0.3, 0.3, 0.3])
    start = eom.state(pin0=0.3, pin1=0.25, pin2=0.36, knee=-0.32)
    np.testing.assert_allclose(np.asarray(close_loops(eom, start).x)[:4], expected, atol=1e-12)
    np.testing.assert_allclose(close_positions(eom, start[None, :4])[0], expected, atol=1e-12)


@pytest.mark.parametrize("make", [four_bar, crank_slider])
def test_rounding_of_empty_constraint_equations_is_no_equation(make: Any) -> None:
    """A plane linkage in an oblique plane, hinged: the rows out of the plane are rounding, 1e-17."""
    eom, level = (
        form_equations(make(closing="hinge", tilt=tilt), formulation="partitioned", independent=("crank_pin",))
        for tilt in (TILT, np.eye(3))
    )
    assert [loop.rank for loop in eom.reduction.loops] == [2]
    x, y = (np.asarray(close_loops(e, e.state(crank_pin=0.2, crank_pin_dot=1.0)).x) for e in (eom, level))
    np.testing.assert_allclose(x, y, atol=1e-13)
    np.testing.assert_allclose(eom.x_dot(0.0, x), level.x_dot(0.0, x), atol=1e-11)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, x, np.zeros(0)), eom.x_dot(0.0, x), atol=1e-12)


def test_elimination_does_not_pivot_on_rounding() -> None:
    J = np.array([[1e-17, -3e-17, 2e-17], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0]])
    (done,) = eliminate(J, np.zeros(3), (LoopEquations((0, 1, 2), (0, 1), 2),), np.ones(3))
    assert set(done.rows) == {1, 2}


def test_hinge_and_rule_in_time_close_in_turn() -> None:
    """A crank driven by a rule is closed before the loop that follows it, by itself."""
    system = four_bar()
    rule = Constraint(name="drive", rule=lambda s: s["crank_pin"] - 0.5 * s.t)
    for constraints in ((rule, *system.constraints), (*system.constraints, rule)):
        eom = form_equations(replace(system, constraints=constraints), formulation="partitioned")
        assert [len(block.loops) for block in eom.reduction.blocks] == [1, 1]
        state = close_loops(eom, eom.state(), t=0.4)
        assert state.x[0] == pytest.approx(0.2, abs=1e-15) and state.residual < 1e-14
        assert state.loops[1].method == "closed form"
        again = make_consistent(form_equations(system), eom.state(crank_pin=0.2), hold=("crank_pin",))
        np.testing.assert_allclose(np.asarray(state.x)[:3], np.asarray(again.x)[:3], atol=1e-11)


def test_rates_alone_move_no_coordinate() -> None:
    """A loop whose rule holds a rate leaves positions to the others, in native code too."""
    system = four_bar()
    rule = Constraint(name="pace", rule=lambda s: s["crank_pin_dot"] - 1.0)
    eom = form_equations(replace(system, constraints=(*system.constraints, rule)), formulation="partitioned")
    start = eom.state(crank_pin=0.2)
    state = close_loops(eom, start)
    assert {loop.method for loop in state.loops} == {"rates only", "closed form"}
    assert state.x[0] == 0.2 and state.x[3] == pytest.approx(1.0) and state.residual < 1e-13
    for method in ("closed form", "newton"):
        np.testing.assert_allclose(
            close_positions(eom, start[None, :3], method=method)[0], np.asarray(state.x)[:3], atol=1e-13
        )


def test_the_door_of_two_hinges_runs_as_that_of_one() -> None:
    hinge = Loop(
        name="lower", a="coupler.end", at_a=(0, 0, 0.1), b="rocker.end", at_b=(0, 0, 0.1), joint=Revolute(axis="z")
    )
    one = four_bar(closing="hinge")
    two = replace(one, constraints=(*one.constraints, hinge))
    ends = []
    for system in (one, two):
        eom = form_equations(system, formulation="partitioned")
        x = np.asarray(close_loops(eom, eom.state(crank_pin=0.1, crank_pin_dot=1.0)).x)
        ends.append(eom.x_dot(0.0, x))
    np.testing.assert_allclose(*ends, atol=1e-11)
