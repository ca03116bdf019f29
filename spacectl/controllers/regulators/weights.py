"""Read weights and noise levels given as numbers, diagonals, mappings by name or matrices, as checked matrices.

A matrix that is not symmetric or not positive raises with the names of the states, inputs or outputs concerned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.labels import Labels

__all__ = ["check_joint", "read_cross", "read_weight"]


def read_weight(value: Any, labels: Labels, what: str, *, definite: bool) -> np.ndarray:
    """Return a symmetric, positive (semi-)definite matrix, shape (n, n).

    Parameters
    ----------
    value : float, array (n,) or (n, n), or mapping of str to float
        A multiple of the identity, a diagonal, a matrix, or diagonal entries by name; a mapping leaves the others zero.
    labels : Labels
        Labels of the weighted vector.
    what : str
        Name of the argument, for messages.
    definite : bool
        Whether every direction must have a positive weight.
    """
    n = len(labels)
    if isinstance(value, Mapping):
        for name in value:
            if name not in labels:
                raise ModelError(f"{what}: {unknown_name(labels.kind, str(name), labels.names)}")
        missing = [name for name in labels.names if name not in value]
        if definite and missing:
            raise ModelError(f"{what}: {labels.kind} '{missing[0]}' has no weight; give each one a positive number")
        numbers = {name: as_scalar(number, f"{what}: {labels.kind} '{name}'") for name, number in value.items()}
        matrix = np.diag(labels.vector(numbers))
    else:
        array = np.asarray(as_array(value, None, what))
        if array.shape not in ((), (n,), (n, n)):
            raise ShapeError(
                f"{what}: shape {array.shape}, expected a number, ({n},), ({n}, {n}) or a mapping by {labels.kind}"
            )
        matrix = array * np.eye(n) if array.ndim == 0 else np.diag(array) if array.ndim == 1 else np.array(array)
    _check_symmetric(matrix, labels, what)
    _check_definite(matrix, labels, what, definite)
    return 0.5 * (matrix + matrix.T)


def read_cross(value: Any, x: Labels, u: Labels, what: str) -> np.ndarray:
    """Return the cross weight N, shape (n_x, n_u); None is zero."""
    if value is None:
        return np.zeros((len(x), len(u)))
    return np.array(as_array(value, (len(x), len(u)), what))


def check_joint(Q: np.ndarray, R: np.ndarray, N: np.ndarray, x: Labels, u: Labels, what: str) -> None:
    """Raise if ``[[Q, N], [N.T, R]]`` is indefinite, with the states and inputs of its negative direction."""
    if np.any(N):
        labels = Labels((*x.names, *(f"input {name}" for name in u.names)), (), "state or input")
        _check_definite(np.block([[Q, N], [N.T, R]]), labels, f"{what}: [[Q, N], [N.T, R]]", False)


def _check_symmetric(matrix: np.ndarray, labels: Labels, what: str) -> None:
    gap = np.abs(matrix - matrix.T)
    if np.any(gap > 1e-12 * np.max(np.abs(matrix), initial=0.0)):
        i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
        a, b = labels.names[i], labels.names[j]
        raise ModelError(
            f"{what}: not symmetric: entry ('{a}', '{b}') is {matrix[i, j]:g}, entry ('{b}', '{a}') {matrix[j, i]:g}; "
            "pass (W + W.T) / 2"
        )


def _check_definite(matrix: np.ndarray, labels: Labels, what: str, definite: bool) -> None:
    """Judged in units that make the diagonal one, so that units of the entries do not matter."""
    diagonal = np.diag(matrix)
    wanted = "positive" if definite else "zero or positive"
    bad = np.flatnonzero(diagonal <= 0.0) if definite else np.flatnonzero(diagonal < 0.0)
    if bad.size:
        name = labels.names[bad[0]]
        raise ModelError(f"{what}: {labels.kind} '{name}' has the weight {diagonal[bad[0]]:g}, expected {wanted}")
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    if not len(matrix):
        return
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T) / np.outer(scale, scale))
    if values[0] < (1e-14 if definite else -1e-10):
        order = np.argsort(-np.abs(vectors[:, 0]), kind="stable")[:4]
        summary = " ".join(f"{vectors[k, 0]:+.2g} {labels.names[k]}" for k in order if abs(vectors[k, 0]) > 0.05)
        raise ModelError(
            f"{what}: {'not positive definite' if definite else 'indefinite'}: the direction ({summary}) has the weight "
            f"{values[0]:.3g} (in units of the diagonal); make the off-diagonal entries smaller"
        )
