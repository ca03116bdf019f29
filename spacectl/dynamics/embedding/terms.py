"""Symbolic terms of one kind of aggregate: motion of its ports, its mass matrix and loads.

All quantities are relative to the aggregate's base. Closures are independent of inboard bodies, so their cost does not grow with
the chain that carries them. `kind` makes functions of the terms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.dynamics.embedding.inertia import AggregateInertia, FullInertia, Outboard, compose
from spacectl.dynamics.embedding.points import add_point_loads
from spacectl.dynamics.embedding.record import Frames, Record
from spacectl.dynamics.recursion.links import Link
from spacectl.dynamics.recursion.steps import unpack_inertia
from spacectl.dynamics.recursion.sweeps import LinkMotion, bias_loads, carried_acceleration, move_all
from spacectl.dynamics.tree.actuation import effort_gain, unit_wrench
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.actuators import JointEffort, Wrench
from spacectl.model.validation.validate import find_component
from spacectl.spatial.backend import cross, dot, stack, zeros
from spacectl.spatial.flexible import Attachment, attach
from spacectl.spatial.inertia import Inertia, Placement, cross_motion, move_twist, pull_wrench

__all__ = ["AggregateTerms"]


class AggregateTerms:
    """Terms of an aggregate in its own symbols.

    Parameters
    ----------
    frames : Frames
        The system with parameter values.
    record : Record
        The aggregate's parameters; data entries become symbols.
    is_symmetric : bool
        Whether the outboard inertias at its ports are symmetric.
    """

    def __init__(self, frames: Frames, record: Record, *, is_symmetric: bool):
        self.frames, self.aggregate, self.ports = frames, record.aggregate, record.ports
        self.is_symmetric = is_symmetric
        self.record, self.pieces = record.symbols()
        self.place = {i: k for k, i in enumerate(self.aggregate.links)}
        self.links, n_q, n_v = self._local_links()
        self.efforts = frames.efforts(self.aggregate)
        sym, size = ca.SX.sym, 27 if is_symmetric else 42
        self.t, self.q, self.v, self.v_dot = sym("t"), sym("q", n_q), sym("v", n_v), sym("v_dot", n_v)
        self.base_twist, self.base_acceleration = sym("V", 6), sym("A", 6)
        self.base_placement = sym("X", 12 if frames.needs_placements else 0)
        self.u, self.outer = sym("u", len(self.efforts)), sym("ports", size * len(self.ports))

    def _local_links(self) -> tuple[list[Link], int, int]:
        """Return links with symbolic parameters and indices within the aggregate, and the numbers of coordinates and speeds."""
        found, n_q, n_v = [], 0, 0
        for k, i in enumerate(self.aggregate.links):
            link = self.frames.links.items[i]
            node, n = link.node, self.group(f"#link{k}")
            sizes = (node.eta, node.eta_dot) if link.kind == "modal" else (node.q, node.v)
            q, v = (slice(at, at + own.stop - own.start) for at, own in zip((n_q, n_v), sizes, strict=True))
            own = {"eta": q, "eta_dot": v} if link.kind == "modal" else {"q": q, "v": v}
            n_q, n_v, is_inner = q.stop, v.stop, link.parent in self.place
            modal = link.kind == "modal"
            inertia = Inertia.none(ca.SX(1)) if modal else Inertia(n["mass"], n["first"], n["inertia"])
            found.append(
                replace(
                    link,
                    node=replace(node, **own),
                    parent=self.place[link.parent] if is_inner else ROOT,
                    frame=link.frame if is_inner else "",
                    X_PJ=Placement(n["R"], n["p"]),
                    n={key.removeprefix("n."): value for key, value in n.items() if key.startswith("n.")},
                    inertia=inertia,
                    members=self._members(n, len(link.members)),
                )
            )
        return found, n_q, n_v

    def _members(self, n: dict[str, Any], count: int) -> list[Any]:
        if not self.frames.has_gravity:
            return []
        parts = [[n[f"member{m}.{key}"] for key in ("R", "p", "mass", "com", "inertia")] for m in range(count)]
        return [(Placement(R, p), (mass, com, inertia)) for R, p, mass, com, inertia in parts]

    def group(self, owner: str) -> dict[str, Any]:
        """Return the parameters of one owner, without its prefix."""
        return {key[len(owner) + 1 :]: value for key, value in self.pieces.items() if key.startswith(f"{owner}.")}

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Inertial motion of the links."""
        return move_all(self.links, self.t, self.q, self.v, self.base_twist)

    @cached_property
    def resting(self) -> list[LinkMotion]:
        """Motion of the links relative to the base."""
        return move_all(self.links, self.t, self.q, self.v, ca.SX.zeros(6))

    @cached_property
    def placements(self) -> list[Placement]:
        """Placement of each link's frame in the base."""
        found: list[Placement] = []
        for link, motion in zip(self.links, self.motions, strict=True):
            X = motion.X if motion.attachment is None else motion.attachment.X_BA @ motion.X
            found.append(X if link.parent == ROOT else found[link.parent] @ X)
        return found

    @cached_property
    def base(self) -> Placement:
        """Placement of the base in the root, if needed."""
        flat = self.base_placement
        return Placement(ca.reshape(flat[:9], 3, 3).T, flat[9:12]) if flat.shape[0] else Placement.identity(self.q)

    @cached_property
    def q_dot(self) -> Any:
        """Time derivatives of the coordinates."""
        rates = [
            self.v[link.node.eta_dot]
            if link.kind == "modal"
            else link.node.part.joint.q_dot(self.q[link.node.q], self.v[link.node.v])
            for link in self.links
            if link.kind in ("modal", "joint")
        ]
        return ca.vertcat(*rates) if rates else ca.SX(0, 1)

    def _port(self, port: Any, twist_of: list[LinkMotion]) -> tuple[int, Attachment | None, Any]:
        """Return the link of a port, the motion of its frame with modes, and its twist."""
        i, frame = self.place[port[0]], port[1]
        if not frame:
            return i, None, twist_of[i].twist
        link = self.links[i]
        eta_dot = self.v[link.node.eta_dot]
        attachment = attach(link.n, frame, self.q[link.node.eta], eta_dot)
        return i, attachment, move_twist(attachment.X_BA, twist_of[i].twist) + attachment.S @ eta_dot

    @cached_property
    def port_twists(self) -> Any:
        """Twists of the ports, stacked."""
        return ca.vertcat(*[self._port(port, self.motions)[2] for port in self.ports], ca.SX(0, 1))

    @cached_property
    def port_placements(self) -> Any:
        """Placements of the ports in the root (rows of R, then p), if needed."""
        if not self.base_placement.shape[0]:
            return ca.SX(0, 1)
        found = []
        for port in self.ports:
            i, attachment, _ = self._port(port, self.motions)
            X = self.base @ self.placements[i]
            X = X if attachment is None else X @ attachment.X_BA
            found.append(ca.vertcat(ca.vec(X.R.T), X.p))
        return ca.vertcat(*found, ca.SX(0, 1))

    @cached_property
    def port_accelerations(self) -> Any:
        """Accelerations of the ports from those of the base and of the speeds."""
        found: list[Any] = []
        rates = self.v_dot
        for link, motion in zip(self.links, self.motions, strict=True):
            above = self.base_acceleration if link.parent == ROOT else found[link.parent]
            if motion.attachment is not None:
                above = carried_acceleration(motion, above, ca.vertsplit(rates[self.links[link.parent].speeds]))
            A = move_twist(motion.X, above) + motion.bias
            for s, k in zip(motion.S, range(link.node.v.start, link.node.v.stop), strict=False):
                A = A + s * rates[k]
            found.append(A)
        ports = []
        for port in self.ports:
            i, attachment, twist = self._port(port, self.motions)
            if attachment is None:
                ports.append(found[i])
                continue
            own = self.links[i].node.eta_dot
            bias = attachment.bias + cross_motion(twist, attachment.S @ self.v[own])
            ports.append(move_twist(attachment.X_BA, found[i]) + attachment.S @ rates[own] + bias)
        return ca.vertcat(*ports, ca.SX(0, 1))

    @cached_property
    def inertia(self) -> AggregateInertia:
        """Mass matrix, bias and coupling to the base, with outboard inertias; passive efforts are part of the bias."""
        loads, modal = self._loads()
        on_base = add_point_loads(self, loads, modal)
        wrenches, forces = bias_loads(self.links, self.motions, loads, modal)
        outboard: dict[int, list[Outboard]] = {}
        size = 27 if self.is_symmetric else 42
        for k, port in enumerate(self.ports):
            flat = self.outer[size * k : size * (k + 1)]
            inertia = unpack_inertia(flat[:21]) if self.is_symmetric else FullInertia(ca.reshape(flat[:36], 6, 6).T)
            i, attachment, twist = self._port(port, self.motions)
            bias = None
            if attachment is not None:
                bias = attachment.bias + cross_motion(twist, attachment.S @ self.v[self.links[i].node.eta_dot])
            outboard.setdefault(i, []).append(Outboard(inertia, flat[-6:], {}, {}, attachment, bias))
        found = compose(self.links, self.motions, wrenches, forces, outboard, is_symmetric=self.is_symmetric)
        efforts = self._passive() + self._closing_efforts()
        return replace(found, h=found.h - efforts, wrench=found.wrench - on_base)

    def _loads(self) -> tuple[list[Any], dict[int, Any]]:
        """Return wrenches on the links and forces on modes: gravity as a load, elasticity, body actuators."""
        environment, n = self.frames.system.environment, self.group("#environment")
        loads, modal = [], {}
        for i, (link, motion) in enumerate(zip(self.links, self.motions, strict=True)):
            total, members = zeros(6, self.q), link.members
            if motion.modal is not None:
                elastic = link.node.flexible_body.elastic_forces(self.q[link.node.eta], motion.rates, link.n)
                modal[i] = -elastic
                members = [(Placement.identity(self.q), motion.modal.rigid.about_centre())]
            if self.frames.has_gravity:
                X = self.base @ self.placements[i]
                for X_FB, body in members:
                    total = total + pull_wrench(X_FB, environment.gravity_wrench(self.t, X @ X_FB, body, n))
                if motion.modal is not None:
                    modal[i] = modal[i] + environment.modal_gravity(self.t, X, motion.modal, n)
            loads.append(total)
        for k, (_, effort) in enumerate(self.efforts):
            if isinstance(effort, JointEffort):
                continue
            i, wrench, forces = self._unit_wrench(k, effort)
            loads[i] = loads[i] + wrench * self.u[k]
            if forces is not None:
                modal[i] = modal[i] + forces * self.u[k]
        return loads, modal

    def _unit_wrench(self, k: int, effort: Wrench) -> tuple[int, Any, Any]:
        """Return the link, wrench about its frame and modal forces of an effort on a body at unit input."""
        i, X, attachment = self.located(effort.on)
        eta = self.q[self.links[i].node.eta] if effort.is_spread else None
        return i, *unit_wrench(effort, self.group(f"#input{k}"), X, self.base @ self.placements[i], eta, attachment)

    def located(self, on: str) -> tuple[int, Placement, Attachment | None]:
        """Return the link of a frame (`ROOT` if fixed in the base), its placement there, and its motion with modes."""
        found, frame, _ = self.frames.place(on)
        i = self.place.get(found, ROOT)
        if frame and i != ROOT:
            link = self.links[i]
            attachment = attach(link.n, frame, self.q[link.node.eta], self.v[link.node.eta_dot])
            return i, attachment.X_BA, attachment
        return i, Placement(self.pieces[f"{on}.frame_R"], self.pieces[f"{on}.frame_p"]), None

    def _passive(self) -> Any:
        """Return the efforts of springs and drives in the joints."""
        total = ca.SX.zeros(self.v.shape[0])
        joints = {link.node.part.joint_name: link.node for link in self.links if link.kind == "joint"}
        for k, element in enumerate(self.frames.elements(self.aggregate.links)):
            places = []
            for joint, component in element.ends:
                node = joints[joint]
                q, v = find_component(f"element '{element.name}'", component, node.part)
                places.append((None if q is None else node.q.start + q, node.v.start + v))
            q_at, v_at = [None if i is None else self.q[i] for i, _ in places], [self.v[j] for _, j in places]
            for (_, at), effort in zip(places, element.efforts(q_at, v_at, self.group(f"#element{k}")), strict=True):
                total[at] += effort
        return total

    def _closing_efforts(self) -> Any:
        """Return the generalised forces of motors in joints that close loops, from the power ``effort . relative twist``."""
        total = ca.SX.zeros(self.v.shape[0])
        names = [item.name for item in self.aggregate.constraints]
        for k, (_, effort) in enumerate(self.efforts):
            if isinstance(effort, JointEffort):
                at, gain = names.index(effort.joint), effort_gain(effort, self.group(f"#input{k}"))
                column = self._closing_effort(self.aggregate.constraints[at], self.group(f"#constraint{at}"), effort)
                total += column * gain * self.u[k]
        return total

    def _closing_effort(self, loop: Any, n: dict[str, Any], effort: JointEffort) -> Any:
        component = find_component("actuator", effort.component, loop)[1]
        (X_a, twist_a), (X_b, twist_b) = (self.frame(on) for on in (loop.a, loop.b))
        X = X_b @ Placement(n["rotation_b"], n["at_b"])
        R_JF = (X_a.R @ n["rotation_a"]).T @ X.R
        wrench = loop.joint.effort_wrenches(R_JF, n)[:, component]  # on b, about F in F axes
        moving = twist_b[3:] + cross(twist_b[:3], X.p - X_b.p) - twist_a[3:] - cross(twist_a[:3], X.p - X_a.p)
        relative = stack(X.R.T @ (twist_b[:3] - twist_a[:3]), X.R.T @ moving)
        return ca.jacobian(dot(wrench, relative), self.v).T

    def frame(self, on: str) -> tuple[Placement, Any]:
        """Return the placement of a named frame in the base, and its twist relative to the base in the base's axes."""
        i, X, attachment = self.located(on)
        if i == ROOT:
            return X, ca.SX.zeros(6)
        X_BA, twist = self.placements[i] @ X, move_twist(X, self.resting[i].twist)
        if attachment is not None:
            twist = twist + attachment.S @ self.v[self.links[i].node.eta_dot]
        return X_BA, stack(X_BA.R @ twist[0:3], X_BA.R @ twist[3:6])
