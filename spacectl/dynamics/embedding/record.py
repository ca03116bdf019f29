"""The parameters of an aggregate as one flat record, and the key by which aggregates share their code.

Exact zeros (and ones in rotations) of a record are part of the code, as in unrolled equations; all other entries are data. A key
contains joints, bodies, rules and the zeros, with names replaced by indices, so that the members of a chain share one kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.parameters import Parameters
from spacectl.core.provenance import class_key, content_hash
from spacectl.dynamics.embedding.aggregates import Aggregate, Port
from spacectl.dynamics.embedding.points import key_of_points, sees_root
from spacectl.dynamics.recursion.links import Link, form_links
from spacectl.dynamics.tree.actuation import loop_motor
from spacectl.dynamics.tree.nodes import ROOT, Tree, numeric_numbers
from spacectl.model.actuators import Actuator, Effort, Wrench
from spacectl.model.elements import JointElement
from spacectl.model.system import System
from spacectl.spatial.inertia import Placement

__all__ = ["Frames", "Record", "make_record"]


@dataclass(frozen=True)
class Frames:
    """A system with parameter values: links, bodies in them, and the actuators and elements on each link."""

    system: System
    parameters: Parameters
    p: np.ndarray

    @cached_property
    def tree(self) -> Tree:
        """Nodes and labels."""
        return Tree.of(self.system)

    @cached_property
    def numbers(self) -> Any:
        """Named parameters as arrays."""
        return numeric_numbers(self.parameters, self.p)

    @cached_property
    def links(self) -> Any:
        """Links with numeric placements and inertias."""
        return form_links(self.tree, self.numbers, np.zeros(1))

    @cached_property
    def index(self) -> dict[str, int]:
        """Index of each body in the tree."""
        return {node.part.name: i for i, node in enumerate(self.tree.nodes)}

    @cached_property
    def has_gravity(self) -> bool:
        """Whether gravity is a load on each body, which needs placements in the root."""
        n, properties = self.numbers.group("environment"), (1.0, np.zeros(3), np.eye(3))
        away = Placement(np.eye(3), np.array([1.0, 0.0, 0.0]))  # from a centre of attraction
        return self.system.environment.gravity_wrench(0.0, away, properties, n) is not None

    @cached_property
    def needs_placements(self) -> bool:
        """Whether placements in the root are needed: gravity as a load, actuators in world axes, springs to the root."""
        if self.has_gravity or any(
            item.axes == "world" for actuator in self.system.actuators for item in actuator.wrenches
        ):
            return True
        return any(sees_root(self, element) for element in self.system.point_elements)

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any | None:
        """Return the inertial rate of the root from the environment's parameters; None if it does not rotate."""
        return self.system.environment.root_rate(t, n)

    @cached_property
    def bodies(self) -> dict[int, list[str]]:
        """Names of the bodies of each link."""
        found: dict[int, list[str]] = {}
        for node, (owner, _) in zip(self.tree.nodes, self.links.body, strict=True):
            found.setdefault(owner, []).append(node.part.name)
        return found

    def place(self, on: str) -> tuple[int, str, Placement]:
        """Return the link of a frame (or `ROOT`), the frame's name if the body is flexible, else its placement in the link."""
        nothing = Placement.identity(np.zeros(1))
        if on in self.tree.root_names:
            return ROOT, "", nothing
        body, _, frame = on.partition(".")
        i, X = self.links.body[self.index[body]]
        if not frame:
            return i, "", X
        if i != ROOT and self.links.items[i].kind == "modal":
            return i, frame, nothing
        n = self.numbers
        return i, "", X @ Placement(n[f"{body}.{frame}.rotation"], n[f"{body}.{frame}.at"])

    def efforts(self, aggregate: Aggregate) -> list[tuple[Actuator, Effort]]:
        """Return efforts on bodies of an aggregate and in joints that close its loops, with their actuators."""
        own = [pair for i in aggregate.links for pair in self._on_links.get(i, ())]
        return own + [pair for item in aggregate.constraints for pair in self._in_loops.get(item.name, ())]

    @cached_property
    def _on_links(self) -> dict[int, list[tuple[Actuator, Effort]]]:
        found: dict[int, list[tuple[Actuator, Effort]]] = {}
        for actuator in self.system.actuators:
            for effort in actuator.wrenches:
                found.setdefault(self.place(effort.on)[0], []).append((actuator, effort))
        return found

    @cached_property
    def _in_loops(self) -> dict[str, list[tuple[Actuator, Effort]]]:
        found: dict[str, list[tuple[Actuator, Effort]]] = {}
        for actuator in self.system.actuators:
            for effort in actuator.joint_efforts:
                if loop_motor(self.system, effort) is not None:
                    found.setdefault(effort.joint, []).append((actuator, effort))
        return found

    def maintaining(self, aggregate: Aggregate) -> list[Actuator]:
        """Return the actuators that maintain constraints of an aggregate."""
        names = {name for item in aggregate.constraints for name in item.maintained_by}
        return [actuator for actuator in self.system.actuators if actuator.input_name in names]

    def elements(self, members: tuple[int, ...]) -> list[JointElement]:
        """Return springs and drives in the joints of some links."""
        joints = {self.links.items[i].node.part.joint_name for i in members}
        return [element for element in self.system.joint_elements if {joint for joint, _ in element.ends} & joints]


