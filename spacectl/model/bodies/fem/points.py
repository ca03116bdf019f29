"""Finite-element fields as weighted points: masses at the nodes whose sums are those of the consistent mass matrix.

A flexible body is a set of points. Lumping a consistent mass matrix changes its integrals at the order of the mesh.
Masses are therefore adjusted so that mass, centre and inertia are exact, and shapes of the mass points so that their
momentum, angular momentum and modal mass are those of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import sqrtm

from spacectl.core.errors import ModelError

__all__ = ["lump_mass", "match_shapes"]


def lump_mass(model: Any, about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses (n,) and inertias (n, 3, 3) of the nodes, with the mass, centre and inertia of the matrix."""
    mass = _node_masses(model)
    J = _node_inertias(model)
    X = model.nodes - about
    R = model.rigid(about)
    wanted = R.T @ (model.mass @ R)
    rows = [np.ones(len(X)), *X.T, *(_moments(X)[:, a, b] for a, b in _SIX)]
    inertia = wanted[3:, 3:] - J.sum(axis=0)
    first = np.array([wanted[1, 5], -wanted[0, 5], wanted[0, 4]])  # mass times centre, from (e_k x X)
    target = np.array([wanted[0, 0], *first, *(inertia[a, b] for a, b in _SIX)])
    A = np.array(rows)
    scale = np.maximum(np.abs(A) @ mass, 1e-300)
    miss = (target - A @ mass) / scale
    W = A / scale[:, None] * mass
    change = np.linalg.lstsq(W @ A.T / scale, miss, rcond=1e-9)[0] @ (A / scale[:, None])
    moved = mass * (1.0 + change)
    if np.min(moved[mass > 0.0], initial=1.0) > 0.0:
        mass = moved
    left = wanted[3:, 3:] - J.sum(axis=0) - np.einsum("n,nab->ab", mass, _moments(X))
    shared = J + left * (mass / mass.sum())[:, None, None]
    is_rounding = np.max(np.abs(left)) < 1e-10 * np.max(np.abs(wanted[3:, 3:]))
    is_inertia = np.min(np.linalg.eigvalsh(shared)) > -1e-12 * max(float(np.max(np.abs(shared))), 1e-300)
    return mass, shared if is_inertia and not is_rounding else J


def _node_masses(model: Any) -> np.ndarray:
    """Return row sums of the displacement blocks, or the scaled diagonal if sums are negative (quadratic elements)."""
    n = len(model.nodes)
    parts = []
    for is_lumped in (True, False):
        node = np.zeros(n)
        for a in range(3):
            rows = model.dofs[:, 1] == a
            values = model.mass @ rows.astype(float) if is_lumped else model.mass.diagonal()
            np.add.at(node, model.dofs[rows, 0], values[rows] / 3.0)
        parts.append(node)
    total = parts[0].sum()
    return parts[0] if np.min(parts[0]) >= 0.0 else parts[1] * total / parts[1].sum()


def _node_inertias(model: Any) -> np.ndarray:
    """Return the row sums of the rotation blocks, without negative parts: (n, 3, 3)."""
    J = np.zeros((len(model.nodes), 3, 3))
    for b in range(3):
        turned = model.mass @ (model.dofs[:, 1] == 3 + b).astype(float)
        for a in range(3):
            rows = model.dofs[:, 1] == 3 + a
            np.add.at(J, (model.dofs[rows, 0], a, b), turned[rows])
    J = 0.5 * (J + J.transpose(0, 2, 1))
    values, vectors = np.linalg.eigh(J)
    return np.einsum("nak,nk,nbk->nab", vectors, np.maximum(values, 0.0), vectors)


def match_shapes(
    X: np.ndarray,
    mass: np.ndarray,
    J: np.ndarray,
    fields: tuple[np.ndarray, np.ndarray],
    grams: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return shapes (n, 3, m) and rotations of the mass points, adjusted to Gram matrices of the mass matrix.

    `grams` are ``R' M Phi`` (6, m) with rigid motions R about the origin of X, and ``Phi' M Phi``.
    """
    Phi, Psi = fields
    P, S = grams
    rigid = np.zeros((len(X), 3, 6))
    for k in range(3):
        rigid[:, k, k] = 1.0
        rigid[:, :, 3 + k] = np.cross(np.eye(3)[k], X)
    turning = np.zeros((len(X), 3, 6))
    turning[:, :, 3:] = np.eye(3)

    def product(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return np.einsum("n,naj,nak->jk", mass, a[0], b[0], optimize=True) + np.einsum(
            "naj,nab,nbk->jk", a[1], J, b[1], optimize=True
        )

    R = (rigid, turning)
    inverse = np.linalg.pinv(product(R, R), rcond=1e-12, hermitian=True)
    along = inverse @ product(R, fields)
    across = (Phi - rigid @ along, Psi - turning @ along)
    Q = product(across, across)
    wanted = S - P.T @ inverse @ P
    scale = np.sqrt(np.maximum(np.diag(wanted), 1e-300))
    Q, target = Q / np.outer(scale, scale), wanted / np.outer(scale, scale)
    if not np.min(np.linalg.eigvalsh(Q)) > 1e-9 or not np.min(np.linalg.eigvalsh(target)) > 1e-9:
        raise ModelError(
            "from_fem: the mass lumped at the nodes does not distinguish all modes; use fewer modes or refine the mesh"
        )
    root = np.real(sqrtm(Q))
    back = np.linalg.inv(root)
    W = back @ np.real(sqrtm(root @ target @ root)) @ back  # W Q W = target, nearest to 1
    W = W * scale / scale[:, None]
    move = inverse @ P
    return rigid @ move + across[0] @ W, turning @ move + across[1] @ W


_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def _moments(X: np.ndarray) -> np.ndarray:
    """Return ``|X|^2 1 - X X'`` of each point."""
    return np.einsum("na,na->n", X, X)[:, None, None] * np.eye(3) - X[:, :, None] * X[:, None, :]
