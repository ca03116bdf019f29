"""The shared terms of the equations of motion, ``M(t, q) v_dot + h(t, q, v) = B_tau(t, q) u``.

Kane's sums over bodies (003 Eqs 2.7, 2.12) are collected along the tree: the inertia of everything a joint carries
is accumulated once from the tips to the root, so each element of M costs one product of a partial velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.dynamics.kinematics import BodyMotion, Steps, body_motions, frame_in_body, joint_steps, root_motion
from spacectl.dynamics.tree import ROOT, Numbers, Tree, symbolic_numbers
from spacectl.model.actuators import Actuator, BodyForce, BodyTorque, JointTorque, ReactionWheel
from spacectl.model.system import System
from spacectl.model.validate import find_speed
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.inertia import Inertia
from spacectl.spatial.motion import move_twist, pull_wrench

__all__ = ["Terms"]


@dataclass(frozen=True, eq=False)
class Terms:
    """Symbolic terms of a rigid tree; each is computed on first use.

    Parameters
    ----------
    system : System
        The description.
    vary : tuple of str
        Numbers freed from structure.
    """

    system: System
    vary: tuple[str, ...] = ()

    @cached_property
    def tree(self) -> Tree:
        """Nodes and labels."""
        return Tree.of(self.system)

    @cached_property
    def _symbols(self) -> tuple[Any, Any, Any, Any, Any]:
        tree = self.tree
        sym = ca.SX.sym
        return (
            sym("t"),
            sym("q", len(tree.coordinates)),
            sym("v", len(tree.speeds)),
            sym("u", len(self.system.actuators)),
            sym("v_dot", len(tree.speeds)),
        )

    @property
    def t(self) -> Any:
        """Time."""
        return self._symbols[0]

    @property
    def q(self) -> Any:
        """Coordinates."""
        return self._symbols[1]

    @property
    def v(self) -> Any:
        """Speeds."""
        return self._symbols[2]

    @property
    def u(self) -> Any:
        """Inputs."""
        return self._symbols[3]

    @property
    def v_dot(self) -> Any:
        """Accelerations, where a term needs them as a symbol."""
        return self._symbols[4]

    @cached_property
    def _numbers(self) -> tuple[Any, Numbers]:
        return symbolic_numbers(self.system.parameters(vary=self.vary))

    @property
    def p(self) -> Any:
        """Run-time parameters."""
        return self._numbers[0]

    @property
    def numbers(self) -> Numbers:
        """Named pieces of p."""
        return self._numbers[1]

    @cached_property
    def steps(self) -> list[Steps]:
        """Joint kinematics."""
        return joint_steps(self.tree, self.q, self.v, self.numbers)

    @cached_property
    def motions(self) -> list[BodyMotion]:
        """Inertial motion of the bodies (relative to the root's origin)."""
        return body_motions(self.tree, self.steps, self.v, root_motion(self.system.environment, self.numbers, self.q))

    @cached_property
    def mass_properties(self) -> list[tuple[Any, Any, Any]]:
        """Mass, centre of mass and central inertia of each body."""
        return [node.part.body.mass_properties(self.numbers.group(node.part.name)) for node in self.tree.nodes]

    @cached_property
    def inertias(self) -> list[Inertia]:
        """Inertia of each body about its own origin."""
        return [Inertia.from_centre(*body) for body in self.mass_properties]

    @cached_property
    def q_dot(self) -> Any:
        """``W v + X``: rates of the coordinates."""
        rates = [
            node.part.joint.q_dot(self.q[node.q], self.v[node.v]) for node in self.tree.nodes if node.part.joint.speeds
        ]
        return ca.vertcat(*rates) if rates else ca.SX(0, 1)

    @cached_property
    def M(self) -> Any:
        """Mass matrix, shape (n_v, n_v), symmetric (003 Eq 2.12.a)."""
        nodes, steps = self.tree.nodes, self.steps
        carried = list(self.inertias)
        M = ca.SX(self.v.shape[0], self.v.shape[0])
        for i in reversed(range(len(nodes))):
            node, step = nodes[i], steps[i]
            if node.parent != ROOT:
                carried[node.parent] = carried[node.parent] + carried[i].seen_from(step.X_PB)
            if step.S is None:
                continue
            momentum = [carried[i] @ step.S[:, k] for k in range(step.S.shape[1])]
            block = step.S.T @ ca.horzcat(*momentum)
            M[node.v, node.v] = block
            j, wrenches = i, momentum
            while nodes[j].parent != ROOT:
                wrenches = [pull_wrench(steps[j].X_PB, wrench) for wrench in wrenches]
                j = nodes[j].parent
                if steps[j].S is not None:
                    block = steps[j].S.T @ ca.horzcat(*wrenches)
                    M[nodes[j].v, node.v] = block
                    M[node.v, nodes[j].v] = block.T
        return M

    @cached_property
    def h(self) -> Any:
        """Bias, shape (n_v,): inertia forces of the remainder of acceleration, less gravity (003 Eq 2.12.b)."""
        return self._project(self._carry(self._body_loads([motion.remainder for motion in self.motions])))

    @cached_property
    def B_tau(self) -> Any:
        """Input map, shape (n_v, n_u)."""
        columns = [self._input_column(actuator) for actuator in self.system.actuators]
        return ca.horzcat(*columns) if columns else ca.SX(self.v.shape[0], 0)

    @cached_property
    def joint_wrenches(self) -> list[Any]:
        """Wrench (moment, force) that each joint passes to its body, about frame F in F axes, for given v_dot and u."""
        accelerations: list[Any] = []
        for node, step in zip(self.tree.nodes, self.steps, strict=True):
            rate = zeros(6, self.q) if node.parent == ROOT else move_twist(step.X_PB, accelerations[node.parent])
            accelerations.append(rate if step.S is None else rate + step.S @ self.v_dot[node.v])
        remainders = [motion.remainder + extra for motion, extra in zip(self.motions, accelerations, strict=True)]
        loads = self._body_loads(remainders)
        for k, actuator in enumerate(self.system.actuators):
            if isinstance(actuator, (BodyForce, BodyTorque)):
                i, wrench = self._body_wrench(actuator)
                loads[i] = loads[i] - wrench * self.u[k]
        wrenches = []
        for node, load in zip(self.tree.nodes, self._carry(loads), strict=True):
            n = self.numbers.group(node.part.name)
            R, p = n["child_rotation"], n["child_at"]
            wrenches.append(stack(R.T @ (load[0:3] - cross(p, load[3:6])), R.T @ load[3:6]))
        return wrenches

    def _body_loads(self, accelerations: list[Any]) -> list[Any]:
        """``I A + V x* I V - gravity`` of each body for the given accelerations."""
        environment, n = self.system.environment, self.numbers.group("environment")
        loads = []
        for inertia, motion, body, A in zip(
            self.inertias, self.motions, self.mass_properties, accelerations, strict=True
        ):
            load = inertia @ A + inertia.bias_wrench(motion.twist)
            gravity = environment.gravity_wrench(motion.X_NB, body, n)
            loads.append(load if gravity is None else load - gravity)
        return loads

    def _carry(self, loads: list[Any]) -> list[Any]:
        """Sum of the loads of everything that each joint carries, from the tips to the root."""
        carried = list(loads)
        for i in reversed(range(len(carried))):
            parent = self.tree.nodes[i].parent
            if parent != ROOT:
                carried[parent] = carried[parent] + pull_wrench(self.steps[i].X_PB, carried[i])
        return carried

    def _project(self, wrenches: list[Any]) -> Any:
        """Generalised forces ``S' f`` of wrenches at the joints."""
        rows = [step.S.T @ wrench for step, wrench in zip(self.steps, wrenches, strict=True) if step.S is not None]
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def _input_column(self, actuator: Actuator) -> Any:
        column = ca.SX(self.v.shape[0], 1)
        if isinstance(actuator, (JointTorque, ReactionWheel)):
            joint = actuator.joint if isinstance(actuator, JointTorque) else actuator.input_name
            node = next(node for node in self.tree.nodes if node.part.joint_name == joint)
            column[node.v.start + (find_speed(actuator, node.part) if isinstance(actuator, JointTorque) else 0)] = 1.0
            return column
        i, wrench = self._body_wrench(actuator)
        while i != ROOT:
            node, step = self.tree.nodes[i], self.steps[i]
            if step.S is not None:
                column[node.v] = step.S.T @ wrench
            wrench = pull_wrench(step.X_PB, wrench)
            i = node.parent
        return column

    def _body_wrench(self, actuator: Any) -> tuple[int, Any]:
        """Body index and wrench about its origin, body axes, for unit input."""
        i, X_BA = frame_in_body(self.tree, actuator.on, self.numbers, self.q)
        n = self.numbers.group(actuator.input_name)
        in_world = actuator.axes == "world"
        along = self.motions[i].X_NB.R.T @ n["direction"] if in_world else X_BA.R @ n["direction"]
        if isinstance(actuator, BodyTorque):
            return i, stack(along, zeros(3, self.q))
        return i, stack(cross(X_BA.point(n["at"]), along), along)
