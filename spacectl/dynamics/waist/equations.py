"""`EquationsOfMotion`: the common result of all formulations, and the starting point of all analyses.

It contains names, labels and parameters, numeric calls, and the named CasADi functions behind them, each
built on first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import Evaluator
from spacectl.core.errors import ModelError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.constraints.diagnosis import solve_finite
from spacectl.dynamics.recursion.linear_kernel import LinearTerms
from spacectl.dynamics.waist.checks import ParameterChecks
from spacectl.dynamics.waist.compiled import CompiledEquations, Kind
from spacectl.dynamics.waist.functions import EquationLabels, evaluate_along, evaluate_many, form_jacobian
from spacectl.dynamics.waist.handover import Handover, Reduction
from spacectl.dynamics.waist.linear_terms import differentiate_v_dot
from spacectl.dynamics.waist.named_states import NamedStates
from spacectl.dynamics.waist.native_evaluation import NativeEvaluation
from spacectl.model.system import System

__all__ = ["EquationsOfMotion", "require_equations"]

_MANY_JACOBIANS = 300  # uses of one Jacobian from which the form with the faster values pays


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EquationsOfMotion(NamedStates, NativeEvaluation):
    """Equations of motion of a system in one formulation.

    ``q_dot = W(t, q) v + X(t, q)`` and ``M(t, q) v_dot + h(t, q, v) = B_tau(t, q) u``; the state is x = (q, v).

    Parameters
    ----------
    system : System
        The description.
    formulation : str
        Name of the formulation.
    labels : EquationLabels
        Names and units.
    parameters : Parameters
        The run-time parameters p; every call takes ``p=None`` for the system's own values.
    functions : mapping of str to casadi.Function
        Named functions with named arguments.
    quaternions : tuple of int
        First index, in x, of each unit quaternion.
    x_rest : array, shape (n_x,)
        The reference state (unit quaternions, else zero).
    structure_hash : str
        SHA-256 hash of all that determines the form of the equations.
    rebuild : callable and its arguments
        Function that forms the same equations in another process.
    stats : mapping
        Reason for this formulation, and sizes.
    handover : Handover
        Other results of the formulation: numeric calls, native code, elimination of loops.
    constraint_rows, position_rows : tuple of str
        Names of the constraint equations (speed level, multipliers), and of those at position level.
    constraint_inputs : tuple of str
        Inputs that maintain artificial constraints. The equations determine them, so they are not among the inputs u.
    """

    system: System
    formulation: str
    labels: EquationLabels
    parameters: Parameters
    functions: Mapping[str, ca.Function]
    quaternions: tuple[int, ...]
    x_rest: Any
    structure_hash: str
    rebuild: tuple[Any, ...]
    stats: Mapping[str, Any] = field(default_factory=dict)
    handover: Handover = field(default_factory=Handover)
    constraint_rows: tuple[str, ...] = ()
    position_rows: tuple[str, ...] = ()
    constraint_inputs: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return self.rebuild

    def __repr__(self) -> str:
        return f"<EquationsOfMotion of '{self.system.name}' by {self.formulation}: {self.n_q} q, {self.n_v} v, {self.n_u} u>"

    @property
    def numeric(self) -> Mapping[str, Callable[..., Any]]:
        """Numeric calls that replace the function of that name."""
        return self.handover.calls

    @property
    def reduction(self) -> Reduction | None:
        """Elimination of loops, for formulations that partition the speeds."""
        return self.handover.reduction

    @property
    def p(self) -> np.ndarray:
        """The system's own parameters, shape (n_p,)."""
        return np.array(self.parameters.values)

    def parameters_of(self, system: System) -> np.ndarray:
        """Return the vector p of another system of the same structure, for use with these equations."""
        vary = self.handover.vary
        other = system.parameters(vary=vary)
        if system.structure_hash(vary=vary) != self.system.structure_hash(vary=vary):
            raise ModelError(
                f"system '{system.name}' has another structure than '{self.system.name}'; form its own equations"
            )
        return self.parameters.check(other.values)

    def check_parameters(self, p: Any) -> np.ndarray:
        """Check the size, structure and physics (positive masses, unit axes, ...) of `p`; return it."""
        vector = self.parameters.check(p)
        self._checks(vector)
        return vector

    def limits(self, p: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper limits of the inputs, each of shape (n_u,); infinite where there is none."""
        actuators = [a for a in self.system.actuators if a.input_name not in self.constraint_inputs]
        bounds = [item.default_bounds for item in actuators] or [(-np.inf, np.inf)] * self.n_u
        low, high = np.array(bounds, dtype=float).reshape(self.n_u, 2).T.copy()
        for i, name in enumerate(self.inputs):
            if f"{name}.limit" in self.parameters:
                low[i], high[i] = self.parameters.get(f"{name}.limit", p)
        return low, high

    def call(self, function: str, *arguments: Any, p: Any = None) -> list[np.ndarray]:
        """Return the numeric results of a named function; `p` is appended as its last argument."""
        vector = self._p if p is None else self.parameters.check(p)
        if function in self.handover.calls:
            return self.handover.calls[function](*arguments, vector)
        return self._evaluator(function)(*arguments, vector)

    def compiled(self, p: Any = None, *, kind: Kind = "auto") -> CompiledEquations:
        """Return the equations as native code for fixed parameters p: fast single calls and batches."""
        return CompiledEquations(self, p, kind=kind)

    def x_dot(self, t: float, x: Any, u: Any = (), p: Any = None) -> np.ndarray:
        """Return the rate of the state, shape (n_x,)."""
        rate = self._x_dot(t, x, u) if p is None else None
        return solve_finite(self, "x_dot", (t, x, u), p) if rate is None else rate

    def v_dot(self, t: float, q: Any, v: Any, u: Any = (), p: Any = None) -> np.ndarray:
        """Return the rates of the speeds, shape (n_v,)."""
        rates = self._v_dot(t, q, v, u) if p is None else None
        return solve_finite(self, "v_dot", (t, q, v, u), p) if rates is None else rates

    def mass_matrix(self, t: float, q: Any, p: Any = None) -> np.ndarray:
        """Return M, shape (n_v, n_v)."""
        M = self._mass_matrix(t, q) if p is None else None
        return self._value("mass_matrix", (t, q), p) if M is None else M

    def bias(self, t: float, q: Any, v: Any, p: Any = None) -> np.ndarray:
        """Return h, shape (n_v,)."""
        return self._value("bias", (t, q, v), p).reshape(-1)

    def inverse_dynamics(self, t: float, q: Any, v: Any, v_dot: Any, p: Any = None) -> np.ndarray:
        """Return the generalised forces ``M v_dot + h`` of a motion, shape (n_v,)."""
        if "inverse_dynamics" in self.functions:
            return self._value("inverse_dynamics", (t, q, v, v_dot), p).reshape(-1)
        return self.mass_matrix(t, q, p) @ np.asarray(v_dot, dtype=float) + self.bias(t, q, v, p)

    def linear_terms(self, t: float, q: Any, v: Any, u: Any = (), p: Any = None) -> LinearTerms:
        """Return v_dot and its derivatives by tangent coordinates, speeds and inputs.

        Tangent coordinates are the coordinates themselves, or for a quaternion the rotation vector in child axes. The
        derivatives of a constrained system do not respect its constraints; `linearize` does, and makes a state-space model.
        """
        terms: LinearTerms | None = self._linear_terms(q, v, u) if p is None else None
        terms = self.native_value("linear_terms", (q, v, u), p) if terms is None else terms
        return differentiate_v_dot(self, t, q, v, u, p) if terms is None else terms

    def input_map(self, t: float, q: Any, p: Any = None) -> np.ndarray:
        """Return B_tau, shape (n_v, n_u)."""
        return self._value("input_map", (t, q), p)

    def energy(self, t: float, q: Any, v: Any, p: Any = None) -> float:
        """Return kinetic plus potential energy [J]; in a circular orbit the Jacobi integral."""
        kinetic, potential = self.call("energy", t, q, v, p=p)
        return float(kinetic[0, 0] + potential[0, 0])

    def momentum(self, t: float, q: Any, v: Any, p: Any = None) -> np.ndarray:
        """Return the momentum, shape (6,): angular about the root's origin, then linear; root axes, inertial velocities."""
        return self.call("momentum", t, q, v, p=p)[0].reshape(-1)

    def center_of_mass(self, t: float, q: Any, p: Any = None) -> np.ndarray:
        """Return the centre of mass, root axes, shape (3,)."""
        return self.call("center_of_mass", t, q, p=p)[0].reshape(-1)

    def reactions(self, t: float, q: Any, v: Any, u: Any = (), p: Any = None) -> np.ndarray:
        """Return the wrench of each joint on its body (actuator included), (n_parts, 6): moment, force about F in F axes."""
        v_dot = self.v_dot(t, q, v, u, p)
        if "lam" not in self.functions["reactions"].name_in():
            return self.call("reactions", t, q, v, u, v_dot, p=p)[0]
        lam = self.multipliers(t, q, v, u, p)
        vector = self._p if p is None else self.parameters.check(p)
        return self._evaluator("reactions")(t, q, v, u, v_dot, vector, lam)[0]

    def multipliers(self, t: float, q: Any, v: Any, u: Any = (), p: Any = None) -> np.ndarray:
        """Return the multipliers of the constraint equations, for artificial ones the inputs that maintain them."""
        return solve_finite(self, "multipliers", (t, q, v, u), p) if self.constraint_rows else np.zeros(0)

    def residual(self, t: float, q: Any, v: Any, p: Any = None) -> np.ndarray:
        """Return the constraint residuals: position-level equations, then all at speed level; empty for a tree."""
        return self.call("residual", t, q, v, p=p)[0].reshape(-1)

    def outputs(self, t: float, x: Any, u: Any = (), p: Any = None) -> np.ndarray:
        """Return the outputs y, shape (n_y,)."""
        return self.call("outputs", t, x, u, p=p)[0].reshape(-1)

    def placements(self, t: float, q: Any, p: Any = None) -> np.ndarray:
        """Return the placements of the bodies in the root, shape (n_parts, 12): R_NB by rows, then position."""
        return self.call("placements", t, q, p=p)[0]

    def jacobian(self, function: str, output: str, argument: str, *arguments: Any, p: Any = None) -> np.ndarray:
        """Return the exact Jacobian of a named function's output by one of its arguments.

        ``eom.jacobian("x_dot", "x_dot", "x", t, x, u)`` has shape (n_x, n_x).
        """
        key = f"{function}:{output}:{argument}"
        self._uses[key] += 1
        if key not in self._jacobians or self._uses[key] == _MANY_JACOBIANS:
            is_for_many = self._uses[key] >= _MANY_JACOBIANS
            made = form_jacobian(self.functions, function, output, argument, is_for_many=is_for_many)
            self._jacobians[key] = Evaluator(made)
        return self._jacobians[key](*arguments, self._p if p is None else self.parameters.check(p))[0]

    def many(self, function: str, t: Any, x: Any, u: Any = None, p: Any = None, *, threads: int = 1) -> np.ndarray:
        """Evaluate a named function at many points: point first, then the function's first output.

        Parameters
        ----------
        function : str
            A function of (t, x, u), (t, q, v), (t, q) and so on: ``"x_dot"``, ``"mass_matrix"``, ``"outputs"``. ``"energy"``
            gives the sum of kinetic and potential energy.
        t : float or array, shape (n,)
            Time [s].
        x : array, shape (n, n_x)
            States.
        u : array, shape (n, n_u), optional
            Inputs; default zero.
        p : array, optional
            Run-time parameters.
        threads : int
            Threads among which the points are divided where native kernels evaluate them (plain trees).
        """
        return evaluate_many(
            self, function, t, x, u, self._p if p is None else self.parameters.check(p), threads=threads
        )

    def along(self, function: str, t: Any, x: Any, u: Any = None, p: Any = None) -> np.ndarray:
        """Evaluate a named function over a grid: time first, then the function's first output.

        The function may be any function of (t, x, u), (t, q, v), (t, q) and so on; t has shape (n,), x (n,
        n_x), u (n, n_u). ``"energy"`` gives the sum of kinetic and potential energy.
        """
        return evaluate_along(self, function, t, x, u, self._p if p is None else self.parameters.check(p))

    def _value(self, function: str, arguments: tuple[Any, ...], p: Any) -> np.ndarray:
        """Return the first result of a function, by native code where there is some."""
        values = self.native_value(function, arguments, p)
        return self.call(function, *arguments, p=p)[0] if values is None else values

    @cached_property
    def _checks(self) -> ParameterChecks:
        return ParameterChecks(self.parameters)

    @cached_property
    def _evaluators(self) -> dict[str, Evaluator]:
        return {}

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter()

    @cached_property
    def _jacobians(self) -> dict[str, Evaluator]:
        return {}

    def _evaluator(self, function: str) -> Evaluator:
        if function not in self._evaluators:
            self._evaluators[function] = Evaluator(self.functions[function])
        return self._evaluators[function]


def require_equations(eom: Any, caller: str) -> None:
    """Raise `ModelError` with a remedy if `eom` is not an `EquationsOfMotion`."""
    if not isinstance(eom, EquationsOfMotion):
        cure = "; call form_equations(system) first" if isinstance(eom, System) else ""
        raise ModelError(f"{caller}: expected EquationsOfMotion, got {type(eom).__name__}{cure}")
