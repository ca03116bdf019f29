"""Deployed lengths of tethers, and the numbers from which bodies get their mass, for every formulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spacectl.dynamics.tree.nodes import Numbers, Tree
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["line_lengths", "mass_numbers"]


def line_lengths(system: System, tree: Tree, t: Any, q: Any, numbers: Numbers) -> dict[str, Any]:
    """Return the deployed length of each tether, by name [m]."""
    places = {node.part.joint_name: node.q.start for node in tree.nodes}
    lengths = {}
    for line in system.point_elements:
        coordinate = q[places[line.length_joint]] if line.length_joint else None
        length = line.deployed(t, coordinate, numbers.group(line.name))
        if length is not None:
            lengths[line.name] = length
    return lengths


def mass_numbers(part: Part, numbers: Numbers, lengths: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the numbers for a body's `mass_properties`: its own, or those of its tether with the deployed length."""
    line = part.body.line
    return {**numbers.group(line), "length": lengths[line]} if line else numbers.group(part.name)
