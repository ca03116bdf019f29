"""`plan_bang_bang`: minimum time of flexible systems, by linear programmes on their exact flow.

Direct collocation has to resolve every period of every mode with unknowns of its own; over many periods it becomes
large, and coarse meshes exploit the damping of the scheme. Here the unknowns are only the controls of short cells
and the duration.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from spacectl.core.errors import SolverError
from spacectl.core.studies.study import Progress
from spacectl.planners.bang_bang.guess import is_bang_bang
from spacectl.planners.bang_bang.improve import Search, check_problem, improve_plan
from spacectl.planners.bang_bang.restarts import challenge_plan
from spacectl.planners.collocation.restarts import Challenge
from spacectl.planners.flown import judged, with_flight
from spacectl.planners.plan import Plan
from spacectl.planners.plan_collocation import coarse_plan
from spacectl.planners.problem import Problem
from spacectl.planners.rigid_problem import is_flexible, rigid_problem
from spacectl.simulation.progress import WorkProgress

__all__ = ["plan_bang_bang"]

_PATIENCE = 8  # rounds that a guess has to lead to a plan before another one is made


def plan_bang_bang(
    problem: Problem,
    *,
    guess: Plan | None = None,
    busy: Sequence[str] | None = None,
    cells: int = 1500,
    tolerance: float = 1e-6,
    rounds: int = 60,
    restarts: int = 3,
    budget: float = 10.0,
    progress: Progress | None = None,
    check: bool = True,
) -> Plan:
    """Plan a maneuver in minimum time for a system that vibrates.

    Controls are constant in each of many short cells; the motion between them is integrated exactly (order 8, steps
    of half a radian of the fastest mode). About a motion, ends and bounds are linear in the controls and the
    duration: a linear programme gives the best change within a trust region, and again about the changed motion.
    Solutions of linear programmes lie in vertices, so the controls come out at their limits but for a few cells, and
    the search ends quadratically. When a programme gains nothing any more the plan is a local minimum, to first
    order in all changes of its controls.

    Inputs that held path conditions need (as many as those have values) are solved for in every state, as forces of
    artificial constraints; their limits, bounds of states and path conditions are respected on the way, also between
    nodes.

    Parameters
    ----------
    problem : Problem
        With a fixed start, limited inputs and no cost but the duration; no rate limits.
    guess : Plan, optional
        A plan to start from, of any planner; its inputs are read by name. If they are not at their limits most of
        the time (or there is no guess, or it leads nowhere), `plan_collocation` first plans for the rigid
        counterpart from it.
    busy : sequence of str, optional
        Inputs that meet the held path conditions; default those that the guess keeps farthest from their limits.
    cells : int
        Number of cells. Short cells cost time, long ones a little of the optimum.
    tolerance : float
        Part of the duration that a further programme may gain when the search ends.
    rounds : int
        Most linear programmes.
    restarts : int
        Restarts from perturbed controls on fewer cells that challenge the plan; a better one is taken.
    budget : float
        Time for all restarts [s].
    progress : callable, optional
        ``progress(fraction, message)``; by default a bar on a terminal.
    check : bool
        Whether a failure raises; otherwise the plan comes back with its outcome.

    Returns
    -------
    Plan
        ``outcome.stats``: rounds, time, ``to_gain`` [s] (what the last programme would still gain), ``end_error``,
        ``flow_error`` (by halving the steps; both relative to the range of each state), ``margin`` (of a bound),
        ``restarts`` (durations they came to, None for those that did not converge), ``flown`` (see `plan_collocation`);
        ``notes["switching"]`` has the seconds lost for each second that a control of a cell were exchanged (reduced
        costs: the magnitudes of the switching functions).

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
    Sadigh (1995), sections 7.2, 8.2; Pontryagin et al., Mathematical Theory of Optimal Processes, theorem 10
    (vertices); Fletcher and Sainz de la Maza, Math. Programming 43 (1989) 235 (sequential linear programming with
    exact penalties).
    """
    begin = time.perf_counter()
    check_problem(problem, cells)
    settings = Search(tuple(busy or ()), int(cells), tolerance, rounds, rounds)
    with WorkProgress(progress, f"planning {problem.name}") as bar:
        challenge = Challenge(restarts, budget)
        plan = _first(problem, guess, settings, challenge, bar)
        if plan is None:
            raise SolverError(
                f"plan_bang_bang, problem '{problem.name}': the guess leads to infinity, or the inputs that should meet the "
                "held conditions do not act on them; give another guess, or name them by busy="
            )
        if plan.outcome.is_success:
            plan = challenge_plan(
                problem, plan, settings, challenge, lambda part, text: bar.report(0.6 + 0.3 * part, text)
            )
            bar.report(0.9, "flight")
            plan = judged(with_flight(problem, plan)[0])
    plan = replace(
        plan, outcome=replace(plan.outcome, stats={**plan.outcome.stats, "time": time.perf_counter() - begin})
    )
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _first(
    problem: Problem, guess: Plan | None, settings: Search, challenge: Challenge, bar: WorkProgress
) -> Plan | None:
    """Return the plan found from the guess, or a plan of the rigid counterpart found from it."""
    found = None
    if guess is not None and is_bang_bang(problem, guess):
        found = improve_plan(problem, guess, replace(settings, patience=_PATIENCE))
    if found is not None and found.outcome.is_success:
        return found
    bar.report(0.1, "rigid counterpart")
    try:
        first = coarse_plan(rigid_problem(problem) if is_flexible(problem) else problem, guess, challenge)
    except SolverError:
        if found is None:
            raise
        return found
    bar.report(0.4, "linear programmes")
    return improve_plan(problem, first, settings) or found
