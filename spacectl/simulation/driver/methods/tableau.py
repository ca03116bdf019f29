"""Coefficients of the Runge-Kutta methods, and of the long step across a singular configuration of the constraints.

The coefficients of scipy are converted to the matrices of the driver. The columns of A, E and F refer to the rows of K: the
stages, the end of the step, then the extra stages of the dense output. The dense output of both methods has a form with small
rounding errors: ``s(t + f h) = s + h f (Q0 + (1-f) (Q1 + f (Q2 + (1-f) (Q3 + ...))))`` with Q = F K.

In a singular configuration constraint equations become dependent. Close to it, accelerations are dominated by rounding errors
divided by the third power of the distance, while the motion itself is smooth. The long step therefore evaluates them on both
sides and not close by: it is a collocation at the zeros of a Legendre polynomial of even degree, with the singular configuration
centred between the inner two zeros. The difference between two degrees estimates the error. The solution is
``s(t + f H) = s + H sum_j B_j(f) K_j`` with ``B_j`` the integral of the Lagrange polynomial of node j.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss
from scipy.integrate import DOP853, RK45

from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.simulation.driver.methods.adams import MultistepMethod, make_adams
from spacectl.simulation.driver.methods.radau import ImplicitMethod, make_radau

__all__ = ["LONG_NODES", "METHODS", "LongStepTableau", "Method", "Tableau", "find_tableau", "long_step_tableau"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tableau:
    """Define the coefficients of an explicit method with m rows of K (stages, end of step, extra stages).

    Parameters
    ----------
    name : str
        Name of the method.
    n_stages, n_extra : int
        Number of stages of the step, and of further stages for the dense output only.
    error_order : int
        Order of the error estimate.
    A : array, shape (m, m)
        Row i has the weights of the state for row i of K; row n_stages is the result of the step.
    C : array, shape (m,)
        Times of the rows as fractions of the step.
    E : array, shape (2, n_stages + 1)
        Weights of the error estimates; the second row is zero unless the method combines two.
    F : array, shape (n_terms, m)
        Coefficients of the dense output.
    """

    name: str
    n_stages: int
    n_extra: int
    error_order: int
    A: np.ndarray
    C: np.ndarray
    E: np.ndarray
    F: np.ndarray

    def __post_init__(self) -> None:
        m = self.n_stages + 1 + self.n_extra
        wanted = {"A": (m, m), "C": (m,), "E": (2, self.n_stages + 1), "F": (self.F.shape[0], m)}
        for letter, shape in wanted.items():
            given = getattr(self, letter).shape
            if given != shape:
                raise ShapeError(f"method {self.name}: {letter} has shape {given}, expected {shape}")
        # A constant derivative is integrated exactly: rows of A sum to C, those of E to 0, those of F to 1, 0, 0, ...
        # Coefficients of magnitude 1e2 have rounding errors below 1e-12.
        sums = [self.A.sum(axis=1) - self.C, self.E.sum(axis=1), self.F.sum(axis=1) - np.eye(self.F.shape[0])[0]]
        if max(float(np.max(np.abs(item))) for item in sums) > 1e-12 or np.any(np.triu(self.A) != 0.0):
            raise ModelError(f"method {self.name}: the coefficients of this scipy version are not as expected")

    @property
    def has_error_pair(self) -> bool:
        """Whether two error estimates are combined."""
        return bool(np.any(self.E[1] != 0.0))

    @property
    def needs_end_rate(self) -> bool:
        """Whether the error estimate uses the derivative at the end of the step."""
        return bool(np.any(self.E[:, -1] != 0.0))


def _square(method: Any, A_extra: np.ndarray, C_extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A and C with the end of the step and the extra stages as further rows."""
    n, m = method.n_stages, method.n_stages + 1 + C_extra.size
    A, C = np.zeros((m, m)), np.zeros(m)
    A[:n, : method.A.shape[1]] = method.A
    A[n, :n] = method.B
    A[n + 1 :, : A_extra.shape[1]] = A_extra
    C[:n], C[n], C[n + 1 :] = method.C, 1.0, C_extra
    return A, C


