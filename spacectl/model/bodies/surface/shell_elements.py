"""Flat shell triangles: mass and stiffness matrices of a thin shell that is given as a mesh of triangles.

Bending is that of the discrete Kirchhoff triangle (Batoz, Bathe and Ho 1980), stretch that of Allman's triangle with
rotations about the normal (1984): both are quadratic triangles whose values at the middles of the sides follow from
the corners. Mass is that of linear displacements, partly lumped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.fem.model import FemModel
from spacectl.model.bodies.surface.ritz import isotropic_section

__all__ = ["assemble_shell"]

_SIDES = ((0, 1), (1, 2), (2, 0))
_TIE = 1e-2  # of the shear stiffness: ties the mean rotation about the normal to that of the displacements


def assemble_shell(
    points: Any,
    triangles: Any,
    *,
    thickness: Any,
    E: float,
    density: float,
    nu: float = 0.3,
    total_mass: float | None = None,
) -> FemModel:
    """Assemble a finite-element model of a thin shell from a triangle mesh, for `ModalBody.from_fem`.

    Parameters
    ----------
    points : array (n, 3)
        Nodes [m].
    triangles : array of int (k, 3)
        Corners of the triangles, from 0.
    thickness : float or array (k,)
        For all triangles or each [m].
    E, density : float
        Young's modulus [Pa], mass per volume [kg/m^3].
    nu : float
        Poisson's ratio.
    total_mass : float, optional
        Mass that the shell should have [kg], as a check of units.

    Examples
    --------
    >>> square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    >>> shell = assemble_shell(square, [[0, 1, 2], [0, 2, 3]], thickness=0.01, E=7e10, density=2700.0)
    >>> round(float(shell.rigid_mass[0, 0]), 6)
    27.0
    """
    X, corners = np.asarray(points, dtype=float), np.asarray(triangles)
    if X.ndim != 2 or X.shape[1] != 3 or corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        raise ShapeError(
            f"assemble_shell: points and triangles have shapes {X.shape}, {corners.shape}; expected (n, 3) and (k, 3) "
            f"of whole numbers"
        )
    if corners.min(initial=0) < 0 or corners.max(initial=0) >= len(X) or len(np.unique(corners)) < len(X):
        raise ModelError(
            f"assemble_shell: triangles name points 0 to {len(X) - 1}, each at least once; remove unused points"
        )
    h = np.broadcast_to(np.asarray(thickness, dtype=float), (len(corners),))
    E, rho, nu = (
        as_scalar(value, f"assemble_shell: {key}") for key, value in (("E", E), ("density", density), ("nu", nu))
    )
    if not np.min(h) > 0.0 or not E > 0.0 or not rho > 0.0 or not -1.0 < nu <= 0.5:
        raise ModelError("assemble_shell: expected positive thickness, E and density, and nu from -1 to 0.5")
    R, flat, area = _local(X[corners])
    K = _stiffness(flat, area, h, E, nu)
    M = _mass(area, h, rho)
    T = np.zeros((len(corners), 18, 18))
    for k in range(6):
        T[:, 3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = R
    K, M = (T.transpose(0, 2, 1) @ A @ T for A in (K, M))
    rows = (6 * corners[:, :, None] + np.arange(6)).reshape(len(corners), 18)
    i, j = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
    stiffness, mass = (
        sparse.csr_array((A.ravel(), (i.ravel(), j.ravel())), shape=(6 * len(X), 6 * len(X))) for A in (K, M)
    )
    symmetric = [0.5 * (A + A.T) for A in (mass, stiffness)]
    return FemModel(mass=symmetric[0], stiffness=symmetric[1], nodes=X, triangles=corners, total_mass=total_mass)


def _local(P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return axes of the triangles as rows (k, 3, 3), their corners in the plane (k, 3, 2), areas."""
    a, b = P[:, 1] - P[:, 0], P[:, 2] - P[:, 0]
    normal = np.cross(a, b)
    twice = np.linalg.norm(normal, axis=1)
    longest = np.max(np.linalg.norm(P - np.roll(P, 1, axis=1), axis=2), axis=1)
    if not np.all(twice > 1e-8 * longest**2):
        raise ModelError(f"assemble_shell: triangle {int(np.argmin(twice / longest**2))} has no area; remove it")
    x = a / np.linalg.norm(a, axis=1)[:, None]
    z = normal / twice[:, None]
    R = np.stack([x, np.cross(z, x), z], axis=1)
    return R, np.einsum("kia,kja->kij", P - P[:, :1], R[:, :2]), 0.5 * twice


