"""Properties that vary along a line: numbers, tables or functions of x, as functions of an array of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Legendre

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import set_field

__all__ = ["Curve", "Profile", "Property", "as_data", "as_function", "cut_property"]

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
    varies: ClassVar[tuple[str, ...]] = ("values",)  #: fields that derivatives refer to

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
    varies: ClassVar[tuple[str, ...]] = ("coefficients",)  #: fields that derivatives refer to

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
            raise ModelError(f"{what}: the function of x failed ({error}); it takes and gives one number") from error
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{what}: the function gives numbers that are not finite between 0 and {length:g} m")
        size = float(np.max(np.abs(values), initial=1e-300))
        for least in range(degree + 1):  # the lowest degree that meets it: higher ones only add rounding to slopes
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
    """Convert a number, `Profile` or `Curve` to a function of an array of places; None stays None."""
    if value is None or isinstance(value, (Profile, Curve)):
        return value
    number = as_scalar(value, what)
    return lambda x: np.full(np.shape(x), number)


def as_data(value: Any, length: float, what: str) -> Any:
    """Convert functions of x to `Curve`s, also within a tuple, so that the description stays data."""
    if isinstance(value, (tuple, list)) or np.ndim(value) == 1:
        return tuple(as_data(item, length, what) for item in value)
    if value is None or isinstance(value, (str, Profile, Curve)):
        return value
    return Curve.fit(value, length, what) if callable(value) else as_scalar(value, what)


def cut_property(value: Any, a: float, b: float) -> Any:
    """Cut a property between places a and b, shifted to 0 to b - a; numbers and None stay."""
    if isinstance(value, tuple):
        return tuple(cut_property(item, a, b) for item in value)
    if isinstance(value, Profile):
        stations = np.asarray(value.x)
        x = np.unique([a, *stations[(stations > a) & (stations < b)], b])
        return Profile(x=x - a, values=value(x))
    if isinstance(value, Curve):
        return Curve(length=b - a, coefficients=value.polynomial.convert(domain=[a, b]).coef)
    return value
