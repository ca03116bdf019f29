"""The tree behind a system: who carries whom, which coordinates and speeds belong to whom, and the symbols for numbers.

Turns a `System` into a `Tree` of `Node`s (parents first) with index ranges into q and v; `symbolic_numbers` turns
its run-time parameters into one symbol p and named pieces of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.core.parameters import Parameters
from spacectl.model.system import Part, System

__all__ = ["Node", "Tree", "group", "symbolic_numbers"]

ROOT = -1


@dataclass(frozen=True)
class Node:
    """One body of the tree: its part, its parent's index (`ROOT` for the root frame) and its ranges in q and v."""

    part: Part
    parent: int
    q: slice
    v: slice


@dataclass(frozen=True)
class Tree:
    """Nodes, parents before children, and the labels of their coordinates and speeds."""

    nodes: tuple[Node, ...]
    coordinates: Labels
    speeds: Labels
    quaternions: tuple[int, ...]
    root_names: tuple[str, ...]

    @staticmethod
    def of(system: System) -> Tree:
        """The tree of a system."""
        index = {part.name: i for i, part in enumerate(system.tree)}
        nodes: list[Node] = []
        names: dict[str, list[tuple[str, str]]] = {"q": [], "v": []}
        quaternions: list[int] = []
        for part in system.tree:
            joint, n_q, n_v = part.joint, len(names["q"]), len(names["v"])
            names["q"] += [(part.joint_name + suffix, unit) for suffix, unit in joint.coordinates]
            names["v"] += [(part.joint_name + suffix, unit) for suffix, unit in joint.speeds]
            if joint.quaternion_at is not None:
                quaternions.append(n_q + joint.quaternion_at)
            parent = index.get(part.on.split(".")[0], ROOT)
            nodes.append(Node(part, parent, slice(n_q, len(names["q"])), slice(n_v, len(names["v"]))))
        q_names, q_units = zip(*names["q"], strict=True) if names["q"] else ((), ())
        v_names, v_units = zip(*names["v"], strict=True) if names["v"] else ((), ())
        return Tree(
            tuple(nodes),
            Labels(q_names, q_units, "coordinate"),
            Labels(v_names, v_units, "speed"),
            tuple(quaternions),
            system.environment.root_names,
        )

    def index(self, body: str) -> int:
        """Index of the named body."""
        for i, node in enumerate(self.nodes):
            if node.part.name == body:
                return i
        raise ModelError(unknown_name("body", body, [node.part.name for node in self.nodes]))

    def rest(self) -> np.ndarray:
        """Coordinates of the reference position (unit quaternions, else zero)."""
        return np.concatenate([node.part.joint.rest() for node in self.nodes]) if self.nodes else np.zeros(0)


def symbolic_numbers(parameters: Parameters) -> tuple[Any, dict[str, Any]]:
    """The symbol p and its named pieces in their shapes; structural entries are constants in the pieces."""
    p = ca.SX.sym("p", len(parameters))
    entries = [
        ca.SX(float(value)) if fixed else p[i]
        for i, (value, fixed) in enumerate(zip(parameters.values, parameters.fixed, strict=True))
    ]
    pieces: dict[str, Any] = {}
    for name, shape in zip(parameters.names, parameters.shapes, strict=True):
        part = entries[parameters.where(name)]
        column = ca.vertcat(*part) if part else ca.SX(0, 1)
        pieces[name] = ca.reshape(column, shape[1], shape[0]).T if len(shape) == 2 else column
    return p, pieces


def group(numbers: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The pieces that belong to one owner, without its prefix: ``{"mass": ..., "com": ...}``."""
    prefix = owner + "."
    return {name[len(prefix) :]: value for name, value in numbers.items() if name.startswith(prefix)}
