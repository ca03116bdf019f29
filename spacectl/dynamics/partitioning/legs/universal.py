"""Legs of three universal joints, R2-R2-R2 with four equations (002), where three successive axes of the six meet in a point.

    R_1(a) (o + C R_2(b) w) = l,    m' R_1(a) C R_2(b) n = m'n at rest

with o and w the two links, n and m the axes of the closing joint on the leg and on its target: four equations for the angles a
and b. In general they lead to one polynomial of degree 16 whose roots have no closed form (docs/loops.md). Where an axis of the
middle joint passes through the centre of a neighbour, or an axis of a neighbour through the centre of the middle joint, three
axes act as a ball joint, and the equations are solved for one unknown after the other, with eight solutions.

R2-R2-R2 without offsets (002): axes of each universal joint at right angles, and normal to the attached links.

The centre c of the middle joint lies on a circle, at |o| from the first centre and |w| from the last one at l. It determines
the axes: the second axis of the first joint is along ``e = s x c`` (s its first axis). Those of the middle joint are along g, a
given combination of e and ``c x e``, and ``f = g x v`` with v = l - c. That of the closing joint is along a given combination
of f and ``v x f``. It must be normal to m:

    m' (mu_1 f + mu_3 v x f / |w|) = 0

which on the circle is a trigonometric polynomial of second order in its angle: a quartic in the tangent of half of it, with
four positions of the links. Each is reached by two pairs of angles at either joint: 16 solutions in all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from spacectl.dynamics.partitioning.legs.formulas import (
    point_body,
    point_universal,
    smallest,
    solve_reach,
    solve_row,
    split_turns,
)
from spacectl.dynamics.partitioning.legs.geometry import LegGeometry
from spacectl.dynamics.partitioning.legs.one_unknown import root_next_to_zero
from spacectl.spatial.backend import cross, dot
from spacectl.spatial.rotation import axis_rotation

__all__ = ["UNIVERSAL_FORMS", "straight_leg"]

_SKEW = 1e-13  # sine of the angle between an axis and a centre that counts as zero: rounding of placements


def _passes(axis: Any, link: Any) -> Any:
    """Return 1 if the axis is parallel to the link, so that the axes meet, else -1."""
    off = cross(axis, link)
    return ca.if_else(dot(off, off) <= _SKEW**2 * dot(link, link), 1.0, -1.0)


def _turn(n: Any, angles: Any) -> Any:
    """Return the rotation of a universal joint."""
    return axis_rotation(n["first"], angles[0]) @ axis_rotation(n["second"], angles[1])


def _middle_first_along_upper(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve for a first axis of the middle joint through the first centre: the bend, then a ball joint at the root."""
    o, C, second = g.X_F1J2.p, g.X_F1J2.R, g.n2["second"]
    bend, bent = solve_reach(second, g.X_F2E.p, -C.T @ o, dot(g.X_T.p, g.X_T.p), g.q2[1])
    along, R_bent = C @ g.n2["first"], C @ axis_rotation(second, bend)

    def twist(R: Any) -> Any:
        return g.twist(R @ R_bent @ g.X_F2E.R)

    now = _turn(g.n1, g.q1) @ axis_rotation(along, g.q2[0])
    R, spun = point_body(now, o + R_bent @ g.X_F2E.p, g.X_T.p, twist)
    near = ca.vertcat(g.q1, g.q2[0])
    angles, split = split_turns(R, (g.n1["first"], g.n1["second"], along), near)
    return [*angles, bend], smallest(bent, spun, split, _passes(along, o))


