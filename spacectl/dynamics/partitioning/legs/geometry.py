"""Geometry of a leg for the closed forms: its two joints, and the placement of its end relative to each of them.

Names of dependent branches list the joints with their freedoms, from the root of the branch to the joint that closes the loop.
Two joints on two branches whose ends meet in a pin make a four-bar (two circles) or a crank-slider. Their plane is that of the
first joint, whose axis is parallel to the pin; `find_legs` verifies each form and does not use it where this is not true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from spacectl.dynamics.partitioning.closing_equations import path_to
from spacectl.dynamics.partitioning.legs.formulas import across, solve_reach, solve_slide, turn_onto
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import Node
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import PLANE, AnyConstraint
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation

__all__ = ["PAIR_FORMS", "LegGeometry", "PairGeometry", "joint_frame", "leg_kind"]


def joint_frame(terms: Terms, node: Node) -> Placement:
    """Return the frame J of a joint relative to the body that carries it."""
    n = terms.numbers.group(node.part.name)
    _, X_PA, _ = frame_in_body(terms.tree, node.part.on, terms.q, terms.v, terms.numbers)
    return X_PA @ Placement(n["rotation"], n["at"])


def _end_behind(terms: Terms, node: Node, constraint: AnyConstraint, end: str, q: Any) -> Placement:
    """Return an end of a constraint relative to the frame F of the joint that moves its body."""
    own = terms.numbers.group(constraint.name)
    _, X_BE, _ = frame_in_body(terms.tree, getattr(constraint, end), q, terms.v, terms.numbers)
    return _behind(terms, node) @ X_BE @ Placement(own[f"rotation_{end}"], own[f"at_{end}"])


def _behind(terms: Terms, node: Node) -> Placement:
    n = terms.numbers.group(node.part.name)
    return Placement(n["child_rotation"], n["child_at"]).inverse()


class LegGeometry:
    """Geometry of a leg: its joints, and the placement of its end relative to each of them.

    Parameters
    ----------
    nodes : tuple of int
        Bodies of its joints, from the root.
    end : {"a", "b"}
        The end of the constraint that is on the leg.
    constraint : AnyConstraint
        Closes the loop.
    terms : Terms
        Terms of the tree, with the parameters of the leg.
    q : symbols
        Present coordinates.
    X_rT : Placement
        The target relative to the body that carries the leg.
    """

    def __init__(
        self, nodes: tuple[int, int], end: str, constraint: AnyConstraint, terms: Terms, q: Any, X_rT: Placement
    ):
        one, two = (terms.tree.nodes[i] for i in nodes)
        self.end, self.constraint, self.terms = end, constraint, terms
        self.n1, self.n2 = (terms.numbers.group(node.part.name) for node in (one, two))
        self.q1, self.q2 = q[one.q], q[two.q]
        self.X_T = joint_frame(terms, one).inverse() @ X_rT  # the target relative to the first joint's J
        self.X_F1J2 = _behind(terms, one) @ joint_frame(terms, two)  # second joint's J in the first joint's F
        self.X_F2E = _end_behind(terms, two, constraint, end, q)  # the end relative to the second joint's F

    def twist(self, R_E: Any) -> Any:
        """Return the rotational equation of the closing universal joint, for the end's rotation in first J."""
        R = self.X_T.R.T @ R_E if self.end == "b" else R_E.T @ self.X_T.R
        own = self.terms.numbers.group(self.constraint.name)
        return self.constraint.closing_joint.closing(Placement(R, ca.SX.zeros(3)), own)[3]  # type: ignore[union-attr]

    def closing_axes(self) -> tuple[Any, Any]:
        """Return the axes of the closing universal joint: of the leg in second F, of the target in first J."""
        own = self.terms.numbers.group(self.constraint.name)
        mine, other = ("second", "first") if self.end == "b" else ("first", "second")
        return self.X_F2E.R @ own[mine], self.X_T.R @ own[other]

    @property
    def closing_cosine(self) -> float:
        """Cosine of the angle between the axes of the closing universal joint."""
        joint = self.constraint.joint  # type: ignore[attr-defined]
        return float(sum(a * b for a, b in zip(joint.first, joint.second, strict=True)))


