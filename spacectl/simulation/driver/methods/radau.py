"""Coefficients of Radau IIA with three stages (order 5), for the implicit steps of the driver.

All coefficients follow from the Radau points: A from the integrals of the Lagrange polynomials, the embedded error estimate
from order conditions, the dense output from the collocation polynomial, and the transformation that splits the Newton
system into a real and a complex one from the eigenvectors of A^-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

__all__ = ["ImplicitMethod", "make_radau"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ImplicitMethod:
    """Define the coefficients of a stiffly accurate collocation method with three stages.

    The stages solve ``Z = h A F(s + Z)``, and the step ends at ``s + Z[2]``. With ``Z = T W`` the linear systems of a
    simplified Newton method are ``(gamma/h - J) dW0 = ...`` and ``((alpha + i beta)/h - J) (dW1 + i dW2) = ...``.

    Parameters
    ----------
    name : str
        Name of the method.
    A : array, shape (3, 3)
        Stage weights.
    C : array, shape (3,)
        Times of the stages as fractions of the step.
    E : array, shape (2, 4)
        Error weights. ``(gamma/h - J)^-1 (f(s) + gamma/h E[0, :3] Z)`` estimates the error at the end of the step with
        order 3; ``E[1] (Z, h rate)``, with the derivative at the beginning, that of the polynomial inside the step.
    F : array, shape (3, 3)
        Dense output, the collocation polynomial: ``Q = F Z / h`` in the form described in `tableau`.
    R : array, shape (3,)
        ``R Z / h`` is the derivative of the collocation polynomial at the end of the step.
    T, T_inverse : array, shape (3, 3)
        Transformation ``T^-1 A^-1 T = [[gamma, 0, 0], [0, alpha, -beta], [0, beta, alpha]]``; the last row of T is
        (1, 1, 0).
    eigenvalues : array, shape (3,)
        gamma, alpha, beta.
    error_order : int
        Order of the error estimate.
    """

    name: str
    A: np.ndarray
    C: np.ndarray
    E: np.ndarray
    F: np.ndarray
    R: np.ndarray
    T: np.ndarray
    T_inverse: np.ndarray
    eigenvalues: np.ndarray
    error_order: int
    n_stages: int = 3
    n_extra: int = 0
    has_error_pair: bool = False
    needs_end_rate: bool = False


def make_radau() -> ImplicitMethod:
    """Return the coefficients of Radau IIA of order 5.

    References
    ----------
    E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, sections IV.5 and IV.8 (Eqs 8.4, 8.13, 8.19).
    """
    C = _radau_points(3)
    A = _collocation_weights(C)
    inverse = np.linalg.inv(A)
    eigenvalues, T = _split(inverse)
    F = np.linalg.inv(np.column_stack([C, C * (1.0 - C), C**2 * (1.0 - C)]))
    E = np.zeros((2, 4))
    E[0, :3] = _error_weights(A, C, 1.0 / eigenvalues[0])
    E[1] = _inside_weights(C, F)
    return ImplicitMethod(
        name="radau",
        A=A,
        C=C,
        E=E,
        F=F,
        R=inverse[-1],
        T=T,
        T_inverse=np.linalg.inv(T),
        eigenvalues=eigenvalues,
        error_order=3,
    )


def _radau_points(n: int) -> np.ndarray:
    """Return the roots of ``d^(n-1)/dx^(n-1) [x^(n-1) (x-1)^n]`` in (0, 1]; the last one is 1."""
    x = Polynomial([0.0, 1.0])
    polynomial = (x ** (n - 1) * (x - 1.0) ** n).deriv(n - 1)
    derivative = polynomial.deriv()
    roots = np.sort(polynomial.roots().real)
    for _ in range(3):  # Newton steps, to rounding
        roots = roots - polynomial(roots) / derivative(roots)
    roots[-1] = 1.0
    return roots


def _collocation_weights(C: np.ndarray) -> np.ndarray:
    """Return ``A[i, j]``, the integral of the j-th Lagrange polynomial from 0 to C[i]."""
    A = np.empty((C.size, C.size))
    for j, c in enumerate(C):
        others = np.delete(C, j)
        lagrange = Polynomial.fromroots(others) / np.prod(c - others)
        A[:, j] = lagrange.integ()(C)
    return A


def _inside_weights(C: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Return weights of the largest difference to the polynomial that also matches the derivative at the beginning.

    The difference is ``w(f) = a f (f - c0) (f - c1) (f - c2)``, where w'(0) is the difference of the derivatives.
    """
    shape = Polynomial.fromroots([0.0, *C])
    largest = np.max(np.abs(shape(shape.deriv().roots().real)))
    begin = F[0] + F[1]  # derivative of the collocation polynomial at the beginning, in terms of Z / h
    return np.append(-begin, 1.0) * largest / shape.deriv()(0.0)


def _split(inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (gamma, alpha, beta) and T of a 3 x 3 matrix with one real eigenvalue and a complex pair."""
    values, vectors = np.linalg.eig(inverse)
    real, pair = int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag))
    first = (vectors[:, real] / vectors[-1, real]).real
    second = vectors[:, pair] / vectors[-1, pair]
    eigenvalues = np.array([values[real].real, values[pair].real, values[pair].imag])
    return eigenvalues, np.column_stack([first, second.real, -second.imag])


def _error_weights(A: np.ndarray, C: np.ndarray, weight: float) -> np.ndarray:
    """Return the difference to the embedded formula of order 3 with weight 1/gamma of f(s), in terms of Z."""
    powers = np.arange(C.size)
    wanted = 1.0 / (powers + 1.0)
    wanted[0] -= weight
    embedded = np.linalg.solve(C[None, :] ** powers[:, None], wanted)
    return np.linalg.solve(A.T, embedded - A[-1])
