"""Functions of two surface parameters (s, t): tables of values and derivatives, of which shapes are sums.

A family of functions of one variable (Legendre polynomials, Fourier functions if the surface closes on
itself, beam functions) provides values and two derivatives; products of two families are the trial functions
of plates and shells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Legendre

__all__ = ["Family", "FourierFamily", "PolynomialFamily", "gauss", "legendre_family", "product_table", "rule"]


class Family:
    """A list of functions of one variable on a range."""

    @property
    def size(self) -> int:
        """Number of functions."""
        raise NotImplementedError

    def table(self, x: np.ndarray) -> np.ndarray:
        """Return the values, first and second derivatives at places x: (3, n, size)."""
        raise NotImplementedError


@dataclass(frozen=True)
class PolynomialFamily(Family):
    """Polynomials, each on the same range: Legendre polynomials or beam functions."""

    functions: tuple[Legendre, ...]

    @property
    def size(self) -> int:
        return len(self.functions)

    def table(self, x: np.ndarray) -> np.ndarray:
        if not self.functions:
            return np.zeros((3, np.size(x), 0))
        low, high = self.functions[0].domain
        degree = max(function.degree() for function in self.functions)
        scaled = (2.0 * np.asarray(x, dtype=float) - low - high) / (high - low)
        values = np.polynomial.legendre.legvander(scaled, degree)
        found = []
        for order in range(3):
            C = np.zeros((degree + 1, self.size))
            for k, function in enumerate(self.functions):
                coefficients = function.deriv(order).coef if order else function.coef
                C[: len(coefficients), k] = coefficients
            found.append(values @ C)
        return np.stack(found)


@dataclass(frozen=True)
class FourierFamily(Family):
    """1, cos k phase, sin k phase for k up to `waves`, of a variable that closes on itself over `period`."""

    start: float
    period: float
    waves: int

    @property
    def size(self) -> int:
        return 2 * self.waves + 1

    def table(self, x: np.ndarray) -> np.ndarray:
        rate = 2.0 * np.pi / self.period * np.arange(1, self.waves + 1)
        phase = np.multiply.outer(np.asarray(x, dtype=float) - self.start, rate)
        c, s, one = np.cos(phase), np.sin(phase), np.ones((np.size(x), 1))
        zero = 0.0 * one
        rows = [(one, c, s), (zero, -rate * s, rate * c), (zero, -(rate**2) * c, -(rate**2) * s)]
        return np.stack([np.hstack(row) for row in rows])


def legendre_family(span: tuple[float, float], size: int) -> PolynomialFamily:
    """Return the Legendre polynomials of degree 0 to size - 1 on a range."""
    return PolynomialFamily(tuple(Legendre.basis(k, list(span)) for k in range(size)))


def gauss(span: tuple[float, float], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss nodes and weights on a range."""
    low, high = span
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return low + 0.5 * (high - low) * (nodes + 1.0), 0.5 * (high - low) * weights


def rule(span: tuple[float, float], size: int, closed: bool, least: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for products of three of `size` functions: Gauss, or evenly spaced on a closed range."""
    if not closed:
        return gauss(span, max(least, size + 8))
    n = 2 * size
    return span[0] + (span[1] - span[0]) * np.arange(n) / n, np.full(n, (span[1] - span[0]) / n)


def product_table(
    families: tuple[Family, Family], s: np.ndarray, t: np.ndarray, pairs: Sequence[tuple[int, int]] | None = None
) -> np.ndarray:
    """Return products f_i(s) g_j(t) at (s, t): value, d/ds, d/dt, d2/ds2, d2/dsdt, d2/dt2; shape (6, n, size).

    All products, i slowest, or those of `pairs` (i, j).
    """
    F, G = families[0].table(s), families[1].table(t)
    orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    if pairs is not None:
        i, j = (np.array([pair[k] for pair in pairs], dtype=int) for k in (0, 1))
        return np.stack([F[a][:, i] * G[b][:, j] for a, b in orders])
    return np.stack([np.einsum("ni,nj->nij", F[a], G[b]).reshape(len(s), -1) for a, b in orders])
