"""Riccati equations in given coordinates: residual, Newton step, and a start from the Schur form or by doubling.

`riccati` chooses the coordinates and joins the two kinds to one solver; here R is one and N zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.linalg import matrix_balance, schur, solve_continuous_lyapunov

from spacectl.core.errors import SolverError

__all__ = ["ContinuousForm", "DiscreteForm", "inverse", "norm", "refine", "solve_stein", "symplectic_scale"]

_NEWTON_STEPS = 30

Residual = Callable[[np.ndarray], np.ndarray]
Step = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ContinuousForm:
    """``A.T S + S A - S B B.T S + Q = 0`` with ``K = B.T S``, in some coordinates; more digits where rounding matters."""

    def __init__(self, A: np.ndarray, B: np.ndarray, Q: np.ndarray):
        self.A, self.B, self.Q = A, B, Q  # perhaps in extended precision
        self.A1, self.B1, self.Q1 = (item.astype(float) for item in (A, B, Q))

    @staticmethod
    def scale(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return symplectic_scale(A, G, Q)

    def start(self) -> np.ndarray:
        return _from_schur(self.A1, self.B1 @ self.B1.T, self.Q1)

    def gain(self, S: np.ndarray) -> np.ndarray:
        return (S @ self.B).T

    def miss(self, S: np.ndarray) -> np.ndarray:
        half, K = S @ self.A, self.gain(S)
        return half + half.T - K.T @ K + self.Q

    def step(self, S: np.ndarray, rest: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a start that is not stable is found out afterwards
            return np.asarray(solve_continuous_lyapunov(self.closed(S).T, -rest.astype(float)))

    def closed(self, S: np.ndarray) -> np.ndarray:
        return (self.A - self.B @ self.gain(S)).astype(float)

    def terms(self, S: np.ndarray) -> list[np.ndarray]:
        K = self.gain(S)
        return [S @ self.A, S @ self.A, K.T @ K, self.Q]

    def size(self, S: np.ndarray) -> float:
        K = self.gain(S)
        return 2.0 * norm(self.A) * norm(S) + norm(K.T @ K) + norm(self.Q)

    @staticmethod
    def decay(poles: np.ndarray) -> float:
        return float(np.max(poles.real, initial=-np.inf))


class DiscreteForm(ContinuousForm):
    """``S = A.T S (A - B K) + Q`` with ``K = (1 + B.T S B)^-1 B.T S A``, in some coordinates."""

    @staticmethod
    def scale(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return symplectic_scale(A - np.eye(len(A)), G, Q)

    def start(self) -> np.ndarray:
        return _from_doubling(self.A1, self.B1 @ self.B1.T, self.Q1)

    def gain(self, S: np.ndarray) -> np.ndarray:
        pushed = S @ self.B
        return np.asarray(inverse(np.eye(self.B.shape[1]) + self.B.T @ pushed) @ (pushed.T @ self.A))

    def miss(self, S: np.ndarray) -> np.ndarray:
        K = self.gain(S)
        closed = self.A - self.B @ K  # Joseph's form keeps symmetry
        return closed.T @ S @ closed + K.T @ K + self.Q - S

    def step(self, S: np.ndarray, rest: np.ndarray) -> np.ndarray:
        return solve_stein(self.closed(S), rest.astype(float))

    def terms(self, S: np.ndarray) -> list[np.ndarray]:
        K = self.gain(S)
        return [self.A.T @ S @ self.A, S, K.T @ K, self.Q]

    def size(self, S: np.ndarray) -> float:
        K = self.gain(S)
        return (norm(self.A) ** 2 + 1.0) * norm(S) + norm(K.T @ K) + norm(self.Q)

    @staticmethod
    def decay(poles: np.ndarray) -> float:
        return float(np.max(np.abs(poles), initial=0.0)) - 1.0


def inverse(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse, in extended precision if the matrix is."""
    found = np.linalg.inv(matrix.astype(float)).astype(matrix.dtype)
    for _ in range(2 if matrix.dtype != np.float64 else 0):
        found = found @ (2.0 * np.eye(len(matrix)) - matrix @ found)
    return found


def norm(matrix: np.ndarray) -> float:
    """Return the Frobenius norm."""
    return float(np.linalg.norm(np.asarray(matrix, dtype=float)))


def symplectic_scale(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return T that makes rows and columns of ``diag(T^-1, T) [[A, -G], [-Q, -A.T]] diag(T, T^-1)`` alike, powers of two."""
    n = len(A)
    size = np.abs(np.block([[A, G], [Q, A.T]]))
    np.fill_diagonal(size, 0.0)
    # entries that are rounding of the others would be blown up
    size[size < 1e-16 * np.max(size, initial=0.0)] = 0.0
    _, (scale, _) = matrix_balance(size, permute=False, separate=True)
    return np.asarray(2.0 ** np.round(0.5 * np.log2(scale[:n] / scale[n:])))


def _from_schur(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return ``S = U21 U11^-1`` from the stable invariant subspace of the Hamiltonian."""
    n = len(A)
    H = np.block([[A, -G], [-Q, -A.T]])
    try:
        _, U, count = schur(H, output="real", sort="lhp")
    except np.linalg.LinAlgError as error:
        count, U = -1, np.zeros_like(H)
        cause: Exception | None = error
    else:
        cause = None
    if count != n:
        raise SolverError("poles of the Hamiltonian lie on the imaginary axis") from cause
    S = np.linalg.solve(U[:n, :n].T, U[n:, :n].T).T
    return 0.5 * (S + S.T)


def _from_doubling(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return ``(A, G, H) -> (A W A, G + A W G A.T, H + A.T H W A)``, ``W = (1 + G H)^-1``: H tends to S."""
    one, H = np.eye(len(A)), Q
    for _ in range(60):
        W = np.linalg.solve(one + G @ H, np.hstack([A, G]))
        WA, WG = W[:, : len(A)], W[:, len(A) :]
        more = A.T @ H @ WA
        G, H, A = G + A @ WG @ A.T, H + 0.5 * (more + more.T), A @ WA
        G = 0.5 * (G + G.T)
        if not np.all(np.isfinite(H)):
            break
        if norm(more) <= 1e-15 * norm(H):
            return H
    raise SolverError("doubling does not converge: poles lie on the unit circle")


def refine(S: np.ndarray, miss: Residual, step: Step) -> tuple[np.ndarray, int]:
    """Take Newton steps as long as they reduce the residual.

    From a stabilising start the first step may raise it; then it falls quadratically down to rounding.
    """
    best, rest = S, miss(S)
    smallest, worse = norm(rest), 0
    for taken in range(_NEWTON_STEPS):
        try:
            S = S + step(S, rest)
        except np.linalg.LinAlgError:
            return best, taken
        S = 0.5 * (S + S.T)
        rest = miss(S)
        size = norm(rest)
        if not np.isfinite(size):
            return best, taken
        worse = 0 if size < 0.5 * smallest else worse + 1
        if size < smallest:
            best, smallest = S, size
        if worse == 2:
            return best, taken + 1
    return best, _NEWTON_STEPS


def solve_stein(A: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return X with ``X = A.T X A + W``, by doubling; A lies inside the unit circle."""
    X, power = W, A
    for _ in range(60):
        more = power.T @ X @ power
        X = X + more
        power = power @ power
        if norm(more) <= 1e-16 * norm(X) or not np.all(np.isfinite(X)):
            break
    return X
