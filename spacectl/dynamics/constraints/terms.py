"""The rows of all constraints and their rates: ``g = 0``, ``J v = b``, ``J v_dot = gamma`` from one differentiation.

A rule that holds positions is differentiated twice, a rule of speeds once; nonlinear rules of speeds need no special
case (001 Eqs 17, 18).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.tree.energy import momentum
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions
from spacectl.dynamics.tree.sensing import frame_state
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint, Quantities
from spacectl.model.system import System
from spacectl.spatial.backend import cross, skew
from spacectl.spatial.motion import Placement

__all__ = ["ConstraintRows", "ConstraintTerms", "active_constraints"]


@dataclass(frozen=True)
class ConstraintRows:
    """One constraint's equations: `position` (None for equations of speeds) and `speed`."""

    constraint: AnyConstraint
    position: Any | None
    speed: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each equation."""
        return self.constraint.equation_names


def active_constraints(system: System, active: tuple[str, ...] | None) -> tuple[AnyConstraint, ...]:
    """The system's constraints, or those named in `active` (joints in absolute coordinates always are)."""
    names = [constraint.name for constraint in system.constraints]
    for name in active or ():
        if name not in names:
            raise ModelError(f"form_equations: active names an {unknown_name('constraint', name, names)}")
    return tuple(item for item in system.constraints if active is None or item.name in active or item.is_permanent)


