"""The equations at a collocation point: residuals, path conditions and cost, with exact derivatives.

``M a + h - B u - E lam = 0`` and ``J a = gamma`` with accelerations a and multipliers lam as unknowns of the
point. No matrix is inverted, so flexible and constrained systems are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.problem import Problem
from spacectl.planners.quantities import Quantities

__all__ = ["Derivatives", "PointModel", "Rates", "point_model", "reduce_condition"]


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Expressions of z as functions of (z, w, p): values, and nonzeros of the Jacobian and the weighted Hessian.

    `rows` and `columns` locate the nonzeros of the Jacobian, `upper_rows` and `upper_columns` those of the
    upper triangle of the Hessian of ``w' value``.
    """

    value: ca.Function
    jacobian: ca.Function
    hessian: ca.Function
    rows: np.ndarray
    columns: np.ndarray
    upper_rows: np.ndarray
    upper_columns: np.ndarray

    @classmethod
    def of(cls, name: str, value: Any, z: Any, p: Any) -> Derivatives:
        """Differentiate a column of expressions."""
        value = ca.densify(ca.cse(value))
        w, none = ca.SX.sym("w", value.shape[0]), ca.SX.sym("w", 0)
        jacobian = ca.cse(ca.jacobian(value, z))
        upper = ca.cse(ca.triu(ca.hessian(ca.dot(w, value), z)[0]))
        places = [np.array(item.sparsity().get_triplet(), dtype=int).reshape(2, -1) for item in (jacobian, upper)]

        def function(label: str, weights: Any, result: Any) -> ca.Function:
            return ca.Function(f"{name}_{label}", [z, weights, p], [_column(result)], ["z", "w", "p"], ["o"])

        return cls(
            function("value", none, value), function("jacobian", none, jacobian), function("hessian", w, upper),
            *places[0], *places[1],
        )  # fmt: skip


def _column(matrix: Any) -> Any:
    """Return the nonzeros, column after column, as a dense column."""
    nonzeros = ca.SX(matrix).nonzeros()
    return ca.densify(ca.vertcat(*nonzeros)) if nonzeros else ca.SX(0, 1)


@dataclass(frozen=True, eq=False)
class PointModel:
    """Unknowns z and equations of a collocation point.

    ``z = (X, rates, u, lam)`` with the extended state ``X = (t?, q, v, smooth inputs)`` and ``rates = (a,
    rates of the smooth inputs)``. The values F of `derivatives` are (q_dot, residuals, path conditions, cost
    rate). Their parameters are p and a weight of the square of each input in the cost rate, which regularises
    the solve.

    Parameters
    ----------
    problem : Problem
        The problem it was formed from; problems with the same rules share it.
    names : tuple of str
        Names of z.
    has_clock : bool
        Whether time is a state, because an expression depends on it.
    smooth : tuple of str
        Inputs that are states.
    sizes : mapping
        Lengths: X, rates, u, lam; q, v; F's parts: q_dot, residual, path, cost.
    derivatives : Derivatives
        F with its derivatives.
    ends : tuple of Derivatives
        (start conditions, anchors) and (end conditions, end cost) as functions of X.
    residual_names, path_names : tuple of str
        Names of rows.
    places : mapping
        Slices of the parts of z and F.
    anchors : tuple of (name, order, size)
        Equality path conditions are differentiated until accelerations or inputs appear. Anchors are their
        values and rates, imposed at the start.
    """

    problem: Problem
    names: tuple[str, ...]
    has_clock: bool
    smooth: tuple[str, ...]
    sizes: dict[str, int]
    derivatives: Derivatives
    ends: tuple[Derivatives, Derivatives]
    residual_names: tuple[str, ...] = ()
    path_names: tuple[str, ...] = ()
    places: dict[str, slice] = field(default_factory=dict)
    anchors: tuple[tuple[str, int, int], ...] = ()

    @property
    def n_z(self) -> int:
        """Number of unknowns of a point."""
        return len(self.names)

    @property
    def n_X(self) -> int:
        """Length of the extended state."""
        return self.sizes["X"]


_MODELS: dict[Any, PointModel] = {}
_DERIVATIVES: dict[Any, Derivatives] = {}  # arcs of a plan differ in their boundary conditions only and share these
_CACHE_SIZE = 32


