"""Catalogue of legs that close in closed form (002): the kind of a loop's dependent branch, and its coordinates.

Kinds are named by the freedoms of their joints, from the root of the branch to the joint that closes the loop: R2-P1-R3,
R2-C2-R2, R1-R2-R3, R2-R1-R3, R3-P1-R2, R1-R3-R2, in a plane R1-R1-R1, R1-P1-R1, P1-R1-R1, and R2-R2-R2 where three of its axes
meet (`universal`) or without offsets (`straight`). Other R2-R2-R2 are reduced to one equation (`one_unknown`). Two branches that
meet in a pin are R1-(R1)-R1, R1-(R1)-P1 and P1-(R1)-R1 (`pairs`). All others are closed by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from spacectl.dynamics.partitioning.legs.formulas import (
    across,
    point_ball,
    point_universal,
    smallest,
    solve_reach,
    solve_row,
    solve_slide,
    turn_onto,
)
from spacectl.dynamics.partitioning.legs.geometry import PAIR_FORMS, LegGeometry, PairGeometry, leg_kind
from spacectl.dynamics.partitioning.legs.one_unknown import solve_by_first, solve_by_second
from spacectl.dynamics.partitioning.legs.universal import UNIVERSAL_FORMS, straight_leg
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation, rotation_from_quaternion

__all__ = ["Leg", "find_leg"]

Form = Callable[[Any], tuple[list[Any], Any]]  # LegGeometry or PairGeometry -> coordinates and margin


@dataclass(frozen=True)
class Leg:
    """The dependent branch of a loop: its two joints, and the constraint that ends it.

    Parameters
    ----------
    kind : str
        The kind, such as ``"R2-P1-R3"``.
    nodes : tuple of int
        Bodies of its joints, from the root.
    end : {"a", "b"}
        The end of the constraint that is on the leg.
    constraint : AnyConstraint
        One of the constraints that close the loop.
    form : function
        Geometry -> coordinates and margin.
    method : {"closed form", "one unknown"}
        Method of the form.
    is_pair : bool
        Whether its joints are on two branches, one at each end of the constraint.
    """

    kind: str
    nodes: tuple[int, int]
    end: str
    constraint: AnyConstraint
    form: Form
    method: str = "closed form"
    is_pair: bool = False

    def solve(self, terms: Terms, q: Any, X_rT: Placement) -> tuple[list[Any], Any]:
        """Return the coordinates of its joints and the margin, for a target X_rT relative to its root."""
        geometry = PairGeometry if self.is_pair else LegGeometry
        return self.form(geometry(self.nodes, self.end, self.constraint, terms, q, X_rT))


def find_leg(terms: Terms, members: list[AnyConstraint], preferred: tuple[int, ...]) -> list[Leg]:
    """Return the leg formed by the dependent speeds of a loop, once for each form of its kind; empty for unknown kinds."""
    tree = terms.tree
    nodes = [i for i, node in enumerate(tree.nodes) if set(range(node.v.start, node.v.stop)) & set(preferred)]
    if sorted(j for i in nodes for j in range(tree.nodes[i].v.start, tree.nodes[i].v.stop)) != sorted(preferred):
        return []
    closing = members[0]
    if len(nodes) != 2 or any(tree.nodes[i].is_flexible for i in nodes):
        return []
    first, second = nodes
    kind = leg_kind(terms, preferred, members)
    if kind in PAIR_FORMS:
        return _find_pair(terms, closing, nodes, kind)
    root = tree.nodes[first].parent
    if tree.nodes[second].parent != first or (root != ROOT and tree.nodes[root].is_flexible):
        return []
    ends = [end for end in ("a", "b") if getattr(closing, end).split(".")[0] == tree.nodes[second].part.name]
    if len(ends) != 1 or kind not in _FORMS:
        return []
    found = [Leg(kind, (first, second), ends[0], closing, form) for form in _FORMS[kind]]
    reduced = (solve_by_second, solve_by_first) if kind == "R2-R2-R2" else ()
    return found + [replace(found[0], form=form, method="one unknown") for form in reduced]


def _find_pair(terms: Terms, closing: AnyConstraint, nodes: list[int], kind: str) -> list[Leg]:
    """Return two joints on two branches, a revolute one first, whose bodies the constraint connects."""
    tree = terms.tree
    roots = [tree.nodes[i].parent for i in nodes]
    if any(root != ROOT and tree.nodes[root].is_flexible for root in roots):
        return []
    order = sorted(nodes, key=lambda i: tree.nodes[i].part.joint.freedoms != "R1")
    ends = {getattr(closing, end).split(".")[0]: end for end in ("a", "b")}
    if set(ends) != {tree.nodes[i].part.name for i in order}:
        return []
    end = ends[tree.nodes[order[0]].part.name]
    return [Leg(kind, (order[0], order[1]), end, closing, PAIR_FORMS[kind], is_pair=True)]


def _slide_along(g: LegGeometry) -> tuple[Any, Any]:
    """Return the end's position at zero stroke and the direction of the stroke, in the first joint's F."""
    return g.X_F1J2.point(g.X_F2E.p), g.X_F1J2.R @ g.n2["axis"]


def _r2_p1_r3(g: LegGeometry) -> tuple[list[Any], Any]:
    w, d = _slide_along(g)
    s, stretched = solve_slide(w, d, dot(g.X_T.p, g.X_T.p), g.q2[0] + dot(w, d))
    first, second, margin = point_universal(g.n1["first"], g.n1["second"], w + s * d, g.X_T.p, g.q1)
    return [first, second, s], ca.fmin(stretched, margin)


def _r2_c2_r2(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve as R2-P1-R3 (the end is on the cylinder's axis), then for the rotation of the rod from the closing joint."""
    axis = g.n2["axis"]
    w, d = g.X_F1J2.point(axis * dot(axis, g.X_F2E.p)), g.X_F1J2.R @ axis
    s, stretched = solve_slide(w, d, dot(g.X_T.p, g.X_T.p), g.q2[1] + dot(w, d))
    first, second, margin = point_universal(g.n1["first"], g.n1["second"], w + s * d, g.X_T.p, g.q1)
    R = axis_rotation(g.n1["first"], first) @ axis_rotation(g.n1["second"], second) @ g.X_F1J2.R
    turn, spun = solve_row(lambda angle: g.twist(R @ axis_rotation(axis, angle) @ g.X_F2E.R), g.q2[0])
    return [first, second, turn, s], smallest(stretched, margin, spun)


