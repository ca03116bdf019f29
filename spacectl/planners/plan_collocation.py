"""`plan_collocation`: solve a `Problem` by direct collocation on the exact equations in residual form.

The programme of `transcription` is solved by IPOPT. The mesh is refined until the error estimate of `mesh`
meets the tolerance, and `polish` computes accurate switching times of bang-bang solutions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Status
from spacectl.core.studies.study import Progress
from spacectl.planners.bang_bang.improve import Search, check_problem, improve_plan
from spacectl.planners.bang_bang.restarts import restart_search
from spacectl.planners.collocation.between import tighten_bounds
from spacectl.planners.collocation.failure import is_feasible, largest_violation
from spacectl.planners.collocation.guess import guess_unknowns
from spacectl.planners.collocation.mesh import Refinement
from spacectl.planners.collocation.plan import make_plan
from spacectl.planners.collocation.polish import arcs_from
from spacectl.planners.collocation.restarts import RestartSettings
from spacectl.planners.collocation.result import phase_solutions
from spacectl.planners.collocation.solver import NlpSolution
from spacectl.planners.collocation.start import first_solution
from spacectl.planners.collocation.steps import Run, polish_arcs, polish_switches, refine_solution
from spacectl.planners.collocation.transcription.bounds import check_start
from spacectl.planners.collocation.transcription.nlp import Nlp
from spacectl.planners.collocation.transcription.schemes import Radau, Scheme
from spacectl.planners.flight import find_violations
from spacectl.planners.flown import with_flight, with_status
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Phases, Problem
from spacectl.planners.replay import refly
from spacectl.planners.rigid_problem import is_flexible, rigid_problem
from spacectl.simulation.progress import WorkProgress

__all__ = ["coarse_plan", "plan_collocation"]

_CELLS = 600  # of the linear programmes that improve a rigid plan
_FINE_CELLS = 1500  # of the linear programmes whose plan is returned
_POLISH_ITERATIONS = 40  # iterations of a polishing solve that starts from the switches of linear programmes
_COARSE = 1e-3  # mesh error at which the switching structure is first identified
_MAX_REPEATS = 3  # maximum number of plans after a simulation has revealed violations
_SMALL_DEPARTURE = 1e-2  # departure of the simulation from the plan below which its violations tighten the bounds
_REFINE_DEPARTURE = 3e-5  # departure above which the mesh is refined
_TOLERANCE = 1e-6  # relative violation of a bound that is tolerated


def plan_collocation(
    problem: Problem | Phases,
    *,
    scheme: Scheme | None = None,
    guess: Plan | None = None,
    refine: Refinement | None = None,
    polish: bool = True,
    restarts: int = 3,
    budget: float = 10.0,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    check: bool = True,
) -> Plan:
    """Plan a maneuver by direct collocation.

    Unknowns are states, accelerations, inputs and multipliers at the collocation points, and the durations.
    The equations of motion hold at the points as ``M a + h = B u + J' lam``, ``J a = gamma``. After
    convergence, the error of every interval is estimated by integration, and the mesh is refined until the
    tolerance is met. Where inputs are at their limits, arcs between switches become phases of unknown
    duration with fixed inputs (`polish`), which yields accurate switching times. Finally, `replay` simulates
    the plan's inputs. Bounds and path conditions that the simulation violates are tightened, the mesh is
    refined where the simulation departs from the plan, and the problem is solved again.

    The solver finds local minima. If the duration or a final cost is minimised, restarts from perturbed
    solutions follow, and the best solution is returned. Minimum time of a flexible system starts from a plan
    of its rigid counterpart.

    Parameters
    ----------
    problem : Problem or Phases
        The maneuver.
    scheme : HermiteSimpson or Radau, optional
        Default ``Radau(30)``. Radau suits jumps and stiff modes, Hermite-Simpson smooth plans of soft
        systems.
    guess : Plan, optional
        Initial guess from any planner. States and inputs are matched by name, so a rigid plan serves a
        flexible system.
    refine : Refinement, optional
        Settings of mesh refinement; default ``Refinement()``.
    polish : bool
        Whether to polish switching times.
    restarts : int
        Number of perturbed restarts; 0 returns the solution found from `guess`.
    budget : float
        Computing time for all restarts [s].
    options : mapping, optional
        IPOPT options (``{"max_iter": 300}``).
    progress : callable, optional
        ``progress(fraction, message)``; by default a bar on a terminal.
    check : bool
        Whether to raise on failure; otherwise the plan is returned with its outcome.

    Returns
    -------
    Plan
        States, inputs, and arcs with their active limits. ``outcome.stats``: iterations, times,
        ``mesh_error``, ``path_error`` (residual of equality path conditions between the points over their
        largest term), ``restarts`` (their costs), ``undetermined_inputs`` (without limits or cost; the least
        effort is taken) and ``flown`` with the results of the simulation: ``violations`` by name, relative to
        the magnitude of each bound, the ``departure`` from the planned states, the ``growth`` of small
        errors, the number of ``pieces`` (more than one if the motion is too unstable for open-loop
        simulation), and ``warnings`` (such as deflections beyond the range of the theory). A plan whose
        simulation violates a constraint by more than 1e-4 has status "limit".

    Raises
    ------
    ModelError
        If the problem is contradictory.
    SolverError
        If no plan is found (and `check`). The message names the violated constraint; ``partial`` is the last
        iterate.

    Examples
    --------
    ``plan_collocation(Problem(eom=eom, start={"x": 0.0}, end={"x": 1.0, "x_dot": 0.0}))``

    References
    ----------
    Betts, Practical Methods for Optimal Control, 2nd ed., chapters 3 and 4; Hairer and Wanner II, section IV.5 (Radau IIA).
    """
    if not isinstance(problem, (Problem, Phases)):
        raise ModelError(f"plan_collocation: expected a Problem or Phases, got {type(problem).__name__}")
    chosen = Radau(30) if scheme is None else scheme
    if not isinstance(chosen, Scheme):
        raise ModelError(f"plan_collocation: scheme is {scheme!r}, expected HermiteSimpson(n) or Radau(n)")
    begin = time.perf_counter()
    settings = RestartSettings(_require_count(restarts), float(budget))
    if not any(item.time_weight or item.cost_end for item in problem.phases):
        settings = RestartSettings(0)
    check_start(problem.phases[0])
    with WorkProgress(progress, f"planning {problem.name}") as bar:
        run = Run(chosen, refine or Refinement(), dict(options or {}), report=bar.report)
        plan = _simulated(problem, run, _plan(problem, run, guess, polish, settings), polish)
    plan = replace(
        plan, outcome=replace(plan.outcome, stats={**plan.outcome.stats, "time": time.perf_counter() - begin})
    )
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _require_count(restarts: Any) -> int:
    if isinstance(restarts, bool) or int(restarts) != restarts or restarts < 0:
        raise ModelError(f"plan_collocation: restarts is {restarts!r}, expected an integer of at least 0")
    return int(restarts)


def _plan(problem: Problem | Phases, run: Run, guess: Plan | None, polish: bool, settings: RestartSettings) -> Plan:
    """Return the plan of the best solution on the first mesh, or of another one if that is better when refined."""
    start = guess if guess is not None else _from_rigid(problem, run, settings)
    if guess is None and polish and start is not None and "stretches" in start.notes:
        return _polished(problem, run, start) or _plan_of_programmes(problem, run, start)
    first = first_solution(problem, run, start, settings)
    if start is not guess and not (first.solutions and first.solutions[0].is_success):
        first = first_solution(problem, run, guess, settings)
    if not first.solutions:
        return make_plan(problem, run, first.nlp, first.x, None, Status.FAILED, first.failure)
    found = first.solutions[0]
    if not found.is_success:
        status = Status.LIMIT if is_feasible(first.nlp, found.x) else Status.FAILED
        return make_plan(problem, run, first.nlp, found.x, found, status, _failure_message(first.nlp, found))
    best = _refined_and_polished(first.problem, run, first.nlp, found, polish)
    for other in first.solutions[1:]:
        if best.outcome.stats["cost"] <= other.cost:
            break
        run.notify(0.6, "comparing plans")
        again = _refined_and_polished(first.problem, run, first.nlp, other, polish)
        best = min(best, again, key=lambda plan: plan.outcome.stats["cost"])
    return best


def coarse_plan(problem: Problem | Phases, guess: Plan | None, settings: RestartSettings) -> Plan:
    """Return a plan on a coarse mesh, without simulation, as a guess for a finer one.

    Raises
    ------
    SolverError
        If no plan is found.
    """
    run = Run(Radau(30), Refinement(tolerance=1e-2, rounds=1, path=1e-2), {})
    plan = _plan(problem, run, guess, False, settings)
    if not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _from_rigid(problem: Problem | Phases, run: Run, settings: RestartSettings) -> Plan | None:
    """Return a guess for a flexible minimum-time problem from a plan of its rigid counterpart, if possible."""
    item = problem.phases[0]
    if len(problem.phases) > 1 or not is_flexible(item) or not item.time_weight > 0.0 or item.cost_rate is not None:
        return None
    run.notify(0.02, "rigid counterpart")
    try:
        rigid = coarse_plan(rigid_problem(item), None, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _improve_by_programmes(item, rigid, run, settings) or refly(item.eom, rigid, p=item.p)
    except (ModelError, SolverError):
        return None  # planning can proceed without this guess


def _improve_by_programmes(problem: Problem, rigid: Plan, run: Run, settings: RestartSettings) -> Plan | None:
    """Improve a rigid plan by linear programmes on the flow of the flexible system; None if not applicable."""
    run.notify(0.1, "linear programmes")
    search = Search((), _CELLS, 1e-5, 40, 40)
    try:
        check_problem(problem, _CELLS)
        found = improve_plan(problem, rigid, search)
        if found is None or not found.outcome.is_success:
            return None
        found = restart_search(problem, found, search, settings, lambda part, text: run.notify(0.2 + 0.3 * part, text))
    except (ModelError, SolverError):
        return None
    run.stats["restarts"] = found.outcome.stats["restarts"]
    return found


def _plan_of_programmes(problem: Problem | Phases, run: Run, start: Plan) -> Plan:
    """Return the plan of linear programmes on short cells: also a local minimum, for when polishing fails."""
    fine = improve_plan(problem.phases[0], start, Search((), _FINE_CELLS, 1e-6, 60, 60))
    best = fine if fine is not None and fine.outcome.is_success else start
    stats = {**best.outcome.stats, **run.stats, "mesh_error": best.outcome.stats["flow_error"]}
    stats |= {"cost": best.final_time * problem.phases[0].time_weight, "polish": "none, plan of linear programmes"}
    return replace(best, name=problem.name, outcome=replace(best.outcome, stats=stats))


def _polished(problem: Problem | Phases, run: Run, start: Plan) -> Plan | None:
    """Polish the switches found by linear programmes; return None if the result is not better."""
    item = problem.phases[0]
    if item.duration != (0.0, np.inf):
        return None  # a bound on the sum of arc durations is not part of the polishing programme
    nlp = run.transcribe((item,), [np.linspace(0.0, 1.0, run.scheme.intervals + 1)])
    solutions = phase_solutions(nlp.blocks, guess_unknowns(nlp.blocks, start))
    arcs = arcs_from(solutions[0], start.notes["stretches"])
    run.notify(0.5, f"switching times of {len(arcs)} arcs")
    polished = polish_arcs(arcs, run, solutions, start.final_time * item.time_weight, most=_POLISH_ITERATIONS)
    return (
        None
        if polished is None
        else make_plan(problem, run, polished[0], polished[1].x, polished[1], sources=polished[2])
    )


def _refined_and_polished(problem: Problem | Phases, run: Run, nlp: Nlp, found: NlpSolution, polish: bool) -> Plan:
    """Refine the mesh of a solution to the tolerance, and polish its switches."""
    goals = [max(_COARSE, run.refine.tolerance), run.refine.tolerance] if polish else [run.refine.tolerance]
    for goal in goals:
        nlp, found = refine_solution(problem.phases, run, nlp, found, goal)
        polished = polish_switches(problem.phases, run, nlp, found) if polish else None
        if polished is not None:
            return make_plan(problem, run, polished[0], polished[1].x, polished[1], sources=polished[2])
    return make_plan(problem, run, nlp, found.x, found)


def _simulated(problem: Problem | Phases, run: Run, plan: Plan, polish: bool) -> Plan:
    """Simulate the plan; while it violates bounds, solve again with tighter bounds or a finer mesh."""
    tightened: Problem | Phases = problem
    for left in range(_MAX_REPEATS, -1, -1):
        if not plan.outcome.is_success:
            return plan
        run.notify(0.9, "simulation")
        plan, flight = with_flight(problem, plan)
        violations = find_violations(flight) if flight is not None else []
        if flight is None or not left or max(item.worst for item in violations) <= _TOLERANCE:
            break
        if flight.departure < _SMALL_DEPARTURE:
            tightened = tighten_bounds(tightened, violations)
        if flight.departure > _REFINE_DEPARTURE:
            run.refine = replace(run.refine, tolerance=0.1 * run.refine.tolerance)
        elif max(item.worst_bound for item in violations) <= _TOLERANCE:
            break
        again = _plan(tightened, replace(run, stats=dict(run.stats)), plan, polish, RestartSettings(0))
        if not again.outcome.is_success:
            break
        run.stats.update(again.outcome.stats)
        plan = replace(again, name=problem.name)
    return with_status(plan)


def _failure_message(nlp: Nlp, found: NlpSolution) -> str:
    if is_feasible(nlp, found.x):
        return f"the plan is feasible but not optimal (IPOPT: {found.status} after {found.iterations} iterations)"
    return (
        f"no plan found (IPOPT: {found.status} after {found.iterations} iterations); {largest_violation(nlp, found.x)}"
    )
