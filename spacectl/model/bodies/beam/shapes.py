"""First-order shapes of a straight beam, as polynomials: exact modes to rounding, interface shapes, plain polynomials.

Modes come from a Ritz solution whose unknowns are the strains (curvature, shear, twist rate, extension) in Legendre
polynomials, with displacements as their integrals: well conditioned, free of locking, for any end conditions and any
taper. Every shape is then a polynomial in x, so that all later integrals are quadratures of polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Legendre

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.interfaces import interface_basis, lowest_modes
from spacectl.model.bodies.base.profile import Property
from spacectl.model.bodies.beam.line_functions import Broken, LineFunction, weighted_sum

__all__ = [
    "ENDS",
    "LineShape",
    "LineSpace",
    "bending_space",
    "end_rows",
    "interface_shapes",
    "line_space",
    "mode_shapes",
    "power_shapes",
]

_LOCAL = 4  # polynomials up to each break: a load bends the beam linearly up to its place, taper adds to that

#: End conditions of bending: (deflection fixed, rotation fixed)
ENDS = {"clamped": (True, True), "pinned": (True, False), "sliding": (False, True), "free": (False, False)}


@dataclass(frozen=True)
class LineShape:
    """A shape along the beam: `w` (deflection, twist or extension) and `turn` (rotation; w' without shear), of x."""

    w: LineFunction
    turn: LineFunction

    def value(self, place: float, k: int) -> float:
        """Return `w` (k = 0) or `turn` (k = 1) at a place."""
        return float((self.w, self.turn)[k](place))


@dataclass(frozen=True)
class LineSpace:
    """Unknowns of one kind of deformation: rigid motions first, then functions that vanish at the root with `turn`.

    Parameters
    ----------
    length : float
        [m]
    unknowns : tuple of LineShape
        The functions.
    n_rigid : int
        Number of rigid motions among them.
    K, M : arrays, shape (k, k)
        Stiffness and mass.
    """

    length: float
    unknowns: tuple[LineShape, ...]
    n_rigid: int
    K: np.ndarray
    M: np.ndarray

    def row(self, place: float, k: int) -> np.ndarray:
        """Return `w` (k = 0) or `turn` (k = 1) of all unknowns at a place."""
        return np.array([unknown.value(place, k) for unknown in self.unknowns])

    def shape(self, coefficients: np.ndarray) -> tuple[LineShape, float]:
        """Return the sum of unknowns, scaled so that its largest deflection is 1, and the factor of that scaling."""
        w, turn = (weighted_sum(coefficients, [getattr(u, key) for u in self.unknowns]) for key in ("w", "turn"))
        factor = 1.0 / _peak(w, self.length)
        return LineShape(factor * w, factor * turn), factor


def bending_space(
    length: float,
    n: int,
    *,
    EI: Property,
    mass: Property,
    rotary: Property | None,
    GA: Property | None,
    tension: float = 0.0,
    breaks: Sequence[float] = (),
) -> LineSpace:
    """Return trial functions of bending for `n` modes or more, and for loads at `breaks`, where strains jump.

    ``K = int EI turn'^2 + GA (w' - turn)^2 + T w'^2``, ``M = int mass w^2 + rotary turn^2``.
    """
    degree = 14 + 3 * n
    base = _strains(degree, length, breaks)
    twice, once = [s.integ(2, lbnd=0.0) for s in base], [s.integ(lbnd=0.0) for s in base]
    one = Legendre([1.0], [0.0, length])
    zero = 0.0 * one
    unknowns: list[tuple[LineFunction, ...]]  # w, turn, curvature, shear
    unknowns = [(one, zero, zero, zero), (one.integ(lbnd=0.0), one, zero, zero)]
    unknowns += [(w, t, s, zero) for w, t, s in zip(twice, once, base, strict=True)]
    if GA is not None:
        unknowns += [(t, zero, zero, s) for t, s in zip(once, base, strict=True)]
    nodes, weights = _quadrature(length, degree, breaks)
    w, turn, curvature, shear = (np.array([u[k](nodes) for u in unknowns]) for k in range(4))
    K = _gram(curvature, weights * EI(nodes)) + _gram(turn + shear, weights * tension)
    if GA is not None:
        K = K + _gram(shear, weights * GA(nodes))
    M = _gram(w, weights * mass(nodes))
    if rotary is not None:
        M = M + _gram(turn, weights * rotary(nodes))
    return LineSpace(length, tuple(LineShape(u[0], u[1]) for u in unknowns), 2, K, M)


def line_space(
    length: float,
    n: int,
    *,
    stiffness: Property,
    inertia: Property,
    warping: Property | None = None,
    breaks: Sequence[float] = (),
) -> LineSpace:
    """Return trial functions of torsion or extension for `n` modes or more, and for loads at `breaks`.

    With warping, the twist rate at the root counts as a rigid motion.
    """
    degree = 14 + 3 * n
    one = Legendre([1.0], [0.0, length])
    order = 1 if warping is None else 2
    unknowns: list[LineFunction] = [one] if order == 1 else [one, one.integ(lbnd=0.0)]
    unknowns += [s.integ(order, lbnd=0.0) for s in _strains(degree, length, breaks)]
    nodes, weights = _quadrature(length, degree, breaks)
    value, rate, second = (np.array([u.deriv(k)(nodes) if k else u(nodes) for u in unknowns]) for k in range(3))
    K = _gram(rate, weights * stiffness(nodes))
    if warping is not None:
        K = K + _gram(second, weights * warping(nodes))
    M = _gram(value, weights * inertia(nodes))
    return LineSpace(length, tuple(LineShape(u, u.deriv()) for u in unknowns), order, K, M)


def end_rows(ends: tuple[str, str], length: float) -> list[tuple[float, int]]:
    """Return the places and fields (`w` 0, `turn` 1) that the end conditions of bending fix."""
    places = zip(ends, (0.0, length), strict=True)
    return [(place, k) for end, place in places for k in (0, 1) if ENDS[end][k]]


def mode_shapes(
    space: LineSpace, n: int, held: Sequence[tuple[float, int]], tip: tuple[float, float] = (0.0, 0.0)
) -> list[LineShape]:
    """Return the first `n` modes with `w` (0) or `turn` (1) fixed at places and `tip` inertia along both."""
    M = space.M
    for k, inertia in enumerate(tip):
        if inertia:
            at_tip = space.row(space.length, k)
            M = M + inertia * np.outer(at_tip, at_tip)
    rows = np.array([space.row(place, k) for place, k in held])
    return [space.shape(mode)[0] for mode in lowest_modes(space.K, M, rows, n)]


def interface_shapes(
    space: LineSpace, n: int, free: Sequence[int], loads: Sequence[tuple[float, int]]
) -> tuple[list[LineShape], np.ndarray]:
    """Return the first `n` shapes of the interface basis, measured from the root slice, and their modal masses (n,).

    Parameters
    ----------
    space : LineSpace
        The unknowns.
    n : int
        Number of shapes.
    free : sequence of int
        Rigid motions (places among the first unknowns) along which the root transmits no load.
    loads : sequence of (place, k)
        Where `w` (0) or `turn` (1) is an interface, in order of importance.
    """
    kept = [*free, *range(space.n_rigid, len(space.unknowns))]
    K, M = (matrix[np.ix_(kept, kept)] for matrix in (space.K, space.M))
    scale = (1.0, space.length)  # a rotation times the length compares with a deflection
    rows = np.array([scale[k] * space.row(place, k)[kept] for place, k in loads]).reshape(-1, len(kept))
    basis = interface_basis(K, M, rows, n, n_free=len(free))
    elastic = np.zeros((len(space.unknowns), n))
    elastic[space.n_rigid :] = basis.coefficients
    shapes, factors = zip(*(space.shape(column) for column in elastic.T), strict=True)
    return list(shapes), basis.mass * np.array(factors) ** 2


def power_shapes(length: float, n: int, ends: tuple[str, str], what: str) -> list[LineShape]:
    """Return ``xi^a (1 - xi)^b P_k(2 xi - 1)``, polynomials for the end conditions; largest value 1.

    P_k are Legendre polynomials: the same sums as powers of xi, but well conditioned. Ends that leave a rigid motion
    free (pinned or free root) count it as the frame's own: a is increased until none remains.
    """
    if "sliding" in ends:
        raise ModelError(f"{what}: shapes='polynomials' does not support a sliding end; use shapes='modes'")
    a, b = (sum(ENDS[end]) for end in ends)
    a = max(a, 2 - b)
    xi = Legendre([0.5, 0.5], [0.0, length])
    envelope = Legendre([1.0], [0.0, length])
    for factor in [xi] * a + [1.0 - xi] * b:
        envelope = envelope * factor
    shapes = [envelope * Legendre.basis(k, [0.0, length]) for k in range(n)]
    scaled = [w / _peak(w, length) for w in shapes]
    return [LineShape(w, w.deriv()) for w in scaled]


def _strains(degree: int, length: float, breaks: Sequence[float] = ()) -> list[LineFunction]:
    """Return the polynomials along the beam, and for each break some that end there."""
    found: list[LineFunction] = [Legendre.basis(k, [0.0, length]) for k in range(degree)]
    return found + [Broken.up_to(place, length, k) for place in breaks for k in range(_LOCAL)]


def _quadrature(length: float, degree: int, breaks: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(2 * degree + 8)
    edges = np.unique([0.0, *breaks, length])
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (nodes + 1.0)).ravel(), (half * weights).ravel()


def _gram(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (values * weights) @ values.T


def _peak(w: LineFunction, length: float) -> float:
    """Return the largest deflection, with the sign of that at the tip (or its own sign, if the tip is at rest)."""
    values = w(np.linspace(0.0, length, 2001))
    peak = float(values[int(np.argmax(np.abs(values)))])
    tip = float(values[-1])
    if abs(tip) > 0.999 * abs(peak):
        return tip
    return peak if abs(tip) < 1e-9 * abs(peak) else float(np.copysign(peak, tip))
