"""Two bodies on a line with spring and damper in orbit (Schutte and Udwadia, section 3) in eight speeds, without the package.

Body 2 slides along and turns about the x axis through a point of body 1. Speeds: omega of body 1 (its axes), velocity
of its centre of mass (inertial axes, relative to a circular orbit), turn and slide of body 2. Equations are Newton's
and Euler's, projected on the partial velocities; gravity is the exact difference of two inverse-square pulls.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

__all__ = ["MU", "RADIUS", "relative_history", "spacecraft_history", "spacecraft_rates"]

MU, RADIUS = 3.986e14, 6678.1e3  # [m^3/s^2], [m]
RATE = np.sqrt(MU / RADIUS**3)  # [rad/s]
MASSES = (2200.0, 1200.0)  # [kg]
INERTIAS = (np.diag([2300.0, 4500.0, 3600.0]), np.diag([1700.0, 2000.0, 600.0]))  # [kg m^2]
A1, A2 = np.array([1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.0])  # [m]
X = np.array([1.0, 0.0, 0.0])


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """The matrix of a cross product."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of two vectors; several times as fast as numpy's."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def gravity(centre: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Inverse-square pull at p beside the centre of the moving frame, less that at the centre; no digits cancel."""
    z = p @ (p + 2.0 * centre) / RADIUS**2
    return np.asarray(-MU / RADIUS**3 * (p + np.expm1(-1.5 * np.log1p(z)) * (centre + p)))


def turn_about_x(angle: float) -> np.ndarray:
    """Components in body 2 to components in body 1."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation(u: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion of any length, scalar first."""
    w, e = u[0], u[1:]
    size = u @ u
    return ((w * w - e @ e) * np.eye(3) + 2.0 * np.outer(e, e) + 2.0 * w * cross_matrix(e)) / size


def spacecraft_rates(
    t: float, y: np.ndarray, stiffness: float = 25.0, cubic: float = 1.0, damping: float = 0.2, length: float = 2.0
) -> np.ndarray:
    """Rates of y = (quaternion of body 1, its position, turn, slide; omega, velocity, turn rate, slide rate)."""
    u, rho1, turn, slide = y[:4], y[4:7], y[7], y[8]
    omega, velocity, turn_rate, slide_rate = y[9:12], y[12:15], y[15], y[16]
    S, B = rotation(u), turn_about_x(turn)
    C = S.T  # to the axes of body 1, in which everything below is written
    arm2 = B @ A2  # from the centre of body 2 to its point
    reach = A1 + slide * X - arm2  # from centre to centre
    omega2 = omega + turn_rate * X
    reach_rate = slide_rate * X - turn_rate * cross(X, arm2)  # as seen from body 1
    J1 = np.hstack([np.zeros((3, 3)), C, np.zeros((3, 2))])
    J2 = np.hstack([-cross_matrix(reach), C, -cross(X, arm2)[:, None], X[:, None]])
    W1 = np.hstack([np.eye(3), np.zeros((3, 5))])
    W2 = np.hstack([np.eye(3), np.zeros((3, 3)), X[:, None], np.zeros((3, 1))])
    # accelerations for constant speeds
    rest2 = cross(omega, cross(omega, reach)) + 2.0 * cross(omega, reach_rate) - turn_rate**2 * cross(X, cross(X, arm2))
    spin2 = cross(omega, turn_rate * X)
    centre = RADIUS * np.array([np.cos(t * RATE), np.sin(t * RATE), 0.0])
    g1, g2 = C @ gravity(centre, rho1), C @ gravity(centre, rho1 + S @ reach)
    # D runs from the point of body 2 to that of body 1; in the inertial frame it turns with body 1
    D = -slide * X
    D_dot = -slide_rate * X + cross(omega, D)
    stretch = abs(slide) - length
    F = -(stiffness * stretch + cubic * stretch**3) * D / abs(slide) - damping * D_dot  # on body 1
    I1, I2 = INERTIAS[0], B @ INERTIAS[1] @ B.T
    M = MASSES[0] * J1.T @ J1 + MASSES[1] * J2.T @ J2 + W1.T @ I1 @ W1 + W2.T @ I2 @ W2
    f = J1.T @ (MASSES[0] * g1 + F) + J2.T @ (MASSES[1] * (g2 - rest2) - F)
    f += W1.T @ (cross(A1, F) - cross(omega, I1 @ omega))
    f += W2.T @ (cross(arm2, -F) - I2 @ spin2 - cross(omega2, I2 @ omega2))
    v_dot = np.linalg.solve(M, f)
    w, e = u[0], u[1:]
    u_dot = 0.5 * np.concatenate([[-e @ omega], w * omega + cross(e, omega)])
    return np.concatenate([u_dot, velocity, [turn_rate, slide_rate], v_dot])


def spacecraft_history(t: np.ndarray, *, rtol: float = 1e-11, **numbers: float) -> np.ndarray:
    """States at the times t from the start of Schutte and Udwadia (Eqs 51-56), shape (n, 17)."""
    y0 = np.zeros(17)
    y0[0], y0[8] = 1.0, 2.0
    found = solve_ivp(
        lambda time, y: spacecraft_rates(time, y, **numbers),
        (0.0, float(t[-1])),
        y0,
        "DOP853",
        t,
        rtol=rtol,
        atol=1e-2 * rtol,
    )
    return np.asarray(found.y.T)


def relative_history(states: np.ndarray) -> dict[str, np.ndarray]:
    """R2 - R1 (inertial axes), body rates in body axes, and the stretch over its natural length of 2 m."""
    rows = []
    for y in states:
        S, B = rotation(y[:4]), turn_about_x(y[7])
        rows.append((S @ (A1 + y[8] * X - B @ A2), y[9:12], B.T @ (y[9:12] + y[15] * X), y[8] - 2.0))
    keys = ("relative_position", "omega1", "omega2", "stretch")
    return {key: np.array([row[k] for row in rows]) for k, key in enumerate(keys)}
