"""The error for a state that no Newton steps brought onto the constraints: which loops stay open, at which joints, by how much.

Constraints that share no speed do not matter to each other; only those that belong together with open ones are looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from spacectl.core.errors import SolverError
from spacectl.dynamics.closest import Closest, find_closest, largest_rows
from spacectl.dynamics.constrained import RANK
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.partition import frames_of

__all__ = ["joint_of_speed", "not_met"]


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
    n_q, x = eom.n_q, starts[-1].copy()
    still = starts[0][n_q:]
    g, held = (eom.call("constraints", t, x[:n_q], x[n_q:], p=p)[k] for k in (0, 3))
    rows = _together(held, np.flatnonzero(np.abs(g.reshape(-1)) > closed))

    def linear(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g, _, _, held, W = eom.call("projection", t, q, still, p=p)
        return g.reshape(-1)[rows], held[rows], W

    def unit(q: np.ndarray) -> np.ndarray:
        return eom.state(np.concatenate([q, still]))[:n_q]

    free = np.flatnonzero(is_free & np.any(np.abs(held[rows]) > 0.0, axis=0))
    found = find_closest(linear, unit, [start[:n_q] for start in starts], free, closed)
    names = tuple(eom.position_rows[k] for k in rows)
    return SolverError(
        f"system '{eom.system.name}': {_told(eom, names, found, held[rows], closed)}",
        partial=np.concatenate([found.q, still]),
    )


def _told(eom: EquationsOfMotion, names: tuple[str, ...], found: Closest, held: np.ndarray, closed: float) -> str:
    worst = largest_rows(names, found.g, most=len(names)) if found.gap > closed else names
    at = [names.index(name) for name in worst]
    loops = ", ".join(f"'{name}'" for name in _loops(eom, names, worst))
    speeds = np.flatnonzero(np.any(np.abs(held[at]) > RANK, axis=0))
    joints = ", ".join(f"'{name}'" for name in dict.fromkeys(joint_of_speed(eom, int(j)) for j in speeds))
    who = f"loop {loops} (joints {joints})"
    if found.gap <= closed:
        return f"{who} was not closed from here, but it closes elsewhere (in the error's `partial`); start closer"
    cure = "start closer, hold less, or check that they do not contradict each other"
    left = f"{np.max(np.abs(found.g)):.3g} is left, most in {', '.join(worst[:3])}"
    if found.is_minimum:
        claim = f"no state near the start meets its constraints: {who} cannot close"
        return f"{claim}; {left}, in the closest configuration found (in the error's `partial`); {cure}"
    return f"{who} was not closed from here; {left}, in what came closest (in the error's `partial`); {cure}"


def _loops(eom: EquationsOfMotion, names: tuple[str, ...], worst: tuple[str, ...]) -> list[str]:
    """The constraints of open rows, with those between the same frames, which close one loop together."""
    given = {item.name: frames_of(item) for item in eom.system.constraints}
    here = list(dict.fromkeys(name.split(".")[0] for name in names))
    touched = [given.get(name.split(".")[0], name.split(".")[0]) for name in worst]
    return [name for name in here if given.get(name, name) in touched]


def _together(held: np.ndarray, open_rows: np.ndarray) -> np.ndarray:
    """Rows that share speeds with open ones, directly or through others."""
    m, n = held.shape
    i, j = np.nonzero(np.abs(held) > 0.0)
    graph = csr_matrix((np.ones(i.size), (i, m + j)), shape=(m + n, m + n))
    label = connected_components(graph, directed=False)[1]
    return np.flatnonzero(np.isin(label[:m], label[open_rows]))


def joint_of_speed(eom: EquationsOfMotion, speed: int) -> str:
    """The joint (or body with modes) that a speed belongs to."""
    name = eom.speeds[speed]
    joints = [part.joint_name for part in eom.system.tree]
    return next(
        (joint for joint in joints if name == f"{joint}_dot" or name.startswith(f"{joint}.")), name.split(".")[0]
    )
