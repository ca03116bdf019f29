"""Factorisation of symmetric positive definite matrices: the reference implementation of factor.h."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import SolverError

__all__ = ["factor", "solve"]


def factor(M: np.ndarray) -> np.ndarray:
    """``M = L D L'``: L below the diagonal, 1 / D on it, M's entries above it.

    Raises
    ------
    SolverError
        If a pivot is not positive; the message says which.
    """
    F = np.array(M, dtype=float)
    for j in range(len(F)):
        for k in range(j):
            F[j, k] -= F[j, :k] @ F[k, :k]
        scaled = F[j, :j] * np.diag(F)[:j]
        pivot = F[j, j] - scaled @ F[j, :j]
        if not pivot > 0.0:
            raise SolverError(f"matrix is not positive definite: pivot {j} is {pivot:.3g}")
        F[j, :j] = scaled
        F[j, j] = 1.0 / pivot
    return F


def solve(F: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solution of ``M x = b`` with the factors F.

    Examples
    --------
    >>> solve(factor(np.array([[4.0, 2.0], [2.0, 3.0]])), np.array([8.0, 8.0]))
    array([1., 2.])
    """
    x = np.array(b, dtype=float)
    n = len(F)
    for j in range(n):
        x[j] -= F[j, :j] @ x[:j]
    x *= np.diag(F)
    for j in reversed(range(n)):
        x[j] -= F[j + 1 :, j] @ x[j + 1 :]
    return x
