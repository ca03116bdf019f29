"""Generalised forces and potential of springs and dampers in the joints (`model.elements`), for every formulation."""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.tree.nodes import Numbers, Tree
from spacectl.model.elements import JointElement
from spacectl.model.system import System
from spacectl.model.validation.validate import find_component

__all__ = ["joint_efforts", "joint_element_places", "joint_potential"]


def joint_efforts(system: System, tree: Tree, q: Any, v: Any, numbers: Numbers) -> Any:
    """Sum of the efforts of all joint elements on the speeds, shape (n_v,)."""
    total = ca.SX.zeros(v.shape[0])
    for element, places in joint_element_places(system, tree):
        at = [(q[i] if i is not None else None, v[k]) for i, k in places]
        efforts = element.efforts([q_j for q_j, _ in at], [v_j for _, v_j in at], numbers.group(element.name))
        for (_, k), effort in zip(places, efforts, strict=True):
            total[k] += effort
    return total


def joint_potential(system: System, tree: Tree, q: Any, numbers: Numbers) -> Any:
    """Return the energy stored in all joint elements [J]."""
    total = ca.SX(0)
    for element, places in joint_element_places(system, tree):
        total += element.potential([None if i is None else q[i] for i, _ in places], numbers.group(element.name))
    return total


def joint_element_places(system: System, tree: Tree) -> list[tuple[JointElement, list[tuple[int | None, int]]]]:
    """Return each element with the places in q (None where a speed is no coordinate's rate) and v of what it acts on."""
    found = []
    for element in system.joint_elements:
        places: list[tuple[int | None, int]] = []
        for joint, component in element.ends:
            node = next(node for node in tree.nodes if node.part.joint_name == joint)
            coordinate, speed = find_component(f"element '{element.name}'", component, node.part)
            places.append((None if coordinate is None else node.q.start + coordinate, node.v.start + speed))
        found.append((element, places))
    return found
