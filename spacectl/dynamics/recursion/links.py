"""Links for the order-N recursion: moving bodies and the parts fixed to them, in their joint's child frame F.

With F as the body's frame, no sweep needs the child-side placement. Parts on fixed joints are merged into the
link that carries them. A flexible body retains its own frame. This package shares no mechanics with
`kinematics` and `terms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spacectl.dynamics.tree.elements import mass_numbers
from spacectl.dynamics.tree.nodes import ROOT, Node, Numbers, Tree
from spacectl.spatial.backend import constant, zeros
from spacectl.spatial.inertia import Inertia, Placement
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
        The joint's parameters.
    inertia : Inertia
        Of all members, about F, in F axes.
    members : list of (Placement, mass properties)
        Body frames in F, for gravity and loads.
    kind : {"joint", "fixed", "modal", "prescribed"}
        Motion relative to its parent: by a joint, none, by modes (a flexible body itself), or prescribed.
    frame : str
        The frame on a flexible parent that carries it; empty on a rigid one.
    """

    node: Node
    parent: int
    X_PJ: Placement
    n: Mapping[str, Any]
    inertia: Inertia
    members: list[tuple[Placement, tuple[Any, Any, Any]]]
    kind: str = "joint"
    frame: str = ""

    @property
    def speeds(self) -> slice:
        """Range of its speeds in v."""
        return self.node.eta_dot if self.kind == "modal" else self.node.v


@dataclass(frozen=True)
class Links:
    """All links (parents first), and for each body of the tree its link (or `ROOT`) and its placement there."""

    items: list[Link]
    body: list[tuple[int, Placement]]


def form_links(tree: Tree, numbers: Numbers, like: Any, lengths: Mapping[str, Any] | None = None) -> Links:
    """Return the links of a tree; a flexible body on a joint gives two, its massless joint and itself.

    `lengths` are the deployed lengths of tethers (`line_lengths`), for systems with tethers.
    """
    items: list[Link] = []
    body: list[tuple[int, Placement]] = []
    for node in tree.nodes:
        n = numbers.group(node.part.name)
        holder, X_holder = (ROOT, Placement.identity(like)) if node.parent == ROOT else body[node.parent]
        frame = node.part.on.partition(".")[2] if holder != ROOT and items[holder].kind == "modal" else ""
        X_PA = Placement.identity(like) if frame else X_holder @ _attachment(node, numbers, like)
        X_PJ = X_PA @ Placement(n["rotation"], n["at"])
        X_FB = Placement(n["child_rotation"], n["child_at"]).inverse()
        joint = node.part.joint
        if joint.is_axial:  # rotate J and F so that z is the joint's axis: S becomes a constant unit vector
            Q = Placement(frame_along(n["axis"]), zeros(3, like))
            X_PJ, X_FB = X_PJ @ Q, Q.inverse() @ X_FB
            n = {**n, "axis": constant((0.0, 0.0, 1.0), like)}
        kind = "prescribed" if joint.motion is not None else "joint" if joint.speeds else "fixed"
        if node.is_flexible:
            if kind != "fixed":
                items.append(Link(node, holder, X_PJ, n, Inertia.none(like), [], kind, frame))
                holder, X_PJ, frame = len(items) - 1, Placement.identity(like), ""
            body.append((len(items), Placement.identity(like)))
            items.append(Link(node, holder, X_PJ @ X_FB, n, Inertia.none(like), [], "modal", frame))
            continue
        properties = node.part.body.mass_properties(mass_numbers(node.part, numbers, lengths or {}))
        own = Inertia.from_centre(*properties)
        if kind != "fixed":
            body.append((len(items), X_FB))
            items.append(Link(node, holder, X_PJ, n, own.seen_from(X_FB), [(X_FB, properties)], kind, frame))
            continue
        X = X_PJ @ joint.placement(like, n) @ X_FB
        if holder != ROOT and items[holder].kind == "modal":
            body.append((len(items), Placement.identity(like)))
            items.append(Link(node, holder, X, n, own, [(Placement.identity(like), properties)], "fixed", frame))
            continue
        body.append((holder, X))
        if holder != ROOT:
            link = items[holder]
            link.members.append((X, properties))
            items[holder] = replace(link, inertia=link.inertia + own.seen_from(X))
    return Links(items, body)


def _attachment(node: Node, numbers: Numbers, like: Any) -> Placement:
    """Return the placement, in a rigid parent body, of the named frame that the part is attached to."""
    body, _, frame = node.part.on.partition(".")
    if not frame:
        return Placement.identity(like)
    return Placement(numbers[f"{body}.{frame}.rotation"], numbers[f"{body}.{frame}.at"])
