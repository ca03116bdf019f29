"""The optimisation behind `design_lqr`: weights by name, outputs, integrals and reductions as matrices of one problem.

A reduction is given as a `Reduction` or by the names of the states to keep, and is checked against its full model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.controllers.analysis.discretise import sample_cost
from spacectl.controllers.regulators.feedback import Integrals
from spacectl.controllers.regulators.riccati import RiccatiSolution, solve_continuous, solve_discrete
from spacectl.controllers.regulators.weights import (
    check_joint,
    read_cross,
    read_weight,
    require_movable,
    require_weighted,
)
from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError, ShapeError, SolverError, unknown_name
from spacectl.core.labels import Labels
from spacectl.linear.analysis.controllability import require_stabilizable
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.reduction.reduce import Reduction

__all__ = [
    "LqrProblem",
    "check_period",
    "form_problem",
    "read_reduction",
    "read_y_point",
    "solve_problem",
    "total_weights",
]


def read_reduction(
    model: LinearModel, reduction: Reduction | Iterable[str] | None, what: str
) -> tuple[LinearModel, Reduction | None]:
    """Return the model for the design, and the reduction that leads to it (None: the model itself)."""
    if reduction is None:
        return model, None
    if not isinstance(reduction, Reduction):
        if isinstance(reduction, str):
            raise ModelError(f"{what}: reduction is the text {reduction!r}; give a tuple of state names or a Reduction")
        reduction = _keep_states(model, tuple(reduction))
    if reduction.right.shape[0] != len(model.x) or reduction.model.u.names != model.u.names:
        raise ModelError(
            f"{what}: the reduction is one of {reduction.right.shape[0]} states and inputs {reduction.model.u.names}, "
            f"the model has {len(model.x)} and {model.u.names}; reduce this model"
        )
    return reduction.model, reduction


def _keep_states(model: LinearModel, names: tuple[str, ...]) -> Reduction:
    """Return rows and columns of some states, with the others zero."""
    kept = list(model.x.indices(names))
    units = tuple(model.x.units[k] for k in kept)
    left = np.eye(len(model.x))[kept]
    small = LinearModel(
        A=np.asarray(model.A)[np.ix_(kept, kept)],
        B=model.B[kept],
        C=model.C[:, kept],
        D=model.D,
        E=model.E[kept],
        x=Labels(names, units, "state"),
        u=model.u,
        y=model.y,
        d=model.d,
        point=model.point,
    )
    summary = f"kept the states {', '.join(names)}"
    return Reduction(
        model=small, right=left.T, left=left, hankel_values=np.zeros(0), bound=float("nan"), message=summary
    )


@dataclass(frozen=True, kw_only=True)
class LqrProblem:
    """Model with integrals, weights, and the matrices whose Riccati equation is solved.

    Parameters
    ----------
    model : LinearModel
        States (reduced, if so) and integrals.
    Q, R, N : arrays
        Weights of the continuous cost.
    dynamics : (A, B)
        Of the model, or of its samples.
    costs : (Q, R, N)
        As above, or of one period.
    integrals : Integrals
        Integrated quantities.
    reduction : Reduction or None
        From the full model to this one.
    period : float
        Sampling period [s].
    """

    model: LinearModel
    Q: np.ndarray
    R: np.ndarray
    N: np.ndarray
    dynamics: tuple[np.ndarray, np.ndarray]
    costs: tuple[np.ndarray, np.ndarray, np.ndarray]
    integrals: Integrals
    reduction: Reduction | None
    period: float


def form_problem(
    model: LinearModel,
    *,
    Q: Any,
    R: Any,
    N: Any,
    output_weight: Any,
    integral: Mapping[str, float] | None,
    y_point: Any,
    reduction: Reduction | Iterable[str] | None,
    period: float,
    has_reference: bool,
    what: str,
) -> LqrProblem:
    """Read and check all arguments of `design_lqr`."""
    if not isinstance(model, LinearModel):
        raise ModelError(f"{what}: expected a LinearModel, got {type(model).__name__}; use linearize(eom, point)")
    step = check_period(period, what)
    Qx, Ru, Nx = total_weights(model, Q, R, N, output_weight, what)
    small, used = read_reduction(model, reduction, what)
    V = np.eye(len(model.x)) if used is None else used.right
    Qz, Nz = V.T @ Qx @ V, V.T @ Nx
    integrals = _read_integrals(model, integral or {}, y_point, has_reference, what)
    rows = np.array([_row(model, name) for name in integrals.names]).reshape(-1, len(model.x)) @ V
    k, n = len(rows), len(small.x)
    weight = read_weight(
        dict(integral or {}), Labels(integrals.names, (), "integral"), f"{what}: integral", definite=True
    )
    A = np.block([[np.asarray(small.A), np.zeros((n, k))], [rows, np.zeros((k, k))]])
    B = np.vstack([np.asarray(small.B), np.zeros((k, len(model.u)))])
    x = Labels((*small.x.names, *integrals.memory.names), (), "state")
    none = Labels(kind="output")
    whole = LinearModel(A=A, B=B, C=np.zeros((0, n + k)), D=np.zeros((0, len(model.u))), x=x, u=model.u, y=none)
    Q_all, N_all = np.zeros((n + k, n + k)), np.vstack([Nz, np.zeros((k, len(model.u)))])
    Q_all[:n, :n], Q_all[n:, n:] = Qz, weight
    _require_solvable(small, (Qz, Ru, Nz), rows, integrals.memory.names, what)
    dynamics, costs = (A, B), (Q_all, Ru, N_all)
    if step > 0.0:
        sampled = sample_cost(A[:n, :n], B[:n], Qz, Ru, Nz, step)
        # the law sums samples of y, so its integrals are sums in the problem too
        Ad = np.block([[sampled.A, np.zeros((n, k))], [step * rows, np.eye(k)]])
        Qd, Nd = np.zeros_like(Q_all), np.vstack([sampled.N, np.zeros((k, len(model.u)))])
        Qd[:n, :n], Qd[n:, n:] = sampled.Q, step * weight
        dynamics, costs = (Ad, np.vstack([sampled.B, np.zeros((k, len(model.u)))])), (Qd, sampled.R, Nd)
    return LqrProblem(
        model=whole,
        Q=Q_all,
        R=Ru,
        N=N_all,
        dynamics=dynamics,
        costs=costs,
        integrals=integrals,
        reduction=used,
        period=step,
    )


def _require_solvable(
    model: LinearModel,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: np.ndarray,
    integrals: tuple[str, ...],
    what: str,
) -> None:
    """Raise, with names, unless the problem with integrals has a stabilising solution; independent of units.

    The poles are those of the model and zeros of the integrals. A controllable mode of the model remains
    controllable; at s = 0 the inputs must control all integrated quantities at rest. An undamped mode has no weight
    if neither Q nor an integral covers it.
    """
    require_stabilizable(model, what=what)
    require_movable(model, rows, integrals, what)
    Q, R, N = weights
    require_weighted(model, Q, R, N, what, seen=rows)


def solve_problem(problem: LqrProblem, what: str) -> RiccatiSolution:
    """Solve the Riccati equation of the problem."""
    solve = solve_discrete if problem.period > 0.0 else solve_continuous
    try:
        return solve(*problem.dynamics, *problem.costs)
    except SolverError as error:
        raise SolverError(f"{what}: {error}") from error


def check_period(period: float, what: str) -> float:
    """Return a sampling period, 0 or positive."""
    value = as_scalar(period, f"{what}: period")
    if value < 0.0:
        raise ModelError(f"{what}: period is {value} s; expected 0 (continuous) or a positive sampling period")
    return value


def total_weights(
    model: Any, Q: Any, R: Any, N: Any, output_weight: Any, what: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q, R, N including the weights of outputs: ``y = C e + D u``."""
    if Q is None and output_weight is None:
        raise ModelError(f"{what}: there is no weight; give Q (states) or output_weight (outputs)")
    x, u, y = (
        Labels(item.names, item.units, kind)
        for item, kind in ((model.x, "state"), (model.u, "input"), (model.y, "output"))
    )
    Qx = _state_weight(model, x, 0.0 if Q is None else Q, f"{what}: Q")
    Ru = read_weight(R, u, f"{what}: R", definite=True)
    Nx = read_cross(N, x, u, f"{what}: N")
    if output_weight is not None and np.ndim(model.C) == 2:
        W = read_weight(output_weight, y, f"{what}: output_weight", definite=False)
        C, D = np.asarray(model.C), np.asarray(model.D)
        Qx, Nx, Ru = Qx + C.T @ W @ C, Nx + C.T @ W @ D, Ru + D.T @ W @ D
    check_joint(Qx, Ru, Nx, x, u, what)
    return Qx, Ru, Nx


