"""Solve the open tree in order N, find the loop forces, correct the tree: the starting point of 004.

(a) accelerations of the tree without its closures, by the articulated recursion; (b) forces that maintain the closures,
``J M^-1 E lam = gamma - J v_dot_tree``, with M^-1 applied by recursion; (c) ``v_dot = v_dot_tree + M^-1 E lam``. It is
independent of the aggregates and used to verify them; its cost grows with the cube of the number of loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.dynamics.constraints.sharing import share_load
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.formulations.articulated import form_articulated
from spacectl.dynamics.formulations.switching import compliances_of
from spacectl.dynamics.recursion.links import Link, form_links
from spacectl.dynamics.recursion.sweeps import forward_dynamics, move_all
from spacectl.dynamics.tree.actuation import loop_motor
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.handover import Options

__all__ = ["TreeCorrection", "correct_tree"]


@dataclass(frozen=True)
class TreeCorrection:
    """Results of the three steps.

    Parameters
    ----------
    tree : Array, shape (n_v,)
        Accelerations of the open tree.
    lam : Array, shape (m,)
        Multipliers of the constraint equations, of least work where they are not unique (`dynamics.constraints.sharing`).
    correction : Array, shape (n_v,)
        Contribution of the loop forces.
    v_dot : Array, shape (n_v,)
        The sum.
    """

    tree: Any
    lam: Any
    correction: Any
    v_dot: Any


def correct_tree(eom: EquationsOfMotion, t: float, x: Any, u: Any = None, *, p: Any = None) -> TreeCorrection:
    """Find the accelerations of a constrained system from those of its open tree.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system, by any formulation in joint coordinates.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State that satisfies the constraints.
    u : array, shape (n_u,), optional
        Inputs; default zero.
    p : array, optional
        Run-time parameters.

    Raises
    ------
    ModelError
        Without constraints, and for tethers and truncated orders.
    ShapeError
        If x or u has another shape.
    """
    require_equations(eom, "correct_tree")
    lines = [element.name for element in eom.system.point_elements if not element.only_pushes]
    if not eom.constraint_rows or eom.system.is_first_order or lines:
        line = f" (tether '{lines[0]}')" if lines else ""
        raise ModelError(
            f"correct_tree: system '{eom.system.name}' has no constraints, or a tether{line} or a truncated order; use eom.v_dot"
        )
    x, numbers = np.asarray(x, dtype=float), eom.parameters.of(p)
    command = np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    if x.shape != (eom.n_x,) or command.shape != (eom.n_u,):
        raise ShapeError(
            f"correct_tree: x has shape {x.shape}, u {command.shape}; expected ({eom.n_x},) and ({eom.n_u},), the states and "
            "inputs of eom.states and eom.inputs"
        )
    q, v = x[: eom.n_q], x[eom.n_q :]
    J, gamma = (eom.call("constraints", t, q, v, p=numbers)[k] for k in (2, 4))
    E = eom.call("terms", t, q, v, command, p=numbers)[5] if eom.constraint_inputs else J.T
    solve = _TreeInverse(eom, t, q, numbers)
    free = _open_tree(eom, t, q, v, command, numbers, solve)
    reach = np.stack([solve(column) for column in E.T], axis=1)
    lam = np.linalg.lstsq(J @ reach, gamma.reshape(-1) - J @ free, rcond=RANK)[0]
    correction = reach @ lam
    lam = share_load(eom.mass_matrix(t, q, numbers), E, lam, np.array(compliances_of(eom)))
    return TreeCorrection(Array(free), Array(lam), Array(correction), Array(free + correction))


def _open_tree(
    eom: EquationsOfMotion, t: float, q: Any, v: Any, u: np.ndarray, p: np.ndarray, solve: Any
) -> np.ndarray:
    """Return the accelerations of the tree; motors in joints that close loops act on it as external forces."""
    closing = [
        item.input_name
        for item in eom.system.actuators
        if any(loop_motor(eom.system, effort) is not None for effort in item.efforts())
    ]
    others = tuple(a for a in eom.system.actuators if a.input_name not in closing)
    tree = replace(eom.system, actuators=others, constraints=())
    opened = form_articulated(tree, options=Options(vary=eom.handover.vary), rebuild=())
    own = opened.parameters.taken_from(eom.parameters, p)
    command = [u[eom.inputs.index(a.input_name)] if a.input_name in eom.inputs else 0.0 for a in others]
    found = opened.v_dot(t, q, v, command, own)
    pushes = [name for name in closing if name in eom.inputs]
    if pushes:
        columns = [eom.inputs.index(name) for name in pushes]
        found = found + solve(eom.input_map(t, q, p)[:, columns] @ u[columns])
    return found


class _TreeInverse:
    """``M^-1 f`` of the open tree by the articulated recursion at rest, numerically."""

    def __init__(self, eom: EquationsOfMotion, t: float, q: np.ndarray, p: np.ndarray):
        tree = Tree.of(eom.system)
        links = form_links(tree, numeric_numbers(eom.parameters, p), np.zeros(1)).items
        self.links = [_locked(link, float(np.ravel(t)[0])) for link in links]
        motions = move_all(self.links, t, q, np.zeros(eom.n_v), np.zeros(6))
        self.motions = [replace(item, bias=0.0 * item.bias, carrier_bias=_none(item.carrier_bias)) for item in motions]

    def __call__(self, f: np.ndarray) -> np.ndarray:
        loads = [np.zeros(6) for _ in self.links]
        modal = {i: np.zeros(item.rates.shape[0]) for i, item in enumerate(self.motions) if item.modal is not None}
        still = [replace(item, twist=np.zeros(6)) for item in self.motions]
        rates = forward_dynamics(self.links, still, np.asarray(f, dtype=float), loads, np.zeros(6), modal)
        return np.array(rates, dtype=float)


def _locked(link: Link, t: float) -> Link:
    """Return a link with its prescribed motion, if any, locked at time t."""
    joint = link.node.part.joint
    if joint.motion is None or link.kind != "prescribed":
        return link
    value = np.array([float(joint.motion(t)[0])])
    return replace(link, X_PJ=link.X_PJ @ joint.placement(value, link.n), kind="fixed")


def _none(bias: Any) -> Any:
    return None if bias is None else 0.0 * bias
