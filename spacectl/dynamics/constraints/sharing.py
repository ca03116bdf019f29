"""Load sharing of redundant constraints, and uniqueness of reactions.

``E lam = M v_dot - f`` has many solutions where columns of E depend on each other. Every formulation, kernel and history
chooses the one of least work, ``min sum(c_i lam_i^2)`` with the compliance c_i of each constraint equation (Menabrea; for rigid
bodies on stiff springs this is the quasi-static solution). A reaction is unique if and only if the null space of E vanishes on
it. sharing.h is the native implementation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from spacectl.dynamics.constraints.solvers import pivoted_columns, speed_scales

__all__ = ["ZERO", "Redundancy", "find_redundancy", "least_work", "share_load"]

ZERO = 1e-7  #: entry of a null vector (of unit columns) that counts as rounding; columns count as dependent at 1e-9


@dataclass(frozen=True)
class Redundancy:
    """Null space of the columns of E, with the factors from which it was computed.

    Parameters
    ----------
    N : array, shape (m, k)
        ``E N = 0`` for columns of E divided by `size`; each column of N has 1 at an equation that was
        omitted.
    size : array, shape (m,)
        Norms by which columns of E were divided before their rank was found.
    Q, R, order, rank
        ``scale E[:, order] = Q R`` and the number of independent columns.
    """

    N: np.ndarray
    size: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    order: np.ndarray
    rank: int

    @property
    def is_unique(self) -> np.ndarray:
        """Whether each reaction is unique, shape (m,)."""
        return np.max(np.abs(self.N), axis=1, initial=0.0) <= ZERO

    @property
    def directions(self) -> np.ndarray:
        """Changes of the reactions that do not change the motion, as unit columns, shape (m, k)."""
        N = np.where(self.is_unique[:, None], 0.0, self.N / self.size[:, None])
        return N / np.linalg.norm(N, axis=0)


def find_redundancy(E: np.ndarray, scale: np.ndarray) -> Redundancy:
    """Find the null space of the columns of E (n, m) for speeds scaled by `scale` (`speed_scales`)."""
    m = E.shape[1]
    Q, R, order, rank, size = pivoted_columns(scale[:, None] * E)
    N = np.zeros((m, m - rank))
    unit = R / size[order]  # of columns of unit size
    if 0 < rank < m:
        N[order[:rank]] = -solve_triangular(unit[:rank, :rank], unit[:rank, rank:])
    N[order[rank:]] = np.eye(m - rank)
    return Redundancy(N, size, Q, R, order, rank)


def least_work(
    M: np.ndarray, E: np.ndarray, b: np.ndarray, w: np.ndarray, compliance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lam with ``E lam = b`` and least ``sum(c lam^2) / 2 - w' lam``, and the y of ``c lam = w + E' y``.

    Derivatives of lam have the same form, with other b and w (`solver_function`).
    """
    scale, root = speed_scales(M), np.sqrt(compliance)
    found = find_redundancy(E, scale)
    used, R = found.order[: found.rank], found.R[: found.rank, : found.rank]
    lam, y = np.zeros(E.shape[1]), np.zeros(len(b))
    if found.rank and np.any(b):
        lam[used] = solve_triangular(R, found.Q[:, : found.rank].T @ (scale * b))
    if found.N.shape[1]:
        lam = lam + _project(found, root, w / root - root * lam) / root
        if found.rank:
            y = scale * (found.Q[:, : found.rank] @ solve_triangular(R, (compliance * lam - w)[used], trans="T"))
    return lam, y


def share_load(M: np.ndarray, E: np.ndarray, lam: np.ndarray, compliance: np.ndarray) -> np.ndarray:
    """Return the reactions of least work with the same effect as `lam`; unique reactions are not changed."""
    found, root = find_redundancy(E, speed_scales(M)), np.sqrt(compliance)
    change = _project(found, root, -root * lam) / root if found.N.shape[1] else 0.0
    return np.where(found.is_unique, lam, lam + change)


def _project(found: Redundancy, root: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the part of r within the null space, in the metric of the work."""
    G = found.N * (root / found.size)[:, None]
    Q = qr(G / np.linalg.norm(G, axis=0), mode="economic")[0]
    return np.asarray(Q @ (Q.T @ r))
