"""`SurfaceFunction`: a smooth function of two surface parameters as data, made from a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.bodies.surface.basis import Family, FourierFamily, legendre_family, product_table
from spacectl.model.description import set_field

__all__ = ["SurfaceFunction", "family_on"]


def family_on(span: tuple[float, float], size: int, closed: bool) -> Family:
    """Return about `size` Legendre polynomials on a range, or Fourier functions where it closes on itself."""
    return FourierFamily(span[0], span[1] - span[0], size // 2) if closed else legendre_family(span, size)


@dataclass(frozen=True, kw_only=True)
class SurfaceFunction:
    """A function of (s, t) with k components, as sums of products of Legendre (or Fourier) functions.

    Parameters
    ----------
    ranges : array (2, 2)
        Ranges of s and of t.
    coefficients : array (p, q, k)
        Of the products of p functions of s and q functions of t.
    closed : tuple of two bool
        Which parameter closes on itself (Fourier functions).
    """

    ranges: Any
    coefficients: Any
    closed: tuple[bool, bool] = (False, False)

    def __post_init__(self) -> None:
        set_field(self, "ranges", as_array(self.ranges, (2, 2), "surface function: ranges"))
        set_field(self, "coefficients", as_array(self.coefficients, None, "surface function: coefficients"))
        set_field(self, "closed", tuple(bool(item) for item in self.closed))
        if len(self.coefficients.shape) != 3 or np.any(np.diff(np.asarray(self.ranges)) <= 0.0):
            raise ModelError("surface function: expected ascending ranges and coefficients of shape (p, q, k)")

    def table(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return the value and derivatives by s, t, ss, st, tt at places (s, t): (6, n, k)."""
        p, q, k = self.coefficients.shape
        spans: Any = [tuple(map(float, span)) for span in np.asarray(self.ranges)]
        families = (family_on(spans[0], p, self.closed[0]), family_on(spans[1], q, self.closed[1]))
        return product_table(families, s, t) @ np.asarray(self.coefficients).reshape(p * q, k)

    @staticmethod
    def fit(
        function: Callable[[float, float], Any],
        ranges: tuple[tuple[float, float], tuple[float, float]],
        what: str,
        closed: tuple[bool, bool] = (False, False),
        size: int = 25,
    ) -> SurfaceFunction:
        """Fit a user's function of (s, t); raise `ModelError` unless it is finite and smooth (residual below 1e-8)."""
        families = [family_on(span, size, is_closed) for span, is_closed in zip(ranges, closed, strict=True)]
        nodes = [_nodes(span, 2 * size, is_closed) for span, is_closed in zip(ranges, closed, strict=True)]
        try:
            values = np.array(
                [[np.atleast_1d(function(float(s), float(t))) for t in nodes[1]] for s in nodes[0]], dtype=float
            )
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelError(f"{what}: the function of two parameters failed ({error})") from error
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{what}: the function returns numbers that are not finite within {ranges}")
        S, T = (family.table(x)[0] for family, x in zip(families, nodes, strict=True))
        C = np.einsum("ps,stk,qt->pqk", np.linalg.pinv(S), values, np.linalg.pinv(T), optimize=True)
        miss = float(np.max(np.abs(np.einsum("sp,pqk,tq->stk", S, C, T, optimize=True) - values)))
        largest = float(np.max(np.abs(values), initial=1e-300))
        if miss > 1e-8 * largest:
            raise ModelError(
                f"{what}: the function is not smooth enough: sums of {size} x {size} functions miss it by {miss:.1e} of "
                f"{largest:.1e}; give a smooth function over a smaller range, or a mesh"
            )
        C[np.abs(C) < 1e-14 * largest] = 0.0
        if not any(closed):
            p, q = (1 + int(np.max(np.flatnonzero(np.any(C, axis=axes)), initial=0)) for axes in ((1, 2), (0, 2)))
            C = C[:p, :q]
        return SurfaceFunction(ranges=ranges, coefficients=C, closed=closed)


def _nodes(span: tuple[float, float], n: int, closed: bool) -> np.ndarray:
    """Return the places where the function is sampled: evenly spaced if closed, else Chebyshev's."""
    share = np.arange(n) / n if closed else 0.5 * (1.0 - np.cos(np.pi * (np.arange(n) + 0.5) / n))
    return span[0] + (span[1] - span[0]) * share
