"""Functions along a beam: polynomials, and polynomials with a break where a load acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Legendre

__all__ = ["Broken", "LineFunction", "weighted_sum"]


@dataclass(frozen=True)
class Broken:
    """A polynomial plus pieces: each is `below` up to its break and `above` beyond it.

    Parameters
    ----------
    smooth : Legendre
        On the whole length.
    pieces : tuple of (place, below, above)
        Breaks [m] with polynomials on both sides.
    """

    smooth: Legendre
    pieces: tuple[tuple[float, Legendre, Legendre], ...]

    @staticmethod
    def up_to(place: float, length: float, k: int) -> Broken:
        """Return the Legendre polynomial of degree k from 0 to `place`, nothing beyond."""
        none = Legendre([0.0], [0.0, length])
        return Broken(none, ((place, Legendre.basis(k, [0.0, place]), none),))

    def __call__(self, x: Any) -> Any:
        value = self.smooth(x)
        for place, below, above in self.pieces:
            value = value + np.where(np.asarray(x) < place, below(x), above(x))
        return value

    def deriv(self, m: int = 1) -> Broken:
        """Return the derivative."""
        return Broken(self.smooth.deriv(m), tuple((a, p.deriv(m), q.deriv(m)) for a, p, q in self.pieces))

    def integ(self, m: int = 1, *, lbnd: float = 0.0) -> Broken:
        """Return the integral from 0, continuous at the breaks."""
        pieces = []
        for place, below, above in self.pieces:
            low, high = below.integ(lbnd=0.0), above.integ(lbnd=place)
            pieces.append((place, low, high + float(low(place))))
        found = Broken(self.smooth.integ(lbnd=lbnd), tuple(pieces))
        return found if m == 1 else found.integ(m - 1, lbnd=lbnd)

    def __mul__(self, factor: float) -> Broken:
        return Broken(factor * self.smooth, tuple((a, factor * p, factor * q) for a, p, q in self.pieces))

    __rmul__ = __mul__


LineFunction = Legendre | Broken


def weighted_sum(weights: Sequence[float] | np.ndarray, functions: Sequence[LineFunction]) -> LineFunction:
    """Return the sum of functions with weights; a plain polynomial if none of them is broken."""
    pairs = list(zip(weights, functions, strict=True))
    plain = [c * (f.smooth if isinstance(f, Broken) else f) for c, f in pairs]
    smooth = sum(plain[1:], plain[0])
    pieces: dict[float, tuple[Legendre, Legendre]] = {}
    for c, function in pairs:
        for place, below, above in function.pieces if isinstance(function, Broken) else ():
            low, high = pieces.get(place, (0.0 * below, 0.0 * above))
            pieces[place] = (low + c * below, high + c * above)
    return Broken(smooth, tuple((a, p, q) for a, (p, q) in pieces.items())) if pieces else smooth
