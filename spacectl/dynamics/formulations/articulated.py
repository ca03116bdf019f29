"""Order-N equations of a tree by the articulated-body recursion, unrolled into one expression.

Shares with `kane` the description, the joints' formulas (`model`) and `spatial`; links, sweeps, loads and gravity are
its own. Mass matrix, energy and outputs come from the shared terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.core.provenance import content_hash
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.formulations.kane import form_kane
from spacectl.dynamics.functions import LazyFunctions
from spacectl.dynamics.links import Link, Links, form_links
from spacectl.dynamics.native.compiled import UNROLL_LIMIT
from spacectl.dynamics.native.large import LargeTree
from spacectl.dynamics.recursion import LinkMotion, forward_dynamics, inverse_dynamics, move
from spacectl.dynamics.tree import ROOT, Tree, symbolic_numbers
from spacectl.model.actuators import BodyTorque, JointTorque, ReactionWheel
from spacectl.model.system import System
from spacectl.model.validate import find_speed
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.motion import Placement, pull_wrench

__all__ = ["Sweeps", "form_articulated"]


def form_articulated(system: System, *, vary: tuple[str, ...], rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations with order-N forward dynamics (and ``inverse_dynamics``: (t, q, v, v_dot, p) -> tau).

    Parameters
    ----------
    system : System
        A tree.
    vary : tuple of str
        Numbers freed from structure.
    rebuild : tuple
        How another process forms the same equations.
    """
    shared = form_kane(system, vary=vary, rebuild=rebuild)
    sweeps = Sweeps(system, vary)
    own = {"x_dot": sweeps.x_dot, "v_dot": sweeps.v_dot, "inverse_dynamics": sweeps.inverse_dynamics}
    builders = {name: (lambda name=name: shared.functions[name]) for name in shared.functions}
    implicit = {f"{name}_implicit": builders[name] for name in ("x_dot", "v_dot")}
    is_large = shared.n_v > UNROLL_LIMIT
    return replace(
        shared,
        formulation="articulated",
        structure_hash=content_hash(["articulated", system.structure_hash(vary=vary)]),
        functions=LazyFunctions({**builders, **implicit, **own}),
        numeric=LargeTree(system, shared.parameters).calls() if is_large else {},
    )


