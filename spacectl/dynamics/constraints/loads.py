"""Constraint forces as loads on bodies, for the reactions in the joints of a tree.

A constraint between frames loads both; a rule of positions, rotations or velocities of frames loads each of them along
its own slope; a rule of coordinates acts within their joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.tree.actuation import loop_effort, loop_motor
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.actuators import JointEffort
from spacectl.model.constraints import Artificial, Constraint, FrameConstraint, Loop
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.motion import Placement, pull_wrench

__all__ = [
    "all_efforts",
    "constraint_loads",
    "constraint_wrenches",
    "named_wrenches",
    "natural_frames",
]


def natural_frames(eom: Any) -> list[str]:
    """Names of the natural constraints between frames that have equations, in order."""
    active = {name.split(".")[0] for name in eom.constraint_rows}
    names = [item.name for item in eom.system.constraints if isinstance(item, FrameConstraint) and item.is_natural]
    return [name for name in names if name in active]


def all_efforts(constraints: ConstraintTerms, free: tuple[str, ...], u: Any, lam: Any) -> Any:
    """Every actuator's effort, in the order of the system: inputs u, or multipliers of what it keeps."""
    known = dict(zip(free, ca.vertsplit(u), strict=True)) if free else {}
    at = 0
    for item in constraints.rows:
        if isinstance(item.constraint.kind, Artificial):
            known.update({name: lam[at + k] for k, name in enumerate(item.constraint.kind.by)})
        at += item.constraint.n_rows
    efforts = [known[actuator.input_name] for actuator in constraints.terms.system.actuators]
    return ca.vertcat(*efforts) if efforts else ca.SX(0, 1)


def named_wrenches(constraints: ConstraintTerms, efforts: Any, lam: Any) -> Any:
    """Wrench on `b` of each natural constraint between frames, motor included, about F in F axes, shape (k, 6)."""
    rows, at = [], 0
    for item in constraints.rows:
        own = lam[at : at + item.constraint.n_rows]
        at += item.constraint.n_rows
        if isinstance(item.constraint, FrameConstraint) and item.constraint.is_natural:
            wrench = constraint_wrenches(constraints, item.constraint, own)
            rows.append((wrench + _motor_wrench(constraints, item.constraint, efforts)).T)
    return ca.densify(ca.vertcat(*rows)) if rows else ca.SX(0, 6)


def _motor_wrench(constraints: ConstraintTerms, constraint: FrameConstraint, efforts: Any) -> Any:
    terms = constraints.terms
    total = ca.SX.zeros(6)
    for k, name, effort, loop in _loop_efforts(terms):
        if loop is constraint:
            total = total + loop_effort(terms, loop, name, effort, constraints.relative(loop).R) * efforts[k]
    return total


def _loop_efforts(terms: Any) -> Iterator[tuple[int, str, JointEffort, Loop]]:
    """Place and name of each actuator that works in the joint of a loop, its effort there and the loop."""
    for k, actuator in enumerate(terms.system.actuators):
        for effort in actuator.joint_efforts:
            loop = loop_motor(terms.system, effort)
            if loop is not None:
                yield k, actuator.input_name, effort, loop


def constraint_loads(constraints: ConstraintTerms, efforts: Any, lam: Any) -> list[tuple[int, Any]]:
    """Pairs (body, wrench about its origin in its axes) of all natural constraints and of motors in loops."""
    loads: list[tuple[int, Any]] = []
    for k, name, effort, loop in _loop_efforts(constraints.terms):
        at_F = loop_effort(constraints.terms, loop, name, effort, constraints.relative(loop).R)
        loads += _pair(constraints, loop, at_F * efforts[k])
    at = 0
    for item in constraints.rows:
        size = item.constraint.n_rows
        own = lam[at : at + size]
        at += size
        if not item.constraint.is_natural:
            continue
        if isinstance(item.constraint, FrameConstraint):
            loads += _frame_loads(constraints, item.constraint, own)
        elif isinstance(item.constraint, Constraint):
            loads += _rule_loads(constraints, item.constraint, own)
    return [(body, wrench) for body, wrench in loads if body != ROOT]


def constraint_wrenches(constraints: ConstraintTerms, constraint: FrameConstraint, lam: Any) -> Any:
    """Wrench (moment, force) that a frame constraint applies to `b`, about F's origin in F axes."""
    if constraint.has_position_level:
        return constraints.gradient(constraint).T @ lam
    n = constraints.terms.numbers.group(constraint.name)
    moment = constraints.relative(constraint).R.T @ n["axis"] * lam
    return stack(moment, zeros(3, moment))


def _frame_loads(constraints: ConstraintTerms, constraint: FrameConstraint, lam: Any) -> list[tuple[int, Any]]:
    return _pair(constraints, constraint, constraint_wrenches(constraints, constraint, lam))


def _pair(constraints: ConstraintTerms, constraint: FrameConstraint, at_F: Any) -> list[tuple[int, Any]]:
    """A wrench on `b` about F in F axes, and the opposite one on `a`, as loads on their bodies."""
    terms, n = constraints.terms, constraints.terms.numbers.group(constraint.name)
    at_J = -pull_wrench(constraints.relative(constraint), at_F)
    loads = []
    for end, wrench in (("a", at_J), ("b", at_F)):
        body, X_BA, _ = frame_in_body(terms.tree, getattr(constraint, end), terms.q, terms.v, terms.numbers)
        loads.append((body, pull_wrench(X_BA @ Placement(n[f"rotation_{end}"], n[f"at_{end}"]), wrench)))
    return loads


def _rule_loads(constraints: ConstraintTerms, constraint: Constraint, lam: Any) -> list[tuple[int, Any]]:
    """Forces and moments on the frames that a rule names, along the slope of the rule."""
    terms = constraints.terms
    # a rule of speeds pushes along its slope by velocities; places in it only say where they point
    is_of_speeds = ca.depends_on(constraints.value(constraint), terms.v)
    sizes = {"velocity": 3, "angular_velocity": 3} if is_of_speeds else {"position": 3, "rotation": 9}
    symbols = {need: ca.SX.sym("s", sizes[need[0]]) for need in constraint.rule.needs if need[0] in sizes}
    if not symbols:
        return []

    def quantity(kind: str, name: str) -> Any:
        return symbols[kind, name] if (kind, name) in symbols else constraints.quantity(constraint, kind, name)

    value = constraint.rule(quantity)
    actual = [constraints.quantity(constraint, *need) for need in symbols]
    loads = []
    for (kind, name), symbol in symbols.items():
        (slope,) = ca.substitute([ca.jacobian(value, symbol)], list(symbols.values()), actual)
        push = slope.T @ lam
        body, X_BA, _ = frame_in_body(terms.tree, name, terms.q, terms.v, terms.numbers)
        if body == ROOT:
            continue
        X_NA = terms.motions[body].X_NB @ X_BA
        if kind == "rotation":  # d(R) = d_theta~ R: moment = sum over columns of (column x slope)
            force_rows = ca.reshape(push, 3, 3).T
            moment = sum((cross(X_NA.R[:, k], force_rows[:, k]) for k in range(3)), ca.SX.zeros(3))
            wrench_N = stack(moment, ca.SX.zeros(3))
        else:
            none = ca.SX.zeros(3)
            wrench_N = stack(push, none) if kind == "angular_velocity" else stack(none, push)
        local = stack(X_NA.R.T @ wrench_N[:3], X_NA.R.T @ wrench_N[3:])
        loads.append((body, pull_wrench(X_BA, local)))
    return loads
