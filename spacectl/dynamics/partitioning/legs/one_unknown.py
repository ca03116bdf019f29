"""R2-R2-R2 in general (002): four equations reduced to one in one angle of the middle joint, solved in a fixed number of
operations.

The unknown is the tangent x of half the change of that angle. The distance of the outer centres determines the other angle of
the middle joint, and the direction to the last centre the angles of the first joint, by formulas without arctangents. The
equation of the closing joint remains: F(x) = 0. Two steps of Ostrowski's method (order four) reduce the error of a start x_0 to
the order (x_0 - x)^16. Where the residual then exceeds rounding, the margin is negative, and Newton's method in four unknowns
is used.

Ferrari's formula: the real root of a quartic next to zero, as an expression without loops or branches.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.partitioning.legs.formulas import near_to, smallest
from spacectl.dynamics.partitioning.legs.geometry import LegGeometry
from spacectl.spatial.backend import cross, dot

__all__ = ["root_next_to_zero", "solve_by_first", "solve_by_second"]

_LEFT = 1e-14  # residual of the equation, a product of unit vectors, that is due to rounding
_VECTORS = ("o", "w", "n", "l", "m", "s1", "s2", "t1", "t2", "along")


def solve_by_first(g: LegGeometry) -> tuple[list[Any], Any]:
    """Return coordinates and margin, with the first angle of the middle joint as the unknown."""
    return _solve(g, is_first=True)


def solve_by_second(g: LegGeometry) -> tuple[list[Any], Any]:
    """Return coordinates and margin, with the second angle of the middle joint as the unknown."""
    return _solve(g, is_first=False)


def _solve(g: LegGeometry, *, is_first: bool) -> tuple[list[Any], Any]:
    row, with_derivative, found = _functions(is_first)
    given = _given(g, is_first)
    half, derivative = _root(row, with_derivative, given)
    left, sines, cosines, folds = found(half, *given)
    near, own = ca.vertcat(g.q1, g.q2), 2 if is_first else 3
    x = near[own] + 2.0 * ca.atan(half)
    angles = [x if i == own else near_to(ca.atan2(sines[i], cosines[i]), near[i]) for i in range(4)]
    proof = ca.if_else(ca.fabs(left) < _LEFT, 1.0, -1.0)
    return angles, smallest(folds[0], folds[1], 0.25 * derivative**2, proof)


def _root(row: ca.Function, with_derivative: ca.Function, given: list[Any]) -> tuple[Any, Any]:
    """Return the root of F near 0 by two steps of Ostrowski's method, and the derivative before the last."""
    x, derivative = ca.SX(0.0), ca.SX(1.0)
    for _ in range(2):
        F, derivative = with_derivative(x, *given)
        y = x - F / derivative
        F_y = row(y, *given)
        ratio = ca.fmin(ca.fmax(F / (F - 2.0 * F_y), 0.25), 4.0)  # of derivatives: close to 1 unless both are rounding
        x = y - ratio * F_y / derivative
    return x, derivative


def _given(g: LegGeometry, is_first: bool) -> list[Any]:
    """Return the arguments that do not depend on the unknown: vectors of the leg, and the present sides of its two folds."""
    n, m = g.closing_axes()
    C = g.X_F1J2.R
    one, two = g.n1, g.n2
    values = {
        "o": g.X_F1J2.p, "w": g.X_F2E.p, "n": n, "l": g.X_T.p, "m": m, "s1": one["first"], "s2": one["second"],
        "t1": two["first"], "t2": two["second"], "along": C.T @ g.X_F1J2.p,
    }  # fmt: skip
    cs = [(ca.cos(angle), ca.sin(angle)) for angle in (g.q1[1], g.q2[0], g.q2[1])]
    y = _turned(values["t2"], *cs[2], values["w"])
    v = _turned(values["t1"], *cs[1], y)
    A, B, _ = _fold(values, cs[1] if is_first else cs[2], is_first, 0.0)
    bend = cs[2] if is_first else cs[1]
    A2, B2, _ = _tilt(values["s1"], values["s2"], values["o"] + C @ v, values["l"])
    sides = ca.vertcat(A * bend[1] - B * bend[0], A2 * cs[0][1] - B2 * cs[0][0])
    start = ca.vertcat(*(cs[1] if is_first else cs[2]))
    return [*(values[name] for name in _VECTORS), C, start, ca.sign(sides + 1e-300), ca.SX(g.closing_cosine)]


