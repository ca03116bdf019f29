"""Links as elementary joints: turns about z, slides along z and free turns, each with the link behind it.

Joints say of which they are made (`Joint.elements`). Links between the elements of one joint have no mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.recursion.links import Link, Links
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.joints import Joint
from spacectl.model.joints.base import BALL, SLIDE, TURN, Sequence
from spacectl.model.system import System
from spacectl.spatial.inertia import Inertia, Placement

__all__ = ["BALL", "SLIDE", "TURN", "Element", "Elements", "form_elements", "serves_derivatives"]


@dataclass(frozen=True)
class Element:
    """An elementary joint and the link behind it (massless but for the last of a joint).

    Parameters
    ----------
    kind : int
        `TURN`, `SLIDE` or `BALL`.
    parent : int
        Index of the parent element, or `ROOT`.
    X_PJ : Placement
        Of the joint's frame in the parent element's frame.
    q, v : int
        First coordinate and speed.
    inertia : Inertia
        About the element's frame.
    """

    kind: int
    parent: int
    X_PJ: Placement
    q: int
    v: int
    inertia: Inertia


@dataclass(frozen=True)
class Elements:
    """All elements (parents first), and for each link its last element and the link's frame F in it."""

    items: list[Element]
    link: list[tuple[int, Placement]]


_NONE = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def form_elements(links: Links) -> Elements:
    """Return the elements of numeric links."""
    items: list[Element] = []
    ends: list[tuple[int, Placement]] = []
    for link in links.items:
        parent, X_EF = (ROOT, Placement.identity(np.zeros(1))) if link.parent == ROOT else ends[link.parent]
        X = X_EF @ link.X_PJ
        sequence, R_last = _sequence(link)
        X_last = Placement(R_last, np.zeros(3))
        for k, (kind, turn, q, v) in enumerate(sequence):
            is_last = k == len(sequence) - 1
            inertia = link.inertia.seen_from(X_last) if is_last else _NONE
            at = X @ Placement(turn, np.zeros(3))
            items.append(Element(kind, parent, at, link.node.q.start + q, link.node.v.start + v, inertia))
            parent, X = len(items) - 1, Placement.identity(np.zeros(1))
        ends.append((parent, X_last))
    return Elements(items, ends)


def serves_derivatives(system: System) -> bool:
    """Whether the derivative recursion serves a system: a plain tree, all of whose joints are made of elementary ones."""
    return serves_tree(system) and all(_has_elements(part.joint) for part in system.tree if part.joint.speeds)


def _has_elements(joint: Joint) -> bool:
    return type(joint).elements is not Joint.elements and joint.owns("elements")


def _sequence(link: Link) -> Sequence:
    joint = link.node.part.joint
    if not _has_elements(joint):
        kind = type(joint).__name__
        raise ModelError(f"the derivative recursion does not know {kind} joints; define {kind}.elements")
    return joint.elements(link.n)
