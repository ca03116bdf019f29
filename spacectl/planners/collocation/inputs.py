"""Weights of squared inputs: small ones that lead the first solve, and tiny ones for inputs that nothing else limits.

An input without limits and without a cost is not determined by a minimum-time problem where it does not matter: it chatters,
or takes impulses between the points of a mesh. Of all such inputs the smallest is taken, by a weight worth a ten-millionth of
the cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from spacectl.planners.collocation.result import PhaseSolution
from spacectl.planners.problem import Problem
from spacectl.planners.quantities import Quantities

__all__ = ["fading_weights", "free_inputs", "least_weights", "total_effort", "undetermined_inputs", "without_impulses"]

_FADING = 0.1  # weight of squared inputs, against time, in the first solve from nothing
_CHATTER = 2.0  # times the effort of the least inputs: more shows that an input is not determined
_USUAL = 0.9
_ROOM = 5.0  # times its usual value: the limit of an input that took impulses
_LEAST = 1e-7  # of the cost: what inputs of their usual size add to it


def fading_weights(phases: Sequence[Problem]) -> list[np.ndarray]:
    """Return weights of ``(u / limit)^2`` that keep the first solve from wandering."""
    weight = _FADING * max(item.time_weight for item in phases)
    out = []
    for item in phases:
        reach = np.max(np.abs(item.input_limits()), axis=0)
        out.append(np.where(np.isfinite(reach) & (reach > 0.0), weight / np.maximum(reach, 1e-300) ** 2, 0.0))
    return out


def free_inputs(problem: Problem) -> tuple[str, ...]:
    """Return inputs without limits of their own or of their rates, and without a part in the running cost."""
    low, high = problem.input_limits()
    weighed = _weighed(problem)
    return tuple(
        name
        for k, name in enumerate(problem.eom.inputs)
        if not np.isfinite(high[k] - low[k]) and name not in problem.rate_limits and name not in weighed
    )


def _weighed(problem: Problem) -> set[str]:
    """Return inputs on which the running cost depends."""
    if problem.cost_rate is None:
        return set()
    eom = problem.eom
    t, q, v, a, u, p = (
        ca.SX.sym(key, size)
        for key, size in (("t", 1), ("q", eom.n_q), ("v", eom.n_v), ("a", eom.n_v), ("u", eom.n_u), ("p", eom.p.size))
    )
    rates = {name: ca.SX.sym("rate") for name in problem.rate_limits}
    cost = Quantities(eom, t, q, v, p, u, rates, a).of(problem.cost_rate, "cost_rate")
    return {name for k, name in enumerate(eom.inputs) if ca.depends_on(cost, u[k])}


def total_effort(solutions: Sequence[PhaseSolution]) -> dict[str, float]:
    """Return the integral of each input's square over all phases, by name."""
    nodes, weights = np.polynomial.legendre.leggauss(5)
    out: dict[str, float] = {}
    for item in solutions:
        u = item.inputs(0.5 + 0.5 * nodes)
        found = item.at.T * np.einsum("k,s,ksu->u", item.block.ds, 0.5 * weights, u**2)
        for k, name in enumerate(item.block.problem.eom.inputs):
            out[name] = out.get(name, 0.0) + float(found[k])
    return out


def undetermined_inputs(before: Mapping[str, float], solutions: Sequence[PhaseSolution]) -> list[str]:
    """Return the inputs that the problem does not determine.

    Without a weight on their squares they took at least twice the effort.
    """
    after = total_effort(solutions)
    return [name for name, effort in before.items() if effort > _CHATTER * after.get(name, 0.0)]


def _usual(solution: PhaseSolution) -> np.ndarray:
    """Return what inputs stay below for nine tenths of the time, (n_u,): impulses do not count."""
    size = np.quantile(np.abs(solution.inputs(np.array([0.25, 0.75]))), _USUAL, axis=(0, 1))
    return np.maximum(size, 1e-3 * max(float(size.max(initial=0.0)), 1e-12))


def least_weights(solutions: Sequence[PhaseSolution], cost: float) -> list[np.ndarray]:
    """Return weights of free inputs, from a solution: what their usual values cost is a ten-millionth of everything."""
    duration = sum(item.at.T for item in solutions)
    worth = _LEAST * max(abs(cost), 1e-12) / max(duration, 1e-12)
    out = []
    for item in solutions:
        problem = item.block.problem
        names, free = problem.eom.inputs, free_inputs(problem)
        out.append(np.where([name in free for name in names], worth / _usual(item) ** 2, 0.0))
    return out


def without_impulses(solution: PhaseSolution) -> Problem:
    """Return the problem of a phase, with limits for free inputs that took impulses: far above their usual values."""
    problem, usual = solution.block.problem, _usual(solution)
    peaks = np.abs(solution.inputs(np.linspace(0.0, 1.0, 9))).max(axis=(0, 1))
    room = {
        name: (-_ROOM * usual[k], _ROOM * usual[k])
        for k, name in enumerate(problem.eom.inputs)
        if name in free_inputs(problem) and peaks[k] > 2.0 * _ROOM * usual[k]
    }
    return replace(problem, limits={**problem.limits, **room}) if room else problem
