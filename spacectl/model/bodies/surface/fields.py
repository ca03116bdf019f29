"""Kirchhoff-Love theory of a thin surface: strains, rotations and their second-order parts, at places of the surface.

With tangents a_1, a_2 and normal a_3 of the undeformed mid-surface and displacement u (subscripts after a comma are derivatives
by the surface parameters),

    membrane strain   2 E_ab = a_a.u,b + a_b.u,a            + u,a.u,b
    normal            n = a_3 - (u,a.a_3) a^a + ...         =: a_3 + n1 + ...
    bending strain    K_ab = D_ab.a_3 + D_ab.n1 - 1/2 b_ab n1.n1,   D_ab = u,ab - Gamma^c_ab u,c

exact to second order in u; no shallowness is assumed. A flat plate is the special case in which E is stretch and K is the Hessian
of the deflection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["Fields", "Geometry"]


@dataclass(frozen=True)
class Fields:
    """Displacement fields at n places: `value` (n, 3, k), `first` (n, 2, 3, k), `second` (n, 3, 3, k) for ss, st, tt."""

    value: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @staticmethod
    def along(table: np.ndarray, axes: tuple[int, ...]) -> Fields:
        """Use scalar functions (6, n, k) as displacements along each of the coordinate `axes`, one block of columns each."""
        n, k = table.shape[1:]
        full = np.zeros((6, n, 3, k * len(axes)))
        for block, axis in enumerate(axes):
            full[:, :, axis, block * k : (block + 1) * k] = table
        return Fields(full[0], full[1:3].transpose(1, 0, 2, 3), full[3:].transpose(1, 0, 2, 3))

    def combine(self, coefficients: np.ndarray) -> Fields:
        """Return the sums of the columns: coefficients (k, m)."""
        return Fields(self.value @ coefficients, self.first @ coefficients, self.second @ coefficients)

    def beside(self, other: Fields) -> Fields:
        """Return the fields with the columns of both."""
        pairs = ((self.value, other.value), (self.first, other.first), (self.second, other.second))
        return Fields(*(np.concatenate(pair, axis=-1) for pair in pairs))

    @property
    def size(self) -> int:
        """Number of fields."""
        return int(self.value.shape[2])


@dataclass(frozen=True)
class Geometry:
    """The undeformed surface at n places: `X` (n, 3), tangents (n, 2, 3) and second derivatives (n, 3, 3) for ss, st, tt."""

    X: np.ndarray
    tangents: np.ndarray
    curvature: np.ndarray

    @cached_property
    def _cross(self) -> np.ndarray:
        return np.cross(self.tangents[:, 0], self.tangents[:, 1])

    @cached_property
    def area(self) -> np.ndarray:
        """Area of the surface per parameter area, (n,)."""
        return np.linalg.norm(self._cross, axis=1)

    @cached_property
    def normal(self) -> np.ndarray:
        """Unit normal a_3, (n, 3)."""
        return self._cross / self.area[:, None]

    @cached_property
    def dual(self) -> np.ndarray:
        """Dual tangents a^1, a^2: (n, 2, 3)."""
        metric = np.einsum("nai,nbi->nab", self.tangents, self.tangents)
        return np.linalg.inv(metric) @ self.tangents

    @cached_property
    def _christoffel(self) -> np.ndarray:
        return np.einsum("npi,nci->npc", self.curvature, self.dual)

    @cached_property
    def axes(self) -> np.ndarray:
        """Orthonormal tangents e_1 (along a_1), e_2: (n, 2, 3)."""
        first = self.tangents[:, 0] / np.linalg.norm(self.tangents[:, 0], axis=1)[:, None]
        return np.stack([first, np.cross(self.normal, first)], axis=1)

    def _orthonormal(self, tensor: np.ndarray) -> np.ndarray:
        """Transform covariant components (n, 3, ...) for ss, st, tt to (11, 22, 2 x 12) in the orthonormal axes."""
        T = np.einsum("nix,nax->nia", self.axes, self.dual)
        ss, st, tt = tensor[:, 0], tensor[:, 1], tensor[:, 2]

        def entry(i: int, j: int) -> np.ndarray:
            shape = (len(T),) + (1,) * (ss.ndim - 1)
            p, q = T[:, i], T[:, j]
            weights = (p[:, 0] * q[:, 0], p[:, 0] * q[:, 1] + p[:, 1] * q[:, 0], p[:, 1] * q[:, 1])
            return sum(w.reshape(shape) * part for w, part in zip(weights, (ss, st, tt), strict=True))

        return np.stack([entry(0, 0), entry(1, 1), 2.0 * entry(0, 1)], axis=1)

    def stretch(self, u: Fields) -> np.ndarray:
        """Return the membrane strain, first order: (n, 3, k)."""
        g = np.einsum("nax,nbxk->nabk", self.tangents, u.first)
        return self._orthonormal(np.stack([g[:, 0, 0], 0.5 * (g[:, 0, 1] + g[:, 1, 0]), g[:, 1, 1]], axis=1))

    def bend(self, u: Fields) -> np.ndarray:
        """Return the bending strain, first order: (n, 3, k)."""
        return self._orthonormal(np.einsum("npxk,nx->npk", self._hessian(u), self.normal))

    def _hessian(self, u: Fields) -> np.ndarray:
        """Return ``D_ab = u,ab - Gamma^c_ab u,c``: (n, 3, 3, k)."""
        return u.second - np.einsum("npc,ncxk->npxk", self._christoffel, u.first)

    def tilt(self, u: Fields) -> np.ndarray:
        """Return the first-order change of the normal n1: (n, 3, k)."""
        return -np.einsum("nax,naik,ni->nxk", self.dual, u.first, self.normal)

    def stretch2(self, u: Fields) -> np.ndarray:
        """Return the second-order membrane strain of pairs of fields, ``1/2 eta' (.) eta``: (n, 3, k, k)."""
        ss, st, tt = (np.einsum("nxj,nxk->njk", u.first[:, a], u.first[:, b]) for a, b in ((0, 0), (0, 1), (1, 1)))
        return self._orthonormal(np.stack([ss, 0.5 * (st + st.swapaxes(1, 2)), tt], axis=1))

    def bend2(self, u: Fields) -> np.ndarray:
        """Return the second-order bending strain of pairs of fields, ``1/2 eta' (.) eta``: (n, 3, k, k)."""
        tilt = self.tilt(u)
        mixed = np.einsum("npxj,nxk->npjk", self._hessian(u), tilt)
        b = np.einsum("npx,nx->np", self.curvature, self.normal)
        square = np.einsum("nxj,nxk->njk", tilt, tilt)
        return self._orthonormal(mixed + mixed.swapaxes(2, 3) - b[:, :, None, None] * square[:, None])

    def _gradient(self, u: Fields) -> np.ndarray:
        """Return ``F1 = u,a (x) a^a + n1 (x) a_3``: (n, 3, 3, k)."""
        F = np.einsum("naik,naj->nijk", u.first, self.dual)
        return F + np.einsum("nik,nj->nijk", self.tilt(u), self.normal)

    def turn(self, u: Fields) -> np.ndarray:
        """Return the rotation vector of the slice (polar decomposition), first order: (n, 3, k)."""
        return _axial(self._gradient(u))

    def turn2(self, u: Fields, v: Fields) -> np.ndarray:
        """Return the second-order rotation vector of pairs of fields u with second-order displacement v, (n, 3, k, k).

        ``theta2~ = skew F2 - 1/2 (w e + e w)``, F1 = e + w symmetric and skew; the columns of v are the pairs
        (j, k), j slowest.
        """
        n, k = u.value.shape[0], u.size
        F1 = self._gradient(u)
        e, w = 0.5 * (F1 + F1.swapaxes(1, 2)), 0.5 * (F1 - F1.swapaxes(1, 2))
        mixed = np.einsum("nabj,nbck->nacjk", w, e) + np.einsum("nabj,nbck->nacjk", e, w)
        mixed = 0.5 * (mixed + mixed.swapaxes(3, 4))
        F2 = np.einsum("naik,naj->nijk", v.first, self.dual).reshape(n, 3, 3, k, k)
        F2 = F2 + np.einsum("nijk,nl->niljk", self._tilt2(u, v), self.normal)
        return _axial(F2 - mixed)

    def _tilt2(self, u: Fields, v: Fields) -> np.ndarray:
        """Return the second-order change of the normal for pairs: (n, 3, k, k)."""
        n, k = u.value.shape[0], u.size
        tilt = self.tilt(u)
        along = np.einsum("nxj,ncxk->ncjk", tilt, u.first)
        along = -(along + along.swapaxes(2, 3))
        square = np.einsum("nxj,nxk->njk", tilt, tilt)
        own = self.tilt(v).reshape(n, 3, k, k)
        return own + np.einsum("ncx,ncjk->nxjk", self.dual, along) - np.einsum("nx,njk->nxjk", self.normal, square)


def _axial(F: np.ndarray) -> np.ndarray:
    """Return the axial vector of the skew part of matrices (n, 3, 3, ...)."""
    return 0.5 * np.stack([F[:, 2, 1] - F[:, 1, 2], F[:, 0, 2] - F[:, 2, 0], F[:, 1, 0] - F[:, 0, 1]], axis=1)
