"""`plan_bang_bang`: minimum time of flexible systems by linear programmes on their exact flow.

Direct collocation needs unknowns for every period of every mode. Over many periods its programme becomes
large, and on coarse meshes it exploits the numerical damping of the scheme. Here the only unknowns are the
controls of short cells and the duration.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from spacectl.core.errors import SolverError
from spacectl.core.studies.study import Progress
from spacectl.planners.bang_bang.guess import is_bang_bang
from spacectl.planners.bang_bang.improve import Search, check_problem, improve_plan
from spacectl.planners.bang_bang.restarts import restart_search
from spacectl.planners.collocation.restarts import RestartSettings
from spacectl.planners.flown import with_flight, with_status
from spacectl.planners.plan import Plan
from spacectl.planners.plan_collocation import coarse_plan
from spacectl.planners.problem import Problem
from spacectl.planners.rigid_problem import is_flexible, rigid_problem
from spacectl.simulation.progress import WorkProgress

__all__ = ["plan_bang_bang"]

_PATIENCE = 8  # rounds within which the user's guess must become feasible


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
    """Plan a minimum-time maneuver of a vibrating system.

    Controls are constant in each of many short cells, and the motion is integrated to high accuracy (order 8,
    steps of half a radian of the fastest mode). Terminal constraints and bounds are linearised in the
    controls and the duration. A linear programme gives the best change within a trust region, and the step is
    repeated about the new motion. Solutions of linear programmes lie at vertices, so all controls but those
    of a few cells are at their limits, and convergence is quadratic. When a programme gains nothing, the plan
    is a local minimum to first order in all changes of its controls.

    Equality path conditions determine as many dependent inputs as they have values, as forces of artificial
    constraints. Limits of these inputs, bounds of states and inequality path conditions are enforced along
    the motion, also between nodes.

    Parameters
    ----------
    problem : Problem
        With a fixed start, limited inputs and no cost but the duration; no rate limits.
    guess : Plan, optional
        Initial guess from any planner; its inputs are matched by name. If its inputs are not at their limits
        most of the time, if the search from it fails, or without a guess, `plan_collocation` first plans for
        the rigid counterpart.
    busy : sequence of str, optional
        Dependent inputs, which satisfy the equality path conditions. Default: those farthest from their
        limits in the guess.
    cells : int
        Number of cells. More cells cost computing time, fewer cells a little of the optimum.
    tolerance : float
        Convergence tolerance: predicted gain of a programme, relative to the duration.
    rounds : int
        Maximum number of linear programmes.
    restarts : int
        Number of restarts from perturbed controls on fewer cells; the best plan is returned.
    budget : float
        Computing time for all restarts [s].
    progress : callable, optional
        ``progress(fraction, message)``; by default a bar on a terminal.
    check : bool
        Whether to raise on failure; otherwise the plan is returned with its outcome.

    Returns
    -------
    Plan
        ``outcome.stats``: rounds, time, ``to_gain`` [s] (predicted gain of the last programme),
        ``end_error``, ``flow_error`` (from halved steps; both relative to the range of each state),
        ``margin`` (largest of a bound), ``restarts`` (their durations, None for infeasible ones), ``flown``
        (see `plan_collocation`). ``notes["switching"]`` contains the magnitudes of the switching functions:
        seconds lost per second of exchanged control in a cell (reduced costs).

    Raises
    ------
    ModelError
        If the problem is not a minimum-time problem of the supported form.
    SolverError
        If no plan is found (and `check`). The message names the terminal constraint or the bound that is
        violated.

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
        restart_settings = RestartSettings(restarts, budget)
        plan = _first(problem, guess, settings, restart_settings, bar)
        if plan is None:
            raise SolverError(
                f"plan_bang_bang, problem '{problem.name}': the motion of the guess diverges, or the dependent inputs do not "
                "act on the equality path conditions; give another guess, or name these inputs by busy="
            )
        if plan.outcome.is_success:
            plan = restart_search(
                problem, plan, settings, restart_settings, lambda part, text: bar.report(0.6 + 0.3 * part, text)
            )
            bar.report(0.9, "simulation")
            plan = with_status(with_flight(problem, plan)[0])
    plan = replace(
        plan, outcome=replace(plan.outcome, stats={**plan.outcome.stats, "time": time.perf_counter() - begin})
    )
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _first(
    problem: Problem, guess: Plan | None, settings: Search, restart_settings: RestartSettings, bar: WorkProgress
) -> Plan | None:
    """Return the plan found from the guess, or else from a plan of the rigid counterpart."""
    found = None
    if guess is not None and is_bang_bang(problem, guess):
        found = improve_plan(problem, guess, replace(settings, patience=_PATIENCE))
    if found is not None and found.outcome.is_success:
        return found
    bar.report(0.1, "rigid counterpart")
    try:
        first = coarse_plan(rigid_problem(problem) if is_flexible(problem) else problem, guess, restart_settings)
    except SolverError:
        if found is None:
            raise
        return found
    bar.report(0.4, "linear programmes")
    return improve_plan(problem, first, settings) or found
