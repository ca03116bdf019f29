"""Weights of a regulator problem as checked matrices, and whether the problem has a stabilising solution.

Weights and noise levels come as numbers, diagonals, mappings by name or matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import null_space

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.labels import Labels
from spacectl.linear.analysis.controllability import check_observability
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import scale_pair

__all__ = ["check_joint", "read_cross", "read_weight", "require_movable", "require_weighted"]


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
    """Check definiteness in units that make the diagonal one, so that units of the entries do not matter."""
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


LOST = 1e-8  #: as the tolerance of `check_controllability`


def require_movable(model: LinearModel, rows: np.ndarray, names: tuple[str, ...], what: str) -> None:
    """Raise, with names, unless inputs can control all integrated quantities ``rows x`` at rest, independently.

    The states at rest, ``A x + B u = 0``, are a space of as many dimensions as there are inputs (if the model is
    stabilisable); integrals are poles at s = 0, which are lost if their rows depend on each other there.
    """
    if not names:
        return
    pair = scale_pair(np.asarray(model.A), np.asarray(model.B))
    n = len(pair.A)
    rest = null_space(np.hstack([pair.A, pair.B]), rcond=1e-13)[:n]
    scaled = rows * pair.states
    size = np.linalg.norm(scaled, axis=1)
    reach = scaled @ rest / np.where(size > 0.0, size, 1.0)[:, None]
    U, values, _ = np.linalg.svd(reach)
    rank = int(np.sum(values > LOST))
    if rank < len(names):
        lost = U[:, -1] / U[np.argmax(np.abs(U[:, -1])), -1]
        summary = " ".join(
            f"{weight:+.2g} {name}" for name, weight in zip(names, lost, strict=True) if abs(weight) > 0.05
        )
        raise ModelError(
            f"{what}: not stabilizable: no input moves the mode at the origin ({summary}): the inputs control {rank} of the "
            f"{len(names)} integrated quantities independently; integrate fewer, or others"
        )


def require_weighted(
    model: LinearModel, Q: np.ndarray, R: np.ndarray, N: np.ndarray, what: str, *, seen: np.ndarray | None = None
) -> None:
    """Raise, with its name, if an undamped mode has no weight: no stabilising solution then exists.

    `seen` are further rows whose integrals are weighted.
    """
    back = np.linalg.solve(R, N.T)
    A, rest = np.asarray(model.A) - np.asarray(model.B) @ back, Q - N @ back
    size = np.sqrt(np.maximum(np.diag(rest), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(0.5 * (rest + rest.T) / np.outer(scale, scale))
    kept = values > 1e-13 * np.max(values, initial=0.0)
    C = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * scale
    C = C if seen is None else np.vstack([C, seen])
    y = Labels(tuple(f"weight{k + 1}" for k in range(len(C))), (), "output")
    D = np.zeros((len(C), len(model.u)))
    found = check_observability(LinearModel(A=A, B=model.B, C=C, D=D, x=model.x, u=model.u, y=y))
    for mode in found.weak_modes:
        if mode.count > 0 and abs(mode.pole.real) < 1e-9 * found.rate:
            raise ModelError(
                f"{what}: no weight covers {mode.describe()}; it does not decay, so a law without its weight cannot be stable: "
                f"give '{mode.states[0]}' a weight in Q"
            )
