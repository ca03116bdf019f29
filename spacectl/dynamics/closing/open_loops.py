"""The error for a state that no Newton steps brought onto the constraints: which loops stay open, at which joints, by how much.

Constraints that share no speed do not matter to each other: each group of those that do is brought as close as it comes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from spacectl.core.errors import SolverError
from spacectl.dynamics.closing.position_equations import PositionEquations
from spacectl.dynamics.constraints.closest import Closest, find_closest, largest_rows
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.partitioning.plan import frames_of
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["joint_of_speed", "not_met", "rows_together"]


def not_met(
    eom: EquationsOfMotion, t: float, starts: list[np.ndarray], is_free: np.ndarray, closed: float, p: Any
) -> SolverError:
    """The error that tells how close the constraints come to being met; `partial` is the whole state there.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    t : float
        Time [s].
    starts : list of array, shape (n_x,)
        The state that was given, and where Newton's method ended.
    is_free : array of bool, shape (n_v,)
        Speeds along which coordinates may move.
    closed : float
        Gap below which a row is met.
    p : array or None
        Run-time parameters.
    """
    n_q, still = eom.n_q, starts[0][eom.n_q :]
    g, _, _, held, W = eom.call("projection", t, starts[-1][:n_q], still, p=p)
    given, last = (start[:n_q].copy() for start in (starts[0], starts[-1]))
    faults: list[tuple[np.ndarray, Closest]] = []
    groups = _groups(held, np.abs(g.reshape(-1)) > closed)
    for rows in groups:
        moves = np.any(_holds(held[rows]), axis=0)
        start = np.where(np.any(W[:, moves] != 0.0, axis=1), given, last)  # what was found for others is kept
        equations = PositionEquations(eom, t, still, p, rows, np.flatnonzero(is_free & moves))
        found = find_closest(equations, equations.normalize, [start, last], closed)
        last = found.q
        faults += [(rows, found)] if found.gap > closed else []
    open_groups = [(rows, found.g, found.is_minimum) for rows, found in faults]
    told = _told(eom, open_groups or [(rows, np.ones(rows.size), False) for rows in groups], held, bool(faults))
    return SolverError(f"system '{eom.system.name}': {told}", partial=np.concatenate([last, still]))


def _told(
    eom: EquationsOfMotion, groups: list[tuple[np.ndarray, np.ndarray, bool]], held: np.ndarray, is_open: bool
) -> str:
    """Who is open (or was, for a time), by how much, and what is known of it."""
    rows, g = (np.concatenate(parts) for parts in list(zip(*groups, strict=True))[:2])
    names = tuple(eom.position_rows[k] for k in rows)
    worst = largest_rows(names, g, most=len(names))
    speeds = np.flatnonzero(np.any(_holds(held[rows[[names.index(name) for name in worst]]]), axis=0))
    joints = ", ".join(f"'{name}'" for name in dict.fromkeys(joint_of_speed(eom, int(j)) for j in speeds))
    loops = ", ".join(f"'{name}'" for name in _loops(eom, names, worst))
    who = f"loop {loops} (joints {joints})"
    if not is_open:
        return f"{who} was not closed from here, but it closes elsewhere (in the error's `partial`); start closer"
    cure = "start closer, hold less, or check that they do not contradict each other"
    left = f"{np.max(np.abs(g)):.3g} is left, most in {', '.join(worst[:3])}"
    if all(is_minimum for _, _, is_minimum in groups):
        claim = f"no state near the start meets its constraints: {who} cannot close"
        return f"{claim}; {left}, in the closest configuration found (in the error's `partial`); {cure}"
    return f"{who} was not closed from here; {left}, in what came closest (in the error's `partial`); {cure}"


def _loops(eom: EquationsOfMotion, names: tuple[str, ...], worst: tuple[str, ...]) -> list[str]:
    """The constraints of open rows, with those between the same frames, which close one loop together."""
    given = {item.name: frames_of(item) for item in eom.system.constraints}
    here = list(dict.fromkeys(name.split(".")[0] for name in names))
    touched = [given.get(name.split(".")[0], name.split(".")[0]) for name in worst]
    return [name for name in here if given.get(name, name) in touched]


def _holds(held: np.ndarray) -> np.ndarray:
    """Which speeds each row holds, by more than rounding."""
    found: np.ndarray = np.abs(held) > RANK * np.max(np.abs(held), axis=1, initial=0.0, keepdims=True)
    return found


def _groups(held: np.ndarray, is_open: np.ndarray) -> list[np.ndarray]:
    """Groups of rows that share speeds in which some row is open."""
    return [rows for rows in rows_together(_holds(held)) if np.any(is_open[rows])]


def rows_together(holds: np.ndarray) -> list[np.ndarray]:
    """Rows that share speeds, directly or through others, from which speeds each row holds, (m, n)."""
    m, n = holds.shape
    i, j = np.nonzero(holds)
    graph = csr_matrix((np.ones(i.size), (i, m + j)), shape=(m + n, m + n))
    label = connected_components(graph, directed=False)[1][:m]
    return [np.flatnonzero(label == k) for k in np.unique(label)]


def joint_of_speed(eom: EquationsOfMotion, speed: int) -> str:
    """The joint (or body with modes) that a speed belongs to."""
    name = eom.speeds[speed]
    joints = [part.joint_name for part in eom.system.tree]
    return next(
        (joint for joint in joints if name == f"{joint}_dot" or name.startswith(f"{joint}.")), name.split(".")[0]
    )
