"""Linear models derived by hand from textbook equations. numpy only.

Planar two-link arm under gravity (relative angles; Craig, Introduction to Robotics, chapter 6), rigid body in a circular
orbit (Wertz, Spacecraft Attitude Determination and Control, chapter 18; Hill's equations), and a spacecraft with a momentum
wheel along a principal axis (a gyrostat, as in Hughes, Spacecraft Attitude Dynamics).
"""

from __future__ import annotations

import numpy as np

__all__ = ["body_in_orbit", "momentum_bias", "two_link"]


def two_link(
    q: tuple[float, float], v: tuple[float, float], tau: tuple[float, float], mass: float, length: float, g: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v_dot, A (4, 4) and B (4, 2) of two equal uniform slender links in the x-y plane, gravity along -y.

    ``M v_dot + h + G = tau``; differentiated by hand, ``d v_dot = M^-1 (d tau - dM v_dot - dh - dG)``.
    """
    (a, b), (w1, w2) = q, v
    c, inertia = length / 2.0, mass * length**2 / 12.0
    k = mass * length * c
    M22 = inertia + mass * c**2
    M = np.array(
        [
            [2.0 * inertia + mass * (2.0 * c**2 + length**2) + 2.0 * k * np.cos(b), M22 + k * np.cos(b)],
            [M22 + k * np.cos(b), M22],
        ]
    )
    h = k * np.sin(b) * np.array([-2.0 * w1 * w2 - w2**2, w1**2])
    G = mass * g * np.array([(c + length) * np.cos(a) + c * np.cos(a + b), c * np.cos(a + b)])
    v_dot = np.linalg.solve(M, np.asarray(tau) - h - G)
    dM = -k * np.sin(b) * np.array([[2.0, 1.0], [1.0, 0.0]])  # by the second angle; none by the first
    dG = -mass * g * np.array(
        [[(c + length) * np.sin(a) + c * np.sin(a + b), c * np.sin(a + b)], [c * np.sin(a + b), c * np.sin(a + b)]]
    )  # fmt: skip
    dh = k * np.cos(b) * np.array([-2.0 * w1 * w2 - w2**2, w1**2])
    by_q = -dG - np.column_stack([np.zeros(2), dM @ v_dot + dh])
    by_v = -k * np.sin(b) * np.array([[-2.0 * w2, -2.0 * w1 - 2.0 * w2], [2.0 * w1, 0.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.linalg.solve(M, np.hstack([by_q, by_v]))]])
    return v_dot, A, np.vstack([np.zeros((2, 2)), np.linalg.inv(M)])


def body_in_orbit(inertia: tuple[float, float, float], n: float) -> np.ndarray:
    """A (12, 12) about the aligned attitude at the origin: (theta, r, theta_dot, r_dot), x radial, y along, z normal.

    Roll (y), pitch (-z) and yaw (-x) equations of Wertz, and Hill's equations for the centre of mass.
    """
    x, y, z = inertia
    A = np.zeros((12, 12))
    A[:6, 6:] = np.eye(6)
    gyro = n * (x + y - z)
    A[6, 0], A[6, 7] = -(n**2) * (z - y) / x, gyro / x
    A[7, 1], A[7, 6] = -4.0 * n**2 * (z - x) / y, -gyro / y
    A[8, 2] = -3.0 * n**2 * (y - x) / z
    A[9, 3], A[9, 10] = 3.0 * n**2, 2.0 * n
    A[10, 9] = -2.0 * n
    A[11, 5] = -(n**2)
    return A


def momentum_bias(
    inertia: tuple[float, float, float], wheel: float, spin: float, turn: float
) -> tuple[np.ndarray, np.ndarray]:
    """A (8, 8) and B (8, 4) of a body that turns about y with a wheel (inertia J about y, relative rate `spin`).

    States theta (3, body axes), wheel angle, omega (3), wheel rate; inputs torques on the body (3) and the motor. From
    ``H = I omega + h e_y``, ``h = J (omega_y + spin)``, ``H_dot + omega x H = T``, ``h_dot = motor``.
    """
    x, y, z = inertia
    h = wheel * (turn + spin)
    A, B = np.zeros((8, 8)), np.zeros((8, 4))
    A[:4, 4:] = np.eye(4)
    A[0, 2], A[2, 0] = -turn, turn  # -omega x theta
    A[4, 6] = -((z - y) * turn - h) / x
    A[6, 4] = -((y - x) * turn + h) / z
    B[4, 0], B[5, 1], B[6, 2] = 1.0 / x, 1.0 / y, 1.0 / z
    B[5, 3], B[7, 3], B[7, 1] = -1.0 / y, 1.0 / wheel + 1.0 / y, -1.0 / y
    return A, B
