"""Exact sampling of a linear plant with a held input: its transition, its cost and its noise over one period.

All quantities are obtained by doubling from a short time, so stiff plants lose no accuracy and integrals stay positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

__all__ = ["SampledCost", "integrate_weight", "sample_cost", "sample_noise", "sample_plant"]


class SampledCost(NamedTuple):
    """Plant ``x+ = A x + B u`` and cost ``x.T Q x + 2 x.T N u + u.T R u`` of one period."""

    A: np.ndarray
    B: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    N: np.ndarray


def integrate_weight(F: np.ndarray, W: np.ndarray, period: float) -> np.ndarray:
    """Return ``integral_0^period exp(F.T s) W exp(F s) ds``, shape as W (symmetric).

    A Taylor series over period / 2^k, then ``W(2 h) = W(h) + exp(F h).T W(h) exp(F h)``.
    """
    size = float(np.linalg.norm(F, 1)) * period
    halvings = max(0, int(np.ceil(np.log2(size / 0.25)))) if size > 0.25 else 0
    h = period / 2.0**halvings
    term = total = h * W
    for k in range(2, 16):  # derivatives of the integrand at 0; (2 * 0.25)^15 / 15! is below rounding
        term = h / k * (F.T @ term + term @ F)
        total = total + term
    step = expm(F * h)
    for _ in range(halvings):
        total = total + step.T @ total @ step
        step = step @ step
    return 0.5 * (total + total.T)


def sample_plant(A: np.ndarray, B: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``exp(A T)`` and ``integral_0^T exp(A s) ds B``."""
    n, m = B.shape
    whole = expm(np.block([[A, B], [np.zeros((m, n + m))]]) * period)
    return whole[:n, :n], whole[:n, n:]


def sample_cost(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, N: np.ndarray, period: float
) -> SampledCost:
    """Return plant and cost over one period with the input held; the cost includes the motion between samples."""
    n, m = B.shape
    F = np.block([[A, B], [np.zeros((m, n + m))]])
    W = integrate_weight(F, np.block([[Q, N], [N.T, R]]), period)
    Ad, Bd = sample_plant(A, B, period)
    return SampledCost(Ad, Bd, W[:n, :n], W[n:, n:], W[:n, n:])


def sample_noise(A: np.ndarray, W: np.ndarray, period: float) -> np.ndarray:
    """Return the covariance that white noise of intensity W adds to the state in one period."""
    return integrate_weight(A.T, W, period)
