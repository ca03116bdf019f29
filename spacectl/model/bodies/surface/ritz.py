"""Ritz's method on a thin surface: lowest modes under edge conditions, and second-order shapes of least strain energy.

The second-order displacement v of a pair of shapes minimises the energy of the second-order strains,
``1/2 int (E1(v) + E2)' A (E1(v) + E2) + (K1(v) + K2)' D (K1(v) + K2)``: strains are then as linear in eta as the surface
allows, the cubic part of the strain energy vanishes, and the work of any force on v is that of its own stresses on the
nonlinear strains, which is geometric stiffness. Where E2 can be undone by motion along lines, this is Sadigh 1995, Eq 5.34.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, qr

from spacectl.model.bodies.base.interfaces import Compliance, interface_basis, static_compliances
from spacectl.model.bodies.surface.basis import Family, product_table, rule
from spacectl.model.bodies.surface.fields import Fields, Geometry

__all__ = ["EDGES", "RitzSpace", "Section", "Surface", "isotropic_section", "neglected_energy", "strain_energy"]

#: Whether an edge fixes (displacement along it, across it in the surface, along the normal, rotation)
EDGES = {
    "clamped": (True, True, True, True),
    "supported": (True, True, True, False),
    "diaphragm": (True, False, True, False),
    "free": (False, False, False, False),
}


@dataclass(frozen=True)
class Section:
    """Stiffness and inertia per area: `membrane` (3, 3) [N/m], `bending` (3, 3) [N m], `mass` [kg/m^2], `rotary` [kg]."""

    membrane: np.ndarray
    bending: np.ndarray
    mass: float
    rotary: float


def isotropic_section(stretch: float, bend: float, nu: float, mass: float, rotary: float) -> Section:
    """Return the section of an isotropic plate: ``stretch = E h / (1 - nu^2)``, ``bend = E h^3 / 12 (1 - nu^2)``."""
    C = np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
    return Section(stretch * C, bend * C, mass, rotary)


class Surface:
    """An undeformed surface over a rectangle of parameters, of which some may close on themselves."""

    @property
    def ranges(self) -> Any:
        """Ranges of the parameters: ((s0, s1), (t0, t1))."""
        raise NotImplementedError

    @property
    def closed(self) -> tuple[bool, bool]:
        """Which parameter closes on itself."""
        return False, False

    def geometry(self, s: np.ndarray, t: np.ndarray) -> Geometry:
        """Return the surface at places (s, t)."""
        raise NotImplementedError


@dataclass(frozen=True)
class RitzSpace:
    """Trial functions on a surface, products of `families` along coordinate `axes`, with edge conditions.

    Parameters
    ----------
    surface : Surface
        The undeformed surface.
    section : Section
        Its stiffness and inertia.
    families : pair of Family
        Functions of s and of t.
    axes : tuple of int
        Coordinate directions of the displacements.
    edges : tuple of four str
        Conditions at s0, s1, t0, t1, see `EDGES`.
    nodes : int
        Quadrature nodes along s and t, if more than the products of three trial functions need.
    """

    surface: Surface
    section: Section
    families: tuple[Family, Family]
    axes: tuple[int, ...]
    edges: tuple[str, ...]
    nodes: int = 0

    def trial(self, s: np.ndarray, t: np.ndarray) -> Fields:
        """Return all products at places (s, t), without edge conditions."""
        return Fields.along(product_table(self.families, s, t), self.axes)

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Quadrature nodes s, t and weights in parameters."""
        parts = zip(self.surface.ranges, self.families, self.surface.closed, strict=True)
        (s, ws), (t, wt) = (rule(span, family.size, closed, self.nodes) for span, family, closed in parts)
        S, T = np.meshgrid(s, t, indexing="ij")
        return S.ravel(), T.ravel(), np.outer(ws, wt).ravel()

    @cached_property
    def geometry(self) -> Geometry:
        """The surface at the quadrature nodes."""
        return self.surface.geometry(*self.places[:2])

    @cached_property
    def weights(self) -> np.ndarray:
        """Areas of the quadrature nodes [m^2]."""
        return self.places[2] * self.geometry.area

    @cached_property
    def _trial(self) -> Fields:
        return self.trial(*self.places[:2])

    @cached_property
    def basis(self) -> np.ndarray:
        """Combinations of the products that satisfy the edge conditions, as columns."""
        rows = self._edge_rows()
        if not len(rows):
            return np.eye(self._trial.size)
        Q, R, _ = qr(rows.T, pivoting=True)
        diagonal = np.abs(np.diag(R))
        return Q[:, int(np.sum(diagonal > 1e-11 * diagonal[0])) :]

    def _edge_rows(self) -> np.ndarray:
        """Return the conditions at the edges, tested with the functions along the edge."""
        rows = [np.zeros((0, self._trial.size))]
        for k, edge in enumerate(self.edges):
            side, end = divmod(k, 2)
            held = EDGES[edge]
            if self.surface.closed[side] or not any(held):
                continue
            family = self.families[1 - side]
            x, w = rule(self.surface.ranges[1 - side], 2 * family.size, self.surface.closed[1 - side])
            fixed = np.full_like(x, self.surface.ranges[side][end])
            place = (fixed, x) if side == 0 else (x, fixed)
            fields, geometry = self.trial(*place), self.surface.geometry(*place)
            along = geometry.tangents[:, 1 - side]
            along = along / np.linalg.norm(along, axis=1)[:, None]
            directions = (along, np.cross(along, geometry.normal), geometry.normal)
            values = [
                np.einsum("nx,nxk->nk", d, fields.value) for d, hold in zip(directions, held, strict=False) if hold
            ]
            if held[3]:
                size = np.linalg.norm(geometry.tangents[:, side], axis=1)[:, None]
                scale = self.surface.ranges[side][1] - self.surface.ranges[side][0]
                values.append(scale * np.einsum("nx,nxk->nk", geometry.normal / size, fields.first[:, side]))
            test = family.table(x)[0] * w[:, None]
            rows += [test.T @ value for value in values]
        return np.vstack(rows)

    @cached_property
    def _matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Membrane and bending strains of the basis (for sources), stiffness, mass, and mass without slices."""
        g, w, section = self.geometry, self.weights, self.section
        u = self._trial
        E, K = g.stretch(u) @ self.basis, g.bend(u) @ self.basis
        stiffness = _gram(E, section.membrane, w) + _gram(K, section.bending, w)
        plain = section.mass * _gram(u.value @ self.basis, np.eye(3), w)
        mass = plain + (section.rotary * _gram(g.tilt(u) @ self.basis, np.eye(3), w) if section.rotary else 0.0)
        return E, K, stiffness, mass, plain

    @cached_property
    def rigid(self) -> np.ndarray:
        """Rigid motions that the edges allow, as columns in the basis; none for a fixed surface."""
        X = self.geometry.X
        centre = X.mean(axis=0)
        size = max(float(np.max(np.abs(X - centre))), 1e-300)
        fields = np.zeros((len(X), 3, 6))
        for k in range(3):
            axis = np.eye(3)[k]
            fields[:, :, k] = axis
            fields[:, :, 3 + k] = np.cross(axis, (X - centre) / size)
        mean = self.section.mass * np.einsum("n,nxk,nxl->kl", self.weights, fields, fields)
        value = self._trial.value @ self.basis
        right = self.section.mass * np.einsum("n,nxk,nxl->kl", self.weights, value, fields)
        c = np.linalg.solve(self._matrices[4], right)
        squares, vectors = np.linalg.eigh(mean - right.T @ c)
        return c @ vectors[:, squares < 1e-9 * np.trace(mean)]

    def modes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return squared frequencies and coefficients of the `n` lowest elastic modes, by 1 / (omega^2 + shift)."""
        _, _, K, M, _ = self._matrices
        shift = 1e-8 * np.trace(K) / np.trace(M)
        skip = self.rigid.shape[1]
        size = len(K)
        inverse, vectors = eigh(M, K + shift * M, subset_by_index=[size - skip - n, size - 1])
        squares = (1.0 / inverse - shift)[::-1][skip:]
        return squares, self.basis @ vectors[:, ::-1][:, skip:]

    def interface_modes(self, n: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (k, n) of static shapes and fixed-interface modes, and their modal masses.

        `rows` (m, k) are displacements of the trial functions at the interfaces.
        """
        _, _, K, M, _ = self._matrices
        found = interface_basis(K, M, rows @ self.basis, n)
        return self.basis @ found.coefficients, found.mass

    def compliances(
        self, names: list[str], rows: np.ndarray, model_rows: np.ndarray, model_K: np.ndarray
    ) -> tuple[Compliance, ...]:
        """Return the static compliance at the interfaces, of all trial functions and of the model's shapes."""
        none = np.zeros((len(rows), 0))
        return static_compliances(names, self._matrices[2], rows @ self.basis, none, model_rows, model_K)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        _, _, K, M, _ = self._matrices
        if self.rigid.shape[1]:
            held = M @ self.rigid
            K = K + np.trace(K) / np.trace(held @ held.T) * held @ held.T
        found: tuple[np.ndarray, bool] = cho_factor(K)
        return found

    def second_order(self, u: Fields) -> np.ndarray:
        """Return coefficients (k, m m) of the displacements of least energy for all pairs of shapes u, j slowest."""
        E, K, *_ = self._matrices
        w, section, n = self.weights, self.section, len(self.weights)
        stretch2, bend2 = (part(u).reshape(n, 3, -1) for part in (self.geometry.stretch2, self.geometry.bend2))
        right = np.einsum("nak,ab,nbp,n->kp", E, section.membrane, stretch2, w, optimize=True)
        right += np.einsum("nak,ab,nbp,n->kp", K, section.bending, bend2, w, optimize=True)
        if self.rigid.shape[1]:  # a free surface is neither rotated nor translated
            right -= (
                self._matrices[3]
                @ self.rigid
                @ np.linalg.lstsq(self.rigid.T @ self._matrices[3] @ self.rigid, self.rigid.T @ right, rcond=None)[0]
            )
        return -self.basis @ cho_solve(self._factor, right)


def neglected_energy(geometry: Geometry, u: Fields, v: Fields, section: Section, weights: np.ndarray) -> np.ndarray:
    """Return the residual strain energy ``1/8 p' (.) p`` of pairs p for second-order fields v: (m m, m m)."""
    n = len(weights)
    stretch = geometry.stretch(v) + geometry.stretch2(u).reshape(n, 3, -1)
    bend = geometry.bend(v) + geometry.bend2(u).reshape(n, 3, -1)
    return _gram(stretch, section.membrane, weights) + _gram(bend, section.bending, weights)


def strain_energy(geometry: Geometry, u: Fields, section: Section, weights: np.ndarray) -> np.ndarray:
    """Return the stiffness matrix of fields: ``int E' A E + K' D K``, (k, k)."""
    return _gram(geometry.stretch(u), section.membrane, weights) + _gram(geometry.bend(u), section.bending, weights)


def _gram(field: np.ndarray, C: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``int field' C field`` for fields (n, 3, k)."""
    left = np.einsum("ab,nbk,n->nak", C, field, weights, optimize=True)
    n, three, k = field.shape
    return field.reshape(n * three, k).T @ left.reshape(n * three, k)