def _rk45() -> Tableau:
    A, C = _square(RK45, np.zeros((0, 0)), np.zeros(0))
    E = np.vstack([RK45.E, np.zeros_like(RK45.E)])
    powers = np.array([[1, 0, 0, 0], [1, -1, 0, 0], [0, 1, -1, 0], [0, 1, -2, 1]])  # f, f(1-f), f^2(1-f), f^2(1-f)^2
    F = np.linalg.solve(powers.T, RK45.P.T)
    return Tableau(name="rk45", n_stages=6, n_extra=0, error_order=4, A=A, C=C, E=E, F=F)


def _dop853() -> Tableau:
    """Return DOP853 with the interpolant of Hairer, Norsett and Wanner.

    F0 is the change over the step, F1 and F2 match the derivatives at its ends, F3 to F6 are the rows of D.
    """
    method: Any = DOP853
    A, C = _square(method, method.A_EXTRA, method.C_EXTRA)
    n, m = method.n_stages, A.shape[0]
    begin, end = np.eye(m)[0], np.eye(m)[n]
    F = np.vstack([A[n], begin - A[n], 2.0 * A[n] - begin - end, method.D])
    E = np.vstack([method.E5, method.E3])
    return Tableau(name="dop853", n_stages=n, n_extra=m - n - 1, error_order=7, A=A, C=C, E=E, F=F)


Method = Tableau | ImplicitMethod | MultistepMethod

METHODS: dict[str, Callable[[], Method]] = {
    "dop853": _dop853,
    "rk45": _rk45,
    "radau": make_radau,
    "adams": make_adams,
}


def find_tableau(method: str) -> Method:
    """Return the coefficients of a method by name.

    Names are ``"dop853"`` (order 8), ``"rk45"`` (order 5), ``"radau"`` (implicit) or ``"adams"`` (multistep).
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ModelError(unknown_name("method", str(method), METHODS))
    return _made(method)


@cache
def _made(method: str) -> Method:
    return METHODS[method]()


#: Number of nodes of the two solutions, of orders 12 and 16; all are at least 0.12 and 0.09 of the step from its centre
LONG_NODES = (6, 8)


@dataclass(frozen=True, eq=False)
class LongStepTableau:
    """Define the coefficients of a long step: both solutions, one after the other.

    Parameters
    ----------
    C : array, shape (14,)
        Nodes, as fractions of the step.
    A : array, shape (100,)
        ``B_j(C_i)``, row by row.
    B : array, shape (14,)
        ``B_j(1)``.
    start : array, shape (8, 6)
        ``B_j`` of the first solution at the nodes of the second: initial guess of the second solution.
    F : array, shape (8, 8)
        Coefficients of f, f^2, ... in each ``B_j`` of the second solution: dense output.
    """

    C: np.ndarray
    A: np.ndarray
    B: np.ndarray
    start: np.ndarray
    F: np.ndarray


@cache
def long_step_tableau() -> LongStepTableau:
    """Return the coefficients of the long step."""
    nodes = [0.5 * (leggauss(count)[0] + 1.0) for count in LONG_NODES]
    integrals = [[_integral(own, j) for j in range(own.size)] for own in nodes]
    values = [np.array([item(own) for item in row]).T for own, row in zip(nodes, integrals, strict=True)]
    return LongStepTableau(
        C=np.concatenate(nodes),
        A=np.concatenate([item.reshape(-1) for item in values]),
        B=np.concatenate([0.5 * leggauss(count)[1] for count in LONG_NODES]),
        start=np.array([item(nodes[1]) for item in integrals[0]]).T.copy(),
        F=np.array([item.coef[1:] for item in integrals[1]]),
    )


def _integral(nodes: np.ndarray, j: int) -> Polynomial:
    """Return the integral from 0 of the polynomial that is 1 at node j and 0 at the other nodes."""
    others = np.delete(nodes, j)
    return (Polynomial.fromroots(others) / np.prod(nodes[j] - others)).integ()
