"""Eliminate loops one by one (002 Eqs 3 to 11): dependent speeds, then the reduced equations of motion.

``C_d p_d = C_i p_i + c`` of each loop, from the last to the first, gives ``p_d = H p_i + h``, which is substituted in the
equations of the loops before it and in ``A p_ddot = b`` (Eq 10). The preferred dependent speeds are used unless their pivot is
small: near a singular position others replace them. elimination.h is the native implementation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.solvers import (
    RANK,
    Solution,
    require_agreement,
    row_norms,
    solve_square,
    speed_scales,
)

__all__ = ["CHANGE", "EliminatedLoop", "LoopEquations", "eliminate", "expand", "solve_sequential"]

CHANGE = 0.1  #: pivot of a preferred speed, relative to the largest, below which the independent coordinates change


@dataclass(frozen=True)
class LoopEquations:
    """Constraint equations of a loop, for the elimination.

    Parameters
    ----------
    rows : tuple of int
        Indices of its equations.
    preferred : tuple of int
        Preferred dependent speeds.
    rank : int
        Number of independent equations. No more are used, so that a mechanism whose mobility depends on its proportions is
        not locked by an error of its coordinates.
    """

    rows: tuple[int, ...]
    preferred: tuple[int, ...]
    rank: int


@dataclass(frozen=True)
class EliminatedLoop:
    """``p[dependent] = h - G p`` of one loop, in terms of the remaining speeds.

    Parameters
    ----------
    dependent, rows : array of int
        Speeds that were eliminated, and the equations that determine them.
    G, h : array, shapes (r, n) and (r,)
        G has no entry at dependent speeds, of this loop and of those eliminated before.
    before : array, shape (m, r)
        Columns of the dependent speeds before the elimination: ``C_d`` and the entries of earlier loops.
    pivot : float
        Smallest pivot relative to its row.
    reach : array, shape (r,)
        Largest entry of each row when it was used; it is zero only if the row has become dependent.
    """

    dependent: np.ndarray
    rows: np.ndarray
    G: np.ndarray
    h: np.ndarray
    before: np.ndarray
    pivot: float
    reach: np.ndarray


def eliminate(
    J: np.ndarray, c: np.ndarray, loops: tuple[LoopEquations, ...], scale: np.ndarray
) -> list[EliminatedLoop]:
    """Eliminate the loops of ``J p = c``, last to first; the result is in the order of the loops.

    Parameters
    ----------
    J, c : array, shapes (m, n) and (m,)
        All constraint equations.
    loops : tuple of LoopEquations
        In the order in which they can be closed.
    scale : array, shape (n,)
        Scales of the speeds, for comparing pivots.
    """
    R, c = J.copy(), c.copy()
    size = row_norms(J * scale)
    free = np.ones(J.shape[1], dtype=bool)
    done: list[EliminatedLoop] = []
    for k in range(len(loops) - 1, -1, -1):
        done.append(_eliminate_loop(R, c, loops[k], scale, size, free))
        own, earlier = done[-1], np.array([i for item in loops[:k] for i in item.rows], dtype=int)
        if earlier.size and own.dependent.size:
            share = R[np.ix_(earlier, own.dependent)]
            R[earlier] -= share @ R[own.rows]
            c[earlier] -= share @ own.h
            R[np.ix_(earlier, own.dependent)] = 0.0
    return done[::-1]


def _eliminate_loop(
    R: np.ndarray, c: np.ndarray, loop: LoopEquations, scale: np.ndarray, size: np.ndarray, free: np.ndarray
) -> EliminatedLoop:
    """Eliminate a loop's rows by the Gauss-Jordan method, in place; dependent speeds are removed from `free`."""
    weight = np.where(free, CHANGE, 0.0)
    weight[list(loop.preferred)] *= 1.0 / CHANGE
    rows, open_rows = list(loop.rows), list(loop.rows)
    before, used, dependent, reach, least = R.copy(), [], [], [], np.inf
    for _ in range(loop.rank):
        unit = 1.0 / size[open_rows]
        value = np.abs(R[open_rows]) * (scale * free) * unit[:, None]
        if not np.max(value, initial=0.0) > RANK:
            break
        at, j = np.unravel_index(int(np.argmax(value * weight)), value.shape)
        i = open_rows.pop(int(at))
        least = min(least, float(value[at, j]))
        pivot = R[i, j]
        reach.append(float(np.max(np.abs(R[i][free]))))
        R[i] /= pivot
        c[i] /= pivot
        for other in rows:
            if other != i and R[other, j] != 0.0:
                c[other] -= R[other, j] * c[i]
                R[other] -= R[other, j] * R[i]
                R[other, j] = 0.0
        free[j] = False
        used.append(i)
        dependent.append(int(j))
    G = R[used].copy()
    G[:, dependent] = 0.0
    columns, taken = np.array(dependent, dtype=int), np.array(used, dtype=int)
    return EliminatedLoop(columns, taken, G, c[used].copy(), before[:, dependent], least, np.array(reach))


