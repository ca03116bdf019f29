"""Follow the eigenvalues of a sequence of matrices as continuous branches, by their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

__all__ = ["Branches", "track_poles"]


class Branches(NamedTuple):
    """Eigenvalues (n_k, n), right and left vectors (n_k, n, n) as rows, correlation of each step (n_k - 1, n)."""

    poles: np.ndarray
    right: np.ndarray
    left: np.ndarray
    correlation: np.ndarray


def track_poles(matrices: Sequence[np.ndarray], *, nearness: float = 0.2) -> Branches:
    """Sort the eigenvalues of each matrix so that they continue those of the preceding matrix.

    Branch i continues with the mode j of least total cost ``1 - |l_i r_j'| |l_j' r_i| + nearness |pole_j' - guess_i|``
    over all pairs (an assignment problem); primes mark the next matrix, the guess extends the branch in a straight
    line, and distances are relative to the largest eigenvalue. With ``l_i r_j = 0`` (i != j) and ``l_i r_i = 1`` the
    correlation is 1 for the same mode and 0 for another, independent of the units of the states.

    Parameters
    ----------
    matrices : sequence of arrays, shape (n, n)
        Along a sweep.
    nearness : float
        Weight of the distance, which is decisive where shapes are not (repeated eigenvalues).

    Returns
    -------
    Branches
    """
    first, *others = (_decompose(np.asarray(A)) for A in matrices)
    poles, right, left, correlation = [first[0]], [first[1]], [first[2]], []
    for values, shapes, duals in others:
        guess = poles[-1] if len(poles) == 1 else 2.0 * poles[-1] - poles[-2]
        likeness = np.abs(left[-1] @ shapes.T) * np.abs(duals @ right[-1].T).T
        likeness = np.clip(np.nan_to_num(likeness), 0.0, 1.0)
        scale = max(float(np.max(np.abs(values), initial=0.0)), float(np.max(np.abs(guess), initial=0.0)), 1e-300)
        distance = np.abs(values[None, :] - guess[:, None]) / scale
        _, order = linear_sum_assignment(1.0 - likeness + nearness * distance)
        poles.append(values[order])
        right.append(shapes[order])
        left.append(duals[order])
        correlation.append(likeness[np.arange(len(order)), order])
    n = len(first[0])
    return Branches(np.array(poles), np.array(right), np.array(left), np.array(correlation).reshape(-1, n))


def _decompose(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return eigenvalues, right and left vectors as rows, in the order of (frequency, growth)."""
    values, right = np.linalg.eig(A)
    left = np.linalg.pinv(right)
    order = np.lexsort((values.real, -values.imag, np.abs(values.imag)))
    return values[order].astype(complex), right.T[order], left[order]
