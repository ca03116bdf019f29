"""Closed forms for two joints on two branches whose ends meet in a pin: four-bar (two circles) and crank-slider.

The plane is that of the first joint, whose axis is parallel to the pin; `find_legs` verifies each form and does not use it
where this is not true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacectl.dynamics.partitioning.legs.formulas import across, solve_reach, solve_slide, turn_onto
from spacectl.dynamics.partitioning.legs.geometry import PairGeometry
from spacectl.spatial.backend import dot
from spacectl.spatial.rotation import axis_rotation

__all__ = ["PAIR_FORMS"]


def _two_cranks(g: PairGeometry) -> tuple[list[Any], Any]:
    """Intersect the circles of the end about both joints; the present directions of both links select the side."""
    axis, other = g.n1["axis"], g.n2["axis"]
    w1, w2, l = across(axis, g.X_F1E.p), across(other, g.X_F2E.p), across(axis, g.X_J1J2.p)
    present = g.X_J1J2.R @ axis_rotation(other, g.q2[0]) @ w2
    link = -axis_rotation(axis, g.q1[0]).T @ present
    turn, margin = solve_reach(axis, w1, l, dot(w2, w2), g.q1[0], link)
    seen = g.X_J1J2.inverse().point(axis_rotation(axis, turn) @ w1)
    return [turn, turn_onto(other, w2, seen, g.q2[0])], margin


def _crank_and_slide(g: PairGeometry) -> tuple[list[Any], Any]:
    """Intersect the circle about the first joint with the line of the slide, on the crank's present side."""
    axis = g.n1["axis"]
    w1, d = across(axis, g.X_F1E.p), g.X_J1J2.R @ g.n2["axis"]
    start = across(axis, g.X_J1J2.point(g.X_F2E.p))
    s, margin = solve_slide(start, d, dot(w1, w1), dot(d, axis_rotation(axis, g.q1[0]) @ w1))
    return [turn_onto(axis, w1, start + s * d, g.q1[0]), s], margin


PAIR_FORMS: dict[str, Callable[[PairGeometry], tuple[list[Any], Any]]] = {
    "R1-(R1)-R1": _two_cranks,
    "R1-(R1)-P1": _crank_and_slide,
    "P1-(R1)-R1": _crank_and_slide,
}
