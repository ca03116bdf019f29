"""A rigid body whose attitude is given by modified Rodrigues parameters. numpy only.

``sigma = e tan(angle / 4)``, ``sigma_dot = 1/4 ((1 - s's) 1 + 2 s~ + 2 s s') omega``, ``I omega_dot = tau - omega x I omega``
(Schaub and Junkins, Analytical Mechanics of Space Systems, chapters 3 and 4).
"""

from __future__ import annotations

import numpy as np

__all__ = ["angle_and_axis", "linear", "rate"]


def rate(state: np.ndarray, torque: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Rate of (sigma, omega), shape (6,)."""
    s, w = state[:3], state[3:]
    square = s @ s
    turning = 0.25 * ((1.0 - square) * w + 2.0 * np.cross(s, w) + 2.0 * s * (s @ w))
    return np.concatenate([turning, np.linalg.solve(inertia, torque - np.cross(w, inertia @ w))])


def linear(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (6, 6) and B (6, 3) at rest and sigma = 0."""
    A, B = np.zeros((6, 6)), np.zeros((6, 3))
    A[:3, 3:], B[3:] = 0.25 * np.eye(3), np.linalg.inv(inertia)
    return A, B


def angle_and_axis(sigma: np.ndarray) -> np.ndarray:
    """Rotation vector of the parameters, rows of shape (..., 3)."""
    size = np.linalg.norm(sigma, axis=-1, keepdims=True)
    return sigma * np.where(size > 1e-300, 4.0 * np.arctan(size) / np.maximum(size, 1e-300), 4.0)
