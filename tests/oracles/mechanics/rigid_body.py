"""Torque-free rotation of a rigid body in closed form: body rates by Jacobi elliptic functions, and the attitude.

Sources: Landau and Lifshitz, Mechanics, section 37 (rates in elliptic functions; the precession angle as a
quadrature); Hughes, Spacecraft Attitude Dynamics, chapter 4 (axisymmetric body). numpy and scipy only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ellipj, ellipkinc

__all__ = ["axisymmetric_rates", "rotation_history", "torque_free_rates"]


def torque_free_rates(inertia: Any, omega0: Any, t: Any) -> np.ndarray:
    """Body rates of an asymmetric body, principal axes, for any initial rates.

    With the axes renamed so that I1 < I2 < I3 (or I1 > I2 > I3 when L^2 < 2 T I2):
    ``w1 = A1 cn(tau), w2 = s2 A2 sn(tau), w3 = s3 A3 dn(tau)``, ``tau = tau0 + rate t``.

    Parameters
    ----------
    inertia : array, shape (3,)
        Three different principal moments [kg m^2].
    omega0 : array, shape (3,)
        Rates at t = 0 [rad/s].
    t : array, shape (n,)
        Times [s].

    Returns
    -------
    omega : array, shape (n, 3)
    """
    I, w, t = np.asarray(inertia, dtype=float), np.asarray(omega0, dtype=float), np.asarray(t, dtype=float)
    if np.count_nonzero(w) <= 1:  # a spin about a principal axis stays as it is
        return np.broadcast_to(w, (*t.shape, 3)).copy()
    order = np.argsort(I)
    middle = I[order[1]]
    # L^2 - 2 T I2 without cancellation between equal terms: sum of I_k (I_k - I2) w_k^2
    if np.sum(I * (I - middle) * w * w) < 0.0:
        order = order[::-1]
    (I1, I2, I3), (w1, w2, w3) = I[order], w[order]
    small = I1 * (I3 - I1) * w1**2 + I2 * (I3 - I2) * w2**2  # 2 T I3 - L^2, negative for the reversed order
    large = I2 * (I2 - I1) * w2**2 + I3 * (I3 - I1) * w3**2  # L^2 - 2 T I1
    A1, A2 = np.sqrt(small / (I1 * (I3 - I1))), np.sqrt(small / (I2 * (I3 - I2)))
    A3 = np.sqrt(large / (I3 * (I3 - I1)))
    rate = np.sqrt((I3 - I2) * large / (I1 * I2 * I3))
    m = (I2 - I1) * small / ((I3 - I2) * large)
    # Euler's second equation, I2 w2_dot = +-(I3 - I1) w3 w1, fixes the sign of w2; + for a cyclic renaming
    cyclic = 1.0 if tuple(order) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    s3 = 1.0 if w3 >= 0.0 else -1.0
    s2 = s3 * cyclic * (1.0 if I3 > I1 else -1.0)
    phase = np.arctan2(s2 * w2 / A2, w1 / A1)
    sn, cn, dn, _ = ellipj(ellipkinc(phase, m) + rate * t, m)
    omega = np.empty((*t.shape, 3))
    omega[..., order[0]], omega[..., order[1]], omega[..., order[2]] = A1 * cn, s2 * A2 * sn, s3 * A3 * dn
    return omega


def axisymmetric_rates(transverse: float, axial: float, omega0: Any, t: Any) -> np.ndarray:
    """Body rates for principal moments (I_t, I_t, I_a): the transverse rate turns with ``(I_a - I_t) / I_t w3``.

    Returns
    -------
    omega : array, shape (n, 3)
    """
    w1, w2, w3 = omega0
    angle = (axial - transverse) / transverse * w3 * np.asarray(t, dtype=float)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([w1 * c - w2 * s, w2 * c + w1 * s, np.full_like(c, w3)], axis=-1)


def rotation_history(inertia: Any, omega0: Any, R0: Any, t: Any, *, panels: int) -> np.ndarray:
    """Attitude R_NB(t) at increasing times from 0: conserved momentum plus the precession angle by quadrature.

    The frame of the momentum vector has its third axis along L. In it the body's third axis has the azimuth psi with
    ``psi_dot = L (I1 w1^2 + I2 w2^2) / (I1^2 w1^2 + I2^2 w2^2)`` (Landau, section 37), integrated over the
    closed-form rates by 8-point Gauss-Legendre panels. L may not pass through the third axis.

    Parameters
    ----------
    panels : int
        Number of panels in each interval of t.

    Returns
    -------
    R_NB : array, shape (n, 3, 3)
    """
    I, t, R0 = np.asarray(inertia, dtype=float), np.asarray(t, dtype=float), np.asarray(R0, dtype=float)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    edges = np.unique(np.concatenate([np.linspace(a, b, panels + 1) for a, b in zip(t[:-1], t[1:], strict=True)]))
    half, centre = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    w = torque_free_rates(I, omega0, (centre[:, None] + half[:, None] * nodes).ravel())
    L0 = I * np.asarray(omega0, dtype=float)
    L = float(np.linalg.norm(L0))
    rate = L * (w[:, :2] ** 2 @ I[:2]) / (w[:, :2] ** 2 @ I[:2] ** 2)
    psi = np.concatenate([[0.0], np.cumsum(half * (rate.reshape(-1, 8) @ weights))])[np.searchsorted(edges, t)]
    start = _momentum_triad(L0)
    history = []
    for angle, rates in zip(psi, torque_free_rates(I, omega0, t), strict=True):
        c, s = np.cos(angle), np.sin(angle)
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        history.append(R0 @ start.T @ turned @ _momentum_triad(I * rates))
    return np.array(history)


def _momentum_triad(L_B: np.ndarray) -> np.ndarray:
    """Rows in body axes: a triad with its third axis along L, its first in the plane of L and the body's third."""
    third = L_B / np.linalg.norm(L_B)
    second = np.cross(third, [0.0, 0.0, 1.0])
    second /= np.linalg.norm(second)
    return np.array([np.cross(second, third), second, third])