class PairGeometry:
    """Geometry of two joints on two branches whose ends meet.

    Parameters
    ----------
    nodes : tuple of int
        Bodies of the joints.
    end : {"a", "b"}
        The end of the constraint that is on the first branch.
    constraint : AnyConstraint
        Closes the loop.
    terms : Terms
        Terms of the tree, with the parameters of the branches.
    q : symbols
        Present coordinates.
    X_rJ2 : Placement
        The second joint's J relative to the body that carries the first.
    """

    def __init__(
        self, nodes: tuple[int, int], end: str, constraint: AnyConstraint, terms: Terms, q: Any, X_rJ2: Placement
    ):
        one, two = (terms.tree.nodes[i] for i in nodes)
        self.n1, self.n2 = (terms.numbers.group(node.part.name) for node in (one, two))
        self.q1, self.q2 = q[one.q], q[two.q]
        self.X_J1J2 = joint_frame(terms, one).inverse() @ X_rJ2
        self.X_F1E = _end_behind(terms, one, constraint, end, q)
        self.X_F2E = _end_behind(terms, two, constraint, "b" if end == "a" else "a", q)


_POINTS = {1: "plane", 2: "R1", 3: "R3"}  # by the number of PointOnPlane: a plane, a pin in a plane, a ball joint


def leg_kind(terms: Terms, preferred: tuple[int, ...], members: list[AnyConstraint]) -> str:
    """Return letters and freedoms of the dependent joints of a loop, and of the joint that closes it.

    ``"R2-P1-R3"``: a branch from its root, closed by a ball joint. ``"R1-(R1)-R1"``: two branches that meet in a pin. Lower-case
    letters are independent joints in between; ``"3 of F6"`` depends in part.
    """
    nodes = [i for i, node in enumerate(terms.tree.nodes) if _share(terms, i, preferred)]
    paths = []
    for on in members[0].ends or ():
        body = frame_in_body(terms.tree, on, terms.q, terms.v, terms.numbers)[0]
        paths.append(path_to(terms, body))
    while paths[0] and paths[1] and paths[0][0] == paths[1][0]:
        paths = [path[1:] for path in paths]
    sides = [[_letters(terms, i, preferred) for i in _from_first(path, nodes)] for path in paths]
    closing = _closing(members)
    others = [_letters(terms, i, preferred) for i in nodes if i not in paths[0] and i not in paths[1]]
    if all(sides):
        main = "-".join([*sides[0], f"({closing})", *sides[1][::-1]])
    else:
        main = "-".join([*sides[0], *sides[1], closing])
    return " and ".join([main, *others])


def _from_first(path: list[int], nodes: list[int]) -> list[int]:
    """Return the path from the first dependent body on."""
    found = [k for k, i in enumerate(path) if i in nodes]
    return path[found[0] :] if found else []


def _share(terms: Terms, i: int, preferred: tuple[int, ...]) -> int:
    """Return the number of dependent speeds of a body's joint and modes."""
    node = terms.tree.nodes[i]
    return len({*range(node.v.start, node.v.stop), *range(node.eta_dot.start, node.eta_dot.stop)} & set(preferred))


def _letters(terms: Terms, i: int, preferred: tuple[int, ...]) -> str:
    node = terms.tree.nodes[i]
    size = node.v.stop - node.v.start
    letter = node.part.joint.freedoms
    turned = len(set(range(node.v.start, node.v.stop)) & set(preferred))
    bent = _share(terms, i, preferred) - turned
    own = letter if turned == size else f"{turned} of {letter}" if turned else letter.lower()
    return f"{own} with {bent} modes" if bent else own


def _closing(members: list[AnyConstraint]) -> str:
    kinds = [item.closes_as for item in members]
    if all(kind == PLANE for kind in kinds):
        return _POINTS.get(len(kinds), "?")
    return kinds[0] if kinds[0] != PLANE else "?"


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
