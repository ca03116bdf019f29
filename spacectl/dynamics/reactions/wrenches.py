"""`find_base_wrench`: force and moment of a mechanism on the body that carries it (002, tenth step).

002 refers to its first part, which is not available, for the algorithm; it is derived here. With all accelerations known, the
wrenches in the root joints of the opened tree follow from inertia forces and external forces. Forces in closed loops are
internal, so that multipliers, unique or not, have no influence.

For the root all constraint forces are internal: natural constraints act on bodies of the system and on the root only. The
wrench is then the external forces less the rate of momentum. For a body, a constraint is internal if its other side is the base
or a body that the base carries. A rule names frames and loads each along its gradient; if these loads do not balance, the
remainder acts on the root.

`find_constraint_wrenches`: the wrench of each natural constraint between frames on its body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name, warn
from spacectl.dynamics.constraints.loads import natural_frames
from spacectl.dynamics.formulations.switching import constraints_of
from spacectl.dynamics.reactions.uniqueness import constraints_behind, find_uniqueness, shared_directions, shared_groups
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.model.constraints import AnyConstraint
from spacectl.spatial.inertia import Placement, pull_wrench

__all__ = ["find_base_wrench", "find_constraint_wrenches"]


def find_base_wrench(
    eom: EquationsOfMotion, t: float, x: Any, u: Any = None, *, base: str = "world", p: Any = None
) -> np.ndarray:
    """Find the wrench that all carried bodies exert on a body, through joints and loops together.

    External forces are those of springs and tethers between points, of actuators on bodies (also where they maintain a
    constraint), and of constraints that connect the mechanism to bodies which the base does not carry. The root carries
    everything: all constraint forces on it are counted, those of rules too. A rule of coordinates acts within their joints.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations by any formulation in joint coordinates.
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
        If there is no such body, or it carries no others; and if a rule loads the base, carried bodies and
        others together, so that the part of the force on the base that comes from the mechanism is not
        defined.

    Warns
    -----
    UserWarning
        If constraints to bodies that the base does not carry are redundant and their compliance is not known: the wrench then
        depends on how they share a load.
    """
    require_equations(eom, "find_base_wrench")
    parts = eom.system.tree
    roots = eom.system.environment.root_names
    names = [part.name for part in parts]
    if base not in roots and base not in names:
        raise ModelError(f"find_base_wrench: {unknown_name('body', base, [*roots, *names])}")
    carriers = {part.name: part.on.split(".")[0] for part in parts}
    carried = [part for part in parts if _same(carriers[part.name], base, roots)]
    if not carried:
        raise ModelError(f"find_base_wrench: '{base}' carries no bodies; name the carrier of the mechanism")
    state = np.asarray(x, dtype=float)
    q, v = state[: eom.n_q], state[eom.n_q :]
    command = np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    wrenches = _tree_wrenches(eom, t, q, v, command, _outward(carriers, base, roots), base, p)
    placements = eom.placements(t, q, p)
    X_NP = Placement(np.eye(3), np.zeros(3)) if base in roots else _placement(placements[names.index(base)])
    return _transmitted(parts, placements, [names.index(part.name) for part in carried], wrenches, X_NP)


def _same(carrier: str, base: str, roots: tuple[str, ...]) -> bool:
    return carrier == base or (carrier in roots and base in roots)


def _outward(carriers: dict[str, str], base: str, roots: tuple[str, ...]) -> set[str]:
    """Return the names of all bodies that the base carries, directly or indirectly."""
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
    """Return the joint wrenches of the opened tree, without the forces of loops within the mechanism or to the base."""
    v_dot = eom.v_dot(t, q, v, u, p)
    if not eom.constraint_rows:
        return eom.reactions(t, q, v, u, p)
    values = eom.parameters.of(p)
    lam, function = eom.multipliers(t, q, v, u, p), eom.functions["reactions"]
    inner = {item.name for item in eom.system.constraints if _is_inner(item, bodies, base, eom)}

    def change(rows: np.ndarray) -> np.ndarray:
        """Return the joint wrenches due to the multipliers of some equations, (n, 6)."""
        given = (t, q, v, u, v_dot, values)
        return np.asarray(function(*given, np.where(rows, lam, 0.0)).full() - function(*given, 0.0 * lam).full())

    owners = np.array([name.split(".")[0] for name in eom.constraint_rows])
    for item in eom.system.constraints:
        if item.is_natural and item.ends is None and base in _loaded(item) and _loaded(item) & bodies:
            if _loaded(item) - bodies - {base} or not _is_balanced(eom, t, q, p, change(owners == item.name)):
                raise ModelError(
                    f"find_base_wrench: rule '{item.name}' loads '{base}', bodies that it carries, and others (or the root) "
                    f"together, so that the origin of the force on '{base}' is not defined; write it as constraints between "
                    "frames, or use base='world'"
                )
            inner.add(item.name)
    is_inner = {
        item.input_name: any(effort.joint in inner for effort in item.joint_efforts) for item in eom.system.actuators
    }
    outer = ~np.array(_inner_rows(eom, inner, is_inner))
    _warn_if_shared(eom, t, np.concatenate([q, v]), p, outer, base)
    lam = np.where(outer, lam, 0.0)
    command = np.where([is_inner[name] for name in eom.inputs], 0.0, u) if eom.n_u else u
    return np.asarray(function(t, q, v, command, v_dot, values, lam).full())


def _warn_if_shared(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any, outer: np.ndarray, base: str) -> None:
    """Warn if the wrench depends on how redundant constraints share a load, unless their compliance is known."""
    if not np.any(outer):
        return
    groups = shared_groups(shared_directions(eom, t, x, p))
    names = constraints_behind(eom, [k for group in groups if np.any(outer[group]) for k in group])
    unknown = [item.name for item in constraints_of(eom) if item.name in names and item.compliance is None]
    if unknown:
        warn(
            f"find_base_wrench: the wrench on '{base}' depends on how constraints {', '.join(names)} share a load, which the "
            f"equations of motion leave open; give compliance=... to {', '.join(unknown)}, or remove what is redundant"
        )


def _inner_rows(eom: EquationsOfMotion, inner: set[str], is_inner: dict[str, bool]) -> list[bool]:
    """Return which multipliers are internal: of natural constraints, and efforts of motors in the joints of inner loops."""
    known = {item.name: item for item in eom.system.constraints}
    seen: dict[str, int] = {}
    found = []
    for name in eom.constraint_rows:
        owner = name.split(".")[0]
        k = seen[owner] = seen.get(owner, -1) + 1
        inputs = known[owner].maintained_by
        found.append(is_inner[inputs[k]] if inputs else owner in inner)
    return found


def _is_inner(item: AnyConstraint, bodies: set[str], base: str, eom: EquationsOfMotion) -> bool:
    roots = eom.system.environment.root_names
    if base in roots:
        return True
    ends = [end.split(".")[0] for end in item.ends or ()]
    return bool(ends) and all(end in bodies or end == base for end in ends)


def _loaded(item: AnyConstraint) -> set[str]:
    """Return the bodies that a rule loads: those whose frames it names, or for a rule of velocities whose velocities."""
    kinds = {kind for kind, _ in item.needs} & {"velocity", "angular_velocity"} or {"position", "rotation"}
    return {name.split(".")[0] for kind, name in item.needs if kind in kinds}


def _is_balanced(eom: EquationsOfMotion, t: float, q: np.ndarray, p: Any, change: np.ndarray) -> bool:
    """Return whether loads have no resultant in the joints on the root."""
    roots, parts = eom.system.environment.root_names, eom.system.tree
    on_root = [k for k, part in enumerate(parts) if part.on.split(".")[0] in roots]
    placements = eom.placements(t, q, p)
    total = _transmitted(parts, placements, on_root, change, Placement(np.eye(3), np.zeros(3)))
    return bool(np.max(np.abs(total)) <= 1e-9 * max(float(np.max(np.abs(change))), 1e-300))


def _transmitted(parts: Any, placements: Any, joints: list[int], wrenches: np.ndarray, X_NP: Placement) -> np.ndarray:
    """Return the wrench of joints on the body that carries them, about its origin in its axes."""
    total = np.zeros(6)
    for k in joints:
        child = Placement(np.asarray(parts[k].child_rotation), np.asarray(parts[k].child_at))
        total -= pull_wrench(X_NP.inverse() @ _placement(placements[k]) @ child, wrenches[k])
    return total


def find_constraint_wrenches(
    eom: EquationsOfMotion, t: float, x: Any, u: Any = None, *, p: Any = None
) -> dict[str, np.ndarray]:
    """Find the wrench of each natural constraint between frames on its body `b`, by the constraint's name.

    A motor in the joint that closes a loop is included, as in ``eom.reactions``. Redundant constraints share their load by
    their compliance; `find_uniqueness` reports which wrenches depend on that.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system; in absolute coordinates every joint is such a constraint.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    u : array, shape (n_u,), optional
        Inputs; default zero.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    dict of str to array, shape (6,)
        Moment [N m] and force [N] about the origin of frame F on `b`, in its axes.
    """
    state = np.asarray(x, dtype=float)
    q, v, command = state[: eom.n_q], state[eom.n_q :], np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    eom.v_dot(t, q, v, command, p)  # raises an error with the cause if there is no solution
    _warn_if_any_is_shared(eom, t, np.concatenate([q, v]), p)
    lam = eom.multipliers(t, q, v, command, p)
    function = eom.functions["constraint_wrenches"]
    found = np.asarray(function(t, q, v, command, lam, eom.parameters.of(p)).full())
    return dict(zip(natural_frames(eom), found, strict=True))


def _warn_if_any_is_shared(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any) -> None:
    """Warn about wrenches that depend on how redundant constraints share a load, unless their compliance is known."""
    found = find_uniqueness(eom, t, x, p=p)
    shared = [name for name, is_unique in found.wrenches.items() if not is_unique]
    unknown = [item.name for item in constraints_of(eom) if item.name in shared and item.compliance is None]
    if unknown:
        warn(
            f"find_constraint_wrenches: the wrenches of {', '.join(map(repr, shared))} depend on how redundant constraints share "
            f"a load, which the equations of motion leave open; give compliance=... to {', '.join(map(repr, unknown))}, or "
            "remove what is redundant"
        )
