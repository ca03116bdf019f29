"""Constraint equations and their time derivatives: ``g = 0``, ``J v = b``, ``J v_dot = gamma``.

Equations at position level are differentiated twice, equations at speed level once; nonlinear equations of the speeds need no
special case (001 Eqs 17, 18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions
from spacectl.dynamics.tree.outputs import frame_state, momentum
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint, Quantities
from spacectl.spatial.backend import cross, skew
from spacectl.spatial.inertia import Placement

__all__ = ["ConstraintEquations", "ConstraintTerms", "rigid_compliances"]

RIGID = 1e-12  #: compliance assigned to a rigid equation, relative to the least positive compliance


@dataclass(frozen=True)
class ConstraintEquations:
    """One constraint's equations: `position` (None for equations at speed level) and `speed`."""

    constraint: AnyConstraint
    position: Any | None
    speed: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each equation."""
        return self.constraint.equation_names


class ConstraintTerms:
    """Constraint equations, Jacobian and right-hand side of a system, in the symbols of its terms.

    Parameters
    ----------
    terms : Terms
        Provide the symbols.
    constraints : tuple of AnyConstraint
        The active constraints.
    """

    def __init__(self, terms: Terms, constraints: tuple[AnyConstraint, ...]):
        self.terms = terms
        self.constraints = constraints

    @cached_property
    def rows(self) -> list[ConstraintEquations]:
        """Equations of each constraint."""
        return [self._rows(constraint) for constraint in self.constraints]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all equations, in order."""
        return tuple(name for item in self.rows for name in item.names)

    @cached_property
    def position(self) -> Any:
        """All position-level equations."""
        found = [item.position for item in self.rows if item.position is not None]
        return ca.densify(ca.vertcat(*found)) if found else ca.SX(0, 1)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the position-level equations."""
        return tuple(name for item in self.rows if item.position is not None for name in item.names)

    @cached_property
    def speed(self) -> Any:
        """All equations at speed level, zero when satisfied."""
        return ca.densify(ca.vertcat(*[item.speed for item in self.rows])) if self.rows else ca.SX(0, 1)

    @cached_property
    def J(self) -> Any:
        """Jacobian of the speed-level equations with respect to the speeds, (m, n_v)."""
        return ca.jacobian(self.speed, self.terms.v)

    @cached_property
    def gamma(self) -> Any:
        """Right-hand side of ``J v_dot = gamma``, which keeps the speed-level residuals constant."""
        return -self._rate(self.speed)

    def stabilised(self, alpha: float, beta: float) -> Any:
        """Return ``gamma - 2 alpha g_dot - beta^2 g`` (Baumgarte), at speed level ``gamma - alpha g``."""
        pieces = []
        for item in self.rows:
            pieces.append(
                alpha * item.speed if item.position is None else 2.0 * alpha * item.speed + beta**2 * item.position
            )
        return self.gamma - ca.vertcat(*pieces)

    @cached_property
    def E(self) -> Any:
        """Map from multipliers to generalised forces, (n_v, m): gradients (natural) or input maps of actuators."""
        J = self.J
        blocks, at = [], 0
        for item in self.rows:
            size, inputs = item.constraint.n_rows, item.constraint.maintained_by
            columns = ca.horzcat(*[self.input_column(name) for name in inputs])
            blocks.append(columns if inputs else J[at : at + size, :].T)
            at += size
        return ca.densify(ca.horzcat(*blocks)) if blocks else ca.SX(self.terms.v.shape[0], 0)

    def input_column(self, name: str) -> Any:
        """Return the generalised forces of an actuator at unit input, (n_v,)."""
        inputs = [actuator.input_name for actuator in self.terms.system.actuators]
        return self.terms.B_tau[:, inputs.index(name)]

    def frame(self, name: str) -> tuple[Placement, Any]:
        """Return the placement of a named frame and its twist relative to the root in root axes."""
        return frame_state(self.terms, self._motions, name)

    def momentum(self) -> Any:
        """Return the momentum of the whole system, (6,)."""
        return momentum(self.terms)

    @property
    def sides(self) -> Any:
        """One number for each two-sided constraint: positive as intended, negative if rotated by 180 deg."""
        sided = [item.constraint for item in self.rows if item.constraint.has_side]
        found = [item.side_of(self.quantities(item)) for item in sided]
        return ca.vertcat(*found) if found else ca.SX(0, 1)

    def gradient(self, constraint: AnyConstraint) -> Any:
        """Return the derivative G of equations between two frames by a twist of F in F axes, (m, 6): wrench = G' lam."""
        d, X = ca.SX.sym("d", 6), self.relative(constraint)
        if constraint.has_position_level:
            moved = X @ Placement(ca.SX(ca.DM.eye(3)) + skew(d[:3]), d[3:])
            value = self.equations(constraint, relative=lambda: moved)
        else:
            value = self.equations(constraint, relative_twist=lambda: ca.vertcat(X.R @ d[:3], X.R @ d[3:]))
        return ca.substitute([ca.jacobian(value, d)], [d], [ca.SX.zeros(6)])[0]

    def relative(self, constraint: AnyConstraint) -> Placement:
        """Return the placement of F relative to J."""
        X_NJ, X_NF = (self._end(constraint, end)[0] for end in ("a", "b"))
        return X_NJ.inverse() @ X_NF

    def relative_twist(self, constraint: AnyConstraint) -> Any:
        """Return the twist of F relative to J about F's origin, in J axes."""
        (X_NJ, V_J), (X_NF, V_F) = (self._end(constraint, end) for end in ("a", "b"))
        linear = V_F[3:] - V_J[3:] - cross(V_J[:3], X_NF.p - X_NJ.p)
        return ca.vertcat(X_NJ.R.T @ (V_F[:3] - V_J[:3]), X_NJ.R.T @ linear)

    def _end(self, constraint: AnyConstraint, end: str) -> tuple[Placement, Any]:
        """Return the placement of J or F, and its twist about its own origin, in root axes."""
        n = self.terms.numbers.group(constraint.name)
        X, twist = self.frame(constraint.ends["ab".index(end)])  # type: ignore[index]
        place = X @ Placement(n[f"rotation_{end}"], n[f"at_{end}"])
        return place, ca.vertcat(twist[:3], twist[3:] + cross(twist[:3], place.p - X.p))

    def quantities(self, constraint: AnyConstraint, **given: Callable[..., Any]) -> Quantities:
        """Return the quantities for the equations of a constraint; `given` replaces some of the functions."""
        choices: dict[str, Callable[..., Any]] = {
            "quantity": partial(self.quantity, constraint),
            "relative": partial(self.relative, constraint),
            "relative_twist": partial(self.relative_twist, constraint),
        }
        return Quantities(numbers=self.terms.numbers.group(constraint.name), **{**choices, **given})

    def equations(self, constraint: AnyConstraint, **given: Callable[..., Any]) -> Any:
        """Return the values of its equations, (n_rows,)."""
        return constraint.column(constraint.equations(self.quantities(constraint, **given)))

    def _rows(self, constraint: AnyConstraint) -> ConstraintEquations:
        value = self.equations(constraint)
        is_of_positions = constraint.has_position_level
        if is_of_positions is None:
            is_of_positions = not self._is_of_speeds(constraint, value)
        position, speed = (value, self._rate(value)) if is_of_positions else (None, value)
        return ConstraintEquations(constraint, position, speed)

    def _is_of_speeds(self, constraint: AnyConstraint, value: Any) -> bool:
        """Return whether equations depend on speeds; either all must or none."""
        terms = self.terms
        of_speeds = [ca.depends_on(value[k], terms.v) for k in range(value.shape[0])]
        of_positions = [ca.depends_on(value[k], terms.q) for k in range(value.shape[0])]
        if any(not (a or b) for a, b in zip(of_speeds, of_positions, strict=True)):
            raise ModelError(
                f"constraint '{constraint.name}': its rule (or an entry of it) depends on no coordinate and no speed, so "
                "no motion can satisfy it; name one"
            )
        if any(of_speeds) and not all(of_speeds):
            raise ModelError(
                f"constraint '{constraint.name}': some entries of its rule constrain positions, others speeds; make two "
                "constraints"
            )
        return any(of_speeds)

    def _rate(self, value: Any) -> Any:
        """Return the time derivative of an expression of (t, q, v) for constant speeds."""
        terms = self.terms
        return ca.jtimes(value, terms.q, terms.q_dot) + ca.jacobian(value, terms.t)

    @cached_property
    def _motions(self) -> list[Any]:
        terms = self.terms
        return body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))

    def quantity(self, constraint: AnyConstraint, kind: str, name: str) -> Any:
        """Return a named quantity that a rule uses, as an expression."""
        terms = self.terms
        if kind == "time":
            return terms.t
        if kind == "number":
            return terms.numbers.group(constraint.name)[name]
        if kind == "momentum":
            return self.momentum()
        if kind == "state":
            labels = terms.tree
            if name in labels.coordinates.names:
                return terms.q[labels.coordinates.index(name)]
            return terms.v[labels.speeds.index(name)]
        if kind in ("input", "input_rate", "output", "energy"):
            raise ModelError(
                f"constraint '{constraint.name}': its rule uses the {kind} '{name}', which only planners provide"
            )
        X, twist = self.frame(name)
        found = {"position": X.p, "velocity": twist[3:], "angular_velocity": twist[:3], "rotation": ca.vec(X.R.T)}
        return found[kind]


def rigid_compliances(constraints: Iterable[AnyConstraint]) -> tuple[float, ...]:
    """Return the compliance of all constraint equations, in order; tiny for rigid ones."""
    values = np.array([value for item in constraints for value in item.row_compliance])
    yielding = values[values > 0.0]
    least = RIGID * float(np.min(yielding)) if yielding.size else 1.0
    return tuple(np.where(values > 0.0, values, least).tolist())
