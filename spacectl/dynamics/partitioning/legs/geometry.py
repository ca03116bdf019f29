"""What the closed forms need of a leg: its two joints, and where its end is behind each of them."""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import Node
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint
from spacectl.spatial.motion import Placement

__all__ = ["LegGeometry", "PairGeometry", "joint_frame"]


def joint_frame(terms: Terms, node: Node) -> Placement:
    """The frame J of a joint, seen from the body that carries it."""
    n = terms.numbers.group(node.part.name)
    _, X_PA, _ = frame_in_body(terms.tree, node.part.on, terms.q, terms.v, terms.numbers)
    return X_PA @ Placement(n["rotation"], n["at"])


def _end_behind(terms: Terms, node: Node, constraint: AnyConstraint, end: str, q: Any) -> Placement:
    """An end of a constraint seen from the frame F of the joint that moves its body."""
    own = terms.numbers.group(constraint.name)
    _, X_BE, _ = frame_in_body(terms.tree, getattr(constraint, end), q, terms.v, terms.numbers)
    return _behind(terms, node) @ X_BE @ Placement(own[f"rotation_{end}"], own[f"at_{end}"])


def _behind(terms: Terms, node: Node) -> Placement:
    n = terms.numbers.group(node.part.name)
    return Placement(n["child_rotation"], n["child_at"]).inverse()


class LegGeometry:
    """What the formulas need of a leg: joints, and the end's place behind each of them.

    Parameters
    ----------
    nodes : tuple of int
        Bodies of its joints, from the root.
    end : {"a", "b"}
        Which end of the constraint is on the leg.
    constraint : AnyConstraint
        What closes the loop.
    terms : Terms
        Of the tree, whose numbers the leg has.
    q : symbols
        Present coordinates.
    X_rT : Placement
        What it must reach, seen from the body that carries it.
    """

    def __init__(
        self, nodes: tuple[int, int], end: str, constraint: AnyConstraint, terms: Terms, q: Any, X_rT: Placement
    ):
        one, two = (terms.tree.nodes[i] for i in nodes)
        self.end, self.constraint, self.terms = end, constraint, terms
        self.n1, self.n2 = (terms.numbers.group(node.part.name) for node in (one, two))
        self.q1, self.q2 = q[one.q], q[two.q]
        self.X_T = joint_frame(terms, one).inverse() @ X_rT  # what it must reach, seen from the first joint's J
        self.X_F1J2 = _behind(terms, one) @ joint_frame(terms, two)  # second joint's J seen from the first joint's F
        self.X_F2E = _end_behind(terms, two, constraint, end, q)  # the end seen from the second joint's F

    def twist(self, R_E: Any) -> Any:
        """Row of the closing universal joint for the end's rotation seen from the first J."""
        R = self.X_T.R.T @ R_E if self.end == "b" else R_E.T @ self.X_T.R
        own = self.terms.numbers.group(self.constraint.name)
        rows = self.constraint.closing_joint.closing(Placement(R, ca.SX.zeros(3)), own)  # type: ignore[union-attr]
        return rows[3]

    def closing_axes(self) -> tuple[Any, Any]:
        """Axes of the closing universal joint: on the leg, seen from the second F; on what it reaches, from the first J."""
        own = self.terms.numbers.group(self.constraint.name)
        mine, other = ("second", "first") if self.end == "b" else ("first", "second")
        return self.X_F2E.R @ own[mine], self.X_T.R @ own[other]


class PairGeometry:
    """What the formulas need of two joints on two branches whose ends meet.

    Parameters
    ----------
    nodes : tuple of int
        Bodies of the joints.
    end : {"a", "b"}
        Which end of the constraint is on the first.
    constraint : AnyConstraint
        What closes the loop.
    terms : Terms
        Of the tree, whose numbers they have.
    q : symbols
        Present coordinates.
    X_rJ2 : Placement
        The second joint's J, seen from the body that carries the first.
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
