"""Loops eliminated one by one (002 Eqs 3 to 11): dependent speeds by the others, and the reduced equations of motion.

``C_d p_d = C_i p_i + c`` of each loop, from the last to the first, gives ``p_d = H p_i + h``; each is put into the rows
of the loops before it and into ``A p_ddot = b`` (Eq 10). Which speeds depend is a wish that gives way where it would
divide by little: near a singular position others take their place. native/elimination.h is the same in C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.solvers import RANK, Solution, require_agreement, row_units, solve_rows, speed_scales

__all__ = ["CHANGE", "EliminatedLoop", "LoopRows", "eliminate", "expand", "solve_sequential"]

CHANGE = 0.1  #: of the largest pivot that a wished one must have; below, the independent coordinates change


@dataclass(frozen=True)
class LoopRows:
    """What the elimination knows of a loop.

    Parameters
    ----------
    rows : tuple of int
        Its rows among all.
    wished : tuple of int
        Speeds that shall depend on the others.
    rank : int
        How many of its rows are independent: more are never used, so that a mechanism which moves because of its
        proportions is not locked by an error of its coordinates.
    """

    rows: tuple[int, ...]
    wished: tuple[int, ...]
    rank: int


@dataclass(frozen=True)
class EliminatedLoop:
    """``p[dependent] = h - G p`` of one loop, over the speeds that are still there.

    Parameters
    ----------
    dependent, rows : array of int
        Speeds that were eliminated, and the rows that did it.
    G, h : array, shapes (r, n) and (r,)
        G has no entry at dependent speeds, of this loop and of those eliminated before.
    before : array, shape (m, r)
        Columns of the dependent speeds in all rows, before the elimination: ``C_d`` and what earlier loops have there.
    pivot : float
        Smallest pivot relative to its row: how far from singular.
    reach : array, shape (r,)
        Largest entry that each row had when it was used: it vanishes only if the row holds nothing more.
    """

    dependent: np.ndarray
    rows: np.ndarray
    G: np.ndarray
    h: np.ndarray
    before: np.ndarray
    pivot: float
    reach: np.ndarray


def eliminate(J: np.ndarray, c: np.ndarray, loops: tuple[LoopRows, ...], scale: np.ndarray) -> list[EliminatedLoop]:
    """Eliminate the loops of ``J p = c``, last to first; the result is in the order of the loops.

    Parameters
    ----------
    J, c : array, shapes (m, n) and (m,)
        All rows.
    loops : tuple of LoopRows
        In the order in which they can be closed.
    scale : array, shape (n,)
        Units of the speeds: pivots are compared in them.
    """
    R, c = J.copy(), c.copy()
    size = row_units(J * scale)
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
    R: np.ndarray, c: np.ndarray, loop: LoopRows, scale: np.ndarray, size: np.ndarray, free: np.ndarray
) -> EliminatedLoop:
    """Gauss-Jordan elimination of a loop's rows, in place; `free` loses the speeds that become dependent."""
    weight = np.where(free, CHANGE, 0.0)
    weight[list(loop.wished)] *= 1.0 / CHANGE
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
    loops: tuple[LoopRows, ...],
    *,
    check: bool = True,
) -> Solution:
    """Accelerations and multipliers by reduction, loop after loop (002 Eqs 10, 11), with ``p_d = H p_i + h``, H = -G:

    ``A_ii += A_id H + (A_id H)' + H' A_dd H``, ``b_i += H' (b_d - A_dd h) - A_id h``.

    Raises
    ------
    SolverError
        If nothing has inertia against some motion, or (with `check`) if a row that was left out contradicts the others.
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
    held = [int(j) for loop in done for j in loop.dependent]
    free = np.setdiff1d(np.arange(len(f)), held)
    unit = scale[free]
    p = np.zeros(len(f))
    p[free] = unit * solve_rows(A[np.ix_(free, free)] * unit, b[free])
    v_dot = expand(done, p)
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    return Solution(v_dot, _multipliers(done, stages[::-1], v_dot, len(gamma)), len(held))


def _multipliers(
    done: list[EliminatedLoop], stages: list[tuple[np.ndarray, np.ndarray]], v_dot: np.ndarray, m: int
) -> np.ndarray:
    """Loop after loop: ``C_d' lam_k`` is what the reduced equations of its dependent speeds leave open (002 after Eq 11).

    At the stage of loop k the speeds eliminated before are gone, so their accelerations do not count.
    """
    lam, gone = np.zeros(m), np.zeros(len(v_dot), dtype=bool)
    later = [np.concatenate([loop.dependent for loop in done[k + 1 :]] or [np.zeros(0, int)]) for k in range(len(done))]
    for loop, (A_d, b_d), eliminated in zip(done, stages, later, strict=True):
        if not loop.dependent.size:
            continue
        gone[:] = False
        gone[eliminated.astype(int)] = True
        pushed = A_d @ np.where(gone, 0.0, v_dot) - b_d
        pushed -= loop.before.T @ lam  # earlier loops that hold these speeds too; the rows of this one are still zero
        try:
            lam[loop.rows] = np.linalg.solve(loop.before[loop.rows].T, pushed)
        except np.linalg.LinAlgError as error:
            raise SolverError(f"the closure of a loop is singular ({error})") from error
    return lam
