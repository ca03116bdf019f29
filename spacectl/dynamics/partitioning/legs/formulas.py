"""Closed forms for the joints of a leg: an angle from ``A cos q + B sin q = C``, a universal joint that points, a slide.

Each formula takes the present value and returns the solution on the same branch, within half a turn of it, by arctangents of
two arguments (the arcsines and quotients of 002 fail beyond 90 degrees and at the nominal position). Each also returns a
margin: positive with two distinct solutions, zero where they coincide (a singular position), negative where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import casadi as ca

from spacectl.spatial.backend import cross, dot
from spacectl.spatial.rotation import axis_rotation, quaternion_product

__all__ = [
    "across",
    "point_ball",
    "point_body",
    "point_universal",
    "smallest",
    "solve_reach",
    "solve_row",
    "solve_slide",
    "solve_turn",
    "split_turns",
    "turn_onto",
]


def smallest(*margins: Any) -> Any:
    """Return the smallest of some margins."""
    return reduce(ca.fmin, margins)


def across(axis: Any, vector: Any) -> Any:
    """Return the part of a vector normal to a unit axis."""
    return vector - axis * dot(axis, vector)


def near_to(q: Any, near: Any) -> Any:
    """Return the angle q plus the multiple of 2 pi that brings it closest to `near`."""
    return q - 2.0 * ca.pi * ca.floor((q - near) / (2.0 * ca.pi) + 0.5)


def solve_turn(A: Any, B: Any, C: Any, near: Any, side: Any = None) -> tuple[Any, Any]:
    """Return q with ``A cos q + B sin q = C`` on the branch of `near` (or of the sign `side`), and its margin."""
    square = A**2 + B**2
    root = square - C**2
    side = A * ca.sin(near) - B * ca.cos(near) if side is None else side
    q = ca.atan2(B, A) + ca.copysign(1.0, side) * ca.atan2(ca.sqrt(ca.fmax(root, 0.0)), C)
    return near_to(q, near), root / ca.fmax(square, 1e-300)  # 0 rather than 0 / 0 if no angle matters


def solve_row(row: Callable[[Any], Any], near: Any) -> tuple[Any, Any]:
    """Return the root of an equation affine in the cosine and sine of an angle, from three of its values, and its margin."""
    values = [row(ca.SX(angle)) for angle in (0.0, 0.5 * ca.pi, ca.pi)]
    middle = 0.5 * (values[0] + values[2])
    return solve_turn(0.5 * (values[0] - values[2]), values[1] - middle, -middle, near)


def turn_onto(axis: Any, u: Any, l: Any, near: Any) -> Any:
    """Return the angle about a unit axis that aligns the projection of u normal to the axis with that of l."""
    return near_to(ca.atan2(dot(axis, cross(u, l)), dot(u, l) - dot(axis, u) * dot(axis, l)), near)


def solve_slide(w: Any, d: Any, length_squared: Any, side: Any) -> tuple[Any, Any]:
    """Return s with given ``|w + s d|^2``, d a unit vector, and its margin (002: the stroke of R2-P1-R3).

    `side` is the sign of ``d (w + s d)``, which differs between the two solutions.
    """
    along = dot(w, d)
    root = along**2 - dot(w, w) + length_squared
    s = -along + ca.copysign(1.0, side) * ca.sqrt(ca.fmax(root, 0.0))
    return s, root / length_squared


def solve_reach(axis: Any, a: Any, l: Any, reach_squared: Any, near: Any, link: Any = None) -> tuple[Any, Any]:
    """Return the angle of a crank with given ``|l - R(axis, q) a|^2`` (002: the first angle of R1-R2-R3, either elbow).

    The elbow is on the side of the present `link` (seen from the crank, as a), or without it on that of `near`. The side is a
    property of the leg and does not depend on the target.
    """
    side = None if link is None else dot(axis, cross(link, a))
    own = dot(axis, a) * dot(axis, l)
    wanted = 0.5 * (dot(l, l) + dot(a, a) - reach_squared) - own
    return solve_turn(dot(l, a) - own, dot(l, cross(axis, a)), wanted, near, side)


def point_universal(first: Any, second: Any, w: Any, l: Any, near: Any) -> tuple[Any, Any, Any]:
    """Return both angles with ``R(first, q1) R(second, q2) w`` along l, which has the length of w; and the margin."""
    own = dot(first, second) * dot(second, w)
    q2, margin = solve_turn(dot(first, w) - own, dot(first, cross(second, w)), dot(first, l) - own, near[1])
    q1 = turn_onto(first, axis_rotation(second, q2) @ w, l, near[0])
    return q1, q2, margin


def point_ball(R: Any, quaternion: Any, w: Any, l: Any, twist: Any) -> tuple[Any, Any]:
    """Return the quaternion of a ball joint that rotates w onto l by the least rotation, then about l until `twist` is zero.

    The rotation starts from (R, quaternion). `twist` is the equation of a universal joint as a function of the ball's rotation
    matrix.
    """
    u = R @ w
    size = ca.sqrt(dot(l, l))
    half = ca.vertcat(ca.sqrt(dot(u, u)) * size + dot(u, l), cross(u, l))
    aligned = quaternion_product(half, quaternion)
    aligned /= ca.sqrt(dot(aligned, aligned))
    spin, axis, _, margin = _spin(R, w, l, twist)
    return quaternion_product(ca.vertcat(ca.cos(0.5 * spin), ca.sin(0.5 * spin) * axis), aligned), margin


def point_body(R: Any, w: Any, l: Any, twist: Any) -> tuple[Any, Any]:
    """Return the same as `point_ball` as a rotation matrix."""
    spin, axis, R_aligned, margin = _spin(R, w, l, twist)
    return axis_rotation(axis, spin) @ R_aligned, margin


def _spin(R: Any, w: Any, l: Any, twist: Any) -> tuple[Any, Any, Any, Any]:
    """Return the angle about l, the direction of l, the least rotation from R that aligns w with l, and the margin."""
    axis, R_aligned = l / ca.sqrt(dot(l, l)), _turned(R, R @ w, l)
    spin, margin = solve_row(lambda angle: twist(axis_rotation(axis, angle) @ R_aligned), ca.SX(0.0))
    return spin, axis, R_aligned, margin


def split_turns(R: Any, axes: tuple[Any, Any, Any], near: Any) -> tuple[list[Any], Any]:
    """Return angles with ``R(axes[0], q0) R(axes[1], q1) R(axes[2], q2) = R``, and the margin."""
    q0, q1, margin = point_universal(axes[0], axes[1], axes[2], R @ axes[2], near)
    left = (axis_rotation(axes[0], q0) @ axis_rotation(axes[1], q1)).T @ R
    sine = 0.5 * ca.vertcat(left[2, 1] - left[1, 2], left[0, 2] - left[2, 0], left[1, 0] - left[0, 1])
    q2 = ca.atan2(dot(axes[2], sine), 0.5 * (ca.trace(left) - 1.0))
    return [q0, q1, near_to(q2, near[2])], margin


def _turned(R: Any, u: Any, l: Any) -> Any:
    """Return R after the least rotation that aligns u with l (Rodrigues' formula with cosine and sine from the vectors)."""
    scale = ca.sqrt(dot(u, u) * dot(l, l))
    cosine, n = dot(u, l) / scale, cross(u, l) / scale
    skew = ca.skew(n)
    return (ca.SX.eye(3) + skew + skew @ skew / (1.0 + cosine)) @ R
