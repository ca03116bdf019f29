"""Names of dependent branches: joints with their freedoms, from the root of the branch to the joint that closes the loop."""

from __future__ import annotations

from spacectl.dynamics.partitioning.closing_equations import path_to
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import PLANE, AnyConstraint

__all__ = ["leg_kind"]

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
