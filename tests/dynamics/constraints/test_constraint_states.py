"""States that meet constraints, and sets that cannot be met: solved where the physics is unique, else refused by name."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Artificial,
    BodyForce,
    Constraint,
    Fixed,
    Free,
    Loop,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    SolverError,
    System,
    diagnose_constraints,
    form_equations,
    library,
    make_consistent,
)
from spacectl.model.joints.redundant import QuaternionFree


def with_rules(*constraints: Any) -> System:
    return replace(library.planar_arm(lengths=(1.0, 0.8, 0.6)), constraints=constraints)


def rule(name: str, function: Any, **more: Any) -> Constraint:
    return Constraint(name=name, rule=function, **more)


# -- make_consistent


def test_the_projection_is_the_least_change() -> None:
    """No other state on the constraints is nearer, in the metric of the diagonal of M; the message states the distance."""
    eom = form_equations(library.four_bar())
    start = eom.state() + np.array([0.05, -0.03, 0.02, 0.4, -0.2, 0.1])
    found = make_consistent(eom, start)
    x = np.asarray(found.x)
    assert found.residual < 1e-12 and set(found.moved_q) <= set(eom.coordinates) and found.moved_v
    weight = np.sqrt(np.diag(eom.mass_matrix(0.0, start[:3])))
    J = eom.call("constraints", 0.0, x[:3], x[3:])[2]
    change = weight * (x[3:] - start[3:])
    along = np.linalg.svd(J / weight)[2][2:]  # motions that keep the constraints
    np.testing.assert_allclose(along @ change, 0.0, atol=1e-10)  # the change of speeds has no part along them
    # positions: a step of Newton's method each, so that it is the least change to second order
    assert np.linalg.norm(along @ (weight * (x[:3] - start[:3]))) < 0.05 * np.linalg.norm(weight * (x[:3] - start[:3]))
    name = max({**found.moved_q, **found.moved_v}.items(), key=lambda item: abs(item[1]))[0]
    assert name in found.message
    again = make_consistent(eom, x)
    assert again.moved_q == {} and again.moved_v == {} and "met the constraints" in again.message


def test_held_coordinates_and_speeds_stay() -> None:
    eom = form_equations(library.four_bar())
    x = np.asarray(
        make_consistent(eom, eom.state(crank_pin=0.2, crank_pin_dot=1.5), hold=("crank_pin", "crank_pin_dot")).x
    )
    assert x[0] == 0.2 and x[3] == 1.5 and np.max(np.abs(eom.residual(0.0, x[:3], x[3:]))) < 1e-11
    # holding a speed does not hold its coordinate
    bent = make_consistent(eom, eom.state(crank_pin=0.2, crank_pin_dot=1.5), hold=("crank_pin_dot",))
    assert bent.x[3] == 1.5 and "crank_pin" in bent.moved_q
    # one entry of a quaternion holds the attitude
    disc = form_equations(library.rolling_disc())
    start = disc.state(**{"base.qx": 0.1, "base.qz": -0.2, "base.wy": 3.0})
    held = make_consistent(disc, start, hold=("base.qw",))
    np.testing.assert_allclose(held.x[:4], start[:4], atol=2e-16)  # it is scaled to unit length again
    with pytest.raises(ModelError, match="unknown state 'crank'.*crank_pin"):
        make_consistent(eom, eom.state(), hold=("crank",))


def test_an_infeasible_start_names_the_rows() -> None:
    short = library.four_bar()
    far = tuple(replace(c, at_a=(9.0, 0.0, 0.0)) for c in short.constraints)
    eom = form_equations(replace(short, constraints=far))
    with pytest.raises(SolverError, match="four-bar.*no state near the start.*pin_x"):
        make_consistent(eom, eom.state())
    both = form_equations(with_rules(rule("a", lambda s: s["joint1_dot"]), rule("b", lambda s: s["joint1_dot"] - 1.0)))
    with pytest.raises(SolverError, match="no speeds satisfy.*[ab]"):
        make_consistent(both, both.state())
    held = form_equations(library.four_bar())
    with pytest.raises(SolverError, match="hold fewer"):
        make_consistent(held, held.state(crank_pin=0.3), hold=("crank_pin", "coupler_pin"))


def test_a_loop_closed_upside_down_is_reported() -> None:
    """Constraint equations of directions do not distinguish half a turn from none; the projection does."""
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for joint in (Fixed(), Revolute(axis="z")):
        system = System(
            name="s",
            parts=(Part(body, joint=Free(name="base")),),
            constraints=(Loop(name="tie", b="body", joint=joint),),
        )
        eom = form_equations(system)
        turned = eom.state(**{"base.qw": 0.05, "base.qx": 1.0})
        assert np.max(np.abs(eom.residual(0.0, eom.state(**{"base.qw": 0.0, "base.qx": 1.0})[:7], np.zeros(6)))) < 1e-12
        with pytest.raises(SolverError, match="tie turned by 180 degrees"):
            make_consistent(eom, turned)
        make_consistent(eom, eom.state(**{"base.qx": 0.4}))


def test_trees_come_back_as_they_are() -> None:
    eom = form_equations(library.pendulum())
    found = make_consistent(eom, [0.3, 0.1])
    assert list(found.x) == [0.3, 0.1] and "no constraints" in found.message


# -- sets that are not in order


def test_redundant_sets_are_solved_and_named() -> None:
    repeated = with_rules(
        rule("a", lambda s: s["joint1"]), rule("b", lambda s: 2.0 * s["joint1"]), rule("c", lambda s: s["joint2"])
    )
    plain = with_rules(rule("a", lambda s: s["joint1"]), rule("c", lambda s: s["joint2"]))
    u = [0.3, -0.2, 0.5]
    expected = form_equations(plain).v_dot(0.0, [0, 0, 0.4], [0, 0, 1.0], u)
    for formulation in ("kane", "udwadia_phohomsiri", "artificial"):
        eom = form_equations(repeated, formulation=formulation)
        np.testing.assert_allclose(eom.v_dot(0.0, [0, 0, 0.4], [0, 0, 1.0], u), expected, atol=1e-13)
        report = diagnose_constraints(eom, 0.0, [0, 0, 0.4, 0, 0, 1.0])
        assert report.rank == 2 and report.dependent == ("a", "b") and report.contradictory == ()
        assert "'a', 'b' depend on each other" in report.message
    eom = form_equations(repeated, formulation="multipliers")
    with pytest.raises(SolverError, match="3 constraint equations, 2 independent; 'a', 'b' depend.*formulation='kane'"):
        eom.v_dot(0.0, [0, 0, 0.4], [0, 0, 1.0], u)


@pytest.mark.parametrize("formulation", ["kane", "udwadia_phohomsiri", "artificial", "multipliers"])
def test_contradictory_sets_are_refused_by_name(formulation: str) -> None:
    """A least-squares answer would look harmless: each is met by half."""
    both = with_rules(rule("stay", lambda s: s["joint1"]), rule("leave", lambda s: s["joint1"] - 0.5 * s.t**2))
    eom = form_equations(both, formulation=formulation)
    with pytest.raises(SolverError, match="planar arm.*'stay', 'leave' contradict"):
        eom.v_dot(0.0, np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(SolverError, match="'stay', 'leave' contradict"):
        eom.x_dot(0.0, np.zeros(6), np.zeros(3))
    report = diagnose_constraints(eom, 0.0, np.zeros(6))
    assert set(report.contradictory) == {"stay", "leave"} and report.residual == pytest.approx(0.5)


def test_inadequate_and_singular_actuators_are_refused_by_name() -> None:
    eom = form_equations(library.prescribed_arm(by="elbow"))
    bent = [0.0, float(np.arccos(-2.0 / 3.0)), 0.0, 0.0]  # where the elbow has no hold on the first link
    with pytest.raises(SolverError, match="prescribed arm.*'elbow' cannot maintain their constraints here"):
        eom.v_dot(0.0, bent[:2], bent[2:], [0.0])
    assert np.all(np.isfinite(eom.v_dot(0.0, [0.0, 1.0], [0.0, 0.0], [0.0])))
    push = BodyForce(name="push", on="link1", direction="x", at=(0.0, 0.0, 0.0))  # at the hinge: moves nothing
    arm = library.planar_arm()
    useless = replace(
        arm,
        actuators=(*arm.actuators, push),
        constraints=(rule("a", lambda s: s["joint1"], kind=Artificial(by=("push",))),),
    )
    eom = form_equations(useless)
    with pytest.raises(SolverError, match="'push' cannot maintain"):
        eom.v_dot(0.0, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


def test_adequate_actuators_are_not_reported_for_dependent_loops() -> None:
    program = rule("program", lambda s: s["crank_pin"] - 0.1 * s.t**2, kind=Artificial(by=("crank_pin",)))
    base = library.redundant_four_bar()
    eom = form_equations(replace(base, constraints=(*base.constraints, program)))
    report = diagnose_constraints(eom, 0.0, eom.state())
    assert report.rank == 3 and report.adequacy > 0.1 and "cannot maintain" not in report.message
    v_dot = eom.v_dot(0.0, np.zeros(3), np.zeros(3), [0.0])
    assert v_dot[0] == pytest.approx(0.2, abs=1e-12)


def test_a_motion_that_nothing_resists_is_refused() -> None:
    """Quaternion rates are speeds without their unit length: the mass matrix is singular (Schutte and Udwadia)."""
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 2.0, 2.5))
    unit = rule("unit", lambda s: s["base.qw"] ** 2 + s["base.qx"] ** 2 + s["base.qy"] ** 2 + s["base.qz"] ** 2 - 1.0)
    other = rule("other", lambda s: s["base.x"])
    part = Part(body, joint=QuaternionFree(name="base"))
    good = form_equations(System(name="s", parts=(part,), constraints=(unit, other)), formulation="udwadia_phohomsiri")
    loose = form_equations(System(name="s", parts=(part,), constraints=(other,)), formulation="udwadia_phohomsiri")
    q = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    omega = np.array([0.3, -0.5, 0.7])
    v = np.concatenate([[0.0], omega / 2, np.zeros(3)])
    v_dot = good.v_dot(0.0, q, v)
    euler = -np.cross(omega, np.array([1.0, 2.0, 2.5]) * omega) / [1.0, 2.0, 2.5]
    np.testing.assert_allclose(2.0 * v_dot[1:4], euler, atol=1e-12)  # omega_dot at the identity
    with pytest.raises(SolverError, match="no accelerations"):
        loose.v_dot(0.0, q, v)


def test_no_declared_constraint_is_ignored() -> None:
    system = library.four_bar()
    with pytest.raises(ModelError, match="constraint"):
        form_equations(system, formulation="articulated")
    for formulation in ("kane", "multipliers", "udwadia_phohomsiri"):
        with pytest.raises(ModelError, match="'level' is artificial.*formulation='artificial'"):
            form_equations(library.level_arm(), formulation=formulation)
    with pytest.raises(ModelError, match="unknown constraint 'pin'.*pin_x"):
        form_equations(system, active=("pin",))
    one = form_equations(system, active=("pin_x",))
    assert one.constraint_rows == ("pin_x",) and form_equations(system, active=()).constraint_rows == ()
    # in absolute coordinates joints are constraints: switching constraints does not take the mechanism apart
    bodies = form_equations(system, formulation="multipliers", coordinates="absolute", active=("pin_x",))
    assert {name.split(".")[0] for name in bodies.constraint_rows} == {
        "crank_pin",
        "coupler_pin",
        "rocker_pin",
        "pin_x",
    }
    assert pickle.loads(pickle.dumps(bodies)).constraint_rows == bodies.constraint_rows


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ModelError, match="'clock'.*depends on no coordinate and no speed"):
        form_equations(with_rules(rule("clock", lambda s: s.t - 1.0)))
    with pytest.raises(ModelError, match="'both'.*some entries.*positions, others speeds"):
        form_equations(with_rules(rule("both", lambda s: [s["joint1"], s["joint2_dot"]])))
    with pytest.raises(ModelError, match="input 'joint2' cannot maintain both 'a' and 'b'"):
        by = Artificial(by=("joint2",))
        form_equations(with_rules(rule("a", lambda s: s["joint1"], kind=by), rule("b", lambda s: s["joint2"], kind=by)))
    with pytest.raises(ModelError, match="'crank_pin'.*rename"):
        loop = Loop(name="crank_pin", b="rocker.end", at_a=(2.0, 0.0, 0.0), joint=Revolute(axis="z"))
        form_equations(replace(library.four_bar(), constraints=(loop,)))
