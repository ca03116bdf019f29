"""Frequencies of a circular cylinder between shear diaphragms, by the shell theory of Sanders: a 3 x 3 matrix, numpy alone."""

from __future__ import annotations

import numpy as np

__all__ = ["cylinder_frequency"]


def cylinder_frequency(
    m: int, n: int, *, radius: float, length: float, thickness: float, E: float, nu: float, density: float
) -> float:
    """Lowest frequency [rad/s] with m half waves along and n waves around.

    ``u = U cos(lam x / R) cos(n t)``, ``v = V sin(lam x / R) sin(n t)``, ``w = W sin(lam x / R) cos(n t)`` in the
    strain energy with e_x = u_x, e_t = (v_t + w) / R, g = v_x + u_t / R and the changes of curvature of Sanders (1959).
    """
    R, lam = radius, m * np.pi * radius / length
    k = thickness**2 / (12.0 * R**2)
    # amplitudes of (e_x, e_t, gamma) times R, and of R^2 (kappa_x, kappa_t, 2 kappa_xt), for U, V, W
    e = np.array([[-lam, 0.0, 0.0], [0.0, n, 1.0], [-n, lam, 0.0]])
    kappa = np.array([
        [0.0, 0.0, lam**2],
        [0.0, n, n**2],
        [0.5 * n, 1.5 * lam, 2.0 * lam * n],
    ])  # fmt: skip
    C = np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
    K = e.T @ C @ e + k * kappa.T @ C @ kappa
    square = np.linalg.eigvalsh(K)[0] * E / (density * (1.0 - nu**2) * R**2)
    return float(np.sqrt(square))
