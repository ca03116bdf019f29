"""Find growing poles of a closed loop: by their real part or, on the boundary of stability, as powers of time.

A multiple pole on the boundary is harmless if it has as many eigenvectors as its multiplicity; with fewer, deviations
drift like t, t^2, ... although no real part is positive (a free coordinate: ``q_ddot = 0``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import matrix_balance

__all__ = ["find_drift", "find_growth"]

_EDGE = 1e-6  # of the largest pole, or of the matrix: real parts that count as zero, and poles that count as equal
_RANK = 1e-9  # of the largest singular value of the balanced matrix: directions that count as eigenvectors


def find_growth(rates: np.ndarray) -> list[int]:
    """Return the indices of poles [1/s] whose real part is positive."""
    return [k for k, rate in enumerate(rates) if rate.real > _EDGE * np.max(np.abs(rates))]


def find_drift(
    A: np.ndarray, values: np.ndarray, rates: np.ndarray, period: float, known: Sequence[complex] | np.ndarray = ()
) -> list[int]:
    """Return the indices of poles on the boundary of stability that lack eigenvectors, so that deviations drift.

    Parameters
    ----------
    A : array, shape (n, n)
        Matrix of the loop, or of its samples.
    values, rates : array, shape (n,), complex
        Its eigenvalues, and the same as poles [1/s].
    period : float
        Of the samples [s]; 0 means continuous.
    known : sequence of complex
        Poles of oscillators ``s^2 + 2 zeta omega s + omega^2`` that are in A by design; those at zero drift by design.
    """
    scaled = matrix_balance(A, permute=False)[0]
    change = (scaled - np.eye(len(A))) / period if period > 0.0 else scaled
    edge = _EDGE * max(float(np.max(np.abs(rates), initial=0.0)), float(np.linalg.norm(change, 2)))
    waiting = [k for k, rate in enumerate(rates) if abs(rate.real) <= edge]
    found: list[int] = []
    while waiting:
        group = [k for k in waiting if abs(rates[k] - rates[waiting[0]]) <= edge]
        waiting = [k for k in waiting if k not in group]
        if len(group) > 1:
            singular = np.linalg.svd(scaled - np.mean(values[group]) * np.eye(len(A)), compute_uv=False)
            vectors = int(np.sum(singular <= _RANK * np.linalg.norm(scaled, 2)))
            meant = sum(abs(pole - np.mean(rates[group])) <= edge for pole in known) // 2
            found += group if 0 < vectors < len(group) - meant else []
    return sorted(found)
