"""Group loops that are closed together at position level, with their equations and coordinates.

A loop whose equations involve no dependent speed of a later loop is closed by itself, after the loops before it. Other loops
are closed together with those whose speeds they involve, by Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.partitioning.dependent_speeds import unit_rows

__all__ = ["ClosingBlock", "closing_blocks"]


@dataclass(frozen=True)
class ClosingBlock:
    """Loops that are closed together.

    Parameters
    ----------
    loops : tuple of int
        Indices of the loops, in the order of closing.
    rows : tuple of int
        Indices of their equations among the position-level ones.
    speeds : tuple of int
        Speeds along which their coordinates move; none if all equations are redundant.
    solved : tuple of int
        As many independent equations as there are speeds, for closing. The other equations must agree.
    """

    loops: tuple[int, ...]
    rows: tuple[int, ...]
    speeds: tuple[int, ...]
    solved: tuple[int, ...]

    @property
    def unsolved(self) -> tuple[int, ...]:
        """Equations that must be satisfied when the solved ones are."""
        return tuple(i for i in self.rows if i not in self.solved)


def closing_blocks(
    loops: list[tuple[tuple[int, ...], tuple[int, ...]]], samples: list[np.ndarray], J: np.ndarray, scale: np.ndarray
) -> tuple[ClosingBlock, ...]:
    """Find the blocks of a mechanism.

    Parameters
    ----------
    loops : list of (rows, speeds)
        Position-level equations and dependent speeds of each loop, in the order of closing.
    samples : list of array, shape (m, n)
        Jacobians of the position-level equations at several positions.
    J : array, shape (m, n)
        The Jacobian at the position of the plan.
    scale : array, shape (n,)
        Scales of the speeds.
    """
    involved = np.any([np.abs(unit_rows(item * scale)) > RANK for item in samples], axis=0)
    found: list[ClosingBlock] = []
    first = 0
    while first < len(loops):
        last = k = first
        while k <= last:
            rows, speeds = loops[k]
            if speeds:  # a loop without dependent speeds of its own is only checked, in the end
                own = np.any(involved[list(rows)], axis=0) if rows else np.zeros(len(scale), dtype=bool)
                needed = [i for i in range(k + 1, len(loops)) if any(own[j] for j in loops[i][1])]
                last = max([last, *needed])
            k += 1
        found.append(_block(tuple(range(first, last + 1)), loops, J * scale))
        first = last + 1
    return tuple(found)


def _block(
    members: tuple[int, ...], loops: list[tuple[tuple[int, ...], tuple[int, ...]]], J: np.ndarray
) -> ClosingBlock:
    rows = tuple(i for k in members for i in loops[k][0])
    speeds = tuple(sorted(j for k in members for j in loops[k][1]))
    C = unit_rows(J)[np.ix_(np.array(rows, dtype=int), np.array(speeds, dtype=int))]
    rank = int(np.linalg.matrix_rank(C, tol=RANK)) if C.size else 0
    if rank < len(speeds):  # some of its equations are at speed level
        speeds = tuple(sorted(speeds[j] for j in _independent(C, rank)))
        C = unit_rows(J)[np.ix_(np.array(rows, dtype=int), np.array(speeds, dtype=int))]
    return ClosingBlock(members, rows, speeds, tuple(sorted(rows[i] for i in _independent(C.T, rank))))


def _independent(A: np.ndarray, rank: int) -> list[int]:
    """Return `rank` independent columns."""
    return [int(k) for k in qr(A, mode="economic", pivoting=True)[2][:rank]] if rank else []
