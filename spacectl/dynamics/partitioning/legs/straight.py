"""R2-R2-R2 without offsets (002): axes of each universal joint at right angles, and normal to the attached links.

The centre c of the middle joint lies on a circle, at |o| from the first centre and |w| from the last one at l. It determines
the axes: the second axis of the first joint is along ``e = s x c`` (s its first axis). Those of the middle joint are along g, a
given combination of e and ``c x e``, and ``f = g x v`` with v = l - c. That of the closing joint is along a given combination
of f and ``v x f``. It must be normal to m:

    m' (mu_1 f + mu_3 v x f / |w|) = 0

which on the circle is a trigonometric polynomial of second order in its angle: a quartic in the tangent of half of it, with
four positions of the links. Each is reached by two pairs of angles at either joint: 16 solutions in all.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.partitioning.legs.formulas import point_universal, smallest
from spacectl.dynamics.partitioning.legs.geometry import LegGeometry
from spacectl.dynamics.partitioning.legs.quartic import root_next_to_zero
from spacectl.spatial.backend import cross, dot
from spacectl.spatial.rotation import axis_rotation

__all__ = ["straight_leg"]

_SKEW = 1e-13  # cosine of an angle that counts as a right angle: rounding of placements
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
    return [ca.if_else(value <= _SKEW**2, 1.0, -1.0) for value in cosines]