def _middle_second_along_lower(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve for a second axis of the middle joint through the last centre: bend, direction, rotation about the lower link."""
    C, w, first = g.X_F1J2.R, g.X_F2E.p, g.n2["first"]
    bend, bent = solve_reach(first, w, -C.T @ g.X_F1J2.p, dot(g.X_T.p, g.X_T.p), g.q2[0])
    R_bent = C @ axis_rotation(first, bend)
    a1, a2, margin = point_universal(g.n1["first"], g.n1["second"], g.X_F1J2.p + R_bent @ w, g.X_T.p, g.q1)
    R = _turn(g.n1, (a1, a2)) @ R_bent
    turn, spun = solve_row(lambda angle: g.twist(R @ axis_rotation(g.n2["second"], angle) @ g.X_F2E.R), g.q2[1])
    return [a1, a2, bend, turn], smallest(bent, margin, spun, _passes(g.n2["second"], w))


def _root_second_along_upper(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve for a second axis of the first joint through the middle centre: a crank, then a ball joint in the middle."""
    o, C, w, first = g.X_F1J2.p, g.X_F1J2.R, g.X_F2E.p, g.n1["first"]
    now = axis_rotation(g.n1["second"], g.q1[1]) @ C @ _turn(g.n2, g.q2)
    crank, bent = solve_reach(first, o, g.X_T.p, dot(w, w), g.q1[0], now @ w)
    R_crank = axis_rotation(first, crank)
    R, spun = point_body(now, w, R_crank.T @ g.X_T.p - o, lambda R: g.twist(R_crank @ R @ g.X_F2E.R))
    axes = (g.n1["second"], C @ g.n2["first"], C @ g.n2["second"])
    angles, split = split_turns(R @ C.T, axes, ca.vertcat(g.q1[1], g.q2))
    return [crank, *angles], smallest(bent, spun, split, _passes(g.n1["second"], o))


def _closing_axis_along_lower(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve for an axis of the closing joint through the middle centre, which lies on a sphere and two planes."""
    o, w, l = g.X_F1J2.p, g.X_F2E.p, g.X_T.p
    n, m = g.closing_axes()
    now = _turn(g.n1, g.q1)
    side = dot(m, cross(now @ o, now @ g.X_F1J2.R @ _turn(g.n2, g.q2) @ w))
    along_l, along_m = 0.5 * (dot(l, l) + dot(o, o) - dot(w, w)), dot(m, l) - g.closing_cosine * dot(w, n)
    centre, meets = _meet(l, m, along_l, along_m, dot(o, o), side)
    a1, a2, pointed = point_universal(g.n1["first"], g.n1["second"], o, centre, g.q1)
    seen = g.X_F1J2.R.T @ _turn(g.n1, (a1, a2)).T @ (l - centre)
    b1, b2, margin = point_universal(g.n2["first"], g.n2["second"], w, seen, g.q2)
    return [a1, a2, b1, b2], smallest(meets, pointed, margin, _passes(n, w))


def _meet(l: Any, m: Any, along_l: Any, along_m: Any, square: Any, side: Any) -> tuple[Any, Any]:
    """Return c with given ``l c``, ``m c`` (m a unit vector) and ``c c``, on the `side` of ``(l x m) c``, and the margin."""
    ll, lm, across = dot(l, l), dot(l, m), cross(l, m)
    area = dot(across, across)
    safe = ca.fmax(area, 1e-300)
    base = ((along_l - lm * along_m) * l + (ll * along_m - lm * along_l) * m) / safe
    root = square - dot(base, base)
    c = base + ca.copysign(1.0, side) * ca.sqrt(ca.fmax(root, 0.0) / safe) * across
    return c, ca.fmin(root / square, area / ll)


UNIVERSAL_FORMS: tuple[Callable[[LegGeometry], tuple[list[Any], Any]], ...] = (
    _middle_second_along_lower,
    _closing_axis_along_lower,
    _middle_first_along_upper,
    _root_second_along_upper,
)


_RIGHT_ANGLE = 1e-13  # cosine of an angle that counts as a right angle: rounding of placements
_HALF = 0.5**0.5


def straight_leg(g: LegGeometry) -> tuple[list[Any], Any]:
    """Return coordinates and margin."""
    o, w, l = g.X_F1J2.p, g.X_F2E.p, g.X_T.p
    base, u, v, round_ = _circle(g)
    condition = _condition(g)
    c, s, double = _angle([condition(base + a * u + b * v) for a, b in _SAMPLES])
    centre = base + c * u + s * v
    a1, a2, pointed = point_universal(g.n1["first"], g.n1["second"], o, centre, g.q1)
    R_1 = axis_rotation(g.n1["first"], a1) @ axis_rotation(g.n1["second"], a2)
    b1, b2, margin = point_universal(g.n2["first"], g.n2["second"], w, g.X_F1J2.R.T @ R_1.T @ (l - centre), g.q2)
    return [a1, a2, b1, b2], smallest(round_, double, pointed, margin, *_right_angles(g))


def _circle(g: LegGeometry) -> tuple[Any, Any, Any, Any]:
    """Return centre and two radii of the circle of the middle joint, the first towards its present position; and the margin."""
    o, w, l = g.X_F1J2.p, g.X_F2E.p, g.X_T.p
    now = axis_rotation(g.n1["first"], g.q1[0]) @ axis_rotation(g.n1["second"], g.q1[1]) @ o
    ll, oo = dot(l, l), dot(o, o)
    along = 0.5 * (ll + oo - dot(w, w))
    square = oo - along**2 / ll
    off = now - l * (dot(l, now) / ll)
    u = off * ca.sqrt(ca.fmax(square, 0.0) / ca.fmax(dot(off, off), 1e-300))
    return l * (along / ll), u, cross(l, u) / ca.sqrt(ll), square / oo


def _condition(g: LegGeometry) -> Any:
    """Return the closing joint's equation, times lengths, as a function of the middle centre."""
    o, w, l = g.X_F1J2.p, g.X_F2E.p, g.X_T.p
    n, m = g.closing_axes()
    first, s2 = g.X_F1J2.R @ g.n2["first"], g.n1["second"]
    reach, length = ca.sqrt(dot(o, o)), ca.sqrt(dot(w, w))
    mixed = dot(first, s2), dot(first, cross(o, s2)) / reach**2
    closing = dot(n, g.n2["second"]), dot(n, cross(w, g.n2["second"])) / length**2

    def row(c: Any) -> Any:
        e, v = cross(g.n1["first"], c), l - c
        axis = mixed[0] * e + mixed[1] * cross(c, e)
        f = cross(axis, v)
        return dot(m, closing[0] * f + closing[1] * cross(v, f))

    return row


_SAMPLES = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (_HALF, _HALF))


def _angle(values: list[Any]) -> tuple[Any, Any, Any]:
    """Return cosine and sine of the root next to zero of a trigonometric polynomial with five given values, and its margin."""
    right, up, left, down, between = values
    a0, a1, b1 = 0.25 * (right + up + left + down), 0.5 * (right - left), 0.5 * (up - down)
    a2 = 0.25 * (right + left - up - down)
    b2 = between - a0 - _HALF * (a1 + b1)
    quartic = [a0 + a1 + a2, 2.0 * b1 + 4.0 * b2, 2.0 * a0 - 6.0 * a2, 2.0 * b1 - 4.0 * b2, a0 - a1 + a2]
    half = root_next_to_zero(quartic)
    over = 1.0 / (1.0 + half**2)
    c, s = (1.0 - half**2) * over, 2.0 * half * over
    derivative = -a1 * s + b1 * c - 4.0 * a2 * s * c + 2.0 * b2 * (c**2 - s**2)
    size = a0**2 + a1**2 + b1**2 + a2**2 + b2**2
    left_open = a0 + a1 * c + b1 * s + a2 * (c**2 - s**2) + 2.0 * b2 * c * s
    is_root = ca.fabs(left_open) <= 1e-13 * ca.sqrt(size)
    return c, s, ca.if_else(is_root, derivative**2 / ca.fmax(size, 1e-300), -1.0)


def _right_angles(g: LegGeometry) -> list[Any]:
    """Return 1 or -1 for each pair of directions that must be normal to each other, whether it is."""
    o, w = g.X_F1J2.p, g.X_F2E.p
    n, m = g.closing_axes()
    first = g.X_F1J2.R @ g.n2["first"]
    pairs = [(g.n1["second"], o), (first, o), (g.n2["second"], w), (n, w)]
    cosines = [dot(a, b) ** 2 / dot(b, b) for a, b in pairs]
    cosines += [
        dot(g.n1["first"], g.n1["second"]) ** 2,
        dot(g.n2["first"], g.n2["second"]) ** 2,
        ca.SX(g.closing_cosine) ** 2,
    ]
    return [ca.if_else(value <= _RIGHT_ANGLE**2, 1.0, -1.0) for value in cosines]
