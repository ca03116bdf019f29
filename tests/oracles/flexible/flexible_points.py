"""A flexible body as moving points and turning slices, straight from the definition. numpy only.

Points are at ``r = X + Phi eta - 1/2 [eta' G_k eta]_k``; the slice at X turns by the exact rotation
``exp(theta~)``, ``theta = Psi eta + 1/2 [eta' H_k eta]_k``. Energy and momentum are sums over the points, without any
expansion; velocities come from complex steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.oracles.mechanics.cloud_positions import exponential

__all__ = ["kinetic", "momentum", "place", "random_points", "slope"]

TINY = 1e-40  # imaginary step: its square is far below rounding

Points = Mapping[str, np.ndarray]  # X (n, 3), mass (n,), Phi, Psi (n, 3, m), G, H (n, 3, m, m), rotary (n, 3, 3)


def random_points(rng: np.random.Generator, n: int, m: int, *, slices: bool = True) -> dict[str, np.ndarray]:
    """A body with n points and m modes; second-order shapes are symmetric, slices have any inertia."""
    G, H = (rng.normal(size=(n, 3, m, m)) for _ in range(2))
    root = rng.normal(size=(n, 3, 3)) * 0.4
    return {
        "X": rng.normal(size=(n, 3)),
        "mass": rng.uniform(0.1, 1.0, size=n),
        "Phi": rng.normal(size=(n, 3, m)),
        "Psi": rng.normal(size=(n, 3, m)),
        "G": G + G.swapaxes(2, 3),
        "H": H + H.swapaxes(2, 3),
        "rotary": root @ root.transpose(0, 2, 1) * float(slices),
    }


def place(points: Points, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) and rotations (n, 3, 3), analytic in eta."""
    r = points["X"] + points["Phi"] @ eta - 0.5 * np.einsum("najk,j,k->na", points["G"], eta, eta)
    theta = points["Psi"] @ eta + 0.5 * np.einsum("najk,j,k->na", points["H"], eta, eta)
    return r, exponential(theta)


def _motion(points: Points, twist: Any, eta: Any, eta_dot: Any) -> tuple[np.ndarray, ...]:
    """Positions, velocities, angular velocities and turned inertias of all slices, in body axes."""
    omega, v = np.asarray(twist[:3]), np.asarray(twist[3:])
    r, R = place(points, np.asarray(eta, dtype=float))
    moved, turned = place(points, np.asarray(eta) + 1j * TINY * np.asarray(eta_dot))
    spin = turned.imag / TINY @ R.transpose(0, 2, 1)  # R_dot R', skew
    relative = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    velocity = v + np.cross(omega, r) + moved.imag / TINY
    return r, velocity, omega + relative, R @ points["rotary"] @ R.transpose(0, 2, 1)


def kinetic(points: Points, twist: Any, eta: Any, eta_dot: Any) -> float:
    """Kinetic energy for a twist (angular velocity, velocity of the origin) in body axes."""
    _, velocity, omega, J = _motion(points, twist, eta, eta_dot)
    return float(
        0.5 * np.sum(points["mass"] * np.sum(velocity**2, axis=1)) + 0.5 * np.einsum("na,nab,nb", omega, J, omega)
    )


def momentum(points: Points, twist: Any, eta: Any, eta_dot: Any) -> np.ndarray:
    """(angular about the origin, linear), body axes."""
    r, velocity, omega, J = _motion(points, twist, eta, eta_dot)
    linear = points["mass"][:, None] * velocity
    angular = np.sum(np.cross(r, linear), axis=0) + np.einsum("nab,nb->a", J, omega)
    return np.concatenate([angular, np.sum(linear, axis=0)])


def slope(sizes: Any, errors: Any) -> float:
    """Power p of errors that fall like size^p, by a straight line through the logarithms."""
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(errors)), 1)[0])
