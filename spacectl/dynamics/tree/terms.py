"""The shared terms of the equations of motion, ``M(t, q) v_dot + h(t, q, v) = B_tau(t, q) u``.

Kane's sums over bodies (003 Eqs 2.7, 2.12) are collected along the tree: composite inertias are
accumulated once from the tips to the root, so each element of M costs one product of a partial velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.dynamics.tree.actuation import body_wrench, input_column
from spacectl.dynamics.tree.elements import PointTerms, joint_efforts, line_lengths, mass_numbers
from spacectl.dynamics.tree.kinematics import BodyMotion, Steps, body_motions, joint_steps, root_motion
from spacectl.dynamics.tree.mass_matrix import mass_matrix
from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree, symbolic_numbers
from spacectl.model.system import System
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.flexible import ModalInertia
from spacectl.spatial.inertia import Inertia, move_twist, pull_wrench

__all__ = ["Terms"]


@dataclass(frozen=True, eq=False)
class Terms:
    """Symbolic terms of a tree of rigid and flexible bodies; each is computed on first use.

    Parameters
    ----------
    system : System
        The description.
    vary : tuple of str
        Parameters whose exact zeros (or ones) become run-time parameters too.
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
        return joint_steps(self.tree, self.t, self.q, self.v, self.numbers)

    @cached_property
    def motions(self) -> list[BodyMotion]:
        """Inertial motion of the bodies (relative to the root's origin)."""
        root = root_motion(self.system.environment, self.t, self.numbers.group("environment"), self.q)
        return body_motions(self.tree, self.steps, self.v, root)

    @cached_property
    def modal(self) -> list[ModalInertia | None]:
        """Inertia of each flexible body at its modal coordinates; None for rigid ones."""
        return [
            ModalInertia.of(self.numbers.group(node.part.name), self.q[node.eta]) if node.is_flexible else None
            for node in self.tree.nodes
        ]

    @cached_property
    def mass_properties(self) -> list[tuple[Any, Any, Any]]:
        """Mass, centre of mass and central inertia of each body in its deformed state."""
        lengths = line_lengths(self.system, self.tree, self.t, self.q, self.numbers)
        return [
            node.part.body.mass_properties(mass_numbers(node.part, self.numbers, lengths))
            if modal is None
            else modal.rigid.about_centre()
            for node, modal in zip(self.tree.nodes, self.modal, strict=True)
        ]

    @cached_property
    def inertias(self) -> list[Inertia]:
        """Inertia of each body about its own origin."""
        pairs = zip(self.mass_properties, self.modal, strict=True)
        return [Inertia.from_centre(*body) if modal is None else modal.rigid for body, modal in pairs]

    @cached_property
    def q_dot(self) -> Any:
        """``W v + X``: rates of the coordinates."""
        rates = []
        for node in self.tree.nodes:
            if node.part.joint.speeds:
                rates.append(node.part.joint.q_dot(self.q[node.q], self.v[node.v]))
            if node.is_flexible:
                rates.append(self.v[node.eta_dot])
        q_dot, drift = ca.vertcat(*rates) if rates else ca.SX(0, 1), self.points.drift()
        return q_dot if drift is None else q_dot - drift

    @cached_property
    def points(self) -> PointTerms:
        """Springs and tethers between points."""
        return PointTerms(self.system, self.tree, self.t, self.q, self.v, self.numbers, self.motions)

    @cached_property
    def M(self) -> Any:
        """Mass matrix, shape (n_v, n_v), symmetric (003 Eq 2.12.a)."""
        return mass_matrix(self.tree, self.steps, self.inertias, self.modal)

    @cached_property
    def h(self) -> Any:
        """Bias, shape (n_v,): inertia forces of the remainder of acceleration, less gravity and elastic forces."""
        motions = [motion.remainder for motion in self.motions]
        return self.project(*self._body_loads(motions, None)) - self.passive

    @cached_property
    def passive(self) -> Any:
        """Generalised forces of springs and dampers in the joints, shape (n_v,)."""
        return joint_efforts(self.system, self.tree, self.q, self.v, self.numbers)

    @cached_property
    def B_tau(self) -> Any:
        """Input map, shape (n_v, n_u)."""
        inputs = [input_column(self, actuator) for actuator in self.system.actuators]
        return ca.horzcat(*inputs) if inputs else ca.SX(self.v.shape[0], 0)

    def joint_wrenches(self, extra: list[tuple[int, Any]] | None = None) -> list[Any]:
        """Return the wrench (moment, force) of each joint on its body, about F in F axes, given v_dot and u.

        `extra` are additional loads: pairs of a body and a wrench about its origin in its axes.
        """
        accelerations: list[Any] = []
        for node, step in zip(self.tree.nodes, self.steps, strict=True):
            rate = zeros(6, self.q) if node.parent == ROOT else accelerations[node.parent]
            if step.attachment is not None:
                modal_rate = self.v_dot[self.tree.nodes[node.parent].eta_dot]
                rate = move_twist(step.attachment.X_BA, rate) + step.attachment.S @ modal_rate
            rate = move_twist(step.X_AB, rate)
            accelerations.append(rate if step.S is None else rate + step.S @ self.v_dot[node.v])
        remainders = [motion.remainder + extra for motion, extra in zip(self.motions, accelerations, strict=True)]
        loads, modal = self._body_loads(remainders, self.v_dot)
        for k, actuator in enumerate(self.system.actuators):
            for effort in actuator.wrenches:
                i, wrench, _ = body_wrench(self, actuator.input_name, effort)
                loads[i] = loads[i] - wrench * self.u[k]
        for i, wrench in extra or ():
            loads[i] = loads[i] - wrench
        wrenches = []
        for node, load in zip(self.tree.nodes, self._carry(loads, modal)[0], strict=True):
            n = self.numbers.group(node.part.name)
            R, p = n["child_rotation"], n["child_at"]
            wrenches.append(stack(R.T @ (load[0:3] - cross(p, load[3:6])), R.T @ load[3:6]))
        return wrenches

    def _body_loads(self, accelerations: list[Any], v_dot: Any | None) -> tuple[list[Any], list[Any]]:
        """Return the wrench ``I A + V x* I V - gravity`` of each body for the given accelerations, and its modal forces."""
        environment, n = self.system.environment, self.numbers.group("environment")
        loads, modal_loads = [], []
        for i, (inertia, motion, body, A) in enumerate(
            zip(self.inertias, self.motions, self.mass_properties, accelerations, strict=True)
        ):
            modal, node = self.modal[i], self.tree.nodes[i]
            if modal is None:
                load, forces = inertia @ A + inertia.bias_wrench(motion.twist), None
            else:
                rate = self.v[node.eta_dot]
                eta_ddot = ca.SX.zeros(rate.shape[0]) if v_dot is None else v_dot[node.eta_dot]
                load, forces = modal.load(A, eta_ddot)
                wrench, bias = modal.bias(motion.twist, rate)
                load, forces = (
                    load + wrench,
                    forces + bias + node.flexible_body.elastic_forces(self.q[node.eta], rate, modal.n),
                )
                pull = environment.modal_gravity(self.t, motion.X_NB, modal, n)
                forces = forces if pull is None else forces - pull
            gravity = environment.gravity_wrench(self.t, motion.X_NB, body, n)
            loads.append(load if gravity is None else load - gravity)
            modal_loads.append(forces)
        for i, wrench, pushes in self.points.loads():
            loads[i] = loads[i] - wrench
            modal_loads[i] = modal_loads[i] if pushes is None else modal_loads[i] - pushes
        return loads, modal_loads

    def _carry(self, loads: list[Any], modal: list[Any]) -> tuple[list[Any], list[Any]]:
        """Sum the loads outboard of each joint and each mode, from the tips to the root."""
        carried, forces = list(loads), list(modal)
        for i in reversed(range(len(carried))):
            parent, step = self.tree.nodes[i].parent, self.steps[i]
            if parent != ROOT:
                wrench = pull_wrench(step.X_AB, carried[i])
                if step.attachment is not None:
                    forces[parent] = forces[parent] + step.attachment.S.T @ wrench
                    wrench = pull_wrench(step.attachment.X_BA, wrench)
                carried[parent] = carried[parent] + wrench
        return carried, forces

    def project(self, loads: list[Any], modal: list[Any]) -> Any:
        """Return the generalised forces, in the order of the speeds, of wrenches on the bodies and forces on their modes."""
        wrenches, modal = self._carry(loads, modal)
        rows = []
        for step, wrench, forces in zip(self.steps, wrenches, modal, strict=True):
            rows += [] if step.S is None else [step.S.T @ wrench]
            rows += [] if forces is None else [forces]
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)
