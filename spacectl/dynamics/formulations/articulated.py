"""Order-N equations of a tree by the articulated-body recursion, unrolled into one expression.

The description, the formulas of joints (`model`) and `spatial` are shared with `kane`; links, sweeps, loads
and gravity are independent. Mass matrix, energy and outputs come from the shared terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.core.provenance import content_hash
from spacectl.dynamics.formulations.kane import form_kane
from spacectl.dynamics.recursion.large import LargeTree
from spacectl.dynamics.recursion.link_points import LinkPoints
from spacectl.dynamics.recursion.links import Links, form_links
from spacectl.dynamics.recursion.native_calls import tree_calls
from spacectl.dynamics.recursion.sweeps import LinkMotion, forward_dynamics, inverse_dynamics, move_all
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.dynamics.tree.actuation import effort_gain, effort_speed, unit_wrench
from spacectl.dynamics.tree.elements import joint_efforts, line_lengths
from spacectl.dynamics.tree.kinematics import root_motion
from spacectl.dynamics.tree.nodes import ROOT, Tree, symbolic_numbers
from spacectl.dynamics.waist.compiled import UNROLL_LIMIT
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import LazyFunctions
from spacectl.dynamics.waist.handover import Options
from spacectl.model.actuators import Wrench
from spacectl.model.system import System
from spacectl.spatial.backend import zeros
from spacectl.spatial.flexible import attach
from spacectl.spatial.inertia import Placement, pull_wrench

__all__ = ["Sweeps", "form_articulated"]


def form_articulated(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form equations with order-N forward dynamics (and ``inverse_dynamics``: (t, q, v, v_dot, p) -> tau).

    Parameters
    ----------
    system : System
        A tree.
    options : Options
        Options of the formulation.
    rebuild : tuple
        Function and arguments that form the same equations in another process.
    """
    if system.is_first_order:
        raise ModelError(
            f"system '{system.name}': the order-N recursion needs a symmetric mass matrix, but a body has a truncated order; "
            "use formulation='kane' (or 'auto'), or order='consistent'"
        )
    if system.acting(options.active):
        raise ModelError(
            f"system '{system.name}': the order-N recursion supports trees without constraints; use formulation='auto'"
        )
    shared = form_kane(system, options=options, rebuild=rebuild)
    sweeps = Sweeps(system, options.vary)
    own = {"x_dot": sweeps.x_dot, "v_dot": sweeps.v_dot, "inverse_dynamics": sweeps.inverse_dynamics}
    builders = {name: (lambda name=name: shared.functions[name]) for name in shared.functions}
    implicit = {f"{name}_implicit": builders[name] for name in ("x_dot", "v_dot")}
    is_large = shared.n_v > UNROLL_LIMIT and serves_tree(system)
    native = partial(tree_calls, system, shared.parameters) if serves_tree(system) else None
    calls = LargeTree(system, shared.parameters).calls() if is_large else {}
    return replace(
        shared,
        formulation="articulated",
        structure_hash=content_hash(["articulated", shared.structure_hash]),
        functions=LazyFunctions({**builders, **implicit, **own}),
        handover=replace(shared.handover, calls=calls, native=native, recurses_over_tree=True),
    )


