"""Kinds of dependent branches in letters: joints with their freedoms, from the root of the branch to what closes the loop."""

from __future__ import annotations

from spacectl.dynamics.partitioning.closing_equations import way_to
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import PLANE, AnyConstraint

__all__ = ["leg_kind"]

_POINTS = {1: "plane", 2: "R1", 3: "R3"}  # so many PointOnPlane: a plane, a pin in a plane, a ball joint


def leg_kind(terms: Terms, wished: tuple[int, ...], members: list[AnyConstraint]) -> str:
    """Letters and freedoms of what depends in a loop, and of what closes it.

    ``"R2-P1-R3"``: a branch from its root, closed by a ball joint. ``"R1-(R1)-R1"``: two branches that meet in a pin. Small
    letters are joints in between that do not depend; ``"3 of F6"`` depends in part.
    """
    nodes = [i for i, node in enumerate(terms.tree.nodes) if _share(terms, i, wished)]
    ways = []
    for on in members[0].ends or ():
        body = frame_in_body(terms.tree, on, terms.q, terms.v, terms.numbers)[0]
        ways.append(way_to(terms, body))
    while ways[0] and ways[1] and ways[0][0] == ways[1][0]:
        ways = [way[1:] for way in ways]
    sides = [[_letters(terms, i, wished) for i in _from_first(way, nodes)] for way in ways]
    closing = _closing(members)
    others = [_letters(terms, i, wished) for i in nodes if i not in ways[0] and i not in ways[1]]
    if all(sides):
        main = "-".join([*sides[0], f"({closing})", *sides[1][::-1]])
    else:
        main = "-".join([*sides[0], *sides[1], closing])
    return " and ".join([main, *others])


def _from_first(way: list[int], nodes: list[int]) -> list[int]:
    """The way from the first dependent body on."""
    found = [k for k, i in enumerate(way) if i in nodes]
    return way[found[0] :] if found else []


def _share(terms: Terms, i: int, wished: tuple[int, ...]) -> int:
    """How many speeds of a body's joint and modes depend."""
    node = terms.tree.nodes[i]
    return len({*range(node.v.start, node.v.stop), *range(node.eta_dot.start, node.eta_dot.stop)} & set(wished))


def _letters(terms: Terms, i: int, wished: tuple[int, ...]) -> str:
    node = terms.tree.nodes[i]
    size = node.v.stop - node.v.start
    letter = node.part.joint.freedoms
    turned = len(set(range(node.v.start, node.v.stop)) & set(wished))
    bent = _share(terms, i, wished) - turned
    own = letter if turned == size else f"{turned} of {letter}" if turned else letter.lower()
    return f"{own} with {bent} modes" if bent else own


def _closing(members: list[AnyConstraint]) -> str:
    kinds = [item.closes_as for item in members]
    if all(kind == PLANE for kind in kinds):
        return _POINTS.get(len(kinds), "?")
    return kinds[0] if kinds[0] != PLANE else "?"
