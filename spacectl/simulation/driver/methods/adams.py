"""Constants and equations of the Adams-Bashforth-Moulton method with variable step and order.

For previous steps of any length, let ``spans[i]`` be the time from t[n-i] to t[n+1] = t + h and
``ratios[i] = h / spans[i]``. At the fraction x of the step, the polynomial through the last k derivatives is
``sum_i c_i(x) scaled[i]``, i < k, with ``c_i(x) = prod_{j<i} (1 - ratios[j] (1 - x))`` and scaled[i] the i-th divided
difference of the derivatives times the first i spans. ``weights[i]`` is the integral of c_i over the step. Then

- the prediction is ``s + h sum_{i<k} weights[i] scaled[i]``, of order k;
- the correction is ``prediction + h weights[k] (a d + (1 - a) scaled[k])``, of order k + 1, with d the derivative at the
  prediction minus that of the polynomial. Both d and scaled[k] approximate the k-th difference; with a below 1, steps that
  are 10 to 20 % longer are stable (a = 1 is the usual corrector);
- the error of order k is ``h (weights[k] - weights[k-1]) d``;
- the dense output is the same sum with the integrals up to x, without further evaluations.

References
----------
L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations, chapters 5 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["MAX_ADAMS", "MultistepMethod", "adams_weights", "make_adams"]

MAX_ADAMS = 12  #: highest order of the predictor


@dataclass(frozen=True, kw_only=True, eq=False)
class MultistepMethod:
    """Define the constants of the Adams method.

    Parameters
    ----------
    name : str
        Name of the method.
    A : array, shape (MAX_ADAMS + 1,)
        The factor a for each order k, chosen for the longest stable steps of damped modes, real or complex.
    C : array, shape (MAX_ADAMS + 1,)
        1/q, the integral of x^(q-1) over the step.
    E : array, shape (MAX_ADAMS + 2,)
        The error of order k with equal steps is ``h E[k]`` times the k-th difference of the derivatives.
    """

    name: str
    A: np.ndarray
    C: np.ndarray
    E: np.ndarray
    n_stages: int = 1
    n_extra: int = 0
    error_order: int = 1
    has_error_pair: bool = False
    needs_end_rate: bool = False

    @property
    def F(self) -> np.ndarray:
        """Empty: the dense output is the polynomial of the method."""
        return np.zeros((0, 0))


def make_adams() -> MultistepMethod:
    """Return the Adams method; E has the constants of the implicit Adams formulas, from their generating function.

    ``sum_k E_k x^k = -x / log(1 - x)`` has ``sum_{j<=k} E_j / (k + 1 - j) = 0`` for k > 0 and E_0 = 1.
    """
    E = np.ones(MAX_ADAMS + 2)
    for k in range(1, E.size):
        E[k] = -sum(E[j] / (k + 1 - j) for j in range(k))
    A = np.ones(MAX_ADAMS + 1)
    A[2:8] = 0.8, 0.85, 0.9, 0.93, 0.95, 0.97
    return MultistepMethod(name="adams", A=A, C=1.0 / np.arange(1, MAX_ADAMS + 2), E=np.abs(E))


def adams_weights(C: np.ndarray, ratios: np.ndarray, count: int, f: float) -> np.ndarray:
    """Return the integrals from 0 to f of ``c_i(x)``, i < count.

    ``W[i, q]``, the integral of ``c_i(x) (f - x)^q``, follows from ``W[0, q] = f^(q+1) / (q+1)`` and
    ``W[i, q] = (1 - ratios[i-1] (1 - f)) W[i-1, q] - ratios[i-1] W[i-1, q+1]``.
    """
    work, power = np.empty(count), f
    for q in range(count):
        work[q] = power * C[q]
        power *= f
    weights = np.empty(count)
    weights[0] = f
    for i in range(1, count):
        a = ratios[i - 1]
        work = (1.0 - a * (1.0 - f)) * work[:-1] - a * work[1:]
        weights[i] = work[0]
    return weights
