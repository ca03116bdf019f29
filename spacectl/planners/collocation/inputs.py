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

__all__ = ["fading_weights", "free_inputs", "least_weights", "total_effort", "undetermined_inputs", "without_impulses"]

_FADING = 0.1  # weight of squared inputs relative to that of time, in the first solve without a guess
_CHATTER = 2.0  # ratio to the minimum effort above which an input counts as undetermined
_USUAL = 0.9  # quantile that defines the typical magnitude of an input
_ROOM = 5.0  # limit of an impulsive input, as a multiple of its typical magnitude
_LEAST = 1e-7  # contribution of typical inputs to the cost, relative to it


def fading_weights(phases: Sequence[Problem]) -> list[np.ndarray]:
    """Return weights of ``(u / limit)^2`` that regularise the first solve."""
    weight = _FADING * max(item.time_weight for item in phases)
    out = []
    for item in phases:
        reach = np.max(np.abs(item.input_limits()), axis=0)
        out.append(np.where(np.isfinite(reach) & (reach > 0.0), weight / np.maximum(reach, 1e-300) ** 2, 0.0))
    return out


def free_inputs(problem: Problem) -> tuple[str, ...]:
    """Return inputs that have no limits, no rate limits and no part in the running cost."""
    low, high = problem.input_limits()
    weighed = _weighed(problem)
    return tuple(
        name
        for k, name in enumerate(problem.eom.inputs)
        if not np.isfinite(high[k] - low[k]) and name not in problem.rate_limits and name not in weighed
    )


def _weighed(problem: Problem) -> set[str]:
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
    return [name for name, effort in before.items() if effort > _CHATTER * after.get(name, 0.0)]


def _usual(solution: PhaseSolution) -> np.ndarray:
    """Return the typical magnitude of each input, (n_u,): the 0.9 quantile, which ignores impulses."""
    size = np.quantile(np.abs(solution.inputs(np.array([0.25, 0.75]))), _USUAL, axis=(0, 1))
    return np.maximum(size, 1e-3 * max(float(size.max(initial=0.0)), 1e-12))


def least_weights(solutions: Sequence[PhaseSolution], cost: float) -> list[np.ndarray]:
    """Return weights of free inputs from a solution, such that typical values add 1e-7 of the cost."""
    duration = sum(item.at.T for item in solutions)
    worth = _LEAST * max(abs(cost), 1e-12) / max(duration, 1e-12)
    out = []
    for item in solutions:
        problem = item.block.problem
        names, free = problem.eom.inputs, free_inputs(problem)
        out.append(np.where([name in free for name in names], worth / _usual(item) ** 2, 0.0))
    return out


def without_impulses(solution: PhaseSolution) -> Problem:
    """Return the problem of a phase with limits for impulsive free inputs, far above their typical magnitude."""
    problem, usual = solution.block.problem, _usual(solution)
    peaks = np.abs(solution.inputs(np.linspace(0.0, 1.0, 9))).max(axis=(0, 1))
    room = {
        name: (-_ROOM * usual[k], _ROOM * usual[k])
        for k, name in enumerate(problem.eom.inputs)
        if name in free_inputs(problem) and peaks[k] > 2.0 * _ROOM * usual[k]
    }
    return replace(problem, limits={**problem.limits, **room}) if room else problem
