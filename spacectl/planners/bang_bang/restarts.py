"""Restarts of the linear programmes from perturbed controls on fewer cells; the best plan is returned."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spacectl.core.trajectory import Trajectory
from spacectl.planners.bang_bang.improve import Search, improve_plan
from spacectl.planners.collocation.restarts import RestartSettings
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Problem

__all__ = ["restart_search"]

_CELL_RATIO = 5  # ratio of cells: local minima differ by more than the discretisation error of a restart
_PATIENCE = 30  # rounds until a restart must be feasible: flexible systems come to rest after 10 to 30
_SIZES = (0.3, 0.3, 1.0)  # amplitudes in turn, relative to half the range of an input
_LEAST_GAIN = 1e-4  # relative gain of duration below which two plans count as equal
_WAVES = 4


def restart_search(
    problem: Problem,
    plan: Plan,
    settings: Search,
    restart_settings: RestartSettings,
    notify: Callable[[float, str], None],
) -> Plan:
    """Return the best of the plan and of restarts from its perturbed controls.

    ``outcome.stats["restarts"]`` lists their durations, None for infeasible ones.
    """
    begin, durations = time.perf_counter(), []
    coarse = replace(settings, cells=max(2, settings.cells // _CELL_RATIO), patience=_PATIENCE)
    best = plan
    for k in range(restart_settings.restarts):
        if time.perf_counter() - begin > restart_settings.budget:
            break
        notify(k / restart_settings.restarts, f"restart {k + 1} of {restart_settings.restarts}")
        other = improve_plan(problem, _perturbed(problem, best, k), coarse)
        is_feasible = other is not None and other.outcome.is_success
        durations.append(other.final_time if other is not None and is_feasible else None)
        if other is None or not is_feasible or other.final_time > (1.0 - _LEAST_GAIN) * best.final_time:
            continue
        again = improve_plan(problem, other, settings)
        if again is not None and again.outcome.is_success and again.final_time < best.final_time:
            best = again
    return replace(best, outcome=replace(best.outcome, stats={**best.outcome.stats, "restarts": durations}))


def _perturbed(problem: Problem, plan: Plan, number: int) -> Plan:
    """Return a plan with smooth random waves added to its inputs, within their limits."""
    rng, size = np.random.default_rng(number), _SIZES[number % len(_SIZES)]
    low, high = problem.input_limits()
    t = np.linspace(0.0, plan.final_time, 400)
    u = np.asarray(plan.u(t))
    orders = np.arange(1, _WAVES + 1)
    waves = np.sin(np.pi * np.outer(t / t[-1], orders)) @ (rng.normal(size=(_WAVES, u.shape[1])) / orders[:, None])
    reach = 0.5 * size * np.where(np.isfinite(high - low), high - low, 0.0)
    moved = Trajectory(t=t, values=np.clip(u + reach * waves, low, high), labels=plan.u.labels, interpolation="linear")
    return replace(plan, u=moved, notes={key: value for key, value in plan.notes.items() if key != "goal"})