class ConstraintTerms:
    """Rows, Jacobian and right side of the active constraints of a system, on the symbols of its terms.

    Parameters
    ----------
    terms : Terms
        Whose symbols.
    constraints : tuple of AnyConstraint
        The active ones.
    """

    def __init__(self, terms: Terms, constraints: tuple[AnyConstraint, ...]):
        self.terms = terms
        self.constraints = constraints

    @cached_property
    def rows(self) -> list[ConstraintRows]:
        """Rows of each constraint."""
        return [self._rows(constraint) for constraint in self.constraints]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows, in order."""
        return tuple(name for item in self.rows for name in item.names)

    @cached_property
    def position(self) -> Any:
        """All rows that hold positions."""
        held = [item.position for item in self.rows if item.position is not None]
        return ca.densify(ca.vertcat(*held)) if held else ca.SX(0, 1)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the rows that hold positions."""
        return tuple(name for item in self.rows if item.position is not None for name in item.names)

    @cached_property
    def speed(self) -> Any:
        """All rows at speed level, zero when met."""
        return ca.densify(ca.vertcat(*[item.speed for item in self.rows])) if self.rows else ca.SX(0, 1)

    @cached_property
    def J(self) -> Any:
        """Derivative of the speed rows by the speeds, (m, n_v)."""
        return ca.jacobian(self.speed, self.terms.v)

    @cached_property
    def gamma(self) -> Any:
        """``J v_dot = gamma`` keeps the speed rows constant."""
        return -self._rate(self.speed)

    def stabilised(self, alpha: float, beta: float) -> Any:
        """``gamma - 2 alpha g_dot - beta^2 g`` (Baumgarte; rules of speeds: ``gamma - alpha g``)."""
        pieces = []
        for item in self.rows:
            pieces.append(
                alpha * item.speed if item.position is None else 2.0 * alpha * item.speed + beta**2 * item.position
            )
        return self.gamma - ca.vertcat(*pieces)

    @cached_property
    def E(self) -> Any:
        """What keeps the constraints, (n_v, m): their gradients (natural) or their actuators' input maps."""
        J = self.J
        blocks, at = [], 0
        for item in self.rows:
            size, inputs = item.constraint.n_rows, item.constraint.maintained_by
            columns = ca.horzcat(*[self.input_column(name) for name in inputs])
            blocks.append(columns if inputs else J[at : at + size, :].T)
            at += size
        return ca.densify(ca.horzcat(*blocks)) if blocks else ca.SX(self.terms.v.shape[0], 0)

    def input_column(self, name: str) -> Any:
        """Generalised forces of an actuator at unit input, (n_v,)."""
        inputs = [actuator.input_name for actuator in self.terms.system.actuators]
        return self.terms.B_tau[:, inputs.index(name)]

    def frame(self, name: str) -> tuple[Placement, Any]:
        """Placement of a named frame, and its twist, seen from the root in root axes."""
        return frame_state(self.terms, self._motions, name)

    def momentum(self) -> Any:
        """Momentum of the whole system, (6,)."""
        return momentum(self.terms)

    @property
    def sides(self) -> Any:
        """One number for each constraint that has a side: positive as meant, negative if turned by half a turn."""
        held = [item.constraint for item in self.rows if item.constraint.has_side]
        found = [item.side_of(self.quantities(item)) for item in held]
        return ca.vertcat(*found) if found else ca.SX(0, 1)

    def gradient(self, constraint: AnyConstraint) -> Any:
        """Derivative of the equations between two frames by a twist of F about F in F axes, (m, 6): wrench = G' lam."""
        d, X = ca.SX.sym("d", 6), self.relative(constraint)
        if constraint.has_position_level:
            moved = X @ Placement(ca.SX(ca.DM.eye(3)) + skew(d[:3]), d[3:])
            value = self.equations(constraint, relative=lambda: moved)
        else:
            value = self.equations(constraint, relative_twist=lambda: ca.vertcat(X.R @ d[:3], X.R @ d[3:]))
        (slope,) = ca.substitute([ca.jacobian(value, d)], [d], [ca.SX.zeros(6)])
        return slope

    def relative(self, constraint: AnyConstraint) -> Placement:
        """Placement of F seen from J."""
        X_NJ, X_NF = (self._end(constraint, end)[0] for end in ("a", "b"))
        return X_NJ.inverse() @ X_NF

    def relative_twist(self, constraint: AnyConstraint) -> Any:
        """Twist of F relative to J about F's origin, in J axes."""
        (X_NJ, V_J), (X_NF, V_F) = (self._end(constraint, end) for end in ("a", "b"))
        passing = V_F[3:] - V_J[3:] - cross(V_J[:3], X_NF.p - X_NJ.p)
        return ca.vertcat(X_NJ.R.T @ (V_F[:3] - V_J[:3]), X_NJ.R.T @ passing)

    def _end(self, constraint: AnyConstraint, end: str) -> tuple[Placement, Any]:
        """Placement of J or F, and its twist about its own origin, in root axes."""
        n = self.terms.numbers.group(constraint.name)
        X, twist = self.frame(constraint.ends["ab".index(end)])  # type: ignore[index]
        place = X @ Placement(n[f"rotation_{end}"], n[f"at_{end}"])
        return place, ca.vertcat(twist[:3], twist[3:] + cross(twist[:3], place.p - X.p))

    def quantities(self, constraint: AnyConstraint, **given: Callable[..., Any]) -> Quantities:
        """What the equations of a constraint are written in; `given` are other ways to its arguments."""
        choices: dict[str, Callable[..., Any]] = {
            "quantity": partial(self.quantity, constraint),
            "relative": partial(self.relative, constraint),
            "relative_twist": partial(self.relative_twist, constraint),
        }
        return Quantities(numbers=self.terms.numbers.group(constraint.name), **{**choices, **given})

    def equations(self, constraint: AnyConstraint, **given: Callable[..., Any]) -> Any:
        """The values of its equations, (n_rows,)."""
        return constraint.column(constraint.equations(self.quantities(constraint, **given)))

    def _rows(self, constraint: AnyConstraint) -> ConstraintRows:
        value = self.equations(constraint)
        holds_positions = constraint.has_position_level
        if holds_positions is None:
            holds_positions = not self._is_of_speeds(constraint, value)
        return (
            ConstraintRows(constraint, value, self._rate(value))
            if holds_positions
            else ConstraintRows(constraint, None, value)
        )

    def _is_of_speeds(self, constraint: AnyConstraint, value: Any) -> bool:
        """Whether equations depend on speeds; all of them must, or none."""
        terms = self.terms
        moving = [ca.depends_on(value[k], terms.v) for k in range(value.shape[0])]
        held = [ca.depends_on(value[k], terms.q) for k in range(value.shape[0])]
        if any(not (a or b) for a, b in zip(moving, held, strict=True)):
            raise ModelError(
                f"constraint '{constraint.name}': its rule (or an entry of it) depends on no coordinate and no speed, so "
                "nothing can keep it; name one"
            )
        if any(moving) and not all(moving):
            raise ModelError(
                f"constraint '{constraint.name}': some entries of its rule hold positions, others speeds; make two constraints"
            )
        return any(moving)

    def _rate(self, value: Any) -> Any:
        """Rate of an expression of (t, q, v) for constant speeds."""
        terms = self.terms
        return ca.jtimes(value, terms.q, terms.q_dot) + ca.jacobian(value, terms.t)

    @cached_property
    def _motions(self) -> list[Any]:
        terms = self.terms
        return body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))

    def quantity(self, constraint: AnyConstraint, kind: str, name: str) -> Any:
        """A named quantity that a rule asks for, as an expression."""
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
                f"constraint '{constraint.name}': its rule asks for the {kind} '{name}', which only planners offer"
            )
        X, twist = self.frame(name)
        found = {"position": X.p, "velocity": twist[3:], "angular_velocity": twist[:3], "rotation": ca.vec(X.R.T)}
        return found[kind]
