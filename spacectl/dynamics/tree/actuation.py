"""Generalised forces of actuators: the columns of B_tau."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.actuators import Actuator, BodyTorque, JointTorque, ReactionWheel
from spacectl.model.actuators.distributed_force import DistributedForce
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System
from spacectl.model.validation.validate import find_component, find_speed
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.flexible import distributed_load
from spacectl.spatial.motion import Placement, pull_wrench

if TYPE_CHECKING:
    from spacectl.dynamics.tree.terms import Terms

__all__ = ["body_wrench", "input_column", "input_direction", "loop_effort", "loop_motor"]


def input_column(terms: Terms, actuator: Actuator, along: Any | None = None) -> Any:
    """Generalised forces of unit input; a body actuator acts along a given direction (root axes) or its own."""
    column = ca.SX(terms.v.shape[0], 1)
    if isinstance(actuator, (JointTorque, ReactionWheel)):
        joint = actuator.joint if isinstance(actuator, JointTorque) else actuator.input_name
        loop = loop_motor(terms.system, actuator)
        if loop is not None:
            return _loop_column(terms, loop, actuator)
        node = next(node for node in terms.tree.nodes if node.part.joint_name == joint)
        column[node.v.start + (find_speed(actuator, node.part) if isinstance(actuator, JointTorque) else 0)] = 1.0
        return column
    i, wrench, forces = body_wrench(terms, actuator, along)
    loads: list[Any] = [zeros(6, terms.q) for _ in terms.tree.nodes]
    modal = [terms.q[node.eta] * 0.0 if node.is_flexible else None for node in terms.tree.nodes]
    loads[i] = wrench
    modal[i] = forces if forces is not None else modal[i]
    return terms.project(loads, modal)


def loop_effort(terms: Terms, loop: Any, actuator: Any, R_JF: Any) -> Any:
    """Wrench of a unit effort in the joint that closes a loop, on `b` about F's origin in F axes."""
    k = find_component(f"actuator '{actuator.input_name}'", actuator.component, loop)[1]
    return loop.joint.effort_wrenches(R_JF, terms.numbers.group(loop.name))[:, k]


def loop_motor(system: System, actuator: Actuator) -> AnyConstraint | None:
    """The loop in whose joint an actuator works, if it does."""
    joint = actuator.joint if isinstance(actuator, JointTorque) else None
    found = next((item for item in system.constraints if item.name == joint), None)
    return found if found is not None and found.closing_joint is not None else None


def _loop_column(terms: Terms, loop: Any, actuator: Any) -> Any:
    """Generalised forces of a unit effort in the joint that closes a loop: on `b`, and the opposite on `a`."""
    n = terms.numbers.group(loop.name)
    found = {}
    for end in ("a", "b"):
        i, X_BA, attachment = frame_in_body(terms.tree, getattr(loop, end), terms.q, terms.v, terms.numbers)
        found[end] = i, X_BA, Placement(n[f"rotation_{end}"], n[f"at_{end}"]), attachment
    X_N = {
        end: (X @ X_end if i == ROOT else terms.motions[i].X_NB @ X @ X_end) for end, (i, X, X_end, _) in found.items()
    }
    X_JF = X_N["a"].inverse() @ X_N["b"]
    at_F = loop_effort(terms, loop, actuator, X_JF.R)
    at_J = -pull_wrench(X_JF, at_F)
    loads: list[Any] = [zeros(6, terms.q) for _ in terms.tree.nodes]
    modal = [terms.q[node.eta] * 0.0 if node.is_flexible else None for node in terms.tree.nodes]
    for end, wrench in (("a", at_J), ("b", at_F)):
        i, X_BA, X_end, attachment = found[end]
        if i == ROOT:
            continue
        at_A = pull_wrench(X_end, wrench)
        loads[i] = loads[i] + pull_wrench(X_BA, at_A)
        if attachment is not None:
            modal[i] = modal[i] + attachment.S.T @ at_A
    return terms.project(loads, modal)


def input_direction(terms: Terms, actuator: Any) -> Any:
    """Direction of a body actuator in root axes."""
    along = terms.numbers.group(actuator.input_name)["direction"]
    if actuator.axes == "world":
        return along
    i, X_BA, _ = frame_in_body(terms.tree, actuator.on, terms.q, terms.v, terms.numbers)
    return (terms.motions[i].X_NB @ X_BA).R @ along


def body_wrench(terms: Terms, actuator: Any, along_N: Any | None = None) -> tuple[int, Any, Any]:
    """Body index, wrench about its origin (body axes) and modal forces (None: none), for unit input."""
    i, X_BA, attachment = frame_in_body(terms.tree, actuator.on, terms.q, terms.v, terms.numbers)
    n = terms.numbers.group(actuator.input_name)
    if along_N is None:
        along = (terms.motions[i].X_NB @ X_BA).R.T @ n["direction"] if actuator.axes == "world" else n["direction"]
    else:
        along = (terms.motions[i].X_NB @ X_BA).R.T @ along_N
    if isinstance(actuator, DistributedForce):
        return i, *distributed_load(n, terms.q[terms.tree.nodes[i].eta], along)
    none = zeros(3, terms.q)
    wrench = stack(along, none) if isinstance(actuator, BodyTorque) else stack(cross(n["at"], along), along)
    return i, pull_wrench(X_BA, wrench), None if attachment is None else attachment.S.T @ wrench