def _cached(store: dict[Any, Any], key: Any, make: Any) -> Any:
    """Return a cached item, or make and store it; the oldest is removed from a full cache."""
    if key not in store:
        while len(store) >= _CACHE_SIZE:
            store.pop(next(iter(store)))
        store[key] = make()
    return store[key]


def point_model(problem: Problem, *, clock: bool = False) -> PointModel:
    """Return the cached point model of a problem, shared by problems of equal structure and rules.

    With `clock`, time is a state even if no expression depends on it, as another phase may need it.
    """
    ends = (problem.cost_end, _rules(problem.conditions_start), _rules(problem.conditions_end))
    key = (clock, _point_key(problem), ends)
    found: PointModel = _cached(_MODELS, key, lambda: _build(problem, clock))
    return found


def _rules(conditions: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((item.name, item.rule) for item in conditions)


def _point_key(problem: Problem) -> tuple[Any, ...]:
    """Return the cache key of the equations at a point."""
    is_equality = tuple(item.low == item.high for item in problem.path)
    return (
        problem.eom.structure_hash,
        tuple(problem.rate_limits),
        problem.cost_rate,
        _rules(problem.path),
        is_equality,
    )


def _build(problem: Problem, clock: bool) -> PointModel:
    eom = problem.eom
    smooth = tuple(name for name in eom.inputs if name in problem.rate_limits)
    free = tuple(name for name in eom.inputs if name not in smooth)
    sizes = {"q": eom.n_q, "v": eom.n_v, "s": len(smooth), "u": len(free), "lam": len(eom.constraint_rows)}
    sym = ca.SX.sym
    t, q, v, a, p = sym("t"), sym("q", eom.n_q), sym("v", eom.n_v), sym("a", eom.n_v), sym("p", eom.p.size)
    s, s_dot, u_free, lam = (
        sym(key, sizes[size]) for key, size in (("s", "s"), ("s_dot", "s"), ("u", "u"), ("lam", "lam"))
    )
    u = ca.vertcat(*[s[smooth.index(name)] if name in smooth else u_free[free.index(name)] for name in eom.inputs])
    u = u if eom.n_u else ca.SX(0, 1)
    q_dot, residual = _dynamics(eom, (t, q, v, a, u, lam, p))
    along = Quantities(eom, t, q, v, p, u, {name: s_dot[i] for i, name in enumerate(smooth)}, a)
    end = Quantities(eom, t, q, v, p)
    rates = Rates(t, q, v, q_dot, a)
    path_rows, anchors = [], []
    for item in problem.path:
        value = along.of(item.rule, f"path condition '{item.name}'")
        reduced = reduce_condition(value, rates, (u, s_dot)) if item.low == item.high else [value]
        path_rows.append(reduced[-1])
        anchors += [(item, order, row) for order, row in enumerate(reduced[:-1])]
    path = _stack(path_rows)
    cost = ca.SX(0) if problem.cost_rate is None else along.of(problem.cost_rate, "cost_rate")
    damping = sym("damping", eom.n_u)  # weights of squared inputs, run-time parameters that follow p
    cost = cost + ca.dot(damping, u**2) if eom.n_u else cost
    F = ca.vertcat(q_dot, residual, path, cost)
    ends = [
        _stack([end.of(item.rule, f"condition '{item.name}'") for item in items])
        for items in (problem.conditions_start, problem.conditions_end)
    ]
    ends[0] = ca.vertcat(ends[0], *[row for _, _, row in anchors])
    ends[1] = ca.vertcat(ends[1], ca.SX(0) if problem.cost_end is None else end.of(problem.cost_end, "cost_end"))
    has_clock = clock or any(ca.depends_on(item, t) for item in (F, *ends) if item.numel())
    X = ca.vertcat(*([t] if has_clock else []), q, v, s)
    z = ca.vertcat(X, a, s_dot, u_free, lam)
    if not has_clock:
        F, *ends = ca.substitute([F, *ends], [t], [ca.SX(0)])
    derivatives = _cached(
        _DERIVATIVES, (has_clock, _point_key(problem)), lambda: Derivatives.of("point", F, z, ca.vertcat(p, damping))
    )
    sizes |= {"X": int(X.shape[0]), "rates": eom.n_v + len(smooth), "path": int(path.shape[0])}
    sizes |= {"residual": int(residual.shape[0])}
    names = (
        *(("t",) if has_clock else ()), *eom.states, *(f"input {name}" for name in smooth),
        *(f"rate of {name}" for name in eom.speeds), *(f"rate of input {name}" for name in smooth),
        *(f"input {name}" for name in free), *(f"multiplier of {name}" for name in eom.constraint_rows),
    )  # fmt: skip
    return PointModel(
        problem=problem, names=names, has_clock=has_clock, smooth=smooth, sizes=sizes, derivatives=derivatives,
        ends=(Derivatives.of("begin", ends[0], X, p), Derivatives.of("end", ends[1], X, p)),
        residual_names=(*(f"equation of {name}" for name in eom.speeds), *(f"constraint {name}" for name in eom.constraint_rows)),
        path_names=_row_names(problem.path),
        places=_places(sizes, has_clock),
        anchors=tuple((item.name, order, int(row.shape[0])) for item, order, row in anchors),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rates:
    """Symbols and expressions needed to differentiate with respect to time."""

    t: Any
    q: Any
    v: Any
    q_dot: Any
    a: Any

    def of(self, value: Any) -> Any:
        """Return the time derivative of an expression of (t, q, v)."""
        moved = ca.jtimes(value, self.q, self.q_dot) + ca.jtimes(value, self.v, self.a)
        return moved + ca.jacobian(value, self.t)


def reduce_condition(value: Any, rates: Rates, inputs: tuple[Any, ...]) -> list[Any]:
    """Return an equation and its time derivatives, up to the one in which accelerations or inputs appear.

    Collocated at position level, an equation has index 3, and the condition number of the programme grows
    with the square of the number of intervals.
    """
    out = [value]
    while not any(ca.depends_on(out[-1], item) for item in (rates.a, *inputs) if item.numel()) and len(out) < 3:
        out.append(rates.of(out[-1]))
    return out


def _row_names(conditions: tuple[Any, ...]) -> tuple[str, ...]:
    """Return a name for each value of the conditions."""
    sizes = [(item.name, item.rule.size) for item in conditions]
    return tuple(name if size == 1 else f"{name} ({i + 1})" for name, size in sizes for i in range(size))


def _places(sizes: dict[str, int], has_clock: bool) -> dict[str, slice]:
    """Return the slices of the parts of z (q, v, s, X, rates, u, lam) and of F (q_dot, residual, path, cost)."""
    found: dict[str, slice] = {}
    begin = int(has_clock)
    for key in ("q", "v", "s"):
        found[key] = slice(begin, begin + sizes[key])
        begin += sizes[key]
    found["X"] = slice(0, begin)
    for key in ("rates", "u", "lam"):
        found[key] = slice(begin, begin + sizes[key])
        begin += sizes[key]
    begin = 0
    for key, size in (("q_dot", sizes["q"]), ("residual", sizes["residual"]), ("path", sizes["path"]), ("cost", 1)):
        found[f"F.{key}"] = slice(begin, begin + size)
        begin += size
    return found


def _stack(values: list[Any]) -> Any:
    return ca.vertcat(*values) if values else ca.SX(0, 1)


def _dynamics(eom: EquationsOfMotion, symbols: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return q_dot and the residual of the equations of motion, with constraints at acceleration level."""
    t, q, v, a, u, lam, p = symbols
    functions = eom.functions
    if eom.constraint_rows:
        q_dot, M, f, J, gamma, E = functions["terms"](t, q, v, u, p)
        return q_dot, ca.vertcat(M @ a - f - E @ lam, J @ a - gamma)
    if not functions["mass_matrix"].is_a("SXFunction"):
        raise ModelError(
            f"system '{eom.system.name}': these equations are not scalar expressions; use formulation='kane'"
        )
    force = functions["input_map"](t, q, p) @ u if eom.n_u else 0.0
    return functions["q_dot"](t, q, v, p), functions["mass_matrix"](t, q, p) @ a + functions["bias"](t, q, v, p) - force
