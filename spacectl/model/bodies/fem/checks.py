"""Checks of finite-element matrices: symmetry, definiteness, and rigid motions, which reveal wrong units and supports."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from spacectl.core.errors import ModelError

__all__ = ["check_matrices", "check_rigid"]

_DENSE = 900  # rows up to which all eigenvalues are computed


def check_matrices(mass: sparse.csr_array, stiffness: sparse.csr_array) -> None:
    """Raise `ModelError` unless both are symmetric and have no negative eigenvalue."""
    for name, A in (("mass", mass), ("stiffness", stiffness)):
        size = float(np.max(np.abs(A.data), initial=0.0))
        if not size:
            raise ModelError(f"FemModel: the {name} matrix is zero")
        miss = abs(A - A.T)
        if miss.nnz and miss.max() > 1e-8 * size:
            i, j = np.unravel_index(int(np.argmax(miss.toarray())), A.shape) if A.shape[0] < 3000 else (-1, -1)
            where = f", entries ({i}, {j}) and ({j}, {i})" if i >= 0 else ""
            raise ModelError(
                f"FemModel: the {name} matrix is not symmetric (by {miss.max() / size:.1e} of its largest entry{where}); pass "
                "(A + A') / 2 if that is rounding, fill in the other half if only one triangle was read"
            )
        found = _negative(A)
        if found:
            raise ModelError(f"FemModel: the {name} matrix is indefinite ({found}); expected no eigenvalue below 0")


def _negative(A: sparse.csr_array) -> str:
    """Return evidence that a symmetric matrix, scaled to unit diagonal, has an eigenvalue below -1e-7; else empty."""
    diagonal = A.diagonal()
    if np.min(diagonal) < 0.0:
        return f"its diagonal has {np.min(diagonal):.3g} in row {int(np.argmin(diagonal))}"
    empty = diagonal == 0.0
    if np.any(empty) and abs(A[empty]).sum() > 0.0:
        return "its diagonal is 0 in a row that is not"
    scale = sparse.diags_array(np.where(empty, 0.0, 1.0 / np.sqrt(np.where(empty, 1.0, diagonal))))
    scaled = scale @ A @ scale
    if A.shape[0] <= _DENSE:
        lowest = float(np.linalg.eigvalsh(scaled.toarray())[0])
        return f"an eigenvalue of {lowest:.2g} after scaling its diagonal to 1" if lowest < -1e-7 else ""
    return _negative_pivots(sparse.csc_matrix(scaled + 1e-7 * sparse.eye_array(A.shape[0])))


def _negative_pivots(A: sparse.csc_matrix) -> str:
    """Report negative pivots: without row exchanges they are as many as negative eigenvalues (Sylvester's law)."""
    factor = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return "a pivot of its factorisation vanishes"
    count = int(np.sum(factor.U.diagonal() < 0.0))
    return f"{count} of its pivots are negative" if count else ""


def check_rigid(model: Any) -> None:
    """Raise `ModelError` unless rigid motions store no energy and all translations move the same mass."""
    centre = model.nodes.mean(axis=0)
    R = model.rigid(centre)
    energy = np.einsum("nk,nk->k", R, model.stiffness @ R)
    size = np.einsum("nk,n->k", R**2, model.stiffness.diagonal())
    share = energy / np.maximum(size, 1e-300)
    if np.max(share[:3]) > 1e-6:
        raise ModelError(
            f"FemModel: the stiffness resists a rigid translation along {'xyz'[int(np.argmax(share[:3]))]} "
            f"({np.max(share[:3]):.1e} of its "
            "diagonal); give the matrices of the free model, without supports, and name the root in from_fem"
        )
    if np.max(share[3:]) > 1e-5:
        raise ModelError(
            f"FemModel: the stiffness resists a rigid rotation about {'xyz'[int(np.argmax(share[3:]))]} "
            f"({np.max(share[3:]):.1e} of its "
            "diagonal); node positions and matrices do not match: check their units (positions in mm, "
            "matrices in m?), their order, and that the model is free"
        )
    moved = np.einsum("nk,nk->k", R[:, :3], model.mass @ R[:, :3])
    if not np.min(moved) > 0.0 or np.max(moved) > (1.0 + 1e-4) * np.min(moved):
        raise ModelError(
            f"FemModel: translations along x, y, z move {moved[0]:.6g}, {moved[1]:.6g}, {moved[2]:.6g} kg, expected "
            f"the same mass; give the "
            "matrices of the free model with all displacements"
        )
    expected = model.total_mass
    if expected is not None and not abs(moved.mean() / expected - 1.0) < 0.01:
        raise ModelError(
            f"FemModel: the mass matrix contains {moved.mean():.6g} kg, expected total_mass = {expected:.6g} "
            f"kg (ratio {moved.mean() / expected:.3g}); check its units (tonnes and mm, pounds, or weight in "
            "place of mass)"
        )
