"""The Riccati differential equation along a time-varying problem, backward in time, by steps that stay stable when stiff.

Over a step the Hamiltonian flow becomes the triple (A, G, H) of a two-point problem, ``S(t) = H + A.T S(t + h) (1 + G
S(t + h))^-1 A``, put together by doubling from short times: exact for constant coefficients and bounded for any step,
with any fast modes. Varying coefficients use Magnus' formula of order 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from spacectl.core.errors import SolverError

__all__ = ["Hamiltonian", "Knot", "flow_back", "riccati_rate"]

Hamiltonian = Callable[[float], np.ndarray]  #: time [s] -> [[A, -G], [-Q, -A.T]], shape (2 n, 2 n)

_GAUSS = np.sqrt(3.0) / 6.0


class Knot(NamedTuple):
    """Time [s], solution S (n, n) and its rate."""

    t: float
    S: np.ndarray
    S_dot: np.ndarray


def riccati_rate(H: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return ``S_dot = -A.T S - S A + S G S - Q``."""
    n = len(S)
    half = S @ H[:n, :n]
    return H[n:, :n] - half - half.T - S @ H[:n, n:] @ S


def flow_back(
    hamiltonian: Hamiltonian,
    start: float,
    end: float,
    S: np.ndarray,
    *,
    rtol: float,
    longest: float,
    first: float = 0.0,
    max_steps: int = 100_000,
) -> list[Knot]:
    """Integrate S from `end`, where it is given, back to `start`; return knots in increasing time.

    Steps are chosen so that one step and two halves agree to `rtol` of the norm of S, and so does Hermite interpolation
    between the knots with the value in the middle, so that the knots are a table of S.

    Parameters
    ----------
    hamiltonian : callable
        Smooth between start and end.
    start, end : float
        Times [s].
    S : array, shape (n, n)
        At the end.
    rtol : float
        Relative tolerance.
    longest, first : float
        Longest step and first trial step [s] (0: chosen).
    max_steps : int
        Largest number of steps.

    Raises
    ------
    SolverError
        If steps become too small, or S is not finite.
    """
    t = end
    knots = [Knot(t, S, riccati_rate(hamiltonian(t), S))]
    h = min(longest, first or longest, end - start)
    largest = float(np.linalg.norm(S))
    for _ in range(max_steps):
        if t - start <= 1e-14 * max(abs(start), abs(end), 1e-300):
            knots[-1] = knots[-1]._replace(t=start)
            return knots[::-1]
        left = t - start
        h = left if left <= h else 0.5 * left if left < 2.0 * h else h  # no tiny step at the end
        whole = _step(hamiltonian, t, h, S)
        middle = _step(hamiltonian, t, 0.5 * h, S)
        before = _step(hamiltonian, t - 0.5 * h, 0.5 * h, middle)
        rate = riccati_rate(hamiltonian(t - h), before)
        between = 0.5 * (S + before) + 0.125 * h * (rate - knots[-1].S_dot)
        scale = max(float(np.linalg.norm(before)), 1e-3 * largest, 1e-300)
        # halves enter the table, which makes its error a sixteenth of what is seen here
        error = float(max(np.linalg.norm(whole - before) / 15.0, np.linalg.norm(between - middle) / 16.0)) / scale
        if not np.isfinite(error):
            error = np.inf
        if error <= rtol:
            half = t - 0.5 * h
            knots.append(Knot(half, middle, riccati_rate(hamiltonian(half), middle)))
            knots.append(Knot(t - h, before, rate))
            t, S = t - h, before
            largest = max(largest, float(np.linalg.norm(S)))
        elif h < 1e-13 * max(abs(t), end - start):
            raise SolverError(
                f"the Riccati equation cannot be integrated backward beyond t = {t:g} s: steps become too small"
            )
        factor = 0.9 * (rtol / error) ** 0.25 if error > 0.0 else 4.0
        h = min(longest, h * float(np.clip(factor, 0.1, 4.0)))
    raise SolverError(f"the Riccati equation needs more than {max_steps} steps; it reached t = {t:g} s")


def _step(hamiltonian: Hamiltonian, t: float, h: float, S: np.ndarray) -> np.ndarray:
    """Return S at t - h from S at t."""
    one, two = hamiltonian(t - (0.5 + _GAUSS) * h), hamiltonian(t - (0.5 - _GAUSS) * h)
    omega = 0.5 * h * (one + two) + 0.5 * _GAUSS * h * h * (two @ one - one @ two)
    A, G, H = _two_point(omega)
    result = H + A.T @ S @ np.linalg.solve(np.eye(len(S)) + G @ S, A)
    return 0.5 * (result + result.T)


def _two_point(omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (A, G, H) of the flow exp(omega): ``x1 = A x0 - G l1``, ``l0 = H x0 + A.T l1`` for states x and costates l."""
    n = len(omega) // 2
    size = float(np.linalg.norm(omega, 1))
    halvings = max(0, int(np.ceil(np.log2(size / 0.5)))) if np.isfinite(size) and size > 0.5 else 0
    flow = expm(omega / 2.0**halvings)
    back = np.linalg.inv(flow[n:, n:])
    A, G, H = back.T, -flow[:n, n:] @ back, -back @ flow[n:, :n]
    for _ in range(halvings):
        W = np.linalg.solve(np.eye(n) + G @ H, np.hstack([A, G]))
        more_G, more_H = A @ W[:, n:] @ A.T, A.T @ H @ W[:, :n]
        A, G, H = A @ W[:, :n], G + 0.5 * (more_G + more_G.T), H + 0.5 * (more_H + more_H.T)
    return A, 0.5 * (G + G.T), 0.5 * (H + H.T)
