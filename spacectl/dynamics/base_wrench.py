"""`find_base_wrench`: force and moment of a mechanism on the body that carries it (002, tenth step).

002 refers to its first part for the algorithm, which is not at hand; derived here. With all accelerations known, the
bodies of the opened tree tell what their root joints must pass: inertia forces less forces from outside. Forces in
closed loops are inner ones, so that multipliers, unique or not, play no part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.equations import EquationsOfMotion, require_equations
from spacectl.model.actuators import JointTorque
from spacectl.model.frame_constraints import FrameConstraint
from spacectl.spatial.motion import Placement, pull_wrench

__all__ = ["find_base_wrench"]


def find_base_wrench(
    eom: EquationsOfMotion, t: float, x: Any, u: Any = None, *, base: str = "world", p: Any = None
) -> np.ndarray:
    """Wrench that everything carried by a body exerts on it, through joints and loops together.

    Springs and tethers between points count as forces from outside, as do constraints that tie the mechanism to bodies
    which the base does not carry.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of any formulation in joint coordinates.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    u : array, shape (n_u,), optional
        Inputs; default zero.
    base : str
        The body, or ``"world"``.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    array, shape (6,)
        Moment [N m] and force [N] about the base's origin, in its axes.

    Raises
    ------
    ModelError
        If there is no such body, or it carries nothing.
    """
    require_equations(eom, "find_base_wrench")
    parts = eom.system.tree
    roots = eom.system.environment.root_names
    names = [part.name for part in parts]
    if base not in roots and base not in names:
        raise ModelError(f"find_base_wrench: {unknown_name('body', base, [*roots, *names])}")
    carriers = {part.name: part.on.split(".")[0] for part in parts}
    hung = [part for part in parts if _same(carriers[part.name], base, roots)]
    if not hung:
        raise ModelError(f"find_base_wrench: nothing is carried by '{base}'; name the body that holds the mechanism")
    state = np.asarray(x, dtype=float)
    q, v = state[: eom.n_q], state[eom.n_q :]
    command = np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    wrenches = _tree_wrenches(eom, t, q, v, command, _outward(carriers, base, roots), base, p)
    placements = eom.placements(t, q, p)
    X_NP = Placement(np.eye(3), np.zeros(3)) if base in roots else _placement(placements[names.index(base)])
    total = np.zeros(6)
    for part in hung:
        k = names.index(part.name)
        X_NF = _placement(placements[k]) @ Placement(np.asarray(part.child_rotation), np.asarray(part.child_at))
        total -= pull_wrench(X_NP.inverse() @ X_NF, wrenches[k])
    return total


def _same(carrier: str, base: str, roots: tuple[str, ...]) -> bool:
    return carrier == base or (carrier in roots and base in roots)


def _outward(carriers: dict[str, str], base: str, roots: tuple[str, ...]) -> set[str]:
    """Names of all bodies that the base carries, directly or not."""
    found: set[str] = set()
    for name in carriers:
        at = name
        while at in carriers and not _same(carriers[at], base, roots):
            at = carriers[at]
        if at in carriers:
            found.add(name)
    return found


def _placement(row: np.ndarray) -> Placement:
    return Placement(row[:9].reshape(3, 3), row[9:])


def _tree_wrenches(
    eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray, bodies: set[str], base: str, p: Any
) -> np.ndarray:
    """Wrenches of the joints of the opened tree: loops within the mechanism, or between it and the base, pass nothing."""
    v_dot = eom.v_dot(t, q, v, u, p)
    if not eom.constraint_rows:
        return eom.reactions(t, q, v, u, p)
    inner = {item.name for item in eom.system.constraints if _is_inner(item, bodies, base, eom)}
    lam = eom.multipliers(t, q, v, u, p)
    lam = np.where([name.split(".")[0] in inner for name in eom.constraint_rows], 0.0, lam)
    efforts = {a.input_name: a for a in eom.system.actuators}
    is_inner = [isinstance(a := efforts[name], JointTorque) and a.joint in inner for name in eom.inputs]
    command = np.where(is_inner, 0.0, u) if eom.n_u else u
    values = eom.functions["reactions"](t, q, v, command, v_dot, eom.p if p is None else p, lam)
    return np.asarray(values.full())


def _is_inner(item: Any, bodies: set[str], base: str, eom: EquationsOfMotion) -> bool:
    if not isinstance(item, FrameConstraint):
        return False
    roots = eom.system.environment.root_names
    return all(end in bodies or _same(end, base, roots) for end in (item.a.split(".")[0], item.b.split(".")[0]))
