"""Quantities available to the rules of a problem, as expressions of the equations' symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions
from spacectl.dynamics.tree.outputs import energies, frame_state, momentum, sensor_values
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Quantities"]


@dataclass(frozen=True, eq=False)
class Quantities:
    """Named quantities of a system at symbolic time, state, inputs and accelerations.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    t, q, v, p : symbols
        Time, coordinates, speeds, parameters.
    u, u_dot, v_dot : symbols or None
        Inputs, rates of inputs by name, accelerations; None if a rule may not use them.
    """

    eom: EquationsOfMotion
    t: Any
    q: Any
    v: Any
    p: Any
    u: Any = None
    u_dot: dict[str, Any] | None = None
    v_dot: Any = None

    def of(self, rule: Any, what: str) -> Any:
        """Return the values of a rule (`NamedExpression`), with errors that name it."""
        try:
            return ca.densify(ca.SX(rule(self.quantity)))
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from error

    def quantity(self, kind: str, name: str) -> Any:
        """Return the quantity (kind, name) of `core.expression.Recorder`."""
        readers: dict[str, Callable[[str], Any]] = {
            "time": lambda _: self.t,
            "state": self._state,
            "input": self._input,
            "input_rate": self._input_rate,
            "output": self._output,
            "energy": lambda _: sum(self._terms_at(list(energies(self._terms)))),
            "momentum": lambda _: self._terms_at([momentum(self._terms)])[0],
        }
        return readers[kind](name) if kind in readers else self._frame(kind, name)

    def _state(self, name: str) -> Any:
        labels = self.eom.labels
        if name in labels.q:
            return self.q[labels.q.index(name)]
        if name in labels.v:
            return self.v[labels.v.index(name)]
        raise ModelError(unknown_name("state", name, labels.x.names))

    def _input(self, name: str) -> Any:
        if self.u is None:
            raise ModelError(f"input '{name}': inputs are undetermined at the boundary; use it in path conditions")
        return self.u[self.eom.labels.u.index(name)]

    def _input_rate(self, name: str) -> Any:
        known = self.u_dot or {}
        if name not in known:
            raise ModelError(f"{unknown_name('input rate', name, known)}; add the input to rate_limits")
        return known[name]

    def _output(self, name: str) -> Any:
        index = self.eom.labels.y.index(name)
        terms = self._terms
        y = sensor_values(terms, terms.system.sensors, v_dot=terms.v_dot)[index]
        if self.v_dot is None and ca.depends_on(y, terms.v_dot):
            raise ModelError(f"output '{name}' is an acceleration, which is undetermined at the boundary")
        return self._terms_at([y])[0]

    def _frame(self, kind: str, name: str) -> Any:
        if kind not in ("position", "velocity", "angular_velocity", "rotation"):
            raise ModelError(f"a rule uses the {kind} '{name}', which planners do not support")
        X, twist = frame_state(self._terms, self._motions, name)
        found = {"position": X.p, "velocity": twist[3:], "angular_velocity": twist[:3], "rotation": ca.vec(X.R.T)}
        return self._terms_at([found[kind]])[0]

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.eom.system, self.eom.handover.vary)

    @cached_property
    def _motions(self) -> list[Any]:
        terms = self._terms
        return body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))

    def _terms_at(self, expressions: list[Any]) -> list[Any]:
        """Evaluate expressions of the symbols of `Terms` at those of these quantities."""
        terms, functions = self._terms, self.eom.functions
        v = functions["joint_speeds"](self.t, self.q, self.v, self.p) if "joint_speeds" in functions else self.v
        v_dot = ca.SX.zeros(terms.v.shape[0]) if self.v_dot is None else self.v_dot
        given = [terms.t, terms.q, terms.v, terms.v_dot, terms.p]
        return list(ca.Function("quantities", given, expressions).call([self.t, self.q, v, v_dot, self.p]))
