"""`plan_bang_bang`: minimum time of flexible systems, by linear programmes on their exact flow.

Direct collocation has to resolve every period of every mode with unknowns of its own; over many periods it becomes large,
and coarse meshes exploit the damping of the scheme. Here the unknowns are only the controls of short cells and the duration.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Outcome, Status
from spacectl.planners.bang_guess import first_motion, is_bang_bang, rigid_plan
from spacectl.planners.bang_motion import Motion
from spacectl.planners.bang_plan import arcs_of, trajectories, what_fails
from spacectl.planners.bang_search import Found, search
from spacectl.planners.collocation_bounds import check_start, start_pairs
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Problem

__all__ = ["plan_bang_bang"]

_RADIUS = 0.006  # first trust region over the duration
_FINE = 8  # points of each cell at which bounds are checked at the end
_MARGINS = 5  # rounds in which more is kept back of a bound that is passed between nodes
_PATIENCE = 8  # rounds that a guess has to lead to a plan before another one is made


def plan_bang_bang(
    problem: Problem,
    *,
    guess: Plan | None = None,
    busy: Sequence[str] | None = None,
    cells: int = 1500,
    tolerance: float = 1e-6,
    rounds: int = 60,
    check: bool = True,
) -> Plan:
    """Plan a maneuver in minimum time for a system that vibrates.

    Controls are constant in each of many short cells; the motion between them is integrated exactly (order 8, steps of half a
    radian of the fastest mode). About a motion, ends and bounds are linear in the controls and the duration: a linear programme
    gives the best change within a trust region, and again about the changed motion. Solutions of linear programmes lie in
    vertices, so the controls come out at their limits but for a few cells, and the search ends quadratically. When a
    programme gains nothing any more the plan is a local minimum, to first order in all changes of its controls.

    Inputs that held path conditions need (as many as those have values) are solved for in every state, as forces of
    artificial constraints; their limits, bounds of states and path conditions are respected on the way, also between nodes.

    Parameters
    ----------
    problem : Problem
        With a fixed start, limited inputs and no cost but the duration; no rate limits.
    guess : Plan, optional
        A plan to start from, of any planner; its inputs are read by name. If they are not at their limits most of the time (or
        there is no guess, or it leads nowhere), `plan_collocation` first plans for the rigid counterpart from it.
    busy : sequence of str, optional
        Inputs that meet the held path conditions; default those that the guess keeps farthest from their limits.
    cells : int
        Number of cells. Short cells cost time, long ones a little of the optimum.
    tolerance : float
        Part of the duration that a further programme may gain when the search ends.
    rounds : int
        Most linear programmes.
    check : bool
        Whether a failure raises; otherwise the plan comes back with its outcome.

    Returns
    -------
    Plan
        ``outcome.stats``: rounds, time, ``to_gain`` [s] (what the last programme would still gain), ``end_error``,
        ``flow_error`` (by halving the steps; both relative to the range of each state), ``margin`` (kept back of a bound);
        ``notes["switching"]`` has the seconds lost for each second that a control of a cell were exchanged (reduced costs: the
        magnitudes of the switching functions).

    Raises
    ------
    ModelError
        If the problem is not of this kind.
    SolverError
        If no plan is found (and `check`): the message names the end or the bound that cannot be met.

    Examples
    --------
    ``plan_bang_bang(Problem(eom=flexible, start=..., end={**dict.fromkeys(flexible.states, 0.0), "elbow": 1.0}))``

    References
    ----------
    003 sections 7.2, 8.2; Pontryagin et al., Mathematical Theory of Optimal Processes, theorem 10 (vertices);
    Fletcher and Sainz de la Maza, Math. Programming 43 (1989) 235 (sequential linear programming with exact penalties).
    """
    begin = time.perf_counter()
    _check(problem, cells)
    settings = _Settings(tuple(busy or ()), int(cells), tolerance, rounds, rounds)
    found = None
    if guess is not None and is_bang_bang(problem, guess):
        found = _improve(problem, guess, replace(settings, patience=_PATIENCE))
    if found is None or not found[0].is_met:
        found = _from_rigid(problem, guess, settings, found)
    if found is None:
        raise SolverError(
            f"plan_bang_bang, problem '{problem.name}': the guess leads to infinity, or the inputs that should meet the held "
            "conditions do not act on them; give another guess, or name them by busy="
        )
    plan = _give(problem, *found, time.perf_counter() - begin)
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


@dataclass(frozen=True)
class _Settings:
    """What the user chose."""

    busy: tuple[str, ...]
    cells: int
    tolerance: float
    rounds: int
    patience: int


def _improve(problem: Problem, guess: Plan, settings: _Settings) -> tuple[Found, float] | None:
    """The best motion from a guess, and the fastest rate on it; None if the guess leads to infinity."""
    first = first_motion(problem, guess, settings.busy, settings.cells)
    return None if first is None else (_search(first[0], problem, settings), first[1])


def _from_rigid(problem: Problem, guess: Plan | None, settings: _Settings, before: Any) -> tuple[Found, float] | None:
    """The best motion from a plan of the rigid counterpart; what was found before if there is none."""
    try:
        first = rigid_plan(problem, guess)
    except SolverError:
        if before is None:
            raise
        return before  # type: ignore[no-any-return]
    return _improve(problem, first, settings) or before


def _check(problem: Any, cells: Any) -> None:
    if not isinstance(problem, Problem):
        raise ModelError(
            f"plan_bang_bang: expected a Problem, got {type(problem).__name__}; phases go to plan_collocation"
        )
    what = f"plan_bang_bang, problem '{problem.name}'"
    if isinstance(cells, bool) or int(cells) != cells or cells < 2:
        raise ModelError(f"{what}: cells is {cells!r}, expected a whole number from 2")
    for key in ("cost_rate", "cost_end", "rate_limits"):
        if getattr(problem, key):
            raise ModelError(f"{what}: it has a {key}; only the duration counts here, use plan_collocation")
    if not problem.time_weight > 0.0:
        raise ModelError(f"{what}: time_weight is {problem.time_weight:g}, expected a positive number")
    check_start(problem)
    loose = [name for name, (low, high) in zip(problem.eom.states, start_pairs(problem), strict=True) if low != high]
    if loose or problem.conditions_start:
        raise ModelError(f"{what}: the start of '{(loose or [problem.conditions_start[0].name])[0]}' is not fixed; "
                         "give it a number, or use plan_collocation")  # fmt: skip


def _search(motion: Motion, problem: Problem, settings: _Settings) -> Found:
    """Search; keep back what bounds are passed by between the nodes, and search again from there."""
    radius, total = _RADIUS * motion.T, 0
    for _ in range(_MARGINS):
        left = settings.rounds - total
        found = search(motion, problem.duration, radius, settings.tolerance, left, settings.patience)
        total += found.rounds
        passed = found.motion.between(_FINE * motion.cells.steps)
        if not found.is_met or total >= settings.rounds or passed.max(initial=0.0) <= 0.0:
            break
        more = np.where(passed > 0.0, 1.2 * passed + 1e-6, 0.0)
        motion = found.motion.cells.with_margin(more).follow(found.motion.w, found.motion.h)
    return replace(found, rounds=total)


def _give(problem: Problem, found: Found, fastest: float, seconds: float) -> Plan:
    """The plan with its outcome."""
    motion, goal = found.motion, found.motion.cells.goal
    cells = motion.cells
    halved = cells.flow.roll(cells.x0, motion.w, motion.h, 2 * cells.steps)[-1]
    size = np.maximum(np.ptp(motion.x, axis=0), 1e-12)
    passed = float(motion.between(_FINE * cells.steps).max(initial=0.0))
    stats = {
        "rounds": found.rounds, "time": seconds, "cells": len(motion.w), "steps": cells.steps,
        "to_gain": max(0.0, motion.T - found.step.merit), "end_error": float(np.abs(motion.error).max(initial=0.0)),
        "flow_error": float(np.max(np.abs(halved - motion.x[-1]) / size)), "margin": float(goal.margin.max(initial=0.0)),
        "held_error": max(cells.flow.held_error(x) for x in motion.x[:: max(1, len(motion.x) // 50)]), "busy": cells.flow.busy,
    }  # fmt: skip
    arcs = arcs_of(motion)
    if not found.is_met:
        status, message = Status.FAILED, f"no plan found for '{problem.name}': {what_fails(motion)}"
    elif not found.is_best or passed > 0.0:
        status = Status.LIMIT
        message = f"the end is met in {motion.T:.6g} s, but " + (
            f"a bound is passed by {passed:.1e} of its range between nodes; take more cells" if passed > 0.0
            else f"{stats['to_gain']:.2g} s may still be gained; raise rounds"
        )  # fmt: skip
    else:
        status = Status.OK
        message = f"{motion.T:.6g} s in {len(arcs)} arcs, {found.rounds} linear programmes"
    x, u = trajectories(motion, fastest)
    return Plan(
        name=problem.name, x=x, u=u, arcs=arcs, outcome=Outcome(status=status, message=message, stats=stats),
        notes={
            "switching": found.step.switching, "controls": cells.flow.controls, "cell_ends": np.cumsum(motion.h),
            "goal": goal,
        },
    )  # fmt: skip
