"""`Flow`: the exact motion of a problem under piecewise constant inputs, with its derivatives.

Controls are constant in each cell, and the motion is integrated by a Runge-Kutta method of order 8. A mode
that a collocation mesh resolves with dozens of unknowns costs one integration step of a few tenths of a
radian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.batch_function import BatchFunction
from spacectl.core.errors import ModelError
from spacectl.planners.bang_bang.flow_expressions import FlowExpressions, express_flow, flow_rows
from spacectl.planners.bang_bang.flow_native import FlowCode
from spacectl.planners.problem import Problem

__all__ = ["Flow", "Linear", "Values"]

_SAMPLES = 20  # nodes at which the fastest mode is computed


@dataclass(frozen=True, eq=False)
class Linear:
    """Linearised flow ``dx_k+1 = A_k dx_k + B_k dw_k + c_k dh_k``; c is the state rate at the end of the cell.

    Parameters
    ----------
    A, B, c : array
        Of shapes (n, n_x, n_x), (n, n_x, n_w), (n, n_x).
    """

    A: np.ndarray
    B: np.ndarray
    c: np.ndarray


@dataclass(frozen=True, eq=False)
class Values:
    """Values of expressions at points, with their derivatives with respect to state and controls.

    Parameters
    ----------
    value, by_x, by_w : array
        Of shapes (n, m), (n, m, n_x), (n, m, n_w).
    """

    value: np.ndarray
    by_x: np.ndarray
    by_w: np.ndarray


class Flow:
    """Flow map of a problem under controls that are constant in each cell.

    Parameters
    ----------
    problem : Problem
        The maneuver.
    busy : tuple of str
        Dependent inputs: those solved from the equality path conditions, one for each of their values.
    """

    def __init__(self, problem: Problem, busy: tuple[str, ...]):
        eom = problem.eom
        self.problem, self.busy = problem, busy
        self.controls = tuple(name for name in eom.inputs if name not in busy)
        self.places = list(eom.labels.u.indices(self.controls))
        low, high = (side[self.places] for side in problem.input_limits())
        bad = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
        if bad.size:
            name = self.controls[bad[0]]
            raise ModelError(f"problem '{problem.name}': input '{name}' has no limits; give its actuator a limit")
        self.low, self.high = low, high
        self.rows = flow_rows(problem, busy)
        self.n_x, self.n_w = eom.n_x, len(self.controls)
        known = _functions(problem, busy)
        self.n_g = known.n_g
        self._code = FlowCode(known.rate, known.jacobians, problem.p)
        self._rows, self._ends, self._residuals, self._inputs, self._rates = (
            BatchFunction(item, problem.p)
            for item in (known.rows, known.ends, known.residuals, known.inputs, known.rates)
        )

    def fastest(self, x: np.ndarray, w: np.ndarray) -> float:
        """Return the largest eigenvalue magnitude of the linearised equations over sampled nodes [rad/s]."""
        places = np.linspace(0, len(w) - 1, min(_SAMPLES, len(w))).astype(int)
        return max(float(np.abs(np.linalg.eigvals(self._code.jacobian(x[k], w[k]))).max()) for k in places)

    def integrate(self, x0: np.ndarray, w: np.ndarray, h: np.ndarray, steps: int = 1) -> np.ndarray:
        """Integrate the motion and return the state after every step, shape (n steps + 1, n_x).

        Parameters
        ----------
        x0 : array (n_x,)
            Initial state.
        w : array (n, n_w)
            Controls.
        h : array (n,)
            Lengths of the cells [s].
        steps : int
            Integration steps per cell.
        """
        return self._code.integrate(x0, np.repeat(w, steps, axis=0), np.repeat(h / steps, steps))

    def linear(self, x: np.ndarray, w: np.ndarray, h: np.ndarray, steps: int = 1) -> Linear:
        """Linearise the flow about a motion x (n steps + 1, n_x) returned by `integrate`."""
        n, n_x = len(w), self.n_x
        jacobians, rates = self._code.jacobians(x, np.repeat(w, steps, axis=0), np.repeat(h / steps, steps))
        jacobians = jacobians.reshape(n, steps, n_x, n_x + self.n_w)
        A, B = jacobians[:, 0, :, :n_x], jacobians[:, 0, :, n_x:]
        for k in range(1, steps):
            A, B = jacobians[:, k, :, :n_x] @ A, jacobians[:, k, :, :n_x] @ B + jacobians[:, k, :, n_x:]
        return Linear(A, B, rates[steps - 1 :: steps])

    def row_values(self, x: np.ndarray, w: np.ndarray) -> Values:
        """Return the quantities bounded by `rows` at states x (n, n_x) and controls w (n, n_w)."""
        return self._values(self._rows, np.hstack([x, w]), len(self.rows))

    def end_values(self, x: np.ndarray) -> Values:
        """Return the terminal conditions at a state x (n_x,)."""
        return self._values(self._ends, np.concatenate([x, np.zeros(self.n_w)])[None], self.n_g)

    def inputs(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return all inputs, dependent ones included, shape (n, n_u)."""
        return self._inputs(np.hstack([x, w]))[0]

    def rates(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the state rates, shape (n, n_x)."""
        return self._rates(np.hstack([x, w]))[0]

    def equality_error(self, x: np.ndarray) -> float:
        """Return the largest violation of the equality path conditions and their rates at a state."""
        found = self._residuals(np.concatenate([x, np.zeros(self.n_w)])[None])[0]
        return float(np.max(np.abs(found), initial=0.0))

    def _values(self, function: BatchFunction, z: np.ndarray, size: int) -> Values:
        found = function(z)[0]
        jacobians = found[:, size:].reshape(len(z), size, self.n_x + self.n_w)
        return Values(found[:, :size], jacobians[:, :, : self.n_x], jacobians[:, :, self.n_x :])


@dataclass(frozen=True, eq=False)
class _Functions:
    """Functions of a flow: the first two of (x, w, p), the others of (z, empty, p) with z = (x, w)."""

    rate: ca.Function
    jacobians: ca.Function
    rows: ca.Function
    ends: ca.Function
    residuals: ca.Function
    inputs: ca.Function
    rates: ca.Function
    n_g: int


_CACHE: dict[Any, _Functions] = {}
_CACHE_SIZE = 16


def _functions(problem: Problem, busy: tuple[str, ...]) -> _Functions:
    """Return cached functions: problems of equal structure and rules share one set of generated code."""
    rules = [tuple((item.name, item.rule, item.low if item.low == item.high else None) for item in items)
             for items in (problem.path, problem.conditions_end)]  # fmt: skip
    key = (problem.eom.structure_hash, busy, *rules, tuple(problem.bounds))
    if key not in _CACHE:
        while len(_CACHE) >= _CACHE_SIZE:
            _CACHE.pop(next(iter(_CACHE)))
        _CACHE[key] = _make_functions(express_flow(problem, busy))
    return _CACHE[key]


def _make_functions(flow: FlowExpressions) -> _Functions:
    z, none = ca.vertcat(flow.x, flow.w), ca.SX.sym("none", 0)
    given, names = [flow.x, flow.w, flow.p], ["x", "w", "p"]

    def function(name: str, value: Any) -> ca.Function:
        return ca.Function(name, [z, none, flow.p], [ca.densify(ca.cse(value))], ["z", "w", "p"], ["o"])

    def with_jacobian(value: Any) -> Any:
        return ca.densify(ca.cse(ca.vertcat(value, ca.vec(ca.densify(ca.jacobian(value, z)).T))))

    return _Functions(
        rate=ca.Function("rate", given, [flow.rate], names, ["x_dot"]),
        jacobians=ca.Function("jacobians", given, [with_jacobian(flow.rate)], names, ["o"]),
        rows=function("rows", with_jacobian(flow.y)), ends=function("ends", with_jacobian(flow.ends)),
        residuals=function("residuals", flow.residuals), inputs=function("inputs", flow.u), rates=function("rates", flow.rate),
        n_g=int(flow.ends.shape[0]),
    )  # fmt: skip
