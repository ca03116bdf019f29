"""Legs of three universal joints, R2-R2-R2 with four equations (002), where three successive axes of the six meet in a point.

    R_1(a) (o + C R_2(b) w) = l,    m' R_1(a) C R_2(b) n = m'n at rest

with o and w the two links, n and m the axes of the closing joint on the leg and on its target: four equations for the angles a
and b. In general they lead to one polynomial of degree 16 whose roots have no closed form (docs/loops.md). Where an axis of the
middle joint passes through the centre of a neighbour, or an axis of a neighbour through the centre of the middle joint, three
axes act as a ball joint, and the equations are solved for one unknown after the other, with eight solutions.
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
from spacectl.spatial.backend import cross, dot
from spacectl.spatial.rotation import axis_rotation

__all__ = ["UNIVERSAL_FORMS"]

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
