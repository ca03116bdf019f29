"""First-order shapes of a straight beam, as polynomials: exact modes to rounding, plain polynomials, user functions.

Modes come from a Ritz solution whose unknowns are the strains (curvature, shear, twist rate, extension) in Legendre
polynomials, with displacements as their integrals: well conditioned, free of locking, for any end conditions and any
taper. Every shape is then a polynomial in x, so that all later integrals are quadratures of polynomials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Legendre
from scipy.linalg import eigh, null_space

from spacectl.core.errors import ModelError
from spacectl.model.profile import Property

__all__ = ["ENDS", "LineShape", "bending_shapes", "line_shapes", "power_shapes"]

#: End conditions of bending: (deflection held, rotation held)
ENDS = {"clamped": (True, True), "pinned": (True, False), "sliding": (False, True), "free": (False, False)}


@dataclass(frozen=True)
class LineShape:
    """A shape along the beam: `w` (deflection, twist or extension) and `turn` (rotation; w' without shear), of x."""

    w: Legendre
    turn: Legendre


def bending_shapes(
    length: float,
    n: int,
    *,
    EI: Property,
    mass: Property,
    rotary: Property | None,
    GA: Property | None,
    tension: float = 0.0,
    ends: tuple[str, str],
    tip_mass: float = 0.0,
    tip_inertia: float = 0.0,
) -> list[LineShape]:
    """The first `n` bending modes (with shear if GA is given), largest deflection 1.

    ``int (EI turn'^2 + GA (w' - turn)^2 + T w'^2) / int (mass w^2 + rotary turn^2) + tip`` is stationary.
    """
    degree = 14 + 3 * n
    base = _strains(degree, length)
    twice, once = [s.integ(2, lbnd=0.0) for s in base], [s.integ(lbnd=0.0) for s in base]
    one = Legendre([1.0], [0.0, length])
    x = one.integ(lbnd=0.0)
    zero = 0.0 * one
    unknowns = [(one, zero, zero, zero), (x, one, zero, zero)]  # w, turn, curvature, shear
    unknowns += [(w, t, s, zero) for w, t, s in zip(twice, once, base, strict=True)]
    if GA is not None:
        unknowns += [(t, zero, zero, s) for t, s in zip(once, base, strict=True)]
    nodes, weights = _quadrature(length, degree)
    w, turn, curvature, shear = (np.array([u[k](nodes) for u in unknowns]) for k in range(4))
    slope = turn + shear
    K = _gram(curvature, weights * EI(nodes)) + _gram(slope, weights * tension)
    if GA is not None:
        K = K + _gram(shear, weights * GA(nodes))
    M = _gram(w, weights * mass(nodes))
    if rotary is not None:
        M = M + _gram(turn, weights * rotary(nodes))
    tip_w, tip_turn = (np.array([u[k](length) for u in unknowns]) for k in (0, 1))
    M = M + tip_mass * np.outer(tip_w, tip_w) + tip_inertia * np.outer(tip_turn, tip_turn)
    rows = []
    for end, place in zip(ends, (0.0, length), strict=True):
        held = ENDS[end]
        rows += [[u[k](place) for u in unknowns] for k in (0, 1) if held[k]]
    return [
        _normal(
            LineShape(*(sum((c * u[k] for c, u in zip(mode, unknowns, strict=True)), zero) for k in (0, 1))), length
        )
        for mode in _lowest(K, M, np.array(rows), n)
    ]


def line_shapes(
    length: float,
    n: int,
    *,
    stiffness: Property,
    inertia: Property,
    ends: tuple[bool, bool],
    warping: Property | None = None,
    tip: float = 0.0,
) -> list[LineShape]:
    """The first `n` modes of torsion or extension, largest value 1; `ends` say which end is held."""
    degree = 14 + 3 * n
    base = _strains(degree, length)
    one = Legendre([1.0], [0.0, length])
    order = 1 if warping is None else 2
    unknowns = [one] if order == 1 else [one, one.integ(lbnd=0.0)]
    unknowns += [s.integ(order, lbnd=0.0) for s in base]
    nodes, weights = _quadrature(length, degree)
    value, rate, second = (np.array([u.deriv(k)(nodes) if k else u(nodes) for u in unknowns]) for k in range(3))
    K = _gram(rate, weights * stiffness(nodes))
    rows = []
    for held, place in zip(ends, (0.0, length), strict=True):
        rows += [[u(place) for u in unknowns]] if held else []
        if warping is not None and held:  # a held end does not warp
            rows.append([u.deriv()(place) for u in unknowns])
    if warping is not None:
        K = K + _gram(second, weights * warping(nodes))
    at_tip = np.array([u(length) for u in unknowns])
    M = _gram(value, weights * inertia(nodes)) + tip * np.outer(at_tip, at_tip)
    zero = 0.0 * one
    shapes = [
        sum((c * u for c, u in zip(mode, unknowns, strict=True)), zero) for mode in _lowest(K, M, np.array(rows), n)
    ]
    return [_normal(LineShape(shape, shape.deriv()), length) for shape in shapes]


def power_shapes(length: float, n: int, ends: tuple[str, str], what: str) -> list[LineShape]:
    """``xi^a (1 - xi)^b P_k(2 xi - 1)``, the simplest polynomials that meet the end conditions; largest value 1.

    P_k are Legendre polynomials: the same sums as powers of xi, but well conditioned. Ends that leave a rigid motion
    free (pinned or free root) count it as the frame's own: a is raised until none is left.
    """
    if "sliding" in ends:
        raise ModelError(f"{what}: shapes='polynomials' does not serve a sliding end; use shapes='modes'")
    a, b = (sum(ENDS[end]) for end in ends)
    a = max(a, 2 - b)
    xi = Legendre([0.5, 0.5], [0.0, length])
    envelope = Legendre([1.0], [0.0, length])
    for factor in [xi] * a + [1.0 - xi] * b:
        envelope = envelope * factor
    shapes = [envelope * Legendre.basis(k, [0.0, length]) for k in range(n)]
    return [_normal(LineShape(w, w.deriv()), length) for w in shapes]


def _strains(degree: int, length: float) -> list[Legendre]:
    return [Legendre.basis(k, [0.0, length]) for k in range(degree)]


def _quadrature(length: float, degree: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(2 * degree + 8)
    return 0.5 * length * (nodes + 1.0), 0.5 * length * weights


def _gram(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (values * weights) @ values.T


def _lowest(K: np.ndarray, M: np.ndarray, rows: np.ndarray, n: int) -> list[np.ndarray]:
    """The `n` lowest modes with positive frequency under the constraints ``rows a = 0``.

    Solved for 1 / (omega^2 + shift), in which the low modes are the large, accurate ones.
    """
    N = null_space(rows) if rows.size else np.eye(len(K))
    K, M = N.T @ K @ N, N.T @ M @ N
    shift = np.trace(K) / np.trace(M) * 1e-6
    inverse, vectors = eigh(M, K + shift * M)
    squares = 1.0 / inverse[::-1] - shift
    elastic = [k for k, square in enumerate(squares) if square > 1e-6 * shift][:n]
    return [N @ vectors[:, ::-1][:, k] for k in elastic]


def _normal(shape: LineShape, length: float) -> LineShape:
    """Scaled so that the largest deflection is 1, positive at the tip (or where it is largest)."""
    x = np.linspace(0.0, length, 2001)
    values = shape.w(x)
    peak = float(values[int(np.argmax(np.abs(values)))])
    tip = float(values[-1])
    scale = (
        tip
        if abs(tip) > 0.999 * abs(peak)
        else (peak if abs(tip) < 1e-9 * abs(peak) else float(np.copysign(peak, tip)))
    )
    return LineShape(shape.w / scale, shape.turn / scale)
