"""The terms that premature linearisation omits (003 Eqs 5.14, 5.20, 5.21), computed from their definition.

Every body is a set of particles whose positions are explicit expressions of joints and shapes; accelerations are second time
derivatives of these positions. The computation is independent of the recursion, the inertia integrals and the orders of flexible
bodies, so that ``premature + correction == linearised`` compares two independent methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.dynamics.tree.nodes import Tree
from spacectl.dynamics.truncation.particles import body_placements, frame_placement, particle_position, particles
from spacectl.model.system import System

__all__ = ["Correction", "correction_terms"]


def correction_terms(system: System) -> Correction:
    """Return the terms omitted if displacements are linearised before partial velocities are taken.

    ``E_r = sum_i dV_r^i . (R^i - m^i a^i)`` (Sadigh 1995, Eq 5.14) with first-order partial velocities dV_r and zero-order
    forces R and accelerations a, over the particles of all bodies; for torques, first-order partial angular velocities.
    Adding E to the right-hand side of the modal equations of the premature formulation gives the properly linearised ones. The
    deformations of all flexible bodies count as small, for any `order`.

    Parameters
    ----------
    system : System
        A tree with at least one flexible body. Joint elements are allowed, as they do no work on modal displacements;
        constraints, elements between points and distributed loads are not.

    Returns
    -------
    Correction
        A callable ``E(t, q, v, v_dot, u)``, with its split into mass and force terms.

    Raises
    ------
    ModelError
        If no body is flexible, or for forces that are not supported.

    Examples
    --------
    >>> from spacectl import Beam, Part, Revolute
    >>> beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0)
    >>> spun = System(name="rotor", parts=(Part(beam, joint=Revolute(name="hub", axis="z")),))
    >>> terms = correction_terms(spun)
    >>> terms.rows.names, terms.columns.names
    (('beam.eta1_dot',), ('hub_dot',))
    >>> bool(terms(0.0, [0.0, 0.1], [2.0, 0.0], [0.0, 0.0])[0] < 0.0)  # a restoring force: stiffening
    True
    """
    if not isinstance(system, System):
        raise ModelError(f"correction_terms: expected a System, got {type(system).__name__}")
    if not system.flexible_bodies:
        raise ModelError(f"system '{system.name}': no flexible body to linearise; add a Beam or ModalBody")
    _check_forces(system)
    return Correction(system)


@dataclass(frozen=True, eq=False)
class Correction:
    """The omitted terms of a system as functions of its motion: ``E = force(t, q, v, u) - mass(t, q) v_dot``.

    Parameters
    ----------
    system : System
        The description; its own parameters are used.
    """

    system: System

    @cached_property
    def _tree(self) -> Tree:
        return Tree.of(self.system)

    @cached_property
    def rows(self) -> Labels:
        """Modal speeds: the rows of all results."""
        return self._pick(self._small_v, "speed")

    @cached_property
    def columns(self) -> Labels:
        """The other speeds: the columns of the missing mass terms."""
        return self._pick(self._large_v, "speed")

    @cached_property
    def inputs(self) -> Labels:
        """Inputs u."""
        actuators = self.system.actuators
        return Labels(tuple(a.input_name for a in actuators), tuple(a.unit for a in actuators), "input")

    def __call__(self, t: Any, q: Any, v: Any, v_dot: Any, u: Any = None) -> np.ndarray:
        """Return E of Sadigh (1995) Eq 5.14, (n_rows,), to be added to the right-hand side of the premature modal equations."""
        rate = self._vector(v_dot, len(self._tree.speeds), "v_dot")
        return self.force(t, q, v, u) - self.mass(t, q) @ rate[self._large_v]

    def stiffness(self, t: Any, q: Any, v: Any, u: Any = None) -> np.ndarray:
        """Return G of Sadigh (1995) Eq 5.21, shape (n_rows, n_rows): the missing forces are ``G eta``."""
        n = len(self.rows)
        u = self._vector(np.zeros(len(self.inputs)) if u is None else u, len(self.inputs), "u")
        still, _, pushed = self._sums(t, q, v)
        return still + (pushed @ u).reshape(n, n)

    def force(self, t: Any, q: Any, v: Any, u: Any = None) -> np.ndarray:
        """Return the missing forces of Sadigh (1995) Eq 5.20.b, shape (n_rows,)."""
        return self.stiffness(t, q, v, u) @ self._eta(q)

    def mass(self, t: Any, q: Any) -> np.ndarray:
        """Return the missing mass terms of Sadigh (1995) Eq 5.20.a, shape (n_rows, n_columns)."""
        n, eta = len(self.rows), self._eta(q)
        moving = self._sums(t, q, np.zeros(len(self._tree.speeds)))[1]
        return -np.einsum("rsk,s->rk", moving.reshape(n, n, len(self.columns)), eta)

    def _eta(self, q: Any) -> np.ndarray:
        return self._vector(q, len(self._tree.coordinates), "q")[self._small_q]

    def _vector(self, value: Any, n: int, name: str) -> np.ndarray:
        array = np.asarray(value, dtype=float)
        if array.shape != (n,):
            raise ShapeError(f"correction_terms: {name} has shape {array.shape}, expected ({n},)")
        return array

    def _sums(self, t: Any, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sum over all particles the second derivatives of the work without v_dot, per v_dot, and per input."""
        q = self._vector(q, len(self._tree.coordinates), "q")
        v = self._vector(v, len(self._tree.speeds), "v")
        n = len(self.rows)
        still, moving = np.zeros((n, n)), np.zeros((n * n, len(self.columns)))
        for function, cloud in self._clouds:
            H, A = (np.array(item) for item in function(float(t), q, v, cloud))
            still += H.reshape(n, cloud.shape[1], n).sum(axis=1)
            moving += A.reshape(n * n, cloud.shape[1], len(self.columns)).sum(axis=1)
        return still, moving, np.array(self._pushes(float(t), q)).reshape(n * n, len(self.inputs))

    # -- symbols

    @cached_property
    def _small_q(self) -> list[int]:
        return [k for node in self._tree.nodes for k in range(node.eta.start, node.eta.stop)]

    @cached_property
    def _small_v(self) -> list[int]:
        return [k for node in self._tree.nodes for k in range(node.eta_dot.start, node.eta_dot.stop)]

    @cached_property
    def _large_v(self) -> list[int]:
        return [k for k in range(len(self._tree.speeds)) if k not in self._small_v]

    def _pick(self, places: list[int], kind: str) -> Labels:
        names, units = self._tree.speeds.names, self._tree.speeds.units
        return Labels(tuple(names[k] for k in places), tuple(units[k] for k in places), kind)

    @cached_property
    def _symbols(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        """t, q, v, v_dot, e (the modes), and q undeformed and with the modes e in place of its own."""
        n_q, n_v, small = len(self._tree.coordinates), len(self._tree.speeds), self._small_q
        t, q, v, v_dot = ca.SX.sym("t"), ca.SX.sym("q", n_q), ca.SX.sym("v", n_v), ca.SX.sym("v_dot", n_v)
        e, rigid, bent = ca.SX.sym("e", len(small)), ca.SX(q), ca.SX(q)
        rigid[small], bent[small] = 0.0, e
        return t, q, v, v_dot, e, rigid, bent

    def _rate(self, expression: Any) -> Any:
        """Return the time derivative along the motion."""
        t, q, v, v_dot, *_ = self._symbols
        q_dot = ca.SX.zeros(q.shape[0])
        for node in self._tree.nodes:
            if node.part.joint.speeds:
                q_dot[node.q] = node.part.joint.q_dot(q[node.q], v[node.v])
        v_dot = ca.SX(v_dot)
        v_dot[self._small_v] = 0.0
        along_t = ca.jacobian(expression, t)
        return along_t + ca.jtimes(expression, q, q_dot) + ca.jtimes(expression, v, v_dot)

    # -- work of zero-order forces on displacements by the modes

    @cached_property
    def _clouds(self) -> list[tuple[ca.Function, np.ndarray]]:
        """For each body a function of one particle, and the particles as columns."""
        t, q, v, v_dot, e, rigid, bent = self._symbols
        straight, deformed = body_placements(self._tree, t, rigid), body_placements(self._tree, t, bent)
        functions = []
        for node, X0, X in zip(self._tree.nodes, straight, deformed, strict=True):
            cloud = particles(node)
            one = ca.SX.sym("particle", cloud.shape[0])
            m = node.eta.stop - node.eta.start
            r0 = X0.point(particle_position(one, ca.SX.zeros(m)))
            force = self._gravity(t, r0) - self._rate(self._rate(r0))  # per mass, less the acceleration
            work = one[0] * ca.dot(X.point(particle_position(one, bent[node.eta])), force)
            hessian = self._second(work)
            (still,) = ca.substitute([hessian], [v_dot], [ca.SX.zeros(v_dot.shape[0])])
            moving = ca.jacobian(ca.vec(hessian.T), v_dot)[:, self._large_v]
            arguments = [t, q, v, one]
            functions.append((ca.Function("lost", arguments, [ca.densify(still), ca.densify(moving)]), cloud))
        return functions

    @cached_property
    def _pushes(self) -> ca.Function:
        """Second derivatives for unit inputs on bodies; an effort in a joint does no work on modal displacements."""
        t, q, _, _, e, rigid, bent = self._symbols
        straight, deformed = body_placements(self._tree, t, rigid), body_placements(self._tree, t, bent)
        columns = []
        for actuator in self.system.actuators:
            column = ca.SX.zeros(e.shape[0] ** 2)
            n = {key: np.asarray(number.value) for key, number in actuator.numbers().items()}
            for effort in actuator.wrenches:
                X0 = frame_placement(self._tree, effort.on, rigid, straight)
                X = frame_placement(self._tree, effort.on, bent, deformed)
                along = ca.SX(ca.DM(effort.arrow(n)))
                along = along if effort.axes == "world" else X0.R @ along
                if effort.is_moment:
                    second = ca.substitute([self._turning(X.R, along)], [e], [ca.SX.zeros(e.shape[0])])[0]
                else:
                    at = ca.SX(ca.DM(n[effort.at] if effort.at else np.zeros(3)))
                    second = self._second(ca.dot(along, X.point(at)))
                column = column + ca.vec(second.T)
            columns.append(column)
        return ca.Function("pushes", [t, q], [ca.densify(ca.horzcat(*columns)) if columns else ca.DM(1, 0)])

    def _turning(self, R: Any, along: Any) -> Any:
        """Return the derivatives by the modes of the partial angular velocities ``(dR/de_r R')`` about a direction."""
        e = self._symbols[4]
        rows = []
        for r in range(e.shape[0]):
            spin = ca.reshape(ca.jacobian(ca.vec(R), e[r]), 3, 3) @ R.T
            omega = 0.5 * ca.vertcat(spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1])
            rows.append(ca.jacobian(ca.dot(along, omega), e))
        return ca.vertcat(*rows)

    def _second(self, work: Any) -> Any:
        """Return the second derivatives by the modes, undeformed."""
        e = self._symbols[4]
        return ca.substitute([ca.hessian(work, e)[0]], [e], [ca.SX.zeros(e.shape[0])])[0]

    def _gravity(self, t: Any, r: Any) -> Any:
        """Return the force on a unit mass at r (root axes): gravity, and inertia forces of the root's motion."""
        environment, numbers = self.system.environment, self.system.environment.numbers()
        n = {key: ca.SX(ca.DM(np.asarray(item.value))) for key, item in numbers.items()}
        force = environment.attraction(t, r, n)
        lift, rate = environment.root_acceleration(t, n), environment.root_rate(t, n)
        if lift is not None:
            force = force - lift
        if rate is not None:
            velocity = self._rate(r)
            force = force - 2.0 * ca.cross(rate, velocity) - ca.cross(rate, ca.cross(rate, r))
            force = force - ca.cross(ca.jacobian(rate, t), r)
        return force


def _check_forces(system: System) -> None:
    """Raise `ModelError` for forces on the bodies that are not supported."""
    others = [item.name for item in system.point_elements]
    others += [item.name for item in system.constraints]
    others += [
        part.name for part in system.tree if part.joint.motion is not None and part not in system.parts
    ]  # rotors
    others += [item.input_name for item in system.actuators if any(wrench.is_spread for wrench in item.wrenches)]
    if others:
        raise ModelError(
            f"correction_terms: the forces of '{others[0]}' are not supported; a tree may have actuators in joints and at "
            "points, and elements in joints: omit it, or replace it by a BodyForce"
        )