@dataclass(frozen=True)
class Record:
    """Parameters of one aggregate by name, which of their entries are structure, and the key of its kind."""

    aggregate: Aggregate
    values: Mapping[str, np.ndarray]
    fixed: Mapping[str, np.ndarray]
    ports: tuple[Port, ...]
    key: str

    @property
    def data(self) -> np.ndarray:
        """The data entries, concatenated."""
        return np.concatenate([np.zeros(0), *(value[~self.fixed[name]] for name, value in self.values.items())])

    def symbols(self) -> tuple[Any, dict[str, Any]]:
        """Return one symbol for the data, and the named pieces in their shapes."""
        record = ca.SX.sym("record", self.data.size)
        entries, at, pieces = ca.vertsplit(record) if self.data.size else [], 0, {}
        for name, value in self.values.items():
            flat = []
            for entry, is_fixed in zip(value.reshape(-1), self.fixed[name].reshape(-1), strict=True):
                flat.append(ca.SX(entry) if is_fixed else entries[at])
                at += not is_fixed
            column = ca.vertcat(*flat) if flat else ca.SX(0, 1)
            pieces[name] = ca.reshape(column, *value.shape[::-1]).T if value.ndim == 2 else column
        return record, pieces


def make_record(frames: Frames, aggregate: Aggregate, ports: tuple[Port, ...], extra: Any) -> Record:
    """Make the record of an aggregate.

    Parameters
    ----------
    frames : Frames
        The system with parameter values.
    aggregate : Aggregate
        The aggregate.
    ports : tuple of Port
        Its ports.
    extra : hashable
        Further choices that affect the code.
    """
    values: dict[str, np.ndarray] = {}
    loose: set[str] = set()  # all entries are data
    for k, i in enumerate(aggregate.links):
        values |= {f"#link{k}.{key}": value for key, value in _link_values(frames, frames.links.items[i]).items()}
    environment = frames.numbers.group("environment")
    if frames.has_gravity or (aggregate.elements and frames.root_rate(0.0, environment) is not None):
        values |= {f"#environment.{key}": np.asarray(value) for key, value in environment.items()}
    owners = [(f"#constraint{k}", item.name) for k, item in enumerate(aggregate.constraints)]
    owners += [(f"#element{k}", item.name) for k, item in enumerate(frames.elements(aggregate.links))]
    owners += [(f"#point{k}", item.name) for k, item in enumerate(aggregate.elements)]
    owners += [(f"#input{k}", actuator.input_name) for k, (actuator, _) in enumerate(frames.efforts(aggregate))]
    scaled = [any(effort.gain for effort in actuator.joint_efforts) for actuator in frames.maintaining(aggregate)]
    owners += [
        (f"#maintaining{k}", frames.maintaining(aggregate)[k].input_name) for k, is_so in enumerate(scaled) if is_so
    ]
    for role, owner in owners:
        own = {f"{role}.{key}": np.asarray(value, dtype=float) for key, value in frames.numbers.group(owner).items()}
        values |= own
        loose |= {name for name, value in own.items() if not _is_place(aggregate, role, value)}
    for on in _frames_of(frames, aggregate):
        X = frames.place(on)[2]
        values |= {f"{on}.frame_R": np.asarray(X.R), f"{on}.frame_p": np.asarray(X.p)}
    values = {name: np.asarray(value, dtype=float).reshape(np.shape(value) or (1,)) for name, value in values.items()}
    fixed = {
        name: np.zeros(value.shape, dtype=bool) if name in loose else _structural(name, value)
        for name, value in values.items()
    }
    return Record(aggregate, values, fixed, ports, _key(frames, aggregate, ports, values, fixed, extra))


def _is_place(aggregate: Aggregate, role: str, value: np.ndarray) -> bool:
    """Return whether a parameter is a placement: in constraints between frames, and of the ends of springs."""
    if role.startswith("#point"):
        return value.ndim > 0
    is_constraint = role.startswith("#constraint")
    return is_constraint and aggregate.constraints[int(role.removeprefix("#constraint"))].ends is not None


