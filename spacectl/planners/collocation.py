"""`plan_collocation`: solves a `Problem` by direct collocation on the exact equations in residual form.

The programme is built by `collocation_nlp`, solved by IPOPT, its mesh refined until the error estimate of `mesh` is met,
and bang-bang solutions are polished to exact switch times by `polish`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Outcome, Status
from spacectl.planners.collocation_between import keep_back, passed_between
from spacectl.planners.collocation_bounds import check_start
from spacectl.planners.collocation_failure import is_feasible, largest_violation
from spacectl.planners.collocation_guess import guess_unknowns
from spacectl.planners.collocation_nlp import Nlp, transcribe
from spacectl.planners.collocation_plan import describe_arcs
from spacectl.planners.collocation_result import join_trajectories, phase_solutions
from spacectl.planners.collocation_solver import NlpSolution
from spacectl.planners.collocation_steps import WARM, Run, mesh_errors, polish_switches, prepare, refine_solution
from spacectl.planners.mesh import Refinement
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Phases, Problem
from spacectl.planners.schemes import Radau, Scheme

__all__ = ["plan_collocation"]

_COARSE = 1e-3  # error of a mesh on which the switching structure is read
_DRAWN = 3  # rounds in which bounds are drawn in
_FADING = 0.1  # weight of squared inputs, against time, in the first solve from nothing


def plan_collocation(
    problem: Problem | Phases,
    *,
    scheme: Scheme | None = None,
    guess: Plan | None = None,
    refine: Refinement | None = None,
    polish: bool = True,
    options: Mapping[str, Any] | None = None,
    check: bool = True,
) -> Plan:
    """Plan a maneuver by direct collocation.

    Unknowns are states, accelerations, inputs and multipliers at the points of a mesh, and the durations; the equations
    of motion hold at the points as ``M a + h = B u + J' lam``, ``J a = gamma``. After convergence the error of every interval
    is measured by integrating it again; the mesh is refined until it is small. Where inputs are at their limits, the arcs
    between switches become unknown durations with inputs held (`polish`), which gives switch times to full accuracy. Where path
    conditions or bounds of states are passed between the points, they are drawn in by as much and the plan is made again.

    Parameters
    ----------
    problem : Problem or Phases
        The maneuver.
    scheme : HermiteSimpson or Radau, optional
        Default ``Radau(30)``. Radau suits jumps and stiff modes, Hermite-Simpson smooth plans of soft systems.
    guess : Plan, optional
        A plan to start from, of any planner; states and inputs are found by name, so a rigid plan serves a flexible system.
    refine : Refinement, optional
        Error of the mesh; default ``Refinement()``.
    polish : bool
        Whether switch times are polished.
    options : mapping, optional
        IPOPT's own options (``{"max_iter": 300}``).
    check : bool
        Whether a failure raises; otherwise the plan comes back with its outcome.

    Returns
    -------
    Plan
        States, inputs, arcs with what limits them; ``outcome.stats`` has iterations, times, mesh errors, and what bounds are
        passed by between points, over their size (``passed``).

    Raises
    ------
    ModelError
        If the problem contradicts itself.
    SolverError
        If no plan is found (and `check`); the message names what cannot be met, ``partial`` holds the last iterate.

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
    run = Run(chosen, refine or Refinement(), dict(options or {}))
    check_start(problem.phases[0])
    plan = _within(problem, run, _plan(problem, run, guess, polish), polish)
    run.stats["time"] = time.perf_counter() - begin
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _plan(problem: Problem | Phases, run: Run, guess: Plan | None, polish: bool) -> Plan:
    phases = problem.phases
    meshes = [np.linspace(0.0, 1.0, run.scheme.intervals + 1) for _ in phases]
    nlp = transcribe(phases, run.scheme, meshes)
    x = guess_unknowns(nlp.blocks, guess)
    broken = prepare(nlp, x)
    if broken:
        return _give(problem, run, nlp, x, None, Status.FAILED, broken)
    if guess is None and any(item.time_weight for item in phases):
        damped = transcribe(phases, run.scheme, meshes, damping=_FADING * max(item.time_weight for item in phases))
        prepare(damped, x)
        x = run.solve(damped, x, {}).x
    found = run.solve(nlp, x, WARM)
    if not found.is_success and not is_feasible(nlp, found.x):
        found = run.solve(nlp, guess_unknowns(nlp.blocks, guess), {})
    if not found.is_success:
        status = Status.LIMIT if is_feasible(nlp, found.x) else Status.FAILED
        return _give(problem, run, nlp, found.x, found, status, _why(nlp, found))
    goals = [max(_COARSE, run.refine.tolerance), run.refine.tolerance] if polish else [run.refine.tolerance]
    for goal in goals:
        nlp, found = refine_solution(phases, run, nlp, found, goal)
        sharp = polish_switches(phases, run, nlp, found) if polish else None
        if sharp is not None:
            return _give(problem, run, *sharp)
    return _give(problem, run, nlp, found.x, found)


def _within(problem: Problem | Phases, run: Run, plan: Plan, polish: bool) -> Plan:
    """The plan, planned again with what its bounds are passed by between the points kept back, until nothing passes."""
    drawn: Problem | Phases = problem
    for left in range(_DRAWN, -1, -1):
        if not plan.outcome.is_success:
            break
        passed = passed_between(problem, plan)
        run.stats["passed"] = max(item.worst for item in passed)
        if not run.stats["passed"] or not left:
            break
        drawn = keep_back(drawn, passed)
        stats = dict(run.stats)
        again = _plan(drawn, run, plan, polish)
        if not again.outcome.is_success:
            run.stats.update(stats)
            break
        plan = replace(again, name=problem.name)
    return plan


def _why(nlp: Nlp, found: NlpSolution) -> str:
    if is_feasible(nlp, found.x):
        return f"all conditions are met, but the plan is not optimal (IPOPT: {found.status} after {found.iterations} iterations)"
    return (
        f"no plan found (IPOPT: {found.status} after {found.iterations} iterations); {largest_violation(nlp, found.x)}"
    )


def _give(
    problem: Problem | Phases,
    run: Run,
    nlp: Nlp,
    x: np.ndarray,
    found: NlpSolution | None,
    status: Status = Status.OK,
    message: str = "",
) -> Plan:
    """The plan with its outcome."""
    solutions = phase_solutions(nlp.blocks, x)
    states, inputs = join_trajectories(solutions)
    arcs = describe_arcs(solutions, found.bound_multipliers) if found is not None and status is Status.OK else ()
    if status is not Status.FAILED:
        run.stats["mesh_error"] = max(float(item.max()) for item in mesh_errors(nlp, x))
        run.stats["intervals"] = [block.N for block in nlp.blocks]
        run.stats["cost"] = found.cost if found is not None else None
    if status is Status.OK:
        message = f"{solutions[-1].end:.6g} s in {len(arcs)} arcs; " + "; ".join(
            dict.fromkeys(arc.limit for arc in arcs)
        )
    notes = {"scheme": run.scheme, "phase_times": [0.0, *(item.end for item in solutions)]}
    return Plan(
        name=problem.name,
        x=states,
        u=inputs,
        arcs=arcs,
        outcome=Outcome(status=status, message=message, stats=run.stats),
        notes=notes,
    )