def _functions(is_first: bool) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return F(x), (F, dF/dx)(x), and (F, sines, cosines, margins of the two folds)(x)."""
    x = ca.SX.sym("x")
    names = {name: ca.SX.sym(name, 3) for name in _VECTORS}
    C, start, sides, rest = ca.SX.sym("C", 3, 3), ca.SX.sym("start", 2), ca.SX.sym("sides", 2), ca.SX.sym("rest")
    own = _advanced(start, x)
    F, sines, cosines, folds = _chain(own, names, C, sides, rest, is_first)
    inputs = [x, *names.values(), C, start, sides, rest]
    return (
        ca.Function("row", inputs, [F]),
        ca.Function("with_derivative", inputs, [F, ca.jtimes(F, x, ca.SX(1.0))]),
        ca.Function("angles", inputs, [F, sines, cosines, folds]),
    )


def _advanced(start: Any, half: Any) -> tuple[Any, Any]:
    """Return cosine and sine of an angle increased by twice the arctangent of `half`."""
    over = 1.0 / (1.0 + half**2)
    c, s = (1.0 - half**2) * over, 2.0 * half * over
    return start[0] * c - start[1] * s, start[1] * c + start[0] * s


def _chain(
    own: tuple[Any, Any], v: dict[str, Any], C: Any, sides: Any, rest: Any, is_first: bool
) -> tuple[Any, Any, Any, Any]:
    """Return F, sines and cosines of (a1, a2, b1, b2), and margins, from cosine and sine of the unknown."""
    K = 0.5 * (dot(v["l"], v["l"]) - dot(v["o"], v["o"]) - dot(v["w"], v["w"]))
    c, s, bent = _angle(*_fold(v, own, is_first, K), sides[0])
    other = (c, s)
    b1, b2 = (own, other) if is_first else (other, own)
    U, N = (C @ _turned(v["t1"], *b1, _turned(v["t2"], *b2, v[name])) for name in ("w", "n"))
    U += v["o"]
    c2, s2, tilted = _angle(*_tilt(v["s1"], v["s2"], U, v["l"]), sides[1])
    U, N = (_turned(v["s2"], c2, s2, vector) for vector in (U, N))
    off = dot(v["s1"], v["l"])
    over = 1.0 / (dot(v["l"], v["l"]) - off**2)
    c1, s1 = (dot(U, v["l"]) - dot(v["s1"], U) * off) * over, dot(cross(v["l"], v["s1"]), U) * over
    F = dot(v["m"], _turned(v["s1"], c1, s1, N)) - rest
    return F, ca.vertcat(s1, s2, b1[1], b2[1]), ca.vertcat(c1, c2, b1[0], b2[0]), ca.vertcat(bent, tilted)


def _fold(v: dict[str, Any], own: tuple[Any, Any], is_first: bool, K: Any) -> tuple[Any, Any, Any]:
    """Return A, B, C of ``A cos q + B sin q = C`` for the other angle of the middle joint: ``o C R_2 w = K``."""
    if is_first:
        axis, fixed, moved = v["t2"], _turned(v["t1"], own[0], -own[1], v["along"]), v["w"]
    else:
        axis, fixed, moved = v["t1"], v["along"], _turned(v["t2"], *own, v["w"])
    part = dot(fixed, axis) * dot(axis, moved)
    return dot(fixed, moved) - part, dot(fixed, cross(axis, moved)), K - part


def _tilt(s1: Any, s2: Any, U: Any, l: Any) -> tuple[Any, Any, Any]:
    """Return A, B, C for the second angle of the first joint: ``s1 R(s2, q) U = s1 l``."""
    part = dot(s1, s2) * dot(s2, U)
    return dot(s1, U) - part, dot(s1, cross(s2, U)), dot(s1, l) - part


def _angle(A: Any, B: Any, C: Any, side: Any) -> tuple[Any, Any, Any]:
    """Return cosine and sine of q with ``A cos q + B sin q = C`` on a side, and the margin."""
    square = ca.fmax(A**2 + B**2, 1e-300)
    over, left = 1.0 / square, square - C**2
    root = side * ca.sqrt(ca.fmax(left, 0.0))
    return (A * C - B * root) * over, (B * C + A * root) * over, left * over


def _turned(axis: Any, c: Any, s: Any, u: Any) -> Any:
    """Rotate u about a unit axis (Rodrigues)."""
    return c * u + s * cross(axis, u) + ((1.0 - c) * dot(axis, u)) * axis


_POLISH = 2  # Newton steps to correct for cancellation in Ferrari's formula


def root_next_to_zero(coefficients: list[Any]) -> Any:
    """Return the real root of ``k0 + k1 x + k2 x^2 + k3 x^3 + k4 x^4`` nearest to zero; NaN if there is none."""
    k0, k1, k2, k3, k4 = coefficients
    a, b, c, d = k3 / k4, k2 / k4, k1 / k4, k0 / k4
    x = _nearest(_depressed_roots(*_depress(a, b, c, d)), -0.25 * a)
    for _ in range(_POLISH):
        value = (((k4 * x + k3) * x + k2) * x + k1) * x + k0
        x -= value / (((4.0 * k4 * x + 3.0 * k3) * x + 2.0 * k2) * x + k1)
    return x


def _depress(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any, Any]:
    """Return p, q, r of ``y^4 + p y^2 + q y + r`` with y = x + a / 4."""
    s = 0.25 * a
    return b - 6.0 * s**2, c - 2.0 * b * s + 8.0 * s**3, d - c * s + b * s**2 - 3.0 * s**4


def _depressed_roots(p: Any, q: Any, r: Any) -> list[tuple[Any, Any]]:
    """Return four pairs (radicand, root); a root is real where its radicand is not negative."""
    m = ca.fmax(_largest_root(p, q, r), 1e-300)
    s = ca.sqrt(2.0 * m)
    found = []
    for sign in (1.0, -1.0):
        radicand = -2.0 * (p + m) - sign * 2.0 * q / s
        half = ca.sqrt(ca.fmax(radicand, 0.0))
        found += [(radicand, 0.5 * (sign * s + half)), (radicand, 0.5 * (sign * s - half))]
    return found


def _largest_root(p: Any, q: Any, r: Any) -> Any:
    """Return the largest real root of Ferrari's resolvent ``m^3 + p m^2 + (p^2 / 4 - r) m - q^2 / 8`` (Cardano, Viete)."""
    P, Q = -(p**2 / 12.0 + r), -(p**3) / 108.0 + p * r / 3.0 - q**2 / 8.0
    inside = 0.25 * Q**2 + P**3 / 27.0
    u = ca.power(ca.fmax(0.5 * ca.fabs(Q) + ca.sqrt(ca.fmax(inside, 0.0)), 1e-300), 1.0 / 3.0)
    one = ca.copysign(1.0, -Q) * (u - P / (3.0 * u))
    size = ca.sqrt(ca.fmax(-P / 3.0, 1e-300))
    cosine = ca.fmin(ca.fmax(-0.5 * Q / size**3, -1.0), 1.0)
    three = 2.0 * size * ca.cos(ca.acos(cosine) / 3.0)
    return ca.if_else(inside >= 0.0, one, three) - p / 3.0


def _nearest(roots: list[tuple[Any, Any]], shift: Any) -> Any:
    """Return the real root plus `shift` that is nearest to zero."""
    best, found = ca.SX(1e300), ca.SX(1e150)  # powers of the latter overflow, so that the result becomes NaN
    for radicand, root in roots:
        x = root + shift
        is_better = ca.logic_and(radicand >= 0.0, ca.fabs(x) < best)
        best, found = ca.if_else(is_better, ca.fabs(x), best), ca.if_else(is_better, x, found)
    return found
