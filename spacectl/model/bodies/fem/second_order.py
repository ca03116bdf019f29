"""Second-order shapes of a finite-element model from its own matrices, or from given geometric stiffness.

*From the matrices.* Any two nodes i, j that the stiffness couples are described in corotational axes, rotated
by the mean theta of their rotations; the linear stiffness acts on the displacements in these axes. To second
order, the displacement of j relative to rigid motion with i is

    d2 = -theta x (u_j - u_i) + 1/2 theta x (theta x X_ij) - 1/4 (theta_i x theta_j) x X_ij,    turned by -1/2 theta_i x theta_j,

and ``K v = -sum_j K_ij d2_ij`` gives the displacement v that cancels these strains. It converges to the
second-order shapes of the structure as the mesh is refined, for any type of element. (Axes of node i alone
would add stress times the change of rotation between the nodes, which does not vanish.)

*From geometric stiffness.* The work of an inertia force on v is the energy of its stresses; matrices for unit
acceleration fields determine v in the span of these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from spacectl.core.errors import ModelError, ShapeError

__all__ = ["geometric_second", "warped_forces"]


def warped_forces(model: Any, fields: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return ``sum_j K_ij d2_ij`` for all pairs of shapes, (N, m m); `fields` are displacement, rotation (n, 3, m)."""
    K = sparse.coo_array(model.stiffness)
    row, column = K.coords
    i, j, component = model.dofs[row, 0], model.dofs[column, 0], model.dofs[column, 1]
    couples, place = np.unique(np.stack([i, j], axis=1), axis=0, return_inverse=True)
    a, b = couples.T
    u, theta = fields[0], _rotations(model, fields, couples)
    arm, mean = model.nodes[b] - model.nodes[a], 0.5 * (theta[a] + theta[b])
    m = u.shape[2]
    forces = np.zeros((len(model.dofs), m, m))
    for p in range(m):
        for q in range(p, m):
            seen = np.zeros((len(couples), 6))
            for r, s in ((p, q), (q, p)):
                turned = np.cross(theta[a, :, r], theta[b, :, s])
                seen[:, :3] += np.cross(mean[:, :, r], 0.5 * np.cross(mean[:, :, s], arm) - u[b, :, s] + u[a, :, s])
                seen[:, :3] -= 0.25 * np.cross(turned, arm)
                seen[:, 3:] -= 0.5 * turned
            found = np.bincount(row, weights=K.data * seen[place.ravel(), component], minlength=len(model.dofs))
            forces[:, p, q] = forces[:, q, p] = found
    return forces.reshape(len(model.dofs), m * m)


def _rotations(model: Any, fields: tuple[np.ndarray, np.ndarray], couples: np.ndarray) -> np.ndarray:
    """Return the rotations of the nodes; without, those of the best linear map of its neighbours."""
    u, theta = fields[0], fields[1].copy()
    bare = np.all(model.index[:, 3:] < 0, axis=1)
    if not np.any(bare):
        return theta
    a, b = couples[(couples[:, 0] != couples[:, 1]) & bare[couples[:, 0]]].T
    arm, moved = model.nodes[b] - model.nodes[a], u[b] - u[a]
    n = len(model.nodes)
    spread, mixed = np.zeros((n, 3, 3)), np.zeros((n, 3, 3, u.shape[2]))
    np.add.at(spread, a, arm[:, :, None] * arm[:, None, :])
    np.add.at(mixed, a, moved[:, :, None, :] * arm[:, None, :, None])
    F = np.einsum("nabk,nbc->nack", mixed, np.linalg.pinv(spread, rcond=1e-9, hermitian=True))
    turned = 0.5 * np.stack([F[:, 2, 1] - F[:, 1, 2], F[:, 0, 2] - F[:, 2, 0], F[:, 1, 0] - F[:, 0, 1]], axis=1)
    theta[bare] = turned[bare]
    return theta


def geometric_second(
    model: Any, about: np.ndarray, vectors: np.ndarray, given: Mapping[str, Any], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return second-order displacement and rotation (n, 3, m, m) from geometric stiffness for unit accelerations."""
    fields, values, places, turns = [], [], [], []
    X = model.nodes - about
    for name, matrix in given.items():
        if not name or len(name) > 2 or any(letter not in "xyz" for letter in name):
            raise ModelError(
                f"{what}: geometric has the key {name!r}; 'x' is unit acceleration along x, 'xy' acceleration along x "
                f"that grows with y"
            )
        KG = sparse.csr_array(matrix)
        if KG.shape != model.stiffness.shape or (abs(KG - KG.T).max() > 1e-8 * abs(KG).max()):
            raise ShapeError(
                f"{what}: geometric['{name}'] has shape {KG.shape}, expected a symmetric matrix like the stiffness"
            )
        along, size = "xyz".index(name[0]), X[:, "xyz".index(name[1])] if len(name) == 2 else np.ones(len(X))
        place = size[:, None] * np.eye(3)[along]
        gradient = np.outer(np.eye(3)[along], np.eye(3)["xyz".index(name[1])]) if len(name) == 2 else np.zeros((3, 3))
        skew = gradient - gradient.T
        turn = 0.5 * np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        node, component = model.dofs.T
        whole = np.hstack([place, np.tile(turn, (len(X), 1))])
        fields.append(whole[node, component])
        places.append(place)
        turns.append(np.tile(turn, (len(X), 1)))
        values.append(vectors.T @ (KG @ vectors))
    A = np.stack(fields, axis=1)
    c = np.linalg.solve(A.T @ (model.mass @ A), np.stack(values).reshape(len(values), -1))
    m = vectors.shape[1]
    c = c.reshape(-1, m, m)
    return np.einsum("lna,ljk->najk", np.stack(places), c), np.einsum("lna,ljk->najk", np.stack(turns), c)
