"""Truncated orders of flexible bodies: equations linear in the modal coordinates, properly or prematurely.

`linearised` is 003 Eq 5.17: the exact equations to first order in (eta, eta_dot, eta_ddot) of the bodies with this order; the
mass matrix is then not symmetric. `premature` lacks in addition the terms of 003 Eq 5.14, which are omitted if displacements are
linearised before partial velocities are taken: the classical theory of assumed modes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.dynamics.tree.actuation import effort_column, effort_direction
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions, joint_steps, root_motion
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.bodies.base.flexible import FIRST_ORDER
from spacectl.spatial.backend import cross, skew
from spacectl.spatial.flexible import symmetric_product
from spacectl.spatial.inertia import move_twist

__all__ = ["TruncatedTerms"]

#: Orders that are truncated for the whole system


class TruncatedTerms(Terms):
    """Terms to first order in the modal coordinates of bodies with a truncated order (003 Eqs 5.13, 5.17)."""

    def _small(self, orders: tuple[str, ...] = FIRST_ORDER) -> tuple[list[int], list[int]]:
        """Return the indices in q and v of the small coordinates and speeds."""
        nodes = [node for node in self.tree.nodes if node.part.body.order in orders]
        return (
            [k for node in nodes for k in range(node.eta.start, node.eta.stop)],
            [k for node in nodes for k in range(node.eta_dot.start, node.eta_dot.stop)],
        )

    def _parts(self, expression: Any) -> tuple[Any, Any]:
        """Return the zero- and first-order parts of an expression in the small coordinates and speeds."""
        scale = ca.SX.sym("scale")
        q, v = self._scaled(scale)
        (scaled,) = ca.substitute([expression], [self.q, self.v], [q, v])
        first = ca.reshape(ca.jacobian(ca.vec(scaled), scale), *scaled.shape)
        return tuple(ca.substitute([scaled, first], [scale], [ca.SX(0)]))

    def _scaled(self, scale: Any) -> tuple[Any, Any]:
        q, v = ca.SX(self.q), ca.SX(self.v)
        small_q, small_v = self._small()
        for k in small_q:
            q[k] = scale * self.q[k]
        for k in small_v:
            v[k] = scale * self.v[k]
        return q, v

    @cached_property
    def M(self) -> Any:
        """Mass matrix: first order in its large columns, zero order in the small ones, which multiply small rates."""
        zero, first = self._parts(super().M)
        M = zero + first
        small = self._small()[1]
        M[:, small] = zero[:, small]
        rows = self._small(("premature",))[1]
        if rows:
            missing = self._premature_terms
            large = [k for k in range(self.v.shape[0]) if k not in small]
            M[rows, large] += ca.jacobian(missing, self.v_dot)[:, large]
        return M

    @cached_property
    def h(self) -> Any:
        """Bias to first order."""
        zero, first = self._parts(super().h)
        h = zero + first
        rows = self._small(("premature",))[1]
        if rows:
            (still,) = ca.substitute([self._premature_terms], [self.v_dot, self.u], [0 * self.v_dot, 0 * self.u])
            h[rows] += still
        return h

    @cached_property
    def B_tau(self) -> Any:
        """Input map to first order."""
        zero, first = self._parts(super().B_tau)
        B_tau = zero + first
        rows = self._small(("premature",))[1]
        if rows and self.u.shape[0]:
            B_tau[rows, :] -= ca.jacobian(self._premature_terms, self.u)
        return B_tau

    @cached_property
    def _premature_terms(self) -> Any:
        """003 Eq 5.14 for the rows of premature bodies: first-order partial velocities on zero-order forces."""
        small_q, small_v = self._small()
        rows = [k for k, place in enumerate(small_v) if place in self._small(("premature",))[1]]
        eta = ca.vertcat(*[self.q[k] for k in small_q])
        symbols = ca.SX.sym("eta", len(small_q))
        hessian, _ = ca.hessian(self._work(small_q, symbols), symbols)
        (hessian,) = ca.substitute([hessian], [symbols], [ca.SX.zeros(len(small_q))])
        missing = hessian @ eta
        for k, actuator in enumerate(self.system.actuators):  # directions frozen in space
            for effort in actuator.wrenches:
                frozen = self._parts(effort_direction(self, actuator.input_name, effort))[0]
                column = effort_column(self, actuator.input_name, effort, frozen)
                missing = missing + self._parts(column)[1][small_v] * self.u[k]
        return missing[rows]

    def _work(self, small_q: list[int], symbols: Any) -> Any:
        """Return the work of the zero-order forces (less mass times acceleration) on modal displacements: a potential."""
        for element in self.system.point_elements:
            raise ModelError(
                f"order 'premature': element '{element.name}' acts between points, which is not supported; use another order"
            )
        rigid_q, rigid_v = self._scaled(ca.SX(0))
        steps = joint_steps(self.tree, self.t, rigid_q, rigid_v, self.numbers)
        root = root_motion(self.system.environment, self.t, self.numbers.group("environment"), self.q)
        motions = body_motions(self.tree, steps, rigid_v, root)
        bent_q = ca.SX(rigid_q)
        for k, symbol in zip(small_q, ca.vertsplit(symbols), strict=True):
            bent_q[k] = symbol
        bent = joint_steps(self.tree, self.t, bent_q, 0 * rigid_v, self.numbers)
        placements = [m.X_NB for m in body_motions(self.tree, bent, 0 * rigid_v, RootMotion.at_rest(self.q))]
        accelerations: list[Any] = []
        total, gradient = ca.SX(0), self._gradient()
        for i, (node, step, motion) in enumerate(zip(self.tree.nodes, steps, motions, strict=True)):
            above = ca.SX.zeros(6) if node.parent == ROOT else accelerations[node.parent]
            extra = above if step.attachment is None else move_twist(step.attachment.X_BA, above)
            extra = move_twist(step.X_AB, extra)
            extra = extra if step.S is None else extra + step.S @ self.v_dot[node.v]
            accelerations.append(extra)
            A, omega = motion.remainder + extra, motion.twist[0:3]
            push = -(A[3:6] + cross(omega, motion.twist[3:6]))
            field = -(skew(A[0:3]) + skew(omega) @ skew(omega))
            push = push + motion.X_NB.R.T @ (gradient @ motion.X_NB.p)
            field = field + motion.X_NB.R.T @ gradient @ motion.X_NB.R
            mass, c, c0, N = self._moments(i, bent_q)
            R0, X = motion.X_NB.R, placements[i]
            total = total + ca.dot(R0.T @ X.p, mass * push + field @ c0)
            turned = R0.T @ X.R
            total = total + ca.dot(turned @ c, push) + ca.trace(field @ N @ turned.T)
        return total

    def _moments(self, i: int, q: Any) -> tuple[Any, Any, Any, Any]:
        """Return mass, first moment (deformed and undeformed) and ``sum m X r'`` of a body."""
        node, modal = self.tree.nodes[i], self.modal[i]
        n = self.numbers.group(node.part.name)
        if modal is not None and "field0" in n:
            eta = q[node.eta]
            c = n["first0"] + (n["first1"] + 0.5 * symmetric_product(n["first2"], eta)) @ eta
            flat = n["field0"] + (n["field1"] + 0.5 * symmetric_product(n["field2"], eta)) @ eta
            return n["mass"], c, n["first0"], ca.reshape(flat, 3, 3).T
        inertia = self.inertias[i]
        (mass, first, I) = ca.substitute([ca.SX(inertia.mass), inertia.first, inertia.I_O], [self.q], [q])
        return mass, first, first, 0.5 * ca.trace(I) * ca.SX.eye(3) - I

    def _gradient(self) -> Any:
        """Return the gradient matrix of gravity in root axes, beyond a uniform field; it must be the same everywhere."""
        r = ca.SX.sym("r", 3)
        pull = self.system.environment.attraction(self.t, r, self.numbers.group("environment"))
        gradient = ca.jacobian(pull, r)
        if ca.depends_on(gradient, r):
            raise ModelError(
                f"order 'premature': not supported in {type(self.system.environment).__name__}, whose gravity is not linear in "
                "the position; use an orbit, UniformGravity or FreeSpace"
            )
        return gradient
