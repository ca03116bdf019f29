"""Inertia integrals of a flexible body from its material points, for every order.

A point is at ``r = X + Phi eta - 1/2 [eta' G_k eta]_k`` and its slice rotated by ``theta = Psi eta + 1/2
[eta' H_k eta]_k``. Kinetic energy to second order in (eta, eta_dot) needs only the sums that
`modal_integrals` returns, with symmetric matrices packed and rounding removed; `spatial.flexible` derives the
equations from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.spatial.backend import vector

__all__ = [
    "ModalPoints",
    "clean",
    "clean_symmetric",
    "field_integrals",
    "modal_integrals",
    "pack_symmetric",
    "packed_pairs",
    "packed_product",
    "point_fields",
    "sizes_of",
    "unit_diagonal",
    "unpack_symmetric",
]


@dataclass(frozen=True)
class ModalPoints:
    """Material points with their shapes; n points, m modes.

    Parameters
    ----------
    X : array (n, 3)
        Positions in body axes [m].
    mass : array (n,)
        Their masses [kg].
    Phi : array (n, 3, m)
        First-order shapes: displacement for unit modal coordinate.
    Psi : array (n, 3, m)
        Rotation of the slice for unit modal coordinate.
    G : array (n, 3, m, m)
        Second-order shapes, symmetric in the last two.
    H : array (n, 3, m, m)
        Second-order rotations, symmetric in the last two.
    rotary : array (n, 3, 3)
        Inertia of each slice about its point, undeformed axes [kg m^2].
    """

    X: np.ndarray
    mass: np.ndarray
    Phi: np.ndarray
    Psi: Any = None
    G: Any = None
    H: Any = None
    rotary: Any = None

    def __post_init__(self) -> None:
        n, m = self.Phi.shape[0], self.Phi.shape[2]
        for name, shape in (("Psi", (n, 3, m)), ("G", (n, 3, m, m)), ("H", (n, 3, m, m)), ("rotary", (n, 3, 3))):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(shape))


def modal_integrals(points: ModalPoints, *, second_order: bool = True) -> dict[str, np.ndarray]:
    """Return the sums over the points that define the kinetic energy of a flexible body about its frame's origin.

    ``T = 1/2 m v'v + v'(w x c) + 1/2 w' I w + w' h eta_dot + v' c_dot + 1/2 eta_dot' M eta_dot`` with
    ``c = c0 + c1 eta + 1/2 eta' c2 eta``, I likewise, and ``h_j = h0_j + sum_k h1_jk eta_k`` (angular momentum of mode j).

    Parameters
    ----------
    points : ModalPoints
        The body.
    second_order : bool
        Whether to include second-order shapes and rotations; False is the classical theory.

    Returns
    -------
    dict
        ``mass`` (), ``first0`` (3,), ``first1`` (3, m), ``first2`` (3, k), ``inertia0`` (6,), ``inertia1`` (6, m),
        ``inertia2`` (6, k), ``couple0`` (3, m), ``couple1`` (3 m, m) with row 3 j + i, ``modal_mass`` (k,); symmetric
        pairs packed by rows, k = m (m + 1) / 2, moments in the order xx, yy, zz, xy, xz, yz.
    """
    X, mass, Phi, Psi, J = points.X, points.mass, points.Phi, points.Psi, points.rotary
    factor = 1.0 if second_order else 0.0
    G, H = factor * points.G, factor * points.H
    m = Phi.shape[2]
    N = np.einsum("n,na,nbj->jab", mass, X, Phi)
    P = np.einsum("n,naj,nbk->jkab", mass, Phi, Phi)
    Q = np.einsum("n,na,nbjk->jkab", mass, X, G)

    first2 = -np.einsum("n,najk->ajk", mass, G)
    J0 = np.einsum("n,na,nb->ab", mass, X, X)
    J1 = N + N.transpose(0, 2, 1)
    J2 = P + P.transpose(0, 1, 3, 2) - Q - Q.transpose(0, 1, 3, 2)
    I0, I1, I2 = _inertia(J0), _inertia(J1), _inertia(0.5 * (J2 + J2.transpose(1, 0, 2, 3)))
    h0 = _axial(N).T  # (3, m)
    h1 = -_axial(P) - _axial(Q)  # sum of Phi_k x Phi_j - X x G_jk, as (j, k, 3)
    M = np.einsum("jkaa->jk", P)

    if np.any(J):
        K = np.einsum("iab,nbj->njia", _LEVI, Psi)  # matrices Psi_j~, entry [i, a]
        JK = np.einsum("nab,njbc->njac", J, K)
        KJ = np.einsum("njab,nbc->njac", K, J)
        KK = np.einsum("njab,nkbc->njkac", K, K)
        KK = KK + KK.transpose(0, 2, 1, 3, 4)
        Ht = np.einsum("iab,nbjk->njkia", _LEVI, H)
        turned = np.einsum("njab,nkbc->jkac", KJ, K)
        I0 = I0 + J.sum(axis=0)
        I1 = I1 + (KJ - JK).sum(axis=0)
        I2 = I2 + 0.5 * (np.einsum("njkab,nbc->jkac", KK, J) + np.einsum("nab,njkbc->jkac", J, KK))
        I2 = I2 - turned - turned.transpose(1, 0, 2, 3)
        I2 = I2 + np.einsum("njkab,nbc->jkac", Ht, J) - np.einsum("nab,njkbc->jkac", J, Ht)
        h0 = h0 + np.einsum("nab,nbj->aj", J, Psi)
        h1 = h1 + np.einsum("nkab,nbj->jka", KJ - JK, Psi) + np.einsum("nab,nbjk->jka", J, H)
        h1 = h1 + 0.5 * np.einsum("nab,nkbc,ncj->jka", J, K, Psi)
        M = M + np.einsum("naj,nab,nbk->jk", Psi, J, Psi)

    return {
        "mass": np.array(mass.sum()),
        "first0": np.einsum("n,na->a", mass, X),
        "first1": np.einsum("n,naj->aj", mass, Phi),
        "first2": np.stack([pack_symmetric(first2[a]) for a in range(3)]),
        "inertia0": _six(I0),
        "inertia1": np.stack([_six(I1[j]) for j in range(m)], axis=1) if m else np.zeros((6, 0)),
        "inertia2": np.stack([pack_symmetric(I2[:, :, a, b]) for a, b in _SIX]),
        "couple0": h0,
        "couple1": h1.transpose(0, 2, 1).reshape(3 * m, m),
        "modal_mass": pack_symmetric(M),
    }


def point_fields(points: ModalPoints, *, tolerance: float = 0.03) -> np.ndarray:
    """Reduce to a few equivalent points of unit mass: rows (X, Phi by modes, -G by pairs), (R, 3 + 3 m + 3 k).

    The functions 1, X, Phi, G of the body, weighted by mass, are reduced by orthogonal columns in this order.
    Products of any two preserve their integrals: exactly if one of them is 1, X or Phi, as equations to first
    order in the deformation require, and to about `tolerance` for two second-order shapes (fourth order in
    the energy). The first row has the whole mass. Kinetic energy is a sum of squares for any number of rows.
    """
    n, m = points.mass.size, points.Phi.shape[2]
    pairs = [(j, k) for j in range(m) for k in range(j, m)]
    second = np.stack([-points.G[:, a, j, k] for j, k in pairs for a in range(3)], axis=1)
    weight = np.sqrt(points.mass)[:, None]
    first = np.concatenate([np.ones((n, 1)), points.X, points.Phi.transpose(0, 2, 1).reshape(n, 3 * m)], axis=1)
    A, B = weight * first, weight * second
    Q = _orthonormal(A, 1e-13)
    rest = B - Q @ (Q.T @ B)
    rest -= Q @ (Q.T @ rest)
    size = np.linalg.norm(B, axis=0)
    moved = size > 1e-12 * np.max(size, initial=0.0)
    U, values, _ = np.linalg.svd(rest[:, moved] / size[moved], full_matrices=False)
    Q = np.hstack([Q, U[:, values > tolerance * np.sqrt(np.sum(moved))]])
    rows = Q.T @ np.hstack([A[:, 1:], B])
    rows[np.abs(rows) < 1e-13 * np.max(np.abs(rows), axis=0, initial=0.0)] = 0.0
    return rows


def _orthonormal(A: np.ndarray, tolerance: float) -> np.ndarray:
    """Orthonormalise the columns of A in order, omitting those that depend on earlier ones."""
    kept: list[np.ndarray] = []
    for column in A.T:
        rest = column.copy()
        for _ in range(2):
            for q in kept:
                rest -= q * (q @ rest)
        if np.linalg.norm(rest) > tolerance * max(float(np.linalg.norm(column)), 1e-300) and np.any(column):
            kept.append(rest / np.linalg.norm(rest))
    return np.stack(kept, axis=1)


def field_integrals(points: ModalPoints) -> dict[str, np.ndarray]:
    """Return ``sum m X r'`` of the deformed body to second order, slices included, for linear force fields.

    ``field0`` (9,), ``field1`` (9, m), ``field2`` (9, k) with ``field0 + field1 eta + 1/2 eta' field2 eta``, matrices by rows.
    """
    X, mass, m = points.X, points.mass, points.Phi.shape[2]
    own = 0.5 * np.trace(points.rotary, axis1=1, axis2=2)[:, None, None] * np.eye(3) - points.rotary  # second moments
    K = np.einsum("iab,nbj->njia", _LEVI, points.Psi)
    turned = np.einsum("njab,nkbc->njkac", K, K)
    turned = 0.5 * (turned + turned.transpose(0, 2, 1, 3, 4)) + np.einsum("iab,nbjk->njkia", _LEVI, points.H)
    N0 = np.einsum("n,na,nb->ab", mass, X, X) + own.sum(axis=0)
    N1 = np.einsum("n,na,nbj->jab", mass, X, points.Phi) + np.einsum("nab,njcb->jac", own, K)
    N2 = -np.einsum("n,na,nbjk->jkab", mass, X, points.G) + np.einsum("nab,njkcb->jkac", own, turned)
    return {
        "field0": N0.reshape(9),
        "field1": N1.reshape(m, 9).T,
        "field2": np.stack([pack_symmetric(N2[:, :, a, b]) for a in range(3) for b in range(3)]),
    }


_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_LEVI = np.zeros((3, 3, 3))  # [i, a, b]: (b~)[i, a] = sum_b of LEVI[i, a, b] b_b
for _i, _a, _b in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _LEVI[_i, _a, _b], _LEVI[_a, _i, _b] = -1.0, 1.0


def _inertia(J: np.ndarray) -> np.ndarray:
    """Return ``tr(J) 1 - J`` of second moments, over the last two axes."""
    return np.trace(J, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - J


def _axial(P: np.ndarray) -> np.ndarray:
    """Return ``sum m a x b`` from ``sum m a b'``, over the last two axes."""
    return np.stack([P[..., 1, 2] - P[..., 2, 1], P[..., 2, 0] - P[..., 0, 2], P[..., 0, 1] - P[..., 1, 0]], axis=-1)


def _six(I: np.ndarray) -> np.ndarray:
    return np.array([I[a, b] for a, b in _SIX])


def pack_symmetric(A: np.ndarray) -> np.ndarray:
    """Pack the upper triangle of a symmetric matrix by rows."""
    return A[np.triu_indices(A.shape[0])]


def unpack_symmetric(packed: np.ndarray, m: int) -> np.ndarray:
    """Unpack the symmetric matrix (m, m) from its upper triangle by rows."""
    A = np.zeros((m, m))
    A[np.triu_indices(m)] = packed
    return A + np.triu(A, 1).T


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
    """Pack the upper triangle without rounding, judged per mode to retain a soft mode beside a stiff one."""
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
