"""A system as a tree of aggregates with parameter values: the base, kind and states of each aggregate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import Evaluator
from spacectl.core.parameters import Parameters
from spacectl.dynamics.constraints.row_scales import FARTHER
from spacectl.dynamics.embedding.aggregates import Aggregate, Port, find_aggregates
from spacectl.dynamics.embedding.kind import AggregateKind, make_kind
from spacectl.dynamics.embedding.record import Frames, Record, make_record
from spacectl.dynamics.embedding.solve import partition
from spacectl.dynamics.recursion.tree_data import environment_arrays
from spacectl.dynamics.tree.actuation import effort_gain, effort_speed, loop_motor
from spacectl.dynamics.tree.kinematics import root_motion
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.waist.handover import Baumgarte
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["EmbeddedModel", "Member"]

_CLOSED = 1e-9  # residual at rest below which a loop counts as closed there


@dataclass(frozen=True, eq=False)
class Member:
    """One aggregate of a system.

    Parameters
    ----------
    aggregate : Aggregate
        Its links and constraints.
    kind : AggregateKind
        Its functions.
    record : array
        Its parameters.
    base, port : int
        The member that carries it (`ROOT` for none), and the port there.
    q, v, u, rows : arrays of int
        Indices of its coordinates, speeds, body inputs (-1: none) and constraint equations in those of the system.
    """

    aggregate: Aggregate
    kind: AggregateKind
    record: np.ndarray
    base: int
    port: int
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    rows: np.ndarray

    @property
    def sided(self) -> list[str]:
        """Its constraints that can be closed with a frame turned by 180 degrees."""
        return [item.name for item in self.aggregate.constraints if item.has_side]


@dataclass(frozen=True, eq=False)
class EmbeddedModel:
    """Aggregates of a system for given parameters.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    active : tuple of AnyConstraint
        The active constraints.
    stabilization : Baumgarte, optional
        Makes constraint errors decay.
    """

    system: System
    parameters: Parameters
    p: np.ndarray
    active: tuple[AnyConstraint, ...]
    stabilization: Baumgarte | None = None

    @cached_property
    def frames(self) -> Frames:
        """Links with parameter values."""
        return Frames(self.system, self.parameters, self.p)

    @cached_property
    def _root(self) -> np.ndarray:
        return self._root_at(0.0)

    def _root_at(self, t: float) -> np.ndarray:
        motion = environment_arrays(self.system, self.frames.numbers, t)["root"]
        return np.concatenate([motion, np.eye(3).reshape(-1), np.zeros(3)])

    def root(self, t: float) -> np.ndarray:
        """Return twist, acceleration and placement of the root, (24,)."""
        return self._root if self.system.environment.is_steady else self._root_at(t)

    @cached_property
    def root_step(self) -> ca.Function | None:
        """(t, the environment's parameters) -> twist and acceleration of the root; None where they are constant."""
        environment = self.system.environment
        if environment.is_steady:
            return None
        shapes = {key: (*item.value.shape, 1, 1)[:2] for key, item in environment.numbers().items()}
        t, flat = ca.SX.sym("t"), {key: ca.SX.sym(key, rows * columns) for key, (rows, columns) in shapes.items()}
        n = {key: ca.reshape(flat[key], *shape[::-1]).T for key, shape in shapes.items()}  # flat by rows
        motion = root_motion(environment, t, n, t)
        given = [t, ca.vertcat(*flat.values(), ca.SX(0, 1))]
        return ca.Function("root", given, [ca.cse(ca.densify(ca.vertcat(motion.twist, motion.acceleration)))])

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Inputs of the user; those that maintain a constraint are determined by the equations."""
        maintaining = {name for item in self.active for name in item.maintained_by}
        return tuple(a.input_name for a in self.system.actuators if a.input_name not in maintaining)

    @cached_property
    def joint_inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (input, speed) of the motors, (k, 2), and their gains, (k,)."""
        nodes = {node.part.joint_name: node for node in self.frames.tree.nodes}
        pairs, gains = [], []
        for actuator in self.system.actuators:
            n = self.frames.numbers.group(actuator.input_name)
            for effort in actuator.joint_efforts if actuator.input_name in self.inputs else ():
                if loop_motor(self.system, effort) is None:
                    pairs.append((self.inputs.index(actuator.input_name), effort_speed(effort, nodes)))
                    gains.append(float(effort_gain(effort, n)))
        return np.array(pairs, dtype=np.intc).reshape(-1, 2), np.array(gains)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Aggregates, bases first."""
        frames = self.frames
        aggregates = find_aggregates(self.system, frames.tree, frames.links, self.active)
        owner = {i: k for k, item in enumerate(aggregates) for i in item.links}
        ports = _ports(aggregates, owner)
        symmetric = _symmetric(aggregates, owner)
        starts = dict(zip(self.active, np.cumsum([0, *(item.n_rows for item in self.active)]), strict=False))
        found = []
        for k, item in enumerate(aggregates):
            extra = (symmetric[k], self.stabilization, frames.has_gravity, frames.needs_placements)
            record = make_record(frames, item, ports[k], extra)
            kind = make_kind(frames, record, is_symmetric=symmetric[k], stabilization=self.stabilization)
            base = ROOT if item.base[0] == ROOT else owner[item.base[0]]
            rows = [np.arange(starts[c], starts[c] + c.n_rows) for c in item.constraints]
            found.append(
                Member(
                    item,
                    kind,
                    record.data,
                    base,
                    0 if base == ROOT else ports[base].index(item.base),
                    self._states(item, "q"),
                    self._states(item, "v"),
                    self._body_inputs(item, record),
                    np.concatenate([np.zeros(0, dtype=int), *rows]).astype(int),
                )
            )
        return tuple(found)

    def _states(self, item: Aggregate, level: str) -> np.ndarray:
        keys = ("eta", "q") if level == "q" else ("eta_dot", "v")
        links = [self.frames.links.items[i] for i in item.links]
        slices = [getattr(link.node, keys[0] if link.kind == "modal" else keys[1]) for link in links]
        return np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in slices)]).astype(int)

    def _body_inputs(self, item: Aggregate, record: Record) -> np.ndarray:
        names = [actuator.input_name for actuator, _ in self.frames.efforts(item)]
        return np.array([self.inputs.index(name) if name in self.inputs else -1 for name in names], dtype=int)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Required number of independent equations of each member: that at rest, if its loops are closed there."""
        rest, n_v = self.frames.tree.rest(), len(self.frames.tree.speeds)
        rng = np.random.default_rng(0)
        found: list[int] = []
        for member in self.members:
            if not member.kind.m:
                found.append(0)
                continue
            g, _, J, *_ = self.rows(member, 0.0, rest[member.q], np.zeros(member.v.size))
            if not np.max(np.abs(g), initial=0.0) <= _CLOSED or not np.all(np.isfinite(J)):  # use any other position
                for size in FARTHER:
                    q = rest[member.q] + size * rng.standard_normal(member.q.size)
                    v = 0.1 * rng.standard_normal(n_v)[: member.v.size]
                    J = self.jacobian(member, 0.0, q, v)[0]
                    if np.all(np.isfinite(J)):
                        break
            found.append(partition(J, np.zeros(len(J)), np.ones(J.shape[1])).rank)
        return tuple(found)

    def rows(self, member: Member, t: float, q: Any, v: Any) -> list[np.ndarray]:
        """Return position, speed, J, J_position, W, gamma, sides of one member's loops, for its own q and v."""
        return self.evaluator(member.kind, "rows")(t, q, v, self.root(t)[:6], member.record)

    def jacobian(self, member: Member, t: float, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return J and W of one member's loops, for its own q and v."""
        _, _, J, _, W, *_ = self.rows(member, t, q, v)
        return J, W

    def describe(self, member: Member) -> str:
        """Describe an aggregate by its loops and joints."""
        loops = ", ".join(f"'{item.name}'" for item in member.aggregate.constraints)
        names = {self.frames.links.items[i].node.part.joint_name: None for i in member.aggregate.links}
        joints = ", ".join(f"'{name}'" for name in names)
        return f"loop {loops} (joints {joints})" if loops else f"joint {joints}"

    @cached_property
    def _evaluators(self) -> dict[tuple[int, str], Evaluator]:
        return {}

    def evaluator(self, kind: AggregateKind, name: str) -> Evaluator:
        """Return the numeric evaluator of a kind's function."""
        key = (id(kind), name)
        if key not in self._evaluators:
            self._evaluators[key] = Evaluator(getattr(kind, name))
        return self._evaluators[key]


def _ports(aggregates: Iterable[Aggregate], owner: dict[int, int]) -> list[tuple[Port, ...]]:
    """Return the ports of each aggregate, in the order of the aggregates attached to them."""
    ports: list[dict[Port, None]] = [{} for _ in aggregates]
    for item in aggregates:
        if item.base[0] != ROOT:
            ports[owner[item.base[0]]].setdefault(item.base)
    return [tuple(own) for own in ports]


def _symmetric(aggregates: tuple[Aggregate, ...], owner: dict[int, int]) -> list[bool]:
    """Return whether the outboard inertia of each aggregate is symmetric: no outboard constraint is maintained by actuators."""
    found = [True] * len(aggregates)
    for k in reversed(range(len(aggregates))):
        item = aggregates[k]
        gives = found[k] and all(constraint.is_natural for constraint in item.constraints)
        if not gives and item.base[0] != ROOT:
            found[owner[item.base[0]]] = False
    return found
