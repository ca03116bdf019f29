"""Three links hanging from a fixed point (Aslanov et al., section 4) in minimal coordinates, numpy and scipy only.

In the plane: three angles, equations in closed form. In space: ball joint, ball joint, pin about the z axis of link 2,
in seven speeds; Newton's and Euler's equations projected on partial velocities.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from tests.oracles.mechanics.two_body_spacecraft import cross, cross_matrix, rotation

__all__ = ["planar_centres", "planar_history", "spatial_centres", "spatial_history"]

MASS, LENGTH, GRAVITY = 1.0, 1.0, 9.81  # [kg], [m], [m/s^2]
INERTIA = np.diag([0.013, 0.083, 0.083])  # [kg m^2]
CENTRE, END = np.array([LENGTH / 2.0, 0.0, 0.0]), np.array([LENGTH, 0.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])


def planar_rates(_: float, y: np.ndarray) -> np.ndarray:
    """Rates of the angles a from the x axis and of their rates.

    ``sum_j w_ij (cos(a_i - a_j) a_j_ddot + sin(a_i - a_j) a_j_dot^2) + I a_i_ddot = -g_i cos a_i``
    """
    angle, rate = y[:3], y[3:]
    # share of link k's length in the place of link i's centre: 1 before it, 1/2 at it
    share = LENGTH * (np.tri(3, k=-1) + 0.5 * np.eye(3))
    weight = MASS * share.T @ share
    difference = angle[:, None] - angle[None, :]
    M = weight * np.cos(difference) + INERTIA[2, 2] * np.eye(3)
    f = -(weight * np.sin(difference)) @ rate**2 - MASS * GRAVITY * share.sum(axis=0) * np.cos(angle)
    return np.concatenate([rate, np.linalg.solve(M, f)])


def planar_history(t: np.ndarray, rtol: float = 1e-12) -> np.ndarray:
    """Angles and rates at the times t from rest along +x, shape (n, 6)."""
    found = solve_ivp(planar_rates, (0.0, float(t[-1])), np.zeros(6), "DOP853", t, rtol=rtol, atol=rtol)
    return np.asarray(found.y.T)


def planar_centres(states: np.ndarray) -> np.ndarray:
    """Centres of the links (x, y), shape (n, 3, 2)."""
    along = LENGTH * np.stack([np.cos(states[:, :3]), np.sin(states[:, :3])], axis=2)
    return np.asarray(np.cumsum(along, axis=1) - 0.5 * along)


def spatial_rates(_: float, y: np.ndarray) -> np.ndarray:
    """Rates of (quaternions of links 1 and 2, pin angle; their body rates, pin rate); inside in root axes."""
    A1, A2 = rotation(y[:4]), rotation(y[4:8])
    c, s = np.cos(y[8]), np.sin(y[8])
    A3 = A2 @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    w1, w2, pin = A1 @ y[9:12], A2 @ y[12:15], y[15]
    axis = A2 @ Z
    w3 = w2 + pin * axis
    none, one = np.zeros((3, 3)), np.eye(3)
    # partial angular velocities by (w1, w2, pin), with w1, w2 in root axes, and the rest of the angular acceleration
    W = [np.hstack([one, none, Z[:, None] * 0.0]), np.hstack([none, one, Z[:, None] * 0.0])]
    W.append(np.hstack([none, one, axis[:, None]]))
    rates, spin = (w1, w2, w3), (np.zeros(3), np.zeros(3), pin * cross(w2, axis))
    M, f = np.zeros((7, 7)), np.zeros(7)
    J, rest = np.zeros((3, 7)), np.zeros(3)  # of the joint that carries the link
    for A, W_k, w, spin_k in zip((A1, A2, A3), W, rates, spin, strict=True):
        arm, reach = A @ CENTRE, A @ END
        J_c = J - cross_matrix(arm) @ W_k
        rest_c = rest + cross(spin_k, arm) + cross(w, cross(w, arm))
        I = A @ INERTIA @ A.T
        M += MASS * J_c.T @ J_c + W_k.T @ I @ W_k
        f += MASS * J_c.T @ (np.array([0.0, -GRAVITY, 0.0]) - rest_c) - W_k.T @ (I @ spin_k + cross(w, I @ w))
        J = J - cross_matrix(reach) @ W_k
        rest = rest + cross(spin_k, reach) + cross(w, cross(w, reach))
    v_dot = np.linalg.solve(M, f)
    turning = []
    for u, omega in ((y[:4], y[9:12]), (y[4:8], y[12:15])):
        turning += [[-0.5 * u[1:] @ omega], 0.5 * (u[0] * omega + cross(u[1:], omega))]
    return np.concatenate([*turning, [pin], A1.T @ v_dot[:3], A2.T @ v_dot[3:6], v_dot[6:]])


def spatial_history(
    t: np.ndarray, omega1: np.ndarray, omega2: np.ndarray, pin: float, rtol: float = 1e-11
) -> np.ndarray:
    """States at the times t from links along +x with given rates of links 1 and 2 and of the pin, shape (n, 16)."""
    y0 = np.concatenate([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0], omega1, omega2, [pin]])
    found = solve_ivp(spatial_rates, (0.0, float(t[-1])), y0, "DOP853", t, rtol=rtol, atol=rtol)
    return np.asarray(found.y.T)


def spatial_centres(states: np.ndarray) -> np.ndarray:
    """Centres of the links in space, shape (n, 3, 3)."""
    rows = []
    for y in states:
        A1, A2 = rotation(y[:4]), rotation(y[4:8])
        c, s = np.cos(y[8]), np.sin(y[8])
        A3 = A2 @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        ends = np.cumsum([A1 @ END, A2 @ END], axis=0)
        rows.append([A1 @ CENTRE, ends[0] + A2 @ CENTRE, ends[1] + A3 @ CENTRE])
    return np.array(rows)
