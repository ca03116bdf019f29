"""Generalised forces of actuators: columns of B_tau, and functions of their efforts for all formulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import ROOT, Node
from spacectl.model.actuators import Actuator, Effort, JointEffort, Wrench
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System
from spacectl.model.validation.validate import find_component
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.flexible import Attachment, distributed_load
from spacectl.spatial.inertia import Placement, pull_wrench

if TYPE_CHECKING:
    from spacectl.dynamics.tree.terms import Terms

__all__ = [
    "body_wrench",
    "effort_column",
    "effort_direction",
    "effort_gain",
    "effort_speed",
    "input_column",
    "loop_effort",
    "loop_motor",
    "unit_wrench",
]


def effort_gain(effort: JointEffort, n: Mapping[str, Any]) -> Any:
    """Return the generalised force of unit input along the speed of an effort, from the actuator's parameters."""
    return n[effort.gain] if effort.gain else 1.0


def effort_speed(effort: JointEffort, nodes: Mapping[str, Node]) -> int:
    """Return the index in v of the speed that a joint effort drives; `nodes` by name of their joints."""
    node = nodes[effort.joint]
    return node.v.start + find_component("actuator", effort.component, node.part)[1]


def unit_wrench(
    effort: Wrench,
    n: Mapping[str, Any],
    X_CA: Placement,
    X_NC: Placement,
    eta: Any,
    attachment: Attachment | None,
    along_N: Any | None = None,
) -> tuple[Any, Any]:
    """Return the wrench of unit input about the origin of its carrier C, in C axes; and modal forces or None.

    Parameters
    ----------
    effort : Wrench
        Effort on a body.
    n : mapping
        The actuator's parameters.
    X_CA, X_NC : Placement
        Of the effort's frame A in the carrier, and of the carrier in the root; the latter is used for world
        axes only.
    eta : vector or None
        The carrier's modal coordinates, for a distributed load.
    attachment : Attachment or None
        Motion of A with the carrier's modes.
    along_N : vector, shape (3,), optional
        Direction in root axes, in place of the effort's own.
    """
    if along_N is None and effort.axes == "world":
        along_N = effort.arrow(n)
    along = effort.arrow(n) if along_N is None else (X_NC @ X_CA).R.T @ along_N
    if effort.is_spread:
        return distributed_load(n, eta, along)
    if effort.is_moment:
        wrench = stack(along, 0.0 * along)
    else:
        wrench = stack(cross(n[effort.at], along) if effort.at else 0.0 * along, along)
    return pull_wrench(X_CA, wrench), None if attachment is None else attachment.S.T @ wrench


def input_column(terms: Terms, actuator: Actuator) -> Any:
    """Return the generalised forces of unit input, shape (n_v,)."""
    columns = [effort_column(terms, actuator.input_name, effort) for effort in actuator.efforts()]
    return sum(columns, ca.SX(terms.v.shape[0], 1))


def effort_column(terms: Terms, name: str, effort: Effort, along_N: Any | None = None) -> Any:
    """Return the generalised forces of one effort of the actuator `name`; a wrench acts along a given direction or its own."""
    if isinstance(effort, JointEffort):
        loop = loop_motor(terms.system, effort)
        if loop is not None:
            return _loop_column(terms, loop, name, effort)
        column = ca.SX(terms.v.shape[0], 1)
        nodes = {node.part.joint_name: node for node in terms.tree.nodes}
        column[effort_speed(effort, nodes)] = effort_gain(effort, terms.numbers.group(name))
        return column
    i, wrench, forces = body_wrench(terms, name, effort, along_N)
    loads: list[Any] = [zeros(6, terms.q) for _ in terms.tree.nodes]
    modal = [terms.q[node.eta] * 0.0 if node.is_flexible else None for node in terms.tree.nodes]
    loads[i] = wrench
    modal[i] = forces if forces is not None else modal[i]
    return terms.project(loads, modal)


def loop_effort(terms: Terms, loop: Any, name: str, effort: JointEffort, R_JF: Any) -> Any:
    """Return the wrench of an effort in the joint that closes a loop, on `b` about F's origin in F axes."""
    k = find_component(f"actuator '{name}'", effort.component, loop)[1]
    wrenches = loop.joint.effort_wrenches(R_JF, terms.numbers.group(loop.name))
    return wrenches[:, k] * effort_gain(effort, terms.numbers.group(name))


def loop_motor(system: System, effort: Effort) -> AnyConstraint | None:
    """Return the loop whose closing joint an effort drives, or None."""
    joint = effort.joint if isinstance(effort, JointEffort) else None
    found = next((item for item in system.constraints if item.name == joint), None)
    return found if found is not None and found.closing_joint is not None else None


def _loop_column(terms: Terms, loop: Any, name: str, effort: JointEffort) -> Any:
    """Return the generalised forces of an effort in the joint that closes a loop: on `b`, and the opposite on `a`."""
    n = terms.numbers.group(loop.name)
    found = {}
    for end in ("a", "b"):
        i, X_BA, attachment = frame_in_body(terms.tree, getattr(loop, end), terms.q, terms.v, terms.numbers)
        found[end] = i, X_BA, Placement(n[f"rotation_{end}"], n[f"at_{end}"]), attachment
    X_N = {
        end: (X @ X_end if i == ROOT else terms.motions[i].X_NB @ X @ X_end) for end, (i, X, X_end, _) in found.items()
    }
    X_JF = X_N["a"].inverse() @ X_N["b"]
    at_F = loop_effort(terms, loop, name, effort, X_JF.R)
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


def effort_direction(terms: Terms, name: str, effort: Wrench) -> Any:
    """Return the direction (times gain) of a wrench of the actuator `name`, in root axes."""
    along = effort.arrow(terms.numbers.group(name))
    if effort.axes == "world":
        return along
    i, X_BA, _ = frame_in_body(terms.tree, effort.on, terms.q, terms.v, terms.numbers)
    return (terms.motions[i].X_NB @ X_BA).R @ along


def body_wrench(terms: Terms, name: str, effort: Wrench, along_N: Any | None = None) -> tuple[int, Any, Any]:
    """Return body index, wrench about its origin (body axes) and modal forces (None: none) for unit input of the actuator."""
    i, X_BA, attachment = frame_in_body(terms.tree, effort.on, terms.q, terms.v, terms.numbers)
    n, eta = terms.numbers.group(name), terms.q[terms.tree.nodes[i].eta]
    return i, *unit_wrench(effort, n, X_BA, terms.motions[i].X_NB, eta, attachment, along_N)
