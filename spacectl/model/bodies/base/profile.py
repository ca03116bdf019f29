"""Data of flexible bodies besides shapes: properties that vary along a line, and the visible surface.

A `Profile` makes a function of an array of places from a number, a table or a function of x. A `SurfaceMesh` holds points,
triangles and lines with their shapes, for drawing and replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Legendre

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import set_field

__all__ = [
    "Curve",
    "Profile",
    "Property",
    "SurfaceMesh",
    "as_data",
    "as_function",
    "cut_property",
    "grid_triangles",
    "line_through",
]

Property = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A property that varies along the beam, linear between stations.

    Parameters
    ----------
    x : sequence of float
        Stations from the root [m], ascending.
    values : sequence of float
        The property there.
    """

    x: Any
    values: Any
    varies: ClassVar[tuple[str, ...]] = ("values",)  #: fields with derivatives

    def __post_init__(self) -> None:
        set_field(self, "x", as_array(self.x, None, "profile: x"))
        set_field(self, "values", as_array(self.values, self.x.shape, "profile: values"))
        if len(self.x.shape) != 1 or self.x.size < 2 or np.any(np.diff(np.asarray(self.x)) <= 0.0):
            raise ModelError("profile: x has stations that do not ascend; give at least two, from root to tip")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.interp(x, np.asarray(self.x), np.asarray(self.values))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A smooth function of x as a polynomial in Legendre form, so that it is data; made by `Curve.fit`.

    Parameters
    ----------
    length : float
        Its range is 0 to length [m].
    coefficients : sequence of float
        Of the Legendre polynomials on that range.
    """

    length: float
    coefficients: Any
    varies: ClassVar[tuple[str, ...]] = ("coefficients",)  #: fields with derivatives

    def __post_init__(self) -> None:
        set_field(self, "length", as_scalar(self.length, "curve: length"))
        set_field(self, "coefficients", as_array(self.coefficients, None, "curve: coefficients"))
        if not self.length > 0.0 or len(self.coefficients.shape) != 1:
            raise ModelError("curve: expected a positive length and a list of coefficients")

    @property
    def polynomial(self) -> Legendre:
        """The polynomial itself."""
        return Legendre(np.asarray(self.coefficients), [0.0, self.length])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.polynomial(np.asarray(x, dtype=float))

    @staticmethod
    def fit(function: Callable[[float], float], length: float, what: str, degree: int = 40) -> Curve:
        """Fit a user's function of x; raise `ModelError` unless it is finite and smooth (residual below 1e-8)."""
        nodes = 0.5 * length * (1.0 - np.cos(np.pi * (np.arange(2 * degree) + 0.5) / (2 * degree)))
        try:
            values = np.array([float(function(float(x))) for x in nodes])
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelError(f"{what}: the function of x failed ({error}); expected one number") from error
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{what}: the function is not finite between 0 and {length:g} m")
        size = float(np.max(np.abs(values), initial=1e-300))
        for least in range(degree + 1):  # the lowest sufficient degree: higher ones add rounding
            fitted = Legendre.fit(nodes, values, least, domain=[0.0, length])
            error_size = float(np.max(np.abs(fitted(nodes) - values)))
            if error_size < 1e-14 * size:
                break
        if error_size > 1e-8 * size:
            raise ModelError(
                f"{what}: the function is not smooth (a polynomial of degree {degree} misses it by {error_size:.1e}); "
                "use Profile(x=..., values=...) for tables and kinks"
            )
        return Curve(length=length, coefficients=fitted.coef)


def as_function(value: Any, what: str) -> Property | None:
    """Convert a number, `Profile` or `Curve` to a function of an array of places; return None for None."""
    if value is None or isinstance(value, (Profile, Curve)):
        return value
    number = as_scalar(value, what)
    return lambda x: np.full(np.shape(x), number)


def as_data(value: Any, length: float, what: str) -> Any:
    """Convert functions of x to `Curve`s, also within a tuple, so that the description is still data."""
    if isinstance(value, (tuple, list)) or np.ndim(value) == 1:
        return tuple(as_data(item, length, what) for item in value)
    if value is None or isinstance(value, (str, Profile, Curve)):
        return value
    return Curve.fit(value, length, what) if callable(value) else as_scalar(value, what)


def cut_property(value: Any, a: float, b: float) -> Any:
    """Cut a property between places a and b, shifted to 0 to b - a; numbers and None are unchanged."""
    if isinstance(value, tuple):
        return tuple(cut_property(item, a, b) for item in value)
    if isinstance(value, Profile):
        stations = np.asarray(value.x)
        x = np.unique([a, *stations[(stations > a) & (stations < b)], b])
        return Profile(x=x - a, values=value(x))
    if isinstance(value, Curve):
        return Curve(length=b - a, coefficients=value.polynomial.convert(domain=[a, b]).coef)
    return value


@dataclass(frozen=True)
class SurfaceMesh:
    """Points of a flexible body with their shapes, joined by triangles or lines.

    Parameters
    ----------
    points : array (n, 3)
        Places on the undeformed body, body axes [m].
    triangles : array of int (k, 3)
        Triangles between the points; none for a line.
    lines : array of int (l, 2)
        Lines between the points; none for a surface.
    shapes : array (n, 3, m)
        Displacement of the points for unit modal coordinates.
    second : array (n, 3, m, m)
        Second-order shapes G of the points.
    """

    points: np.ndarray
    triangles: np.ndarray
    lines: np.ndarray
    shapes: np.ndarray
    second: np.ndarray

    def displaced(self, eta: np.ndarray) -> np.ndarray:
        """Return the points (n, 3) for modal coordinates eta (m,): ``X + Phi eta - 1/2 [eta' G_k eta]_k`` [m]."""
        eta = np.asarray(eta, dtype=float)
        return self.points + self.shapes @ eta - 0.5 * np.einsum("nxjk,j,k->nx", self.second, eta, eta)


def grid_triangles(rows: int, columns: int, *, closed: tuple[bool, bool] = (False, False)) -> np.ndarray:
    """Return two triangles per cell of a grid numbered by rows; a closed direction joins its end to its start."""
    number = np.arange(rows * columns).reshape(rows, columns)
    number = np.vstack([number, number[:1]]) if closed[0] else number
    number = np.hstack([number, number[:, :1]]) if closed[1] else number
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def line_through(X: np.ndarray) -> np.ndarray:
    """Return the lines that join points lying on one straight line, in order; none if they do not (l, 2)."""
    if len(X) < 2:
        return np.zeros((0, 2), dtype=int)
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    if len(sizes) > 1 and sizes[1] > 1e-9 * sizes[0]:
        return np.zeros((0, 2), dtype=int)
    order = np.argsort((X - X.mean(axis=0)) @ axes[0], kind="stable")
    return np.stack([order[:-1], order[1:]], axis=1)
