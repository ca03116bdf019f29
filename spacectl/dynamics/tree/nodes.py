"""The tree of a system: parents of bodies, their coordinates and speeds, and the symbols of parameters.

A `Tree` consists of `Node`s, parents first, with index ranges into q and v. `symbolic_numbers` represents the
run-time parameters of a system by one symbol p and named pieces of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.core.parameters import Parameters
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["ROOT", "Node", "Numbers", "Tree", "numeric_numbers", "symbolic_numbers"]

ROOT = -1


@dataclass(frozen=True)
class Node:
    """One body of the tree: its part, its parent's index (`ROOT` for the root frame) and its ranges in q and v.

    `q` and `v` are those of its joint; `eta` and `eta_dot` those of its modes, empty for a rigid body.
    """

    part: Part
    parent: int
    q: slice
    v: slice
    eta: slice
    eta_dot: slice

    @property
    def is_flexible(self) -> bool:
        """Whether the body has modes."""
        return self.eta.stop > self.eta.start

    @property
    def flexible_body(self) -> FlexibleBody:
        """The body, which must be flexible."""
        return self.part.body.flexible


@dataclass(frozen=True)
class Tree:
    """Nodes, parents before children, and the labels of their coordinates and speeds."""

    nodes: tuple[Node, ...]
    coordinates: Labels
    speeds: Labels
    quaternions: tuple[int, ...]
    root_names: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(system: System) -> Tree:
        """Return the tree of a system."""
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
            joint_q, joint_v = slice(n_q, len(names["q"])), slice(n_v, len(names["v"]))
            modal = [(f"{part.name}.{name}", unit) for name, unit in part.body.modal_labels]
            names["q"] += modal
            names["v"] += [(f"{name}_dot", f"{unit}/s") for name, unit in modal]
            parent = index.get(part.on.split(".")[0], ROOT)
            eta, eta_dot = slice(joint_q.stop, len(names["q"])), slice(joint_v.stop, len(names["v"]))
            nodes.append(Node(part, parent, joint_q, joint_v, eta, eta_dot))
        q_names, q_units = zip(*names["q"], strict=True) if names["q"] else ((), ())
        v_names, v_units = zip(*names["v"], strict=True) if names["v"] else ((), ())
        return Tree(
            tuple(nodes),
            Labels(q_names, q_units, "coordinate"),
            Labels(v_names, v_units, "speed"),
            tuple(quaternions),
            system.environment.root_names,
            dict(system.aliases),
        )

    def split(self, name: str) -> tuple[str, str]:
        """Return the body and frame (empty: its own) of a name such as ``"boom.tip"``, aliases resolved."""
        body, _, frame = self.aliases.get(name, name).partition(".")
        return body, frame

    def index(self, body: str) -> int:
        """Return the index of the named body."""
        body = self.aliases.get(body, body)
        for i, node in enumerate(self.nodes):
            if node.part.name == body:
                return i
        raise ModelError(unknown_name("body", body, [node.part.name for node in self.nodes]))

    def rest(self) -> np.ndarray:
        """Return the coordinates of the reference position (unit quaternions, else zero)."""
        pieces = [np.r_[node.part.joint.rest(), np.zeros(node.eta.stop - node.eta.start)] for node in self.nodes]
        return np.concatenate(pieces) if pieces else np.zeros(0)


class Numbers(Mapping[str, Any]):
    """Run-time parameters by name, as symbols or arrays; `group` returns those of one owner."""

    def __init__(self, values: Mapping[str, Any]):
        self._values = dict(values)
        self._groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            owner, _, key = name.partition(".")
            self._groups.setdefault(owner, {})[key] = value

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def group(self, owner: str) -> Mapping[str, Any]:
        """Return the parameters of one owner, without its prefix: ``{"mass": ..., "com": ...}``."""
        return self._groups.get(owner, {})


def symbolic_numbers(parameters: Parameters) -> tuple[Any, Numbers]:
    """Return the symbol p and its named pieces in their shapes; structural entries are constants in the pieces."""
    p = ca.SX.sym("p", len(parameters))
    fixed = np.flatnonzero(parameters.fixed)
    entries = ca.SX(p)
    if fixed.size:
        entries[fixed.tolist()] = np.asarray(parameters.values)[fixed]
    pieces: dict[str, Any] = {}
    for name, shape in zip(parameters.names, parameters.shapes, strict=True):
        place = parameters.where(name)
        column = entries[place] if place.stop > place.start else ca.SX(0, 1)
        pieces[name] = ca.reshape(column, shape[1], shape[0]).T if len(shape) == 2 else column
    return p, Numbers(pieces)


def numeric_numbers(parameters: Parameters, p: np.ndarray) -> Numbers:
    """Return the named pieces of a vector p, as arrays in their shapes."""
    return Numbers({name: parameters.get(name, p) for name in parameters.names})
