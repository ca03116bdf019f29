"""Improve a guess by linear programmes, tighten bounds violated between nodes, and form the plan."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.outcome import Outcome, Status
from spacectl.planners.bang_bang.guess import first_motion
from spacectl.planners.bang_bang.motion import Motion
from spacectl.planners.bang_bang.plan import arcs_of, describe_violation, stretches_of, trajectories
from spacectl.planners.bang_bang.search import Found, search
from spacectl.planners.collocation.transcription.bounds import check_start, start_pairs
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Problem

__all__ = ["Search", "check_problem", "improve_plan"]

_RADIUS = 0.006  # initial trust-region radius over the duration
_FINE = 8  # sampling factor of the final check of bounds, in integration steps
_MARGINS = 5  # searches, each with larger margins of the bounds violated between nodes


@dataclass(frozen=True)
class Search:
    """Settings of the search: `rounds` is the maximum in total, `patience` that to feasibility."""

    busy: tuple[str, ...]
    cells: int
    tolerance: float
    rounds: int
    patience: int


def improve_plan(problem: Problem, guess: Plan, settings: Search) -> Plan | None:
    """Return the best plan found from a guess; None if the motion of the guess diverges."""
    begin = time.perf_counter()
    first = first_motion(problem, guess, settings.busy, settings.cells)
    return (
        None
        if first is None
        else _make_plan(problem, _search(first[0], problem, settings), first[1], time.perf_counter() - begin)
    )


def check_problem(problem: Any, cells: Any) -> None:
    """Raise `ModelError` unless the problem is a minimum-time problem that `plan_bang_bang` supports."""
    if not isinstance(problem, Problem):
        raise ModelError(
            f"plan_bang_bang: expected a Problem, got {type(problem).__name__}; phases go to plan_collocation"
        )
    what = f"plan_bang_bang, problem '{problem.name}'"
    if isinstance(cells, bool) or int(cells) != cells or cells < 2:
        raise ModelError(f"{what}: cells is {cells!r}, expected an integer of at least 2")
    for key in ("cost_rate", "cost_end", "rate_limits"):
        if getattr(problem, key):
            raise ModelError(f"{what}: it has a {key}; this planner minimises the duration only; use plan_collocation")
    if not problem.time_weight > 0.0:
        raise ModelError(f"{what}: time_weight is {problem.time_weight:g}, expected a positive number")
    check_start(problem)
    loose = [name for name, (low, high) in zip(problem.eom.states, start_pairs(problem), strict=True) if low != high]
    if loose or problem.conditions_start:
        raise ModelError(f"{what}: the start of '{(loose or [problem.conditions_start[0].name])[0]}' is not fixed; "
                         "give it a number, or use plan_collocation")  # fmt: skip


def _search(motion: Motion, problem: Problem, settings: Search) -> Found:
    """Search, tighten the bounds violated between nodes, and repeat from the motion found."""
    radius, total = _RADIUS * motion.T, 0
    for _ in range(_MARGINS):
        left = settings.rounds - total
        found = search(motion, problem.duration, radius, settings.tolerance, left, settings.patience)
        total += found.rounds
        violation = found.motion.between(_FINE * motion.cells.steps)
        if not found.is_feasible or total >= settings.rounds or violation.max(initial=0.0) <= 0.0:
            break
        more = np.where(violation > 0.0, 1.2 * violation + 1e-6, 0.0)
        motion = found.motion.cells.with_margin(more).follow(found.motion.w, found.motion.h)
    return replace(found, rounds=total)


def _make_plan(problem: Problem, found: Found, fastest: float, seconds: float) -> Plan:
    """Return the plan of a search with its outcome."""
    motion, goal = found.motion, found.motion.cells.goal
    cells = motion.cells
    halved = cells.flow.integrate(cells.x0, motion.w, motion.h, 2 * cells.steps)[-1]
    size = np.maximum(np.ptp(motion.x, axis=0), 1e-12)
    violation = float(motion.between(_FINE * cells.steps).max(initial=0.0))
    stats = {
        "rounds": found.rounds, "time": seconds, "cells": len(motion.w), "steps": cells.steps,
        "to_gain": max(0.0, motion.T - found.step.merit), "end_error": float(np.abs(motion.error).max(initial=0.0)),
        "flow_error": float(np.max(np.abs(halved - motion.x[-1]) / size)), "margin": float(goal.margin.max(initial=0.0)),
        "held_error": max(cells.flow.equality_error(x) for x in motion.x[:: max(1, len(motion.x) // 50)]),
        "busy": cells.flow.busy,
    }  # fmt: skip
    arcs = arcs_of(motion)
    if not found.is_feasible:
        status, message = Status.FAILED, f"no plan found for '{problem.name}': {describe_violation(motion)}"
    elif not found.is_optimal or violation > 0.0:
        status = Status.LIMIT
        message = f"the end is reached in {motion.T:.6g} s, but " + (
            f"a bound is violated by {violation:.1e} of its range between nodes; use more cells" if violation > 0.0
            else f"it could be {stats['to_gain']:.2g} s shorter; raise rounds"
        )  # fmt: skip
    else:
        status = Status.OK
        message = f"{motion.T:.6g} s in {len(arcs)} arcs, {found.rounds} linear programmes"
    x, u = trajectories(motion, fastest)
    return Plan(
        name=problem.name, x=x, u=u, arcs=arcs, outcome=Outcome(status=status, message=message, stats=stats),
        notes={
            "switching": found.step.switching, "controls": cells.flow.controls, "cell_ends": np.cumsum(motion.h),
            "goal": goal, "stretches": stretches_of(motion),
        },
    )  # fmt: skip