def _stiffness(p: np.ndarray, area: np.ndarray, h: np.ndarray, E: float, nu: float) -> np.ndarray:
    """Return the stiffness in local axes, 18 rows: displacement and rotation of each corner."""
    section = isotropic_section(1.0, 1.0, nu, 0.0, 0.0).membrane
    stretch, bend = _quadratic(p)
    K = np.zeros((len(p), 18, 18))
    plane = E * h / (1.0 - nu**2)
    for share in ((0.5, 0.5, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5)):  # middles of the sides: exact for quadratics
        gradient = _gradients(p, area, np.array(share))
        for fields, weight in ((stretch, plane), (bend, plane * h**2 / 12.0)):
            dx, dy = (np.einsum("kn,kncd->kcd", gradient[:, :, a], fields) for a in (0, 1))
            B = np.stack([dx[:, 0], dy[:, 1], dy[:, 0] + dx[:, 1]], axis=1)
            K += np.einsum("k,kai,ab,kbj->kij", weight * area / 3.0, B, section, B, optimize=True)
    turn = _tie(p, area)
    return K + np.einsum("k,ki,kj->kij", _TIE * E * h / (2.0 * (1.0 + nu)) * area, turn, turn)


def _quadratic(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return in-plane displacement and slopes (-w_x, -w_y) at six nodes from the 18 rows: (k, 6, 2, 18) each."""
    u, beta = np.zeros((len(p), 6, 2, 18)), np.zeros((len(p), 6, 2, 18))
    for c in range(3):
        u[:, c, 0, 6 * c] = u[:, c, 1, 6 * c + 1] = 1.0
        beta[:, c, 0, 6 * c + 4], beta[:, c, 1, 6 * c + 3] = 1.0, -1.0
    for side, (i, j) in enumerate(_SIDES, start=3):
        d = p[:, j] - p[:, i]
        length = np.linalg.norm(d, axis=1)
        along = d / length[:, None]
        u[:, side] = 0.5 * (u[:, i] + u[:, j])
        for c, sign in ((j, 1.0), (i, -1.0)):  # Allman: the side bends with the difference of the rotations
            u[:, side, 0, 6 * c + 5] += sign * d[:, 1] / 8.0
            u[:, side, 1, 6 * c + 5] -= sign * d[:, 0] / 8.0
        mean = 0.5 * (beta[:, i] + beta[:, j])
        slope = np.einsum("ka,kad->kd", along, mean)
        kirchhoff = -0.5 * slope
        for c, sign in ((j, -1.0), (i, 1.0)):
            kirchhoff[:, 6 * c + 2] += 1.5 * sign / length
        beta[:, side] = mean + along[:, :, None] * (kirchhoff - slope)[:, None, :]
    return u, beta


def _gradients(p: np.ndarray, area: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the gradients of the six quadratic functions at area coordinates `share`: (k, 6, 2)."""
    linear = np.stack([_edge(p, i) for i in range(3)], axis=1) / (2.0 * area)[:, None, None]
    corner = (4.0 * share - 1.0)[None, :, None] * linear
    sides = [4.0 * (share[i] * linear[:, j] + share[j] * linear[:, i]) for i, j in _SIDES]
    return np.concatenate([corner, np.stack(sides, axis=1)], axis=1)


def _edge(p: np.ndarray, i: int) -> np.ndarray:
    """Return the normal of the side opposite corner i times its length, pointing inwards."""
    a, b = p[:, (i + 1) % 3], p[:, (i + 2) % 3]
    return np.stack([a[:, 1] - b[:, 1], b[:, 0] - a[:, 0]], axis=1)


def _tie(p: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Return the mean rotation about the normal minus that of the linear displacements, as a row (k, 18)."""
    row = np.zeros((len(p), 18))
    for c in range(3):
        gradient = _edge(p, c) / (2.0 * area)[:, None]
        row[:, 6 * c + 5] = 1.0 / 3.0
        row[:, 6 * c + 1] -= 0.5 * gradient[:, 0]
        row[:, 6 * c] += 0.5 * gradient[:, 1]
    return row


def _mass(area: np.ndarray, h: np.ndarray, rho: float) -> np.ndarray:
    """Return the mass of linear displacements, a quarter lumped (to balance the error of bending), with rotary inertia."""
    M = np.zeros((len(area), 18, 18))
    for a in range(3):
        for i in range(3):
            for j in range(3):
                M[:, 6 * i + a, 6 * j + a] = rho * h * area / 12.0 * (2.5 if i == j else 0.75)
            M[:, 6 * i + 3 + a, 6 * i + 3 + a] = rho * h**3 / 12.0 * area / 3.0
    return M
