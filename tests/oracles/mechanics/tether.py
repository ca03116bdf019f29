"""A straight tether with mass in the plane of an orbit, from Newton's law for its elements, with numpy alone.

Mother (a point), line leaving it with speed L_dot, satellite (a point). Unknown: acceleration of the mother, second
rate of the angle, and the force of the mother on the line. Nothing of spacectl is used.
"""

from __future__ import annotations

import numpy as np

__all__ = ["accelerations", "pumped_pendulum_poles"]

GAUSS_X, GAUSS_W = np.polynomial.legendre.leggauss(8)


def accelerations(
    *,
    mother: float,
    satellite: float,
    density: float,
    spool: float,
    rate: float,
    position: np.ndarray,
    velocity: np.ndarray,
    angle: float,
    angle_dot: float,
    length: tuple[float, float, float],
) -> tuple[np.ndarray, float, float]:
    """Mother's acceleration in the turning frame (2,), second rate of the angle, tension just outside the drum.

    Every element of the line at distance s moves with ``a = a_mother + L_ddot e + 2 L_dot e_dot + s e_ddot`` relative to the
    orbit frame; the mother with the stored line feels ``T(0) - density L_dot^2`` along the line and the line's side force.
    """
    L, L_dot, L_ddot = length
    e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])

    def field(p: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Hill's equations: gravity gradient, centrifugal and Coriolis acceleration."""
        return np.array([3.0 * rate**2 * p[0] + 2.0 * rate * v[1], -2.0 * rate * v[0]])

    # elements: quadrature points of the line, and the satellite at its end
    s = np.append(0.5 * L * (GAUSS_X + 1.0), L)
    m = np.append(0.5 * L * GAUSS_W * density, satellite)
    stored = mother + density * (spool - L)
    # unknowns (a_x, a_y, angle_ddot, F_e, F_n), F the force of the mother on the line
    A, b = np.zeros((5, 5)), np.zeros(5)
    for mass, at in zip(m, s, strict=True):
        known = L_ddot * e + 2.0 * L_dot * angle_dot * n - at * angle_dot**2 * e
        push = field(position + at * e, velocity + L_dot * e + at * angle_dot * n)
        for row, axis in enumerate(np.eye(2)):  # sum of mass times acceleration
            A[row, :2] += mass * axis
            A[row, 2] += mass * at * (axis @ n)
            b[row] += mass * (axis @ (push - known))
        A[2, :2] += mass * at * n  # moment about the drum
        A[2, 2] += mass * at**2
        b[2] += mass * at * (n @ (push - known))
    A[0, 3:], A[1, 3:] = [-e[0], -n[0]], [-e[1], -n[1]]
    for row, axis in enumerate(np.eye(2), start=3):  # mother: reaction, and what the mass flow takes
        A[row, :2] = stored * axis
        A[row, 3:] = [axis @ e, axis @ n]
        b[row] = stored * (axis @ field(position, velocity)) - density * L_dot**2 * (axis @ e)
    x = np.linalg.solve(A, b)
    return x[:2], float(x[2]), float(-x[3])


def pumped_pendulum_poles(c: float) -> np.ndarray:
    """Poles over the orbital rate about ``sin 2a = -4 c / 3`` for ``L_dot = c rate L``, in the plane and out of it."""
    a = 0.5 * np.arcsin(-4.0 * c / 3.0)
    return np.concatenate(
        [np.roots([1.0, 2.0 * c, 3.0 * np.cos(2.0 * a)]), np.roots([1.0, 2.0 * c, 1.0 + 3.0 * np.cos(a) ** 2])]
    )
