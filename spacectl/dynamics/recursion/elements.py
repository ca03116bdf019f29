"""Elementary joints: every joint kind as a sequence of turns about z, slides along z and free turns.

For these three the subspace S is constant in the child's frame, which is what the derivative recursion needs. Links
between the elements of one joint have no mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.recursion.links import Link, Links
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.joints import Cartesian, Cylindrical, Free, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.spatial.inertia import Inertia
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import AXES, frame_along

__all__ = ["BALL", "SLIDE", "TURN", "Element", "Elements", "form_elements"]

TURN, SLIDE, BALL = range(3)  #: kinds, as in derivatives.c


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
    """Elements of numeric links."""
    items: list[Element] = []
    ends: list[tuple[int, Placement]] = []
    for link in links.items:
        parent, X_EF = (ROOT, Placement.identity(np.zeros(1))) if link.parent == ROOT else ends[link.parent]
        X = X_EF @ link.X_PJ
        sequence, X_last = _sequence(link)
        for k, (kind, turn, q, v) in enumerate(sequence):
            is_last = k == len(sequence) - 1
            inertia = link.inertia.seen_from(X_last) if is_last else _NONE
            at = X @ Placement(turn, np.zeros(3))
            items.append(Element(kind, parent, at, link.node.q.start + q, link.node.v.start + v, inertia))
            parent, X = len(items) - 1, Placement.identity(np.zeros(1))
        ends.append((parent, X_last))
    return Elements(items, ends)


def _sequence(link: Link) -> tuple[list[tuple[int, np.ndarray, int, int]], Placement]:
    """(kind, turn before it, coordinate, speed) of each element, and F in the last element's frame."""
    joint: Any = link.node.part.joint
    unit = np.eye(3)
    if isinstance(joint, Revolute):
        return [(TURN, unit, 0, 0)], Placement(unit, np.zeros(3))
    if isinstance(joint, Prismatic):
        return [(SLIDE, unit, 0, 0)], Placement(unit, np.zeros(3))
    if isinstance(joint, Cylindrical):
        return [(TURN, unit, 0, 0), (SLIDE, unit, 1, 1)], Placement(unit, np.zeros(3))
    if isinstance(joint, Spherical):
        return [(BALL, unit, 0, 0)], Placement(unit, np.zeros(3))
    if isinstance(joint, Universal):
        first, second = (frame_along(np.asarray(link.n[key])) for key in ("first", "second"))
        return [(TURN, first, 0, 0), (TURN, first.T @ second, 1, 1)], Placement(second.T, np.zeros(3))
    if isinstance(joint, Planar):
        k = "xyz".index(joint.normal)
        e1, e2, normal = (frame_along(np.array(AXES["xyz"[(k + 1 + i) % 3]])) for i in range(3))
        return [(SLIDE, e1, 1, 1), (SLIDE, e1.T @ e2, 2, 2), (TURN, e2.T @ normal, 0, 0)], Placement(
            normal.T, np.zeros(3)
        )
    if isinstance(joint, (Cartesian, Free)):
        x, y, z = (frame_along(np.array(AXES[axis])) for axis in "xyz")
        q, v = (0, 0) if isinstance(joint, Cartesian) else (4, 3)
        slides = [(SLIDE, x, q, v), (SLIDE, x.T @ y, q + 1, v + 1), (SLIDE, y.T @ z, q + 2, v + 2)]
        if isinstance(joint, Cartesian):
            return slides, Placement(z.T, np.zeros(3))
        return [*slides, (BALL, z.T, 0, 0)], Placement(unit, np.zeros(3))
    raise TypeError(f"no elements for {type(joint).__name__}")
