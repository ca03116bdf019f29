"""Geometry of a leg for the closed forms: its two joints, and the placement of its end relative to each of them."""

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
    """Return the frame J of a joint, seen from the body that carries it."""
    n = terms.numbers.group(node.part.name)
    _, X_PA, _ = frame_in_body(terms.tree, node.part.on, terms.q, terms.v, terms.numbers)
    return X_PA @ Placement(n["rotation"], n["at"])


def _end_behind(terms: Terms, node: Node, constraint: AnyConstraint, end: str, q: Any) -> Placement:
    """Return an end of a constraint seen from the frame F of the joint that moves its body."""
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
        The target, seen from the body that carries the leg.
    """

    def __init__(
        self, nodes: tuple[int, int], end: str, constraint: AnyConstraint, terms: Terms, q: Any, X_rT: Placement
    ):
        one, two = (terms.tree.nodes[i] for i in nodes)
        self.end, self.constraint, self.terms = end, constraint, terms
        self.n1, self.n2 = (terms.numbers.group(node.part.name) for node in (one, two))
        self.q1, self.q2 = q[one.q], q[two.q]
        self.X_T = joint_frame(terms, one).inverse() @ X_rT  # the target, seen from the first joint's J
        self.X_F1J2 = _behind(terms, one) @ joint_frame(terms, two)  # second joint's J seen from the first joint's F
        self.X_F2E = _end_behind(terms, two, constraint, end, q)  # the end seen from the second joint's F

    def twist(self, R_E: Any) -> Any:
        """Return the rotational equation of the closing universal joint for the end's rotation seen from the first J."""
        R = self.X_T.R.T @ R_E if self.end == "b" else R_E.T @ self.X_T.R
        own = self.terms.numbers.group(self.constraint.name)
        return self.constraint.closing_joint.closing(Placement(R, ca.SX.zeros(3)), own)[3]  # type: ignore[union-attr]

    def closing_axes(self) -> tuple[Any, Any]:
        """Return the axes of the closing universal joint: on the leg, seen from the second F; on the target, from the first J."""
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