def _structural(name: str, value: np.ndarray) -> np.ndarray:
    """Return which entries are exact zeros or, in rotation matrices (whose rows are unit vectors), exact ones."""
    turns = value.shape == (3, 3) and np.allclose(np.sum(value**2, axis=1), 1.0)
    is_zero = value == 0.0
    return is_zero | (np.abs(value) == 1.0) if turns else is_zero


def _link_values(frames: Frames, link: Link) -> dict[str, Any]:
    """Return placement, inertia and the parameters of joint or modes of a link; its bodies where gravity needs them."""
    values: dict[str, Any] = {"R": link.X_PJ.R, "p": link.X_PJ.p}
    if link.kind == "modal":
        own = {key: value for key, value in link.n.items() if key not in ("at", "rotation")}
        return values | {f"n.{key}": np.asarray(value) for key, value in own.items()}
    values |= {"mass": link.inertia.mass, "first": link.inertia.first, "inertia": link.inertia.I_O}
    values |= {f"n.{key}": link.n[key] for key in link.node.part.joint.numbers() if key in link.n}
    for m, (X, (mass, com, I_C)) in enumerate(link.members if frames.has_gravity else ()):
        values |= {
            f"member{m}.{key}": x
            for key, x in zip(("R", "p", "mass", "com", "inertia"), (X.R, X.p, mass, com, I_C), strict=True)
        }
    return values


def _frames_of(frames: Frames, aggregate: Aggregate) -> list[str]:
    """Return the frames named by constraints, springs and body actuators of an aggregate."""
    found: list[str] = []
    for item in aggregate.constraints:
        found += item.frames
    found += [on for element in aggregate.elements for on, _ in element.points]
    found += [effort.on for _, effort in frames.efforts(aggregate) if isinstance(effort, Wrench)]
    return list(dict.fromkeys(found))


def _key(frames: Frames, aggregate: Aggregate, ports: tuple[Port, ...], values: Any, fixed: Any, extra: Any) -> str:
    """Return a hash of everything that affects the code, with names replaced by indices."""
    items, place = frames.links.items, {i: k for k, i in enumerate(aggregate.links)}
    links = []
    for i in aggregate.links:
        link = items[i]
        joint, body = link.node.part.joint, link.node.part.body
        own = (place.get(link.parent, ROOT), link.frame if link.parent in place else "", link.kind, len(link.members))
        kind = (class_key(type(joint)), repr(joint.structure), str(joint.motion))
        links.append([own, kind, class_key(type(body)) if link.kind == "modal" else "", repr(body.structure)])
    constraints = [
        (class_key(type(item)), item.name, item.kind, item.compliance, item.structure, _owners(frames, item))
        for item in aggregate.constraints
    ]
    elements = [(class_key(type(e)), e.ends, e.structure) for e in frames.elements(aggregate.links)]
    efforts = [effort for _, effort in frames.efforts(aggregate)]
    points = key_of_points(frames, aggregate)
    behaviour = repr([constraints, elements, points, efforts, [(place[i], frame) for i, frame in ports]])
    pattern = [(name, fixed[name].tolist(), values[name][fixed[name]].tolist()) for name in values]
    environment = class_key(type(frames.system.environment)), *frames.system.environment.structure
    places = {on: frames.place(on)[:2] for on in _frames_of(frames, aggregate)}
    seen = [(place.get(i, ROOT), frame) for i, frame in places.values()]
    text = repr([links, environment, seen, [(a, str(b), c) for a, b, c in pattern], repr(extra)])
    return content_hash([_without_names(frames, aggregate, behaviour), _without_names(frames, aggregate, text)])


def _owners(frames: Frames, item: Any) -> list[Any]:
    """Return the efforts of the actuators that maintain a constraint."""
    return [
        [actuator.efforts() for actuator in frames.system.actuators if actuator.input_name == name]
        for name in item.maintained_by
    ]


def _without_names(frames: Frames, aggregate: Aggregate, text: str) -> str:
    """Return a text with the names of the aggregate's parts replaced by their indices."""
    names: dict[str, str] = {}
    for k, i in enumerate(aggregate.links):
        link = frames.links.items[i]
        joint = link.node.part.joint_name
        names |= {joint: f"@joint{k}", f"{joint}_dot": f"@rate{k}"}
        names |= {name: f"@body{k}_{m}" for m, name in enumerate(frames.bodies.get(i, ()))}
    names |= {item.name: f"@constraint{k}" for k, item in enumerate(aggregate.constraints)}
    names |= {actuator.input_name: f"@input{k}" for k, (actuator, _) in enumerate(frames.efforts(aggregate))}
    base = aggregate.base[0]
    names |= {name: f"@base{m}" for m, name in enumerate(frames.bodies.get(base, ()) if base != ROOT else ())}
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w@#])({pattern})(?!\w)", lambda found: names[found.group(1)], text)
