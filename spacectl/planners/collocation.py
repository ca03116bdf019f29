"""`plan_collocation`: solves a `Problem` by direct collocation on the exact equations in residual form.

The programme is built by `collocation_nlp`, solved by IPOPT, its mesh refined until the error estimate of `mesh` is met,
and bang-bang solutions are polished to exact switch times by `polish`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Outcome, Status
from spacectl.planners.collocation_bounds import check_start
from spacectl.planners.collocation_failure import drop_constant_rows, largest_violation
from spacectl.planners.collocation_guess import guess_unknowns
from spacectl.planners.collocation_nlp import Nlp, transcribe
from spacectl.planners.collocation_plan import describe_arcs
from spacectl.planners.collocation_result import PhaseSolution, join_trajectories, phase_solutions
from spacectl.planners.collocation_scaling import scale_programme
from spacectl.planners.collocation_solver import NlpSolution, solve_programme
from spacectl.planners.mesh import interval_errors, refine_mesh
from spacectl.planners.plan import Plan
from spacectl.planners.polish import ArcPhase, arc_phases, arcs_programme
from spacectl.planners.problem import Phases, Problem
from spacectl.planners.schemes import Radau, Scheme

__all__ = ["Refinement", "plan_collocation"]

_COARSE = 1e-3  # error of a mesh on which the switching structure is read
_WARM = {"mu_strategy": "monotone", "bound_push": 1e-5, "bound_frac": 1e-5}
_BARRIER = (
    1e-3,
    200,
)  # first barrier of a warm solve, and the number of points from which it falls: they share the cost
_FADING = 0.1  # weight of squared inputs, against time, in the first solve from nothing


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """How the mesh follows its error.

    Parameters
    ----------
    tolerance : float
        Largest error of an interval, relative to the size of each state.
    rounds : int
        Number of meshes after the first.
    intervals : int
        Most intervals of a phase.
    """

    tolerance: float = 1e-7
    rounds: int = 6
    intervals: int = 400


@dataclass(eq=False)
class _Run:
    """What the steps of one call share."""

    scheme: Scheme
    refine: Refinement
    options: dict[str, Any]
    stats: dict[str, Any] = field(default_factory=dict)

    def solve(self, nlp: Nlp, x: np.ndarray, options: Mapping[str, Any]) -> NlpSolution:
        """Scale, solve, count."""
        begin = time.perf_counter()
        scale_programme(nlp, x)
        if options is _WARM:
            share = min(1.0, _BARRIER[1] / sum(block.P for block in nlp.blocks))
            options = {**options, "mu_init": _BARRIER[0] * share**4}
        found = solve_programme(nlp, x, {**options, **self.options})
        self.stats["iterations"] = self.stats.get("iterations", 0) + found.iterations
        self.stats["solves"] = self.stats.get("solves", 0) + 1
        self.stats["solve_time"] = self.stats.get("solve_time", 0.0) + time.perf_counter() - begin
        self.stats["status"] = found.status
        return found


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
    between switches become unknown durations with inputs held (`polish`), which gives switch times to full accuracy.

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
        States, inputs, arcs with what limits them; ``outcome.stats`` has iterations, times, mesh errors.

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
    run = _Run(chosen, refine or Refinement(), dict(options or {}))
    check_start(problem.phases[0])
    plan = _plan(problem, run, guess, polish)
    run.stats["time"] = time.perf_counter() - begin
    if check and not plan.outcome.is_success:
        raise SolverError(plan.outcome.message, partial=plan)
    return plan


def _plan(problem: Problem | Phases, run: _Run, guess: Plan | None, polish: bool) -> Plan:
    phases = problem.phases
    meshes = [np.linspace(0.0, 1.0, run.scheme.intervals + 1) for _ in phases]
    nlp = transcribe(phases, run.scheme, meshes)
    x = guess_unknowns(nlp.blocks, guess)
    broken = _prepare(nlp, x)
    if broken:
        return _give(problem, run, nlp, x, None, Status.FAILED, broken)
    if guess is None and any(item.time_weight for item in phases):
        damped = transcribe(phases, run.scheme, meshes, damping=_FADING * max(item.time_weight for item in phases))
        _prepare(damped, x)
        x = run.solve(damped, x, {}).x
    found = run.solve(nlp, x, _WARM)
    if not found.is_success:
        found = run.solve(nlp, guess_unknowns(nlp.blocks, guess), {})
    if not found.is_success:
        return _give(problem, run, nlp, found.x, found, Status.FAILED, _why(nlp, found))
    goals = [max(_COARSE, run.refine.tolerance), run.refine.tolerance] if polish else [run.refine.tolerance]
    for goal in goals:
        nlp, found = _refined(phases, run, nlp, found, goal)
        sharp = _polished(phases, run, nlp, found) if polish else None
        if sharp is not None:
            return _give(problem, run, *sharp)
    return _give(problem, run, nlp, found.x, found)


def _prepare(nlp: Nlp, x: np.ndarray) -> str | None:
    scale_programme(nlp, x)
    return drop_constant_rows(nlp, x)


def _why(nlp: Nlp, found: NlpSolution) -> str:
    return (
        f"no plan found (IPOPT: {found.status} after {found.iterations} iterations); {largest_violation(nlp, found.x)}"
    )


def _errors(nlp: Nlp, x: np.ndarray) -> list[np.ndarray]:
    return [interval_errors(item) for item in phase_solutions(nlp.blocks, x)]


def _refined(
    phases: Sequence[Problem], run: _Run, nlp: Nlp, found: NlpSolution, goal: float
) -> tuple[Nlp, NlpSolution]:
    """Solve on finer meshes until the error of every interval is below the goal, as far as the rounds go."""
    for _ in range(run.refine.rounds):
        errors = _errors(nlp, found.x)
        if max(item.max() for item in errors) <= goal:
            break
        meshes = [
            refine_mesh(block.mesh, error, goal, run.scheme.order, run.refine.intervals)
            for block, error in zip(nlp.blocks, errors, strict=True)
        ]
        if all(len(mesh) == len(block.mesh) for mesh, block in zip(meshes, nlp.blocks, strict=True)):
            break
        finer = transcribe(phases, run.scheme, meshes)
        x = guess_unknowns(finer.blocks, _as_guess(phase_solutions(nlp.blocks, found.x)))
        _prepare(finer, x)
        again = run.solve(finer, x, _WARM)
        if not again.is_success:
            break
        nlp, found = finer, again
    return nlp, found


def _as_guess(solutions: Sequence[PhaseSolution]) -> Plan:
    """A solution as a guess for another mesh."""
    x, u = join_trajectories(solutions)
    times = [solutions[0].begin, *(item.end for item in solutions)]
    return Plan(name="guess", x=x, u=u, notes={"phase_times": times})


def _polished(
    phases: Sequence[Problem], run: _Run, nlp: Nlp, found: NlpSolution
) -> tuple[Nlp, np.ndarray, NlpSolution] | None:
    """The programme of the arcs, solved on a mesh that meets the tolerance; None if there is nothing to polish or it fails."""
    if any(item.duration != (0.0, np.inf) for item in phases):
        return None
    solutions = phase_solutions(nlp.blocks, found.x)
    arcs = arc_phases(solutions, found.bound_multipliers)
    if not any(arc.held for arc in arcs):
        return None
    scheme = Radau(2, max(5, getattr(run.scheme, "degree", 0)))
    guess = Plan(
        name="guess",
        x=_as_guess(solutions).x,
        u=_as_guess(solutions).u,
        notes={"phase_times": [arcs[0].begin, *(arc.end for arc in arcs)]},
    )
    for _ in range(run.refine.rounds + 1):
        sharp = arcs_programme(arcs, scheme, 0.0)
        x = guess_unknowns(sharp.blocks, guess)
        _prepare(sharp, x)
        again = run.solve(sharp, x, _WARM)
        if not again.is_success or again.cost > found.cost + 1e-3 * abs(found.cost):
            run.stats["polish"] = f"{again.status}, {len(arcs)} arcs"
            return None
        errors = _errors(sharp, again.x)
        if max(item.max() for item in errors) <= 0.1 * run.refine.tolerance:
            break
        arcs = _finer(arcs, errors, run, scheme)
        guess = _as_guess(phase_solutions(sharp.blocks, again.x))
    run.stats["polish"] = f"{len(arcs)} arcs"
    return sharp, again.x, again


def _finer(arcs: Sequence[ArcPhase], errors: Sequence[np.ndarray], run: _Run, scheme: Scheme) -> list[ArcPhase]:
    return [
        replace(arc, mesh=refine_mesh(arc.mesh, error, 0.1 * run.refine.tolerance, scheme.order, run.refine.intervals))
        for arc, error in zip(arcs, errors, strict=True)
    ]


def _give(
    problem: Problem | Phases,
    run: _Run,
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
    if status is Status.OK:
        run.stats["mesh_error"] = max(float(item.max()) for item in _errors(nlp, x))
        run.stats["intervals"] = [block.N for block in nlp.blocks]
        run.stats["cost"] = found.cost if found is not None else None
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
