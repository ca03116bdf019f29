"""Write a problem as ``x_dot = f(x, w)``: controls w are the inputs that no equality path condition determines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.planners.collocation.transcription.point import Rates, reduce_condition
from spacectl.planners.problem import Problem
from spacectl.planners.quantities import Quantities

__all__ = ["FlowExpressions", "Row", "choose_busy", "equality_count", "express_flow", "flow_rows"]


@dataclass(frozen=True)
class Row:
    """A quantity bounded along the motion: a dependent input, a state or a path condition."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class FlowExpressions:
    """Columns of expressions of the state x, the controls w and the parameters p.

    Parameters
    ----------
    x, w, p : symbols
        Of shapes (n_x,), (n_w,), (n_p,).
    rate : expression (n_x,)
        x_dot.
    u : expression (n_u,)
        All inputs, with the dependent ones solved for.
    y : expression (n_y,)
        Values of `flow_rows`.
    ends : expression (n_g,)
        Values of the terminal conditions.
    residuals : expression
        Residuals of the equality path conditions and of their rates, which the start must satisfy.
    """

    x: Any
    w: Any
    p: Any
    rate: Any
    u: Any
    y: Any
    ends: Any
    residuals: Any


def express_flow(problem: Problem, busy: tuple[str, ...]) -> FlowExpressions:
    """Write a problem as a flow.

    With ``u = (w, b)``, an equality condition ``c(q) = 0`` gives ``c_ddot = alpha(x, w) + beta(x) b = 0``,
    which determines the dependent inputs b as forces of an artificial constraint (Sadigh 1995, Eq 7.2).
    """
    eom = problem.eom
    if not eom.functions["v_dot"].is_a("SXFunction"):
        raise ModelError(
            f"system '{eom.system.name}': these equations are not scalar expressions; use formulation='kane'"
        )
    controls = [name for name in eom.inputs if name not in busy]
    sizes = {"t": 1, "x": eom.n_x, "w": len(controls), "b": len(busy), "a": eom.n_v, "p": eom.p.size}
    t, x, w, b, a, p = (ca.SX.sym(name, size) for name, size in sizes.items())
    q, v = x[: eom.n_q], x[eom.n_q :]
    u = ca.vertcat(*[b[busy.index(name)] if name in busy else w[controls.index(name)] for name in eom.inputs])
    q_dot, v_dot = eom.functions["q_dot"](t, q, v, p), eom.functions["v_dot"](t, q, v, u, p)
    equalities = _equality_residuals(problem, Quantities(eom, t, q, v, p, u, {}, a), Rates(t, q, v, q_dot, a), u)
    if busy:
        equations = ca.substitute(ca.vertcat(*[item[-1] for item in equalities]), a, v_dot)
        rest = ca.substitute(equations, b, ca.SX.zeros(len(busy)))
        solved = ca.solve(ca.jacobian(equations, b), -rest)
        u, v_dot = ca.substitute([u, v_dot], [b], [solved])
    y = _row_values(problem, busy, Quantities(eom, t, q, v, p, u, {}, v_dot), x, u)
    end = Quantities(eom, t, q, v, p)
    ends = _column([end.of(item.rule, f"condition '{item.name}'") for item in problem.conditions_end])
    levels = _column([level for item in equalities for level in item[:-1]])
    found = [ca.vertcat(q_dot, v_dot), u, y, ends, levels]
    if any(ca.depends_on(item, t) for item in found if item.numel()):
        raise ModelError(
            f"problem '{problem.name}': its equations or conditions depend explicitly on time; use plan_collocation"
        )
    found = [ca.densify(ca.cse(item)) for item in ca.substitute(found, [t], [ca.SX(0)])]
    return FlowExpressions(x, w, p, *found)


def _equality_residuals(problem: Problem, along: Quantities, rates: Rates, u: Any) -> list[list[Any]]:
    """Return the residual of each equality condition and its rates, until inputs or accelerations appear."""
    return [
        reduce_condition(along.of(item.rule, f"path condition '{item.name}'") - item.low, rates, (u,))
        for item in problem.path
        if item.low == item.high
    ]


def flow_rows(problem: Problem, busy: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the bounds along the motion: dependent inputs, states, inequality path conditions."""
    low, high = problem.input_limits()
    places = problem.eom.labels.u.indices(busy)
    rows = [Row(name, float(low[i]), float(high[i])) for name, i in zip(busy, places, strict=True)]
    rows += [Row(name, *pair) for name, pair in problem.bounds.items()]
    for item in problem.path:
        if item.low < item.high:
            rows += [Row(item.name, item.low, item.high)] * item.rule.size
    return tuple(rows)


def _row_values(problem: Problem, busy: tuple[str, ...], along: Quantities, x: Any, u: Any) -> Any:
    """Return the values that `flow_rows` bounds."""
    labels = problem.eom.labels
    values = [u[labels.u.index(name)] for name in busy] + [x[labels.x.index(name)] for name in problem.bounds]
    values += [along.of(item.rule, f"path condition '{item.name}'") for item in problem.path if item.low < item.high]
    return _column(values)


def _column(values: list[Any]) -> Any:
    return ca.vertcat(*values) if values else ca.SX(0, 1)


def equality_count(problem: Problem) -> int:
    """Return the number of values of the equality path conditions."""
    return sum(item.rule.size for item in problem.path if item.low == item.high)


def choose_busy(problem: Problem, inputs: np.ndarray) -> tuple[str, ...]:
    """Return the dependent inputs: those farthest from their limits in a guess, one per equality value.

    Parameters
    ----------
    problem : Problem
        The maneuver.
    inputs : array (n, n_u)
        Inputs of the guess.
    """
    count = equality_count(problem)
    low, high = problem.input_limits()
    with np.errstate(invalid="ignore"):
        used = np.nan_to_num(np.mean(np.abs(2.0 * inputs - low - high) / (high - low), axis=0), nan=0.0)
    if count > len(used):
        raise ModelError(f"problem '{problem.name}': {count} equality path conditions, but only {len(used)} inputs")
    names = problem.eom.inputs
    return tuple(names[i] for i in sorted(np.argsort(used, kind="stable")[:count]))
