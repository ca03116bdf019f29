"""Error for constraints that Newton's method did not satisfy: the open loops, their joints and gaps.

Constraint equations that share no speed are independent of each other, so the closest configuration is found group by group.

`PositionEquations` are constraint equations at position level as `solve_constraints` takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.closest import Closest, find_closest, largest_rows
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.partitioning.plan import frames_of
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["PositionEquations", "closure_error", "coupled_equations", "joint_of_speed"]


@dataclass(frozen=True)
class PositionEquations:
    """Residual ``g(t, q)``, its derivative along the speeds and W, for some equations and speeds of a system.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    t : float
        Time [s].
    v : array, shape (n_v,)
        Speeds; they do not enter the result.
    p : array or None
        Run-time parameters.
    rows, speeds : array of int, optional
        Position-level equations to solve and speeds along which coordinates may move; all by default.
    """

    eom: EquationsOfMotion
    t: float
    v: np.ndarray
    p: Any
    rows: np.ndarray | None = None
    speeds: np.ndarray | None = None

    def __call__(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return g (m,), J (m, n) and W (n_q, n)."""
        g, _, _, J, W = self.eom.call("projection", self.t, q, self.v, p=self.p)
        g = g.reshape(-1)
        if self.rows is not None:
            g, J = g[self.rows], J[self.rows]
        return (g, J, W) if self.speeds is None else (g, J[:, self.speeds], W[:, self.speeds])

    def normalize(self, q: np.ndarray) -> np.ndarray:
        """Return coordinates with quaternions of unit length."""
        return self.eom.state(np.concatenate([q, self.v]))[: self.eom.n_q]


def closure_error(
    eom: EquationsOfMotion, t: float, starts: list[np.ndarray], is_free: np.ndarray, closed: float, p: Any
) -> SolverError:
    """Return the error that reports how closely the constraints can be satisfied; `partial` is the whole state there.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system.
    t : float
        Time [s].
    starts : list of array, shape (n_x,)
        The given state, and the state at which Newton's method ended.
    is_free : array of bool, shape (n_v,)
        Speeds along which coordinates may move.
    closed : float
        Residual below which an equation is satisfied.
    p : array or None
        Run-time parameters.
    """
    n_q, still = eom.n_q, starts[0][eom.n_q :]
    g, _, _, J, W = eom.call("projection", t, starts[-1][:n_q], still, p=p)
    given, last = (start[:n_q].copy() for start in (starts[0], starts[-1]))
    faults: list[tuple[np.ndarray, Closest]] = []
    involved, is_open = _involved(J), np.abs(g.reshape(-1)) > closed
    groups = [rows for rows in coupled_equations(involved) if np.any(is_open[rows])]
    for rows in groups:
        moves = np.any(involved[rows], axis=0)
        start = np.where(np.any(W[:, moves] != 0.0, axis=1), given, last)  # results of the other groups remain
        equations = PositionEquations(eom, t, still, p, rows, np.flatnonzero(is_free & moves))
        found = find_closest(equations, equations.normalize, [start, last], closed)
        last = found.q
        faults += [(rows, found)] if found.gap > closed else []
    open_groups = [(rows, found.g, found.is_minimum) for rows, found in faults]
    message = _message(
        eom, open_groups or [(rows, np.ones(rows.size), False) for rows in groups], involved, bool(faults)
    )
    return SolverError(f"system '{eom.system.name}': {message}", partial=np.concatenate([last, still]))


def _message(
    eom: EquationsOfMotion, groups: list[tuple[np.ndarray, np.ndarray, bool]], involved: np.ndarray, is_open: bool
) -> str:
    """Return which loops are open (or were not closed at first), by how much, and whether that is a minimum."""
    rows, g = (np.concatenate(parts) for parts in list(zip(*groups, strict=True))[:2])
    names = tuple(eom.position_rows[k] for k in rows)
    worst = largest_rows(names, g, most=len(names))
    speeds = np.flatnonzero(np.any(involved[rows[[names.index(name) for name in worst]]], axis=0))
    joints = ", ".join(f"'{name}'" for name in dict.fromkeys(joint_of_speed(eom, int(j)) for j in speeds))
    loops = ", ".join(f"'{name}'" for name in _loops(eom, names, worst))
    who = f"loop {loops} (joints {joints})"
    if not is_open:
        return f"{who} was not closed from here, but it closes elsewhere (in the error's `partial`); start closer"
    cure = "start closer, hold fewer states, or check that the constraints do not contradict each other"
    left = f"a residual of {np.max(np.abs(g)):.3g} remains, largest in {', '.join(worst[:3])}"
    if all(is_minimum for _, _, is_minimum in groups):
        claim = f"no state near the start satisfies its constraints: {who} cannot close"
        return f"{claim}; {left}, in the closest configuration found (in the error's `partial`); {cure}"
    return (
        f"{who} was not closed from here; {left}, in the closest of the tried ones (in the error's `partial`); {cure}"
    )


def _loops(eom: EquationsOfMotion, names: tuple[str, ...], worst: tuple[str, ...]) -> list[str]:
    """Return the constraints of open equations, with those between the same frames, which close one loop together."""
    given = {item.name: frames_of(item) for item in eom.system.constraints}
    here = list(dict.fromkeys(name.split(".")[0] for name in names))
    touched = [given.get(name.split(".")[0], name.split(".")[0]) for name in worst]
    return [name for name in here if given.get(name, name) in touched]


def _involved(J: np.ndarray) -> np.ndarray:
    """Return whether each equation involves each speed, by more than rounding, (m, n)."""
    found: np.ndarray = np.abs(J) > RANK * np.max(np.abs(J), axis=1, initial=0.0, keepdims=True)
    return found


def coupled_equations(involved: np.ndarray) -> list[np.ndarray]:
    """Return groups of equations that share speeds, directly or through others; `involved` (m, n) as in `_involved`."""
    m, n = involved.shape
    i, j = np.nonzero(involved)
    graph = csr_matrix((np.ones(i.size), (i, m + j)), shape=(m + n, m + n))
    label = connected_components(graph, directed=False)[1][:m]
    return [np.flatnonzero(label == k) for k in np.unique(label)]


def joint_of_speed(eom: EquationsOfMotion, speed: int) -> str:
    """Return the joint of a speed, or its body if the speed is modal."""
    name = eom.speeds[speed]
    joints = [part.joint_name for part in eom.system.tree]
    return next(
        (joint for joint in joints if name == f"{joint}_dot" or name.startswith(f"{joint}.")), name.split(".")[0]
    )