def expand(done: list[EliminatedLoop], p: np.ndarray) -> np.ndarray:
    """Fill in the dependent entries of p, first loop to last (002 Eqs 5, 6)."""
    for loop in done:
        p[loop.dependent] = 0.0
        p[loop.dependent] = loop.h - loop.G @ p
    return p


def solve_sequential(
    M: np.ndarray,
    f: np.ndarray,
    J: np.ndarray,
    gamma: np.ndarray,
    loops: tuple[LoopEquations, ...],
    *,
    check: bool = True,
) -> Solution:
    """Solve for accelerations and multipliers by reduction, loop after loop (002 Eqs 10, 11); ``p_d = H p_i + h``, H = -G:

    ``A_ii += A_id H + (A_id H)' + H' A_dd H``, ``b_i += H' (b_d - A_dd h) - A_id h``.

    Raises
    ------
    SolverError
        If some motion has no inertia, or (with `check`) if an omitted equation contradicts the others.
    """
    scale = speed_scales(M)
    done = eliminate(J, gamma, loops, scale)
    A, b = M.copy(), f.copy()
    stages = []
    for loop in reversed(done):
        d, H, h = loop.dependent, -loop.G, loop.h
        stages.append((A[d].copy(), b[d].copy()))
        A_dd, A_d = A[np.ix_(d, d)], A[:, d].copy()
        b = b - A_d @ h + H.T @ (b[d] - A_dd @ h)
        cross = A_d @ H
        A = A + cross + cross.T + H.T @ A_dd @ H
        A[d], A[:, d], b[d] = 0.0, 0.0, 0.0
    dependent = [int(j) for loop in done for j in loop.dependent]
    free = np.setdiff1d(np.arange(len(f)), dependent)
    unit = scale[free]
    p = np.zeros(len(f))
    p[free] = unit * solve_square(A[np.ix_(free, free)] * unit, b[free])
    v_dot = expand(done, p)
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    return Solution(v_dot, _multipliers(done, stages[::-1], v_dot, len(gamma)), len(dependent))


def _multipliers(
    done: list[EliminatedLoop], stages: list[tuple[np.ndarray, np.ndarray]], v_dot: np.ndarray, m: int
) -> np.ndarray:
    """Find the multipliers loop after loop: ``C_d' lam_k`` is the residual of the reduced equations of its dependent speeds.

    (002 after Eq 11.) The equations of loop k do not contain speeds eliminated before, so their accelerations do not count.
    """
    lam, eliminated = np.zeros(m), np.zeros(len(v_dot), dtype=bool)
    later = [np.concatenate([loop.dependent for loop in done[k + 1 :]] or [np.zeros(0, int)]) for k in range(len(done))]
    for loop, (A_d, b_d), speeds in zip(done, stages, later, strict=True):
        if not loop.dependent.size:
            continue
        eliminated[:] = False
        eliminated[speeds.astype(int)] = True
        force = A_d @ np.where(eliminated, 0.0, v_dot) - b_d
        force -= loop.before.T @ lam  # forces of earlier loops on these speeds; those of this loop are still zero
        try:
            lam[loop.rows] = np.linalg.solve(loop.before[loop.rows].T, force)
        except np.linalg.LinAlgError as error:
            raise SolverError(f"the closure of a loop is singular ({error})") from error
    return lam
