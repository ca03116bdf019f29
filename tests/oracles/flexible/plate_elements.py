"""A rectangular plate of bicubic Hermite elements (Bogner, Fox and Schmit), written with numpy alone.

The stress state of a load in the plane is solved first, then its geometric stiffness is added to that of bending: the
classical method for rotating and accelerated plates, which has no second-order displacements at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

__all__ = ["ElementPlate"]


def hermite(length: float, low: float, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss points, weights and the values of all Hermite functions with two derivatives: (3, points, 2 n + 2)."""
    h = length / n
    x, w = np.polynomial.legendre.leggauss(4)
    s, w = 0.5 * (x + 1.0), 0.5 * w * h
    N = np.array([
        [1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)],
        [(-6 * s + 6 * s**2) / h, 1 - 4 * s + 3 * s**2, (6 * s - 6 * s**2) / h, 3 * s**2 - 2 * s],
        [(-6 + 12 * s) / h**2, (-4 + 6 * s) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h],
    ])  # fmt: skip
    B = np.zeros((3, 4 * n, 2 * n + 2))
    for e in range(n):
        B[:, 4 * e : 4 * e + 4, 2 * e : 2 * e + 4] = N.transpose(0, 2, 1)
    places = (low + h * (np.arange(n)[:, None] + s)).ravel()
    return places, np.tile(w, n), B


class ElementPlate:
    """x from 0 to `a`, clamped at 0, y from -b/2 to b/2; bending stiffness D, C in the plane, mass rho per area."""

    def __init__(self, a: float, b: float, D: float, C: float, nu: float, rho: float, n: int = 8) -> None:
        self.D, self.C, self.nu, self.rho = D, C, nu, rho
        x, wx, Bx = hermite(a, 0.0, n)
        y, wy, By = hermite(b, -0.5 * b, n)
        Bx_membrane, Bx = np.delete(Bx, 0, axis=2), Bx[:, :, 2:]  # held displacement; held displacement and slope
        self.x, self.y = (part.ravel() for part in np.meshgrid(x, y, indexing="ij"))
        self.weights = np.outer(wx, wy).ravel()
        self.w = {(i, j): np.kron(Bx[i], By[j]) for i in range(3) for j in range(3) if i + j < 3}
        self.u = {(i, j): np.kron(Bx_membrane[i], By[j]) for i in range(2) for j in range(2) if i + j < 2}

    def _gram(self, left: np.ndarray, right: np.ndarray, weight: object = 1.0) -> np.ndarray:
        return left.T @ ((self.weights * weight)[:, None] * right)

    @cached_property
    def mass(self) -> np.ndarray:
        return self.rho * self._gram(self.w[0, 0], self.w[0, 0])

    @cached_property
    def stiffness(self) -> np.ndarray:
        xx, yy, xy = self.w[2, 0], self.w[0, 2], self.w[1, 1]
        mixed = self._gram(xx, yy)
        K = (
            self._gram(xx, xx)
            + self._gram(yy, yy)
            + self.nu * (mixed + mixed.T)
            + 2.0 * (1.0 - self.nu) * self._gram(xy, xy)
        )
        return self.D * K

    def geometric(self, load: Callable[[np.ndarray, np.ndarray], tuple[object, object]]) -> np.ndarray:
        """Geometric stiffness of the stresses under a load per area in the plane, ``load(x, y) -> (along x, along y)``."""
        ux, uy, nu = self.u[1, 0], self.u[0, 1], self.nu
        zero = np.zeros_like(ux)
        E = np.stack([np.hstack([ux, zero]), np.hstack([zero, uy]), np.hstack([uy, ux])])
        A = self.C * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
        K = sum(A[i, j] * self._gram(E[i], E[j]) for i in range(3) for j in range(3) if A[i, j])
        fx, fy = (np.broadcast_to(part, self.x.shape) * self.weights for part in load(self.x, self.y))
        u = np.linalg.solve(K, np.concatenate([self.u[0, 0].T @ fx, self.u[0, 0].T @ fy]))
        N = np.einsum("ij,jnk,k->in", A, E, u, optimize=True)
        wx, wy = self.w[1, 0], self.w[0, 1]
        shear = self._gram(wx, wy, N[2])
        return self._gram(wx, wx, N[0]) + self._gram(wy, wy, N[1]) + shear + shear.T

    def squares(self, n: int, extra: object = 0.0) -> np.ndarray:
        """The `n` lowest squared frequencies with `extra` added to the stiffness."""
        return eigh(self.stiffness + extra, self.mass, eigvals_only=True, subset_by_index=[0, n - 1])
