"""Aggregates: groups of links coupled by local loops, such that the groups form a tree.

A constraint involves the joints between its ends, and so does a spring between two bodies. Links that share a constraint or
spring, and links between them, form one aggregate. Its base is attached to a port (a frame of a link) of another aggregate. A
link without constraints is an aggregate by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from spacectl.core.errors import ModelError
from spacectl.dynamics.recursion.links import Link, Links
from spacectl.dynamics.tree.nodes import ROOT, Tree
from spacectl.model.constraints import AnyConstraint
from spacectl.model.elements import PointElement
from spacectl.model.system import System

__all__ = ["Aggregate", "Port", "find_aggregates"]

Port = tuple[int, str]  #: a link (or `ROOT`) and the frame on it, which is named on flexible bodies only


@dataclass(frozen=True)
class Aggregate:
    """Links that act as one joint with several bodies.

    Parameters
    ----------
    links : tuple of int
        Their indices, parents first.
    base : Port
        The port to which it is attached.
    constraints : tuple of AnyConstraint
        Constraints within it.
    elements : tuple of PointElement
        Springs between its points, and from them to its base and to the root.
    """

    links: tuple[int, ...]
    base: Port
    constraints: tuple[AnyConstraint, ...]
    elements: tuple[PointElement, ...]


def find_aggregates(
    system: System, tree: Tree, links: Links, active: tuple[AnyConstraint, ...]
) -> tuple[Aggregate, ...]:
    """Find the aggregates of a system, bases first.

    Raises
    ------
    ModelError
        If a constraint involves no joint.
    """
    finder = _Finder(system, tree, links)
    supports = [finder.support(item) for item in active]
    for item, touched in zip(active, supports, strict=True):
        if not touched:
            raise ModelError(
                f"system '{system.name}': constraint '{item.name}' involves no joint; remove it, or put its ends on bodies that "
                "move relative to each other"
            )
    springs = {item: touched for item in system.point_elements if (touched := finder.point_support(item))}
    groups = _closed(links.items, [*supports, *finder.element_supports(), *springs.values()])
    owner = {i: k for k, (members, _) in enumerate(groups) for i in members}
    inside: list[list[AnyConstraint]] = [[] for _ in groups]
    for item, touched in zip(active, supports, strict=True):
        inside[owner[min(touched)]].append(item)
    pushed: list[list[PointElement]] = [[] for _ in groups]
    for element, touched in springs.items():
        pushed[owner[min(touched)]].append(element)
    return tuple(
        Aggregate(tuple(sorted(members)), base, tuple(own), tuple(elements))
        for (members, base), own, elements in zip(groups, inside, pushed, strict=True)
    )


class _Finder:
    """Find the links that a constraint, an element or an actuator involves."""

    def __init__(self, system: System, tree: Tree, links: Links):
        self.system, self.tree, self.items = system, tree, links.items
        self.bodies = {node.part.name: links.body[i][0] for i, node in enumerate(tree.nodes)}
        self.actuators = {actuator.input_name: actuator for actuator in system.actuators}

    @cached_property
    def states(self) -> dict[str, int]:
        """Link of each coordinate and speed."""
        found: dict[str, int] = {}
        q, v = self.tree.coordinates.names, self.tree.speeds.names
        for i, link in enumerate(self.items):
            own = (link.node.eta, link.node.eta_dot) if link.kind == "modal" else (link.node.q, link.node.v)
            found |= {name: i for name in (*q[own[0]], *v[own[1]])}
        return found

    @cached_property
    def joints(self) -> dict[str, int]:
        """Link of each joint."""
        return {link.node.part.joint_name: i for i, link in enumerate(self.items) if link.kind == "joint"}

    def support(self, constraint: AnyConstraint) -> set[int]:
        """Return the links whose speeds a constraint, or an actuator that maintains it, involves."""
        found = self._path(*constraint.ends) if constraint.ends else set()
        for kind, name in constraint.needs:
            found |= self._quantity(kind, name)
        for name in constraint.maintained_by:
            found |= {self.joints[effort.joint] for effort in self.actuators[name].joint_efforts}
            for wrench in self.actuators[name].wrenches:
                found |= self._to_root(wrench.on)
        return found

    def element_supports(self) -> list[set[int]]:
        """Return the links coupled by springs and drives in the joints, whose efforts depend on the states of all of them."""
        elements = self.system.joint_elements
        return [{self.joints[joint] for joint, _ in element.ends if joint in self.joints} for element in elements]

    def point_support(self, element: PointElement) -> set[int]:
        """Return the links between the ends of an element.

        An element between one link and the root couples no others: the motion of its end determines the force.
        """
        ends = [on for on, _ in element.points if self.link(on) != ROOT]
        carriers = {self.link(on) for on in ends}
        return carriers if len(carriers) == 1 else set().union(*(self._path(a, b) for a, b in pairwise(ends)))

    def link(self, on: str) -> int:
        """Return the link of a body or frame, or `ROOT`."""
        body = on.partition(".")[0]
        return ROOT if body in self.tree.root_names else self.bodies[body]

    def _path(self, a: str, b: str) -> set[int]:
        """Return the links between two frames, and a flexible link with an end at another frame than the path leaves from."""
        ends = {self.link(on): on.partition(".")[2] for on in (a, b)}
        between, meeting = _between(self.items, self.link(a), self.link(b))
        if meeting not in ends or meeting == ROOT or self.items[meeting].kind != "modal":
            return between
        first = {self.items[i].frame for i in between if self.items[i].parent == meeting}
        return between if first == {ends[meeting]} else {*between, meeting}

    def _quantity(self, kind: str, name: str) -> set[int]:
        if kind == "state":
            return {self.states[name]}
        if kind == "momentum":
            return set(range(len(self.items)))
        return set() if kind in ("time", "number") else self._to_root(name)

    def _to_root(self, on: str) -> set[int]:
        return _between(self.items, self.link(on), ROOT)[0]


def _between(items: list[Link], i: int, j: int) -> tuple[set[int], int]:
    """Return the links on the path between two, without their nearest common ancestor; and that ancestor."""
    path = set()
    while i != j:  # parents have smaller indices
        if i < j:
            i, j = j, i
        path.add(i)
        i = items[i].parent
    return path, i


def _closed(items: list[Link], supports: Iterable[set[int]]) -> list[tuple[set[int], Port]]:
    """Return disjoint groups that contain the supports and all links between, with their bases; single links for the rest."""
    groups = [set(touched) for touched in supports if touched]
    while True:
        groups = _merged(groups)
        grown = [_with_paths(items, group) for group in groups]
        if [members for members, _ in grown] == groups:
            break
        groups = [members for members, _ in grown]
    taken = set().union(*groups) if groups else set()
    single = [({i}, (link.parent, link.frame)) for i, link in enumerate(items) if i not in taken]
    return sorted([*grown, *single], key=lambda group: min(group[0]))


def _merged(groups: list[set[int]]) -> list[set[int]]:
    """Merge groups that share a link."""
    owner: dict[int, set[int]] = {}
    for group in groups:
        whole = set(group)
        for other in {id(owner[i]): owner[i] for i in group if i in owner}.values():
            whole |= other
        owner |= dict.fromkeys(whole, whole)
    found = {id(group): group for group in owner.values()}
    return sorted(found.values(), key=min)


def _with_paths(items: list[Link], group: set[int]) -> tuple[set[int], Port]:
    """Return the group with all links between its members, and its base."""
    members = sorted(group)
    whole, meeting = set(group), members[0]
    for member in members[1:]:
        path, meeting = _between(items, meeting, member)
        whole |= path
    base = items[meeting].parent if meeting in whole else meeting
    frames = {items[i].frame for i in whole if items[i].parent == base}
    if len(frames) > 1:  # several frames of a flexible body move relative to each other: its modes belong to the group
        return _with_paths(items, {*whole, base})
    return whole, (base, frames.pop() if frames else "")