class Sweeps:
    """The recursion of one system, in symbols."""

    def __init__(self, system: System, vary: tuple[str, ...] = ()):
        self.system = system
        self.tree = Tree.of(system)
        self.p, self.numbers = symbolic_numbers(system.parameters(vary=vary))
        self.t = ca.SX.sym("t")
        self.q, self.v = ca.SX.sym("q", len(self.tree.coordinates)), ca.SX.sym("v", len(self.tree.speeds))
        self.u, self.rates = ca.SX.sym("u", len(system.actuators)), ca.SX.sym("v_dot", len(self.tree.speeds))

    def x_dot(self) -> ca.Function:
        """Return (t, x, u, p) -> x_dot."""
        x = ca.SX.sym("x", self.q.shape[0] + self.v.shape[0])
        q_dot = []
        for node in self.tree.nodes:
            if node.part.joint.speeds:
                q_dot.append(node.part.joint.q_dot(self.q[node.q], self.v[node.v]))
            if node.is_flexible:
                q_dot.append(self.v[node.eta_dot])
        rates = ca.vertcat(*q_dot) - self._points.drift(self.t, self.q, self.v)
        whole = ca.densify(ca.vertcat(rates, self._v_dot))
        (whole,) = ca.substitute([whole], [self.q, self.v], [x[: self.q.shape[0]], x[self.q.shape[0] :]])
        return ca.Function("x_dot", [self.t, x, self.u, self.p], [whole], ["t", "x", "u", "p"], ["x_dot"])

    def v_dot(self) -> ca.Function:
        """Return (t, q, v, u, p) -> v_dot."""
        arguments = [self.t, self.q, self.v, self.u, self.p]
        return ca.Function("v_dot", arguments, [ca.densify(self._v_dot)], ["t", "q", "v", "u", "p"], ["v_dot"])

    def inverse_dynamics(self) -> ca.Function:
        """Return (t, q, v, v_dot, p) -> tau, the generalised forces of the motion."""
        loads, modal = self._gravity()
        tau = inverse_dynamics(self.links.items, self.motions, self.rates, loads, self._root[1], modal)
        passive = joint_efforts(self.system, self.tree, self.q, self.v, self.numbers)
        arguments = [self.t, self.q, self.v, self.rates, self.p]
        names = ["t", "q", "v", "v_dot", "p"]
        return ca.Function("inverse_dynamics", arguments, [ca.densify(ca.vertcat(*tau) - passive)], names, ["tau"])

    @cached_property
    def links(self) -> Links:
        """Moving bodies."""
        lengths = line_lengths(self.system, self.tree, self.t, self.q, self.numbers)
        return form_links(self.tree, self.numbers, self.q, lengths)

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Outward sweep."""
        return move_all(self.links.items, self.t, self.q, self.v, self._root[0])

    @cached_property
    def placements(self) -> list[Placement]:
        """Placement of each link's frame in the root."""
        placements: list[Placement] = []
        for link, motion in zip(self.links.items, self.motions, strict=True):
            X = motion.X if motion.attachment is None else motion.attachment.X_BA @ motion.X
            placements.append(X if link.parent == ROOT else placements[link.parent] @ X)
        return placements

    @cached_property
    def _points(self) -> LinkPoints:
        """Springs and tethers between points."""
        rate = self.system.environment.root_rate(self.t, self._environment)
        return LinkPoints(self.system, self.tree, self.numbers, self.links, self.motions, self.placements, rate)

    @cached_property
    def _environment(self) -> Mapping[str, Any]:
        return self.numbers.group("environment")

    @cached_property
    def _root(self) -> tuple[Any, Any]:
        """Twist and acceleration of the root frame."""
        root = root_motion(self.system.environment, self.t, self._environment, self.q)
        return root.twist, root.acceleration

    @cached_property
    def _v_dot(self) -> Any:
        tau, loads, modal = self._actuation()
        gravity, pulls = self._gravity()
        loads = [load + extra for load, extra in zip(loads, gravity, strict=True)]
        modal = {i: force + pulls[i] for i, force in modal.items()}
        tau = tau + joint_efforts(self.system, self.tree, self.q, self.v, self.numbers)
        rates = ca.vertcat(*forward_dynamics(self.links.items, self.motions, tau, loads, self._root[1], modal))
        # common expressions (the position on an orbit) are computed once
        return rates if self.system.environment.is_steady else ca.cse(rates)

    def _gravity(self) -> tuple[list[Any], dict[int, Any]]:
        """Return wrenches on the links, about F, and modal forces: gravity beyond a uniform field, elasticity, springs."""
        loads, modal = [], {}
        for i, (link, motion) in enumerate(zip(self.links.items, self.motions, strict=True)):
            if motion.modal is None:
                loads.append(self._gravity_on(i, link.members))
                continue
            loads.append(self._gravity_on(i, [(Placement.identity(self.q), motion.modal.rigid.about_centre())]))
            pull = self.system.environment.modal_gravity(self.t, self.placements[i], motion.modal, self._environment)
            elastic = link.node.flexible_body.elastic_forces(self.q[link.node.eta], motion.rates, link.n)
            modal[i] = -elastic if pull is None else pull - elastic
        self._points.add_loads(self.t, self.q, self.v, loads, modal)
        return loads, modal

    def _gravity_on(self, i: int, members: list[tuple[Placement, Any]]) -> Any:
        total = zeros(6, self.q)
        for X_FB, properties in members:
            X_NB = self.placements[i] @ X_FB
            wrench = self.system.environment.gravity_wrench(self.t, X_NB, properties, self._environment)
            total = total if wrench is None else total + pull_wrench(X_FB, wrench)
        return total

    def _actuation(self) -> tuple[Any, list[Any], dict[int, Any]]:
        """Return generalised forces at the joints, external wrenches on the links and modal forces, linear in u."""
        tau, loads = ca.SX.zeros(self.v.shape[0]), [zeros(6, self.q) for _ in self.links.items]
        modal = {i: zeros(at.rates.shape[0], self.q) for i, at in enumerate(self.motions) if at.modal is not None}
        nodes = {node.part.joint_name: node for node in self.tree.nodes}
        for k, actuator in enumerate(self.system.actuators):
            n = self.numbers.group(actuator.input_name)
            for effort in actuator.joint_efforts:
                tau[effort_speed(effort, nodes)] += effort_gain(effort, n) * self.u[k]
            for wrench in actuator.wrenches:
                i, load, forces = self._unit_wrench(wrench, n)
                if i != ROOT:
                    loads[i] = loads[i] + load * self.u[k]
                    if forces is not None:
                        modal[i] = modal[i] + forces * self.u[k]
        return tau, loads, modal

    def _unit_wrench(self, effort: Wrench, n: Mapping[str, Any]) -> tuple[int, Any, Any]:
        """Return link index, wrench about F and modal forces (or None) of an effort on a body, for unit input."""
        body, _, frame = effort.on.partition(".")
        i, X = self.links.body[self.tree.index(body)]
        if i == ROOT:
            return i, None, None
        link, attachment = self.links.items[i], None
        if frame and link.kind == "modal":
            attachment = attach(link.n, frame, self.q[link.node.eta], self.v[link.node.eta_dot])
            X = attachment.X_BA
        elif frame:
            X = X @ Placement(self.numbers[f"{body}.{frame}.rotation"], self.numbers[f"{body}.{frame}.at"])
        return i, *unit_wrench(effort, n, X, self.placements[i], self.q[link.node.eta], attachment)