class Sweeps:
    """The recursion on symbols, for one system."""

    def __init__(self, system: System, vary: tuple[str, ...] = ()):
        self.system = system
        self.tree = Tree.of(system)
        self.p, self.numbers = symbolic_numbers(system.parameters(vary=vary))
        self.t = ca.SX.sym("t")
        self.q, self.v = ca.SX.sym("q", len(self.tree.coordinates)), ca.SX.sym("v", len(self.tree.speeds))
        self.u, self.rates = ca.SX.sym("u", len(system.actuators)), ca.SX.sym("v_dot", len(self.tree.speeds))

    def x_dot(self) -> ca.Function:
        """(t, x, u, p) -> x_dot."""
        x = ca.SX.sym("x", self.q.shape[0] + self.v.shape[0])
        q_dot = [
            node.part.joint.q_dot(self.q[node.q], self.v[node.v]) for node in self.tree.nodes if node.part.joint.speeds
        ]
        whole = ca.densify(ca.vertcat(*q_dot, self._v_dot))
        (whole,) = ca.substitute([whole], [self.q, self.v], [x[: self.q.shape[0]], x[self.q.shape[0] :]])
        return ca.Function("x_dot", [self.t, x, self.u, self.p], [whole], ["t", "x", "u", "p"], ["x_dot"])

    def v_dot(self) -> ca.Function:
        """(t, q, v, u, p) -> v_dot."""
        arguments = [self.t, self.q, self.v, self.u, self.p]
        return ca.Function("v_dot", arguments, [ca.densify(self._v_dot)], ["t", "q", "v", "u", "p"], ["v_dot"])

    def inverse_dynamics(self) -> ca.Function:
        """(t, q, v, v_dot, p) -> tau, the generalised forces of the motion."""
        loads = self._gravity()
        tau = inverse_dynamics(self.links.items, self.motions, self.rates, loads, self._root[1])
        arguments = [self.t, self.q, self.v, self.rates, self.p]
        names = ["t", "q", "v", "v_dot", "p"]
        return ca.Function("inverse_dynamics", arguments, [ca.densify(ca.vertcat(*tau))], names, ["tau"])

    @cached_property
    def links(self) -> Links:
        """Moving bodies."""
        return form_links(self.tree, self.numbers, self.q)

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Outward sweep."""
        motions: list[LinkMotion] = []
        for link in self.links.items:
            parent = self._root[0] if link.parent == ROOT else motions[link.parent].twist
            motions.append(move(link, self.q[link.node.q], self.v[link.node.v], parent))
        return motions

    @cached_property
    def placements(self) -> list[Placement]:
        """Placement of each link's frame in the root."""
        placements: list[Placement] = []
        for link, motion in zip(self.links.items, self.motions, strict=True):
            placements.append(motion.X if link.parent == ROOT else placements[link.parent] @ motion.X)
        return placements

    @cached_property
    def _environment(self) -> Mapping[str, Any]:
        return self.numbers.group("environment")

    @cached_property
    def _root(self) -> tuple[Any, Any]:
        """Twist and acceleration of the root frame."""
        rate = self.system.environment.root_rate(self._environment)
        lift = self.system.environment.root_acceleration(self._environment)
        none = zeros(3, self.q)
        return stack(none if rate is None else rate, none), stack(none, none if lift is None else lift)

    @cached_property
    def _v_dot(self) -> Any:
        tau, loads = self._actuation()
        loads = [load + extra for load, extra in zip(loads, self._gravity(), strict=True)]
        return ca.vertcat(*forward_dynamics(self.links.items, self.motions, tau, loads, self._root[1]))

    def _gravity(self) -> list[Any]:
        """Gravity wrenches on the links (beyond a uniform field), about F."""
        return [self._gravity_on(i, link) for i, link in enumerate(self.links.items)]

    def _gravity_on(self, i: int, link: Link) -> Any:
        total = zeros(6, self.q)
        for X_FB, properties in link.members:
            if (
                self.system.environment.gravity_wrench(Placement.identity(self.q), properties, self._environment)
                is None
            ):
                return total
            X_NB = self.placements[i] @ X_FB
            wrench = self.system.environment.gravity_wrench(X_NB, properties, self._environment)
            total = total + pull_wrench(X_FB, wrench)
        return total

    def _actuation(self) -> tuple[Any, list[Any]]:
        """Generalised forces at the joints, and external wrenches on the links, linear in u."""
        tau, loads = ca.SX.zeros(self.v.shape[0]), [zeros(6, self.q) for _ in self.links.items]
        for k, actuator in enumerate(self.system.actuators):
            if isinstance(actuator, (JointTorque, ReactionWheel)):
                joint = actuator.joint if isinstance(actuator, JointTorque) else actuator.input_name
                node = next(node for node in self.tree.nodes if node.part.joint_name == joint)
                shift = find_speed(actuator, node.part) if isinstance(actuator, JointTorque) else 0
                tau[node.v.start + shift] += self.u[k]
                continue
            i, wrench = self._unit_wrench(actuator)
            if i != ROOT:
                loads[i] = loads[i] + wrench * self.u[k]
        return tau, loads

    def _unit_wrench(self, actuator: Any) -> tuple[int, Any]:
        """Link index and wrench about F of a body actuator with unit input."""
        body, _, frame = actuator.on.partition(".")
        index = self.tree.index(body)
        i, X_FB = self.links.body[index]
        if i == ROOT:
            return i, None
        X = X_FB
        if frame:
            X = X @ Placement(self.numbers[f"{body}.{frame}.rotation"], self.numbers[f"{body}.{frame}.at"])
        n = self.numbers.group(actuator.input_name)
        along = self.placements[i].R.T @ n["direction"] if actuator.axes == "world" else X.R @ n["direction"]
        if isinstance(actuator, BodyTorque):
            return i, stack(along, zeros(3, self.q))
        return i, stack(cross(X.point(n["at"]), along), along)
