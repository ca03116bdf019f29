"""Regularise the inputs by weights of their squares.

Small weights regularise the first solve. Tiny weights determine inputs that have neither limits nor a cost: a
minimum-time problem may leave them undetermined, so that they chatter or become impulsive between mesh
points. A weight worth 1e-7 of the cost selects the smallest such inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from spacectl.planners.collocation.result import PhaseSolution
from spacectl.planners.problem import Problem
from spacectl.planners.quantities import Quantities

__all__ = [
    "first_solve_weights",
    "free_inputs",
    "limit_impulses",
    "regularisation_weights",
    "total_effort",
    "undetermined_inputs",
]

_FIRST_WEIGHT = 0.1  # weight of squared inputs relative to that of time, in the first solve without a guess
_EFFORT_RATIO = 2.0  # ratio to the minimum effort above which an input counts as undetermined
_TYPICAL_QUANTILE = 0.9  # quantile that defines the typical magnitude of an input
_LIMIT_FACTOR = 5.0  # limit of an impulsive input, as a multiple of its typical magnitude
_RELATIVE_WEIGHT = 1e-7  # contribution of typical inputs to the cost, relative to it


def first_solve_weights(phases: Sequence[Problem]) -> list[np.ndarray]:
    """Return weights of ``(u / limit)^2`` that regularise the first solve."""
    weight = _FIRST_WEIGHT * max(item.time_weight for item in phases)
    out = []
    for item in phases:
        reach = np.max(np.abs(item.input_limits()), axis=0)
        out.append(np.where(np.isfinite(reach) & (reach > 0.0), weight / np.maximum(reach, 1e-300) ** 2, 0.0))
    return out


def free_inputs(problem: Problem) -> tuple[str, ...]:
    """Return inputs that have no limits, no rate limits and no part in the running cost."""
    low, high = problem.input_limits()
    in_cost = _inputs_in_cost(problem)
    return tuple(
        name
        for k, name in enumerate(problem.eom.inputs)
        if not np.isfinite(high[k] - low[k]) and name not in problem.rate_limits and name not in in_cost
    )


def _inputs_in_cost(problem: Problem) -> set[str]:
    """Return the inputs on which the running cost depends."""
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
    """Return undetermined inputs: without regularisation their effort at least doubles."""
    after = total_effort(solutions)
    return [name for name, effort in before.items() if effort > _EFFORT_RATIO * after.get(name, 0.0)]


def _typical_magnitude(solution: PhaseSolution) -> np.ndarray:
    """Return the typical magnitude of each input, (n_u,): the 0.9 quantile, which ignores impulses."""
    size = np.quantile(np.abs(solution.inputs(np.array([0.25, 0.75]))), _TYPICAL_QUANTILE, axis=(0, 1))
    return np.maximum(size, 1e-3 * max(float(size.max(initial=0.0)), 1e-12))


def regularisation_weights(solutions: Sequence[PhaseSolution], cost: float) -> list[np.ndarray]:
    """Return weights of free inputs from a solution, such that typical values add 1e-7 of the cost."""
    duration = sum(item.at.T for item in solutions)
    worth = _RELATIVE_WEIGHT * max(abs(cost), 1e-12) / max(duration, 1e-12)
    out = []
    for item in solutions:
        problem = item.block.problem
        names, free = problem.eom.inputs, free_inputs(problem)
        out.append(np.where([name in free for name in names], worth / _typical_magnitude(item) ** 2, 0.0))
    return out


def limit_impulses(solution: PhaseSolution) -> Problem:
    """Return the problem of a phase with limits for impulsive free inputs, far above their typical magnitude."""
    problem, typical = solution.block.problem, _typical_magnitude(solution)
    peaks = np.abs(solution.inputs(np.linspace(0.0, 1.0, 9))).max(axis=(0, 1))
    room = {
        name: (-_LIMIT_FACTOR * typical[k], _LIMIT_FACTOR * typical[k])
        for k, name in enumerate(problem.eom.inputs)
        if name in free_inputs(problem) and peaks[k] > 2.0 * _LIMIT_FACTOR * typical[k]
    }
    return replace(problem, limits={**problem.limits, **room}) if room else problem
