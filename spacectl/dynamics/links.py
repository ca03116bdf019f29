"""Links for the order-N recursion: moving bodies with what is fixed to them, referred to their joint's child frame F.

Taking F as the body's frame removes the child-side placement from every sweep; parts on fixed joints are merged into
the link that carries them. This module and `recursion` share no mechanics with `kinematics` and `terms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.dynamics.tree import ROOT, Node, Numbers, Tree
from spacectl.spatial.backend import constant, zeros
from spacectl.spatial.inertia import Inertia
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import frame_along

__all__ = ["Link", "Links", "form_links"]


@dataclass(frozen=True)
class Link:
    """A moving body and everything fixed to it.

    Parameters
    ----------
    node : Node
        Its joint and index ranges.
    parent : int
        Index of the parent link, or `ROOT`.
    X_PJ : Placement
        Of the joint's frame J in the parent link's frame.
    n : mapping
        The joint's numbers.
    inertia : Inertia
        Of all members, about F, in F axes.
    members : list of (Placement, mass properties)
        Body frames in F, for gravity and loads.
    """

    node: Node
    parent: int
    X_PJ: Placement
    n: Mapping[str, Any]
    inertia: Inertia
    members: list[tuple[Placement, tuple[Any, Any, Any]]]


@dataclass(frozen=True)
class Links:
    """All links (parents first), and for each body of the tree its link (or `ROOT`) and its placement there."""

    items: list[Link]
    body: list[tuple[int, Placement]]


def form_links(tree: Tree, numbers: Numbers, like: Any) -> Links:
    """Links of a tree from its numbers (symbols)."""
    items: list[Link] = []
    body: list[tuple[int, Placement]] = []
    for node in tree.nodes:
        n = numbers.group(node.part.name)
        holder, X_holder = (ROOT, Placement.identity(like)) if node.parent == ROOT else body[node.parent]
        X_PJ = X_holder @ _attachment(node, numbers, like) @ Placement(n["rotation"], n["at"])
        X_FB = Placement(n["child_rotation"], n["child_at"]).inverse()
        properties = node.part.body.mass_properties(n)
        own = Inertia.from_centre(*properties)
        if "axis" in n:  # turn J and F so that the joint's axis is their third: S becomes a constant unit vector
            Q = Placement(frame_along(n["axis"]), zeros(3, like))
            X_PJ, X_FB = X_PJ @ Q, Q.inverse() @ X_FB
            n = {**n, "axis": constant((0.0, 0.0, 1.0), like)}
        if node.part.joint.speeds:
            body.append((len(items), X_FB))
            items.append(Link(node, holder, X_PJ, n, own.seen_from(X_FB), [(X_FB, properties)]))
            continue
        X = X_PJ @ X_FB
        body.append((holder, X))
        if holder != ROOT:
            link = items[holder]
            link.members.append((X, properties))
            merged = link.inertia + own.seen_from(X)
            items[holder] = Link(link.node, link.parent, link.X_PJ, link.n, merged, link.members)
    return Links(items, body)


def _attachment(node: Node, numbers: Numbers, like: Any) -> Placement:
    """Placement, in the parent body, of the named frame that the part is attached to."""
    body, _, frame = node.part.on.partition(".")
    if not frame:
        return Placement.identity(like)
    return Placement(numbers[f"{body}.{frame}.rotation"], numbers[f"{body}.{frame}.at"])
