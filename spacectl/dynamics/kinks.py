"""Kinks of a system's right-hand side: states at which efforts or forces of its elements, or their derivatives, jump."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca

from spacectl.dynamics.tree.elements import joint_element_places
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["find_kinks"]


@lru_cache(maxsize=64)
def find_kinks(eom: EquationsOfMotion) -> tuple[ca.Function, tuple[str, ...]] | None:
    """Return ``(t, x, p) -> g``, whose entries cross zero at the kinks of the elements, and the element of each entry.

    None if no element has any.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    """
    if not any(element.has_kinks for element in eom.system.elements):
        return None
    terms = Terms(eom.system, eom.handover.vary)
    found = [*_joint_kinks(terms), *_point_kinks(terms)]
    x = ca.vertcat(terms.q, terms.v)
    g = ca.densify(ca.vertcat(*[value for _, value in found]))
    return ca.Function("kinks", [terms.t, x, terms.p], [g], ["t", "x", "p"], ["g"]), tuple(name for name, _ in found)


def _joint_kinks(terms: Terms) -> list[tuple[str, Any]]:
    found = []
    for element, places in joint_element_places(terms.system, terms.tree):
        q, v = [None if i is None else terms.q[i] for i, _ in places], [terms.v[k] for _, k in places]
        found += [(element.name, value) for value in element.kinks(q, v, terms.numbers.group(element.name))]
    return found


def _point_kinks(terms: Terms) -> list[tuple[str, Any]]:
    found = []
    for element in terms.system.point_elements:
        if element.points:
            p, v = terms.points.states(element)
            n = terms.numbers.group(element.name)
            found += [(element.name, value) for value in element.kinks(p, v, terms.t, n)]
    return found
