"""Accelerations of one aggregate as a function of its base's acceleration: the reference implementation of embedded_solve.h.

``M v_dot + Y A + h = E lam``, ``J v_dot = gamma`` with E = J' for natural constraints. Complete pivoting of J selects the
dependent speeds, ``v_dot = N y_dot + d``. The result is ``v_dot = v_dot_0 + G A`` and the inertia at the base.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.solvers import RANK, SINGULAR, require_agreement, row_norms, speed_scales

__all__ = ["AggregateSolution", "Partition", "partition", "solve_aggregate"]


@dataclass(frozen=True)
class Partition:
    """Dependent speeds in terms of independent ones: ``v = N v[independent] + d`` satisfies ``J v = b``.

    Parameters
    ----------
    N : array, shape (n, n - rank)
        Unit rows at the independent speeds.
    d : array, shape (n,)
        Zero at the independent speeds.
    dependent, independent : tuple of int
        Indices of the speeds.
    rank : int
        Rank of J.
    redundant : tuple of int
        Rows of J that depend on the others.
    """

    N: np.ndarray
    d: np.ndarray
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    rank: int
    redundant: tuple[int, ...]


def partition(J: np.ndarray, b: np.ndarray, scale: np.ndarray) -> Partition:
    """Split the speeds by Gauss-Jordan elimination with complete pivoting, with speeds scaled by `scale`."""
    m, n = J.shape
    T = np.column_stack([J * scale, b])
    T = T / row_norms(T[:, :n])[:, None]
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
    """Solve for the accelerations of an aggregate with free speeds, as a function of its base's acceleration.

    Parameters
    ----------
    M, Y, h : arrays, shapes (n, n), (n, 6), (n,)
        Its inertia, coupling to the base, and bias less the applied forces.
    J, gamma : arrays, shapes (m, n), (m,)
        Its constraints.
    E : array, shape (n, m), or None
        Map from multipliers to forces, None for natural constraints.
    rank : int
        Required number of independent equations: fewer mean a singular closure.

    Raises
    ------
    SolverError
        If the closure is singular, equations contradict each other, or some motion has no inertia.
    """
    scale = speed_scales(M)
    split = partition(J, gamma, scale)
    if split.rank < rank:
        raise SolverError(f"its closure is singular here: {split.rank} of {rank} constraint equations are independent")
    left = split.N
    if E is not None:
        forces = partition(E.T, np.zeros(len(gamma)), scale)
        if forces.rank != split.rank:
            raise SolverError(f"its actuators span {forces.rank} of {split.rank} constraint directions")
        left = forces.N
    D = left.T @ M @ split.N
    right = -left.T @ np.column_stack([h + M @ split.d, Y])
    own = scale[list(split.independent)]
    y = own[:, None] * _solve(
        (own[:, None] * D) * own if E is None else D * own, own[:, None] * right if E is None else right
    )
    v_dot = split.d + split.N @ y[:, 0]
    if split.redundant:
        require_agreement(h, J, gamma, v_dot, scale)
    return AggregateSolution(v_dot, split.N @ y[:, 1:], split, D)


def _solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    if not A.size:
        return np.zeros((0, B.shape[1]))
    if not np.linalg.cond(A) < 1.0 / SINGULAR:
        raise SolverError("some motion that the constraints allow has no inertia")
    return np.linalg.solve(A, B)
