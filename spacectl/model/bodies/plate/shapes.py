"""First-order shapes of a rectangular plate: modes by Ritz's method, products of beam functions, user functions.

Every shape is a sum of products of polynomials in x and y, so that integrals over the plate are exact quadratures. Frames and
stiffness follow changes of the fields of a `Plate` without new shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import Legendre

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.damping import Damped
from spacectl.model.bodies.beam.shapes import bending_space, end_rows, mode_shapes
from spacectl.model.bodies.plate.checks import check_stretchable, move_frames
from spacectl.model.bodies.surface.basis import PolynomialFamily, gauss, product_table
from spacectl.model.bodies.surface.fields import Fields, Geometry
from spacectl.model.bodies.surface.ritz import Section, Surface, strain_energy

__all__ = ["Flat", "PlateFields", "beam_functions", "line_shortening", "lowest_products"]

_BEAM_END = {"clamped": "clamped", "supported": "pinned", "diaphragm": "pinned", "free": "free"}


@dataclass(frozen=True)
class Flat(Surface):
    """The rectangle 0 to length along x, -width / 2 to width / 2 along y."""

    length: float
    width: float

    @property
    def ranges(self) -> Any:
        """Ranges of x and y [m]."""
        return (0.0, self.length), (-0.5 * self.width, 0.5 * self.width)

    def geometry(self, s: np.ndarray, t: np.ndarray) -> Geometry:
        X = np.stack([s, t, np.zeros_like(s)], axis=1)
        return Geometry(X, np.broadcast_to(np.eye(3)[:2], (len(X), 2, 3)), np.zeros((len(X), 3, 3)))


def beam_functions(span: tuple[float, float], ends: tuple[str, str], n: int) -> PolynomialFamily:
    """Return the first `n` modes of a uniform beam on a range, rigid motions first if allowed; largest value 1."""
    length = span[1] - span[0]
    kinds = (_BEAM_END[ends[0]], _BEAM_END[ends[1]])
    x = Legendre([0.0, 1.0], [0.0, length])  # -1 to 1
    one = Legendre([1.0], [0.0, length])
    rigid = {("free", "free"): [one, x], ("pinned", "free"): [0.5 * (one + x)], ("free", "pinned"): [0.5 * (one - x)]}
    found: list[Any] = list(rigid.get(kinds, []))[:n]

    def unit(places: np.ndarray) -> np.ndarray:
        return np.ones_like(places)

    wanted = max(n - len(found), 1)
    space = bending_space(length, wanted, EI=unit, mass=unit, rotary=None, GA=None)
    elastic = mode_shapes(space, wanted, end_rows(kinds, length))
    found += [shape.w for shape in elastic][: n - len(found)]
    return PolynomialFamily(tuple(Legendre(function.trim(1e-14).coef, list(span)) for function in found))


def lowest_products(flat: Flat, families: Any, section: Section, n: int) -> list[tuple[int, int]]:
    """Return the `n` products (i, j) of beam functions with the lowest Rayleigh quotients, without rigid motions."""
    nodes = [gauss(span, _degree(family) + 2) for span, family in zip(flat.ranges, families, strict=True)]
    (x, wx), (y, wy) = nodes
    S, T = (part.ravel() for part in np.meshgrid(x, y, indexing="ij"))
    weights = np.outer(wx, wy).ravel()
    table = product_table(families, S, T)
    energy = np.diag(strain_energy(flat.geometry(S, T), Fields.along(table, (2,)), section, weights))
    quotient = energy / np.einsum("n,nk->k", weights, table[0] ** 2)
    elastic = [int(k) for k in np.argsort(quotient) if quotient[k] > 1e-9 * np.max(quotient)]
    if len(elastic) < n:
        raise ModelError(f"plate: {n} products are requested, but only {len(elastic)} are available")
    return [divmod(k, families[1].size) for k in elastic[:n]]


def _degree(family: PolynomialFamily) -> int:
    return max(function.degree() for function in family.functions)


def line_shortening(sample: Any, places: np.ndarray, origin: tuple[float, float], nodes: int) -> np.ndarray:
    """Return G: ``int (phi_2j,1 phi_2k,1 + phi_3j,1 phi_3k,1) dx`` and the same along y (Sadigh 1995, Eq 5.34).

    Integrals run along lines of x and of y from `origin`; `sample(x, y)` gives the first-order `Fields`.
    """
    found = []
    for axis, others in ((0, (1, 2)), (1, (0, 2))):
        total: Any = 0.0
        xi, weights = gauss((0.0, 1.0), nodes)
        reach = places[:, axis] - origin[axis]
        for share, weight in zip(xi, weights, strict=True):
            at = places[:, :2].copy()
            at[:, axis] = origin[axis] + share * reach
            slope = sample(at[:, 0], at[:, 1]).first[:, axis][:, list(others)]
            total = total + weight * np.einsum("n,nxj,nxk->njk", reach, slope, slope)
        found.append(total)
    return np.stack([*found, np.zeros_like(found[0])], axis=1)


class PlateFields(Damped):
    """A plate as a function of its fields."""

    bending_stiffness: Any
    stretch_stiffness: Any
    membrane: int

    def changed(self, **changes: Any) -> Any:
        """Return the plate with other values of fields; frames named after a place move with length and width."""
        if {"length", "width"} & set(changes):
            check_stretchable(self)
            size = [
                as_scalar(changes.get(key, getattr(self, key)), f"{self._what}: {key}") for key in ("length", "width")
            ]
            changes = {"frames": move_frames(self.frames, *size), **changes}
        return replace(self, **changes)  # type: ignore[type-var]

    def stiffness_derivatives(self, key: str) -> tuple[np.ndarray, ...] | None:
        """Return derivatives by E, or by the bending stiffness without membrane shapes: shapes do not depend on it."""
        is_scale = {
            "E": self.bending_stiffness is None and self.stretch_stiffness is None,
            "bending_stiffness": self.bending_stiffness is not None and not self.membrane,
        }
        return (self.elasticity / getattr(self, key),) if is_scale.get(key, False) else None