def _state_weight(model: Any, x: Labels, Q: Any, what: str) -> np.ndarray:
    """Return the weight of the error states; of a constrained system by name, or as a matrix, also of all of them."""
    every = getattr(model, "all_x", None)
    if every is None or not (isinstance(Q, Mapping) or np.shape(Q) == (len(every), len(every))):
        return read_weight(Q, x, what, definite=False)
    every = Labels(every.names, every.units, "state")
    basis = np.asarray(model.basis)
    return basis.T @ read_weight(Q, every, what, definite=False) @ basis


def read_y_point(y_point: Any, measured: Labels, has_point: bool, what: str) -> np.ndarray:
    """Return measurements at the point, in the order of `measured`."""
    if y_point is None:
        if has_point and len(measured):
            raise ModelError(
                f"{what}: measures '{measured.names[0]}', whose value at the point is not known to the model; give "
                "y_point=dict(zip(eom.labels.y.names, eom.outputs(t, x, u)))"
            )
        return np.zeros(len(measured))
    if isinstance(y_point, Mapping):
        missing = [name for name in measured.names if name not in y_point]
        if missing:
            raise ModelError(f"{what}: y_point has no value of '{missing[0]}'")
        return np.array([as_scalar(y_point[name], f"{what}: y_point '{name}'") for name in measured.names])
    values = np.asarray(y_point, dtype=float)
    if values.shape != (len(measured),):
        raise ShapeError(f"{what}: y_point has shape {values.shape}, expected ({len(measured)},) or a mapping by name")
    return values


def _read_integrals(
    model: LinearModel, integral: Mapping[str, float], y_point: Any, has_reference: bool, what: str
) -> Integrals:
    for name in integral:
        if name not in model.x and name not in model.y:
            raise ModelError(
                f"{what}: integral: {unknown_name('output or state', name, (*model.y.names, *model.x.names))}"
            )
    measured = tuple(name for name in integral if name not in model.x)
    for name in measured:
        if np.any(np.asarray(model.D)[model.y.index(name)]):
            raise ModelError(f"{what}: integral: output '{name}' depends on the inputs; integrate another one")
    if measured and has_reference:
        raise ModelError(
            f"{what}: integral of sensor '{measured[0]}' along a reference: its reference value is unknown; integrate a state"
        )
    labels = Labels(measured, (), "measurement")
    values = read_y_point(y_point, labels, bool(model.point), f"{what}: integral")
    return Integrals(names=tuple(integral), measured=measured, y_point=values)


def _row(model: LinearModel, name: str) -> np.ndarray:
    return np.eye(len(model.x))[model.x.index(name)] if name in model.x else np.asarray(model.C)[model.y.index(name)]