def _crank(g: LegGeometry, R_2: Any) -> tuple[Any, Any, Any]:
    """Return the angle of a crank whose end is a second-link length from the target; target in its frame.

    R_2 is the present rotation of the second joint, which selects the side of the elbow.
    """
    axis, link = g.n1["axis"], g.X_F1J2.R @ R_2 @ g.X_F2E.p
    turn, margin = solve_reach(axis, g.X_F1J2.p, g.X_T.p, dot(g.X_F2E.p, g.X_F2E.p), g.q1[0], link)
    return turn, g.X_F1J2.inverse().point(axis_rotation(axis, turn).T @ g.X_T.p), margin


def _r1_r2_r3(g: LegGeometry) -> tuple[list[Any], Any]:
    turn, l, bent = _crank(g, axis_rotation(g.n2["first"], g.q2[0]) @ axis_rotation(g.n2["second"], g.q2[1]))
    first, second, margin = point_universal(g.n2["first"], g.n2["second"], g.X_F2E.p, l, g.q2)
    return [turn, first, second], ca.fmin(bent, margin)


def _r2_r1_r3(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve a universal joint with an elbow: first the bend from the distance, then the direction."""
    axis, before = g.n2["axis"], g.X_F1J2.R.T @ g.X_F1J2.p
    bend, bent = solve_reach(axis, g.X_F2E.p, -before, dot(g.X_T.p, g.X_T.p), g.q2[0])
    w = g.X_F1J2.point(axis_rotation(axis, bend) @ g.X_F2E.p)
    first, second, margin = point_universal(g.n1["first"], g.n1["second"], w, g.X_T.p, g.q1)
    return [first, second, bend], ca.fmin(bent, margin)


def _r3_p1_r2(g: LegGeometry) -> tuple[list[Any], Any]:
    w, d = _slide_along(g)
    s, stretched = solve_slide(w, d, dot(g.X_T.p, g.X_T.p), g.q2[0] + dot(w, d))

    def twist(R: Any) -> Any:
        return g.twist(R @ g.X_F1J2.R @ g.X_F2E.R)

    ball, spun = point_ball(rotation_from_quaternion(g.q1), g.q1, w + s * d, g.X_T.p, twist)
    return [*ca.vertsplit(ball), s], ca.fmin(stretched, spun)


def _r1_r3_r2(g: LegGeometry) -> tuple[list[Any], Any]:
    turn, l, bent = _crank(g, rotation_from_quaternion(g.q2))
    R_J2 = axis_rotation(g.n1["axis"], turn) @ g.X_F1J2.R

    def twist(R: Any) -> Any:
        return g.twist(R_J2 @ R @ g.X_F2E.R)

    ball, spun = point_ball(rotation_from_quaternion(g.q2), g.q2, g.X_F2E.p, l, twist)
    return [turn, *ca.vertsplit(ball)], ca.fmin(bent, spun)


def _plane_pins(g: LegGeometry) -> tuple[list[Any], Any]:
    axis = g.n1["axis"]
    w = across(g.n2["axis"], g.X_F2E.p)
    a, l = across(axis, g.X_F1J2.p), across(axis, g.X_T.p)
    link = g.X_F1J2.R @ axis_rotation(g.n2["axis"], g.q2[0]) @ w
    turn, margin = solve_reach(axis, a, l, dot(w, w), g.q1[0], link)
    seen = g.X_F1J2.inverse().point(axis_rotation(axis, turn).T @ g.X_T.p)
    return [turn, turn_onto(g.n2["axis"], w, seen, g.q2[0])], margin


def _plane_strut(g: LegGeometry) -> tuple[list[Any], Any]:
    axis = g.n1["axis"]
    w, d = _slide_along(g)
    w, l = across(axis, w), across(axis, g.X_T.p)
    s, margin = solve_slide(w, d, dot(l, l), g.q2[0] + dot(w, d))
    return [turn_onto(axis, w + s * d, l, g.q1[0]), s], margin


def _plane_slider(g: LegGeometry) -> tuple[list[Any], Any]:
    """Solve a slide that carries a pin: the target is one link length from the pin."""
    pin = g.X_F1J2.R @ g.n2["axis"]
    w = across(g.n2["axis"], g.X_F2E.p)
    gap = across(pin, g.X_F1J2.p - g.X_T.p)
    link = g.X_F1J2.R @ axis_rotation(g.n2["axis"], g.q2[0]) @ w
    s, margin = solve_slide(gap, g.n1["axis"], dot(w, w), -dot(g.n1["axis"], link))
    seen = g.X_F1J2.inverse().point(g.X_T.p - s * g.n1["axis"])
    return [s, turn_onto(g.n2["axis"], w, seen, g.q2[0])], margin


_FORMS: dict[str, tuple[Form, ...]] = {
    "R2-P1-R3": (_r2_p1_r3,),
    "R2-C2-R2": (_r2_c2_r2,),
    "R1-R2-R3": (_r1_r2_r3,),
    "R2-R1-R3": (_r2_r1_r3,),
    "R3-P1-R2": (_r3_p1_r2,),
    "R1-R3-R2": (_r1_r3_r2,),
    "R2-R2-R2": (*UNIVERSAL_FORMS, straight_leg),
    "R1-R1-R1": (_plane_pins,),
    "R1-P1-R1": (_plane_strut,),
    "P1-R1-R1": (_plane_slider,),
}
