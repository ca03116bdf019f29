"""Accelerations of one aggregate as a function of its base's acceleration: the numpy twin of native/embedded_solve.h.

``M v_dot + Y A + h = E lam``, ``J v_dot = gamma`` with E = J' for natural constraints. The dependent speeds are those that
complete pivoting of J finds, ``v_dot = N y_dot + d``; what remains is ``v_dot = v_dot_0 + G A`` and the inertia that the base
feels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.solvers import CONTRADICTION, RANK, SINGULAR, row_units

__all__ = ["AggregateSolution", "Partition", "partition", "scale_of", "solve_aggregate"]


@dataclass(frozen=True)
class Partition:
    """Dependent speeds by independent ones: ``v = N v[independent] + d`` meets ``J v = b``.

    Parameters
    ----------
    N : array, shape (n, n - rank)
        Unit rows at the independent speeds.
    d : array, shape (n,)
        Zero at the independent speeds.
    dependent, independent : tuple of int
        Speeds.
    rank : int
        Of J.
    left : tuple of int
        Rows that hold nothing besides what others hold.
    """

    N: np.ndarray
    d: np.ndarray
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    rank: int
    left: tuple[int, ...]


def scale_of(M: np.ndarray) -> np.ndarray:
    """``1 / sqrt(diag M)``: speeds in units of their own inertia, so that pivoting does not depend on units."""
    diagonal = np.diag(M)
    typical = np.max(diagonal, initial=0.0) or 1.0
    return 1.0 / np.sqrt(np.where(diagonal > 1e-14 * typical, diagonal, typical))


def partition(J: np.ndarray, b: np.ndarray, scale: np.ndarray) -> Partition:
    """Split the speeds by Gauss-Jordan elimination with complete pivoting, in units given by `scale`."""
    m, n = J.shape
    T = np.column_stack([J * scale, b])
    T = T / row_units(T[:, :n])[:, None]
    rows, columns, first = list(range(m)), list(range(n)), 0.0
    pivots: list[tuple[int, int]] = []
    while rows and columns:
        block = np.abs(T[np.ix_(rows, columns)])
        i, j = divmod(int(np.argmax(block)), len(columns))
        if not block[i, j] > RANK * first:
            break
        first = first or block[i, j]
        row, column = rows.pop(i), columns.pop(j)
        T[row] /= T[row, column]
        for other in range(m):
            if other != row:
                T[other] -= T[other, column] * T[row]
        pivots.append((row, column))
    N, d = np.zeros((n, len(columns))), np.zeros(n)
    N[columns, range(len(columns))] = 1.0
    for row, column in pivots:
        N[column] = -T[row, columns] * scale[column] / scale[columns]
        d[column] = T[row, n] * scale[column]
    return Partition(N, d, tuple(column for _, column in pivots), tuple(columns), len(pivots), tuple(rows))


@dataclass(frozen=True)
class AggregateSolution:
    """``v_dot = v_dot_0 + G A``, the partition behind it, and the block D of the factorised mass matrix."""

    v_dot: np.ndarray
    G: np.ndarray
    split: Partition
    D: np.ndarray


def solve_aggregate(
    M: np.ndarray, Y: np.ndarray, h: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray | None, rank: int
) -> AggregateSolution:
    """Let the speeds of an aggregate give way to its base.

    Parameters
    ----------
    M, Y, h : arrays, shapes (n, n), (n, 6), (n,)
        Its inertia, coupling to the base and bias less the applied forces.
    J, gamma : arrays, shapes (m, n), (m,)
        Its constraints.
    E : array, shape (n, m), or None
        What keeps them, None for their own gradients.
    rank : int
        How many rows must be independent: fewer mean a singular closure.

    Raises
    ------
    SolverError
        If the closure is singular, rows contradict each other, or nothing has inertia.
    """
    scale = scale_of(M)
    split = partition(J, gamma, scale)
    if split.rank < rank:
        raise SolverError(f"its closure is singular here: {split.rank} of {rank} rows are independent")
    left = split.N
    if E is not None:
        kept = partition(E.T, np.zeros(len(gamma)), scale)
        if kept.rank != split.rank:
            raise SolverError(f"its actuators reach {kept.rank} of {split.rank} directions that they must hold")
        left = kept.N
    D = left.T @ M @ split.N
    right = -left.T @ np.column_stack([h + M @ split.d, Y])
    own = scale[list(split.independent)]
    y = own[:, None] * _solve(
        (own[:, None] * D) * own if E is None else D * own, own[:, None] * right if E is None else right
    )
    v_dot = split.d + split.N @ y[:, 0]
    _require_agreement(J, gamma, v_dot, scale, h, split.left)
    return AggregateSolution(v_dot, split.N @ y[:, 1:], split, D)


def _solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    if not A.size:
        return np.zeros((0, B.shape[1]))
    if not np.linalg.cond(A) < 1.0 / SINGULAR:
        raise SolverError("nothing has inertia against some motion that it allows")
    return np.linalg.solve(A, B)


def _require_agreement(
    J: np.ndarray, gamma: np.ndarray, v_dot: np.ndarray, scale: np.ndarray, h: np.ndarray, left: tuple[int, ...]
) -> None:
    """Raise if rows that hold nothing new are left open by much of what they are made of."""
    if not left:
        return
    gap = np.abs(J @ v_dot - gamma)
    size = np.abs(J) @ (np.abs(v_dot) + scale**2 * np.abs(h)) + np.abs(gamma)
    if np.any(gap > CONTRADICTION * size + 1e-9 * np.max(size, initial=0.0)):
        raise SolverError("its rows contradict each other")
