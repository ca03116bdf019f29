"""Collocation schemes: the points of an interval and their integration weights.

Both schemes are Runge-Kutta methods whose stages are the collocation points, ``x_j = x_0 + h sum_i A_ji
x_dot_i``, so the transcription in `phase` is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.input_checks import require_memory

__all__ = ["HermiteSimpson", "Radau", "Scheme"]

_RADAU_DEGREES = range(1, 10)


@dataclass(frozen=True)
class Scheme:
    """Base of the schemes: `intervals` equal intervals before mesh refinement.

    Parameters
    ----------
    intervals : int
        Number of intervals of the first mesh.
    """

    intervals: int = 30

    def __post_init__(self) -> None:
        if isinstance(self.intervals, bool) or int(self.intervals) != self.intervals or self.intervals < 1:
            raise ModelError(
                f"{type(self).__name__}: intervals is {self.intervals!r}, expected an integer of at least 1"
            )
        require_memory(
            64.0 * self.intervals, f"{type(self).__name__}: intervals = {self.intervals}", "use fewer intervals"
        )

    @property
    def order(self) -> int:
        """Order of the state error at the ends of intervals."""
        raise NotImplementedError

    @property
    def points(self) -> np.ndarray:
        """Fractions of the interval, from 0 to 1, shape (d + 1,)."""
        raise NotImplementedError

    @property
    def is_collocated_at_start(self) -> bool:
        """Whether the first point of an interval is a collocation point."""
        raise NotImplementedError

    @cached_property
    def A(self) -> np.ndarray:
        """Weights of the rates, shape (d, d + 1): row j integrates from the first point to point j + 1."""
        c = self.points
        used = c if self.is_collocated_at_start else c[1:]
        weights = _integration_weights(used, c[1:])
        return weights if self.is_collocated_at_start else np.hstack([np.zeros((len(c) - 1, 1)), weights])

    def refined(self, intervals: int) -> Any:
        """Return the scheme with another number of intervals."""
        return replace(self, intervals=intervals)

    def input_weights(self, at: Any, *, order: int = 0) -> np.ndarray:
        """Return the matrix (n, d + 1) that interpolates inputs, or state rates, in an interval from its points.

        `order` -1 integrates from the start of the interval, 1 differentiates (both over the fraction).
        """
        c, s = self.points, np.asarray(at, dtype=float)
        used = c if self.is_collocated_at_start else c[1:]
        rules = {-1: _integration_weights, 0: _lagrange, 1: _lagrange_rates}
        basis = rules[order](used, s)
        return basis if self.is_collocated_at_start else np.hstack([np.zeros((s.size, 1)), basis])


@dataclass(frozen=True)
class HermiteSimpson(Scheme):
    """Hermite-Simpson: cubic states, quadratic inputs that are continuous between intervals; order 4.

    Lobatto IIIA with three points. Suitable for smooth plans; jumps of inputs are smeared over an interval.

    Parameters
    ----------
    intervals : int
        Number of intervals of the first mesh.
    """

    @property
    def order(self) -> int:
        """4."""
        return 4

    @property
    def points(self) -> np.ndarray:
        """Start, middle and end."""
        return np.array([0.0, 0.5, 1.0])

    @property
    def is_collocated_at_start(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True)
class Radau(Scheme):
    """Radau IIA: states of degree `degree`, inputs that may jump between intervals; order 2 degree - 1.

    Stiffly accurate and L-stable. Suitable for bang-bang plans and stiff systems.

    Parameters
    ----------
    intervals : int
        Number of intervals of the first mesh.
    degree : int
        Number of collocation points of an interval, 1 to 9.
    """

    degree: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree not in _RADAU_DEGREES:
            raise ModelError(f"Radau: degree is {self.degree!r}, expected 1 to {_RADAU_DEGREES[-1]}")

    @property
    def order(self) -> int:
        """``2 degree - 1``."""
        return 2 * self.degree - 1

    @cached_property
    def points(self) -> np.ndarray:
        """Zero, the roots of ``P_{d-1}^{(1, 0)}(1 - 2 c)``, and one."""
        d = self.degree
        first, second = np.eye(d + 1)[d], np.eye(d + 1)[d - 1]
        roots = np.polynomial.legendre.legroots(first - second)  # P_d - P_{d-1} vanishes at +1
        return np.concatenate([[0.0], np.sort((1.0 + np.real(roots[np.argsort(roots)][:-1])) / 2.0), [1.0]])

    @property
    def is_collocated_at_start(self) -> bool:
        """False."""
        return False


def _lagrange(knots: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Evaluate the Lagrange polynomials of the knots at s, shape (n, len(knots))."""
    out = np.ones((s.size, knots.size))
    for i, knot in enumerate(knots):
        others = np.delete(knots, i)
        out[:, i] = np.prod((s[:, None] - others) / (knot - others), axis=1)
    return out


def _lagrange_rates(knots: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Evaluate the derivatives of the Lagrange polynomials of the knots at s."""
    out = np.zeros((s.size, knots.size))
    for i, knot in enumerate(knots):
        for j in range(knots.size):
            others = np.delete(knots, [i, j])
            out[:, i] += 0.0 if j == i else np.prod((s[:, None] - others) / (knot - others), axis=1) / (knot - knots[j])
    return out


def _integration_weights(knots: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Integrate the Lagrange polynomials of the knots from 0 to each end by Gauss quadrature (exact)."""
    nodes, weights = np.polynomial.legendre.leggauss(knots.size)
    return np.array([end / 2.0 * weights @ _lagrange(knots, end / 2.0 * (1.0 + nodes)) for end in ends])
