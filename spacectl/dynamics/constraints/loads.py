"""Constraint forces as loads on bodies, for the reactions in the joints of a tree.

A constraint between frames loads both frames. Equations of positions, rotations or velocities of frames load each of these
frames along the gradient of the equation. Equations of coordinates act within their joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca

from spacectl.dynamics.constraints.terms import ConstraintEquations, ConstraintTerms
from spacectl.dynamics.tree.actuation import loop_effort, loop_motor
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.actuators import JointEffort
from spacectl.model.constraints import AnyConstraint
from spacectl.spatial.backend import cross, stack
from spacectl.spatial.inertia import Placement, pull_wrench

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "all_efforts",
    "constraint_loads",
    "constraint_wrenches",
    "named_wrenches",
    "natural_frames",
]


def natural_frames(eom: EquationsOfMotion) -> list[str]:
    """Return the names of the active natural constraints between frames, in order."""
    active = {name.split(".")[0] for name in eom.constraint_rows}
    names = [item.name for item in eom.system.constraints if item.ends and item.is_natural]
    return [name for name in names if name in active]


def all_efforts(constraints: ConstraintTerms, free: tuple[str, ...], u: Any, lam: Any) -> Any:
    """Return every actuator's effort, in the order of the system: an input u, or the multiplier that it provides."""
    known = dict(zip(free, ca.vertsplit(u), strict=True)) if free else {}
    at = 0
    for item in constraints.rows:
        known.update({name: lam[at + k] for k, name in enumerate(item.constraint.maintained_by)})
        at += item.constraint.n_rows
    efforts = [known[actuator.input_name] for actuator in constraints.terms.system.actuators]
    return ca.vertcat(*efforts) if efforts else ca.SX(0, 1)


def named_wrenches(constraints: ConstraintTerms, efforts: Any, lam: Any) -> Any:
    """Return the wrench on `b` of each natural constraint between frames, with motors, about F in F axes, (k, 6)."""
    rows, at = [], 0
    for item in constraints.rows:
        own = lam[at : at + item.constraint.n_rows]
        at += item.constraint.n_rows
        if item.constraint.ends and item.constraint.is_natural:
            wrench = constraint_wrenches(constraints, item.constraint, own)
            rows.append((wrench + _motor_wrench(constraints, item.constraint, efforts)).T)
    return ca.densify(ca.vertcat(*rows)) if rows else ca.SX(0, 6)


def _motor_wrench(constraints: ConstraintTerms, constraint: AnyConstraint, efforts: Any) -> Any:
    terms = constraints.terms
    total = ca.SX.zeros(6)
    for k, name, effort, loop in _loop_efforts(terms):
        if loop is constraint:
            total = total + loop_effort(terms, loop, name, effort, constraints.relative(loop).R) * efforts[k]
    return total


def _loop_efforts(terms: Any) -> Iterator[tuple[int, str, JointEffort, AnyConstraint]]:
    """Yield index and input name of each actuator in the joint of a loop, its effort there and the loop."""
    for k, actuator in enumerate(terms.system.actuators):
        for effort in actuator.joint_efforts:
            loop = loop_motor(terms.system, effort)
            if loop is not None:
                yield k, actuator.input_name, effort, loop


def constraint_loads(constraints: ConstraintTerms, efforts: Any, lam: Any) -> list[tuple[int, Any]]:
    """Return pairs (body, wrench about its origin in its axes) of all natural constraints and of motors in loops."""
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
        if item.constraint.ends:
            loads += _pair(constraints, item.constraint, constraint_wrenches(constraints, item.constraint, own))
        else:
            loads += _gradient_loads(constraints, item, own)
    return [(body, wrench) for body, wrench in loads if body != ROOT]


def constraint_wrenches(constraints: ConstraintTerms, constraint: AnyConstraint, lam: Any) -> Any:
    """Return the wrench (moment, force) that a constraint between frames applies to `b`, about F's origin in F axes."""
    return constraints.gradient(constraint).T @ lam


def _pair(constraints: ConstraintTerms, constraint: AnyConstraint, at_F: Any) -> list[tuple[int, Any]]:
    """Return a wrench on `b` about F in F axes, and the opposite one on `a`, as loads on their bodies."""
    terms, n = constraints.terms, constraints.terms.numbers.group(constraint.name)
    at_J = -pull_wrench(constraints.relative(constraint), at_F)
    loads = []
    for end, on, wrench in zip("ab", constraint.ends or (), (at_J, at_F), strict=True):
        body, X_BA, _ = frame_in_body(terms.tree, on, terms.q, terms.v, terms.numbers)
        loads.append((body, pull_wrench(X_BA @ Placement(n[f"rotation_{end}"], n[f"at_{end}"]), wrench)))
    return loads


def _gradient_loads(constraints: ConstraintTerms, item: ConstraintEquations, lam: Any) -> list[tuple[int, Any]]:
    """Return forces and moments on the frames named in some equations, along the gradients of the equations."""
    terms, constraint = constraints.terms, item.constraint
    # the forces of speed-level equations act along the derivative by velocities; positions only affect its direction
    sizes = {"velocity": 3, "angular_velocity": 3} if item.position is None else {"position": 3, "rotation": 9}
    symbols = {need: ca.SX.sym("s", sizes[need[0]]) for need in constraint.needs if need[0] in sizes}
    if not symbols:
        return []

    def quantity(kind: str, name: str) -> Any:
        return symbols[kind, name] if (kind, name) in symbols else constraints.quantity(constraint, kind, name)

    value = constraints.equations(constraint, quantity=quantity)
    actual = [constraints.quantity(constraint, *need) for need in symbols]
    loads = []
    for (kind, name), symbol in symbols.items():
        (gradient,) = ca.substitute([ca.jacobian(value, symbol)], list(symbols.values()), actual)
        push = gradient.T @ lam
        body, X_BA, _ = frame_in_body(terms.tree, name, terms.q, terms.v, terms.numbers)
        if body == ROOT:
            continue
        X_NA = terms.motions[body].X_NB @ X_BA
        if kind == "rotation":  # d(R) = d_theta~ R: moment = sum over columns of (column x gradient)
            force_rows = ca.reshape(push, 3, 3).T
            moment = sum((cross(X_NA.R[:, k], force_rows[:, k]) for k in range(3)), ca.SX.zeros(3))
            wrench_N = stack(moment, ca.SX.zeros(3))
        else:
            none = ca.SX.zeros(3)
            wrench_N = stack(push, none) if kind == "angular_velocity" else stack(none, push)
        local = stack(X_NA.R.T @ wrench_N[:3], X_NA.R.T @ wrench_N[3:])
        loads.append((body, pull_wrench(X_BA, local)))
    return loads
