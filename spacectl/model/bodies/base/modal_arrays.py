"""Small operations on the arrays of flexible bodies: packed symmetric matrices, and the removal of rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.model.bodies.base.modal_integrals import pack_symmetric, unpack_symmetric
from spacectl.spatial.backend import vector

__all__ = ["clean", "clean_symmetric", "packed_pairs", "packed_product", "sizes_of", "unit_diagonal"]

_NEGLIGIBLE = 1e-13  # of the largest entry: rounding of a sum over points, taken as an exact zero


def packed_product(packed: Any, eta: Any) -> Any:
    """Return ``A eta`` for a symmetric A given by its upper triangle."""
    m = eta.shape[0]
    place = {(j, k): i for i, (j, k) in enumerate((j, k) for j in range(m) for k in range(j, m))}
    return vector(*[sum(packed[place[min(j, k), max(j, k)]] * eta[k] for k in range(m)) for j in range(m)])


def packed_pairs(eta: Any) -> Any:
    """Return the products of coordinates, as the packed upper triangle; mixed ones count twice."""
    m = eta.shape[0]
    return vector(*[eta[j] * eta[k] * (1.0 if j == k else 2.0) for j in range(m) for k in range(j, m)])


def clean(value: np.ndarray) -> Array:
    """Replace rounding by exact zeros: entries far below the largest."""
    value = np.asarray(value, dtype=float)
    largest = np.max(np.abs(value), initial=0.0)
    return Array(np.where(np.abs(value) < _NEGLIGIBLE * largest, 0.0, value))


def clean_symmetric(A: np.ndarray) -> Array:
    """Pack the upper triangle without rounding, judged per mode so that a soft mode beside a stiff one stays."""
    scale = np.sqrt(np.abs(np.diag(A)))
    return Array(pack_symmetric(np.where(np.abs(A) < _NEGLIGIBLE * np.outer(scale, scale), 0.0, A)))


def sizes_of(key: str, value: np.ndarray) -> np.ndarray:
    """Return the scale of rounding of each entry of a parameter: the largest entry, or per mode for matrices."""
    if key not in ("stiffness", "modal_damping", "modal_mass"):
        return np.full(value.shape, np.max(np.abs(value), initial=0.0))
    m = int(np.sqrt(2 * value.size))
    scale = np.sqrt(np.abs(np.diag(unpack_symmetric(value, m))))
    return pack_symmetric(np.outer(scale, scale))


def unit_diagonal(M: np.ndarray) -> np.ndarray:
    """Scale a matrix to a unit diagonal."""
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    return M / np.outer(scale, scale)
