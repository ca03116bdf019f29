"""Between the points of a mesh: by how much path conditions and bounds of states are passed there, and what to keep back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.planners.plan import Plan
from spacectl.planners.problem import Phases, Problem
from spacectl.planners.quantities import Quantities

__all__ = ["Passed", "keep_back", "passed_between"]

_BETWEEN = 5  # looks between two knots of a plan
_MET = 1e-8  # of its size: a bound passed by less is kept
_MORE = 1.2  # times what a bound is passed by is kept back


@dataclass(frozen=True, eq=False)
class Passed:
    """What a phase passes between its points: below and above, for each path condition and each bounded state.

    Parameters
    ----------
    path : tuple of (float, float)
        In the order of the problem's path conditions; zero for those that are held.
    bounds : mapping of state names to (float, float)
        Likewise.
    worst : float
        Largest of them over the size of its bound.
    """

    path: tuple[tuple[float, float], ...]
    bounds: dict[str, tuple[float, float]]
    worst: float


def passed_between(problem: Problem | Phases, plan: Plan) -> list[Passed]:
    """What every phase passes between its points."""
    times = np.asarray(plan.notes["phase_times"], dtype=float)
    return [_of_phase(item, plan, *times[k : k + 2]) for k, item in enumerate(problem.phases)]


def _of_phase(problem: Problem, plan: Plan, begin: float, end: float) -> Passed:
    if not problem.path and not problem.bounds:
        return Passed((), {}, 0.0)
    t = _looks(np.asarray(plan.x.t), begin, end)
    x = plan.x(t)
    names = plan.x.labels
    bounds = {name: _outside(x[:, names.index(name)], *pair) for name, pair in problem.bounds.items()}
    ways = [item for item in problem.path if item.low < item.high]
    values = iter(_values(problem, ways, t, x, plan) if ways else ())
    path = [
        _outside(next(values), item.low, item.high) if item.low < item.high else (0.0, 0.0) for item in problem.path
    ]
    limits = [*((item.low, item.high) for item in problem.path), *problem.bounds.values()]
    found = [*path, *bounds.values()]
    worst = max((max(low, high) / _size(*pair) for (low, high), pair in zip(found, limits, strict=True)), default=0.0)
    return Passed(tuple(path), bounds, worst)


def _looks(knots: np.ndarray, begin: float, end: float) -> np.ndarray:
    inside = knots[(knots >= begin) & (knots <= end)]
    part = np.arange(1, _BETWEEN + 1) / (_BETWEEN + 1)
    return np.sort(np.concatenate([inside, (inside[:-1, None] + np.diff(inside)[:, None] * part).ravel()]))


def _values(problem: Problem, ways: list[Any], t: np.ndarray, x: np.ndarray, plan: Plan) -> list[np.ndarray]:
    """Values of path conditions at times, each (n, size)."""
    eom = problem.eom
    sizes = {"t": 1, "x": eom.n_x, "u": eom.n_u, "rate": eom.n_u, "p": eom.p.size}
    time, state, u, rate, p = (ca.SX.sym(name, size) for name, size in sizes.items())
    q, v = state[: eom.n_q], state[eom.n_q :]
    rates = {name: rate[i] for i, name in enumerate(eom.inputs)}
    v_dot = eom.functions["v_dot"](time, q, v, u, p) if eom.functions["v_dot"].is_a("SXFunction") else None
    way = Quantities(eom, time, q, v, p, u, rates, v_dot)
    found = [way.of(item.rule, f"path condition '{item.name}'") for item in ways]
    function = ca.Function("ways", [time, state, u, rate, p], [ca.vertcat(*found)]).map(len(t))
    out = np.asarray(function(t[None], x.T, plan.u(t).T, plan.u.rate(t).T, np.tile(problem.p[:, None], (1, len(t))))).T
    return np.split(out, np.cumsum([item.rule.size for item in ways])[:-1], axis=1)


def _outside(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """By how much values leave a range, below and above; nothing if it is within rounding."""
    off = (low - float(np.min(values)), float(np.max(values)) - high)
    size = _size(low, high)
    return tuple(item if item > _MET * size else 0.0 for item in off)  # type: ignore[return-value]


def _size(low: float, high: float) -> float:
    """Size of a bound."""
    if np.isfinite(high - low):
        return max(0.5 * (high - low), 1e-12)
    side = abs(low if np.isfinite(low) else high)
    return side if np.isfinite(side) and side > 0.0 else 1.0


def keep_back(problem: Problem | Phases, passed: list[Passed]) -> Problem | Phases:
    """The problem with its bounds drawn in by what they were passed by; empty ranges become their middle."""
    phases = tuple(_drawn_in(item, found) for item, found in zip(problem.phases, passed, strict=True))
    return replace(problem, phases=phases) if isinstance(problem, Phases) else phases[0]


def _drawn_in(problem: Problem, passed: Passed) -> Problem:
    if not passed.worst:
        return problem
    pairs = [_narrow((item.low, item.high), off) for item, off in zip(problem.path, passed.path, strict=True)]
    path = tuple(replace(item, low=low, high=high) for item, (low, high) in zip(problem.path, pairs, strict=True))
    bounds = {name: _narrow(pair, passed.bounds[name]) for name, pair in problem.bounds.items()}
    return replace(problem, path=path, bounds=bounds)


def _narrow(pair: tuple[float, float], off: tuple[float, float]) -> tuple[float, float]:
    low, high = pair[0] + _MORE * off[0], pair[1] - _MORE * off[1]
    return (low, high) if low <= high else (0.5 * (low + high),) * 2
