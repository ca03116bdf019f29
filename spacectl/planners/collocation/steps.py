"""Steps of a collocation run: solve, refine the mesh, polish the switching times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spacectl.planners.collocation.failure import drop_constant_rows
from spacectl.planners.collocation.guess import guess_unknowns
from spacectl.planners.collocation.mesh import Refinement, interval_errors, path_errors, refine_mesh
from spacectl.planners.collocation.polish import ArcPhase, arc_phases, arcs_programme
from spacectl.planners.collocation.result import PhaseSolution, join_trajectories, phase_solutions
from spacectl.planners.collocation.solver import NlpSolution, solve_programme
from spacectl.planners.collocation.transcription.nlp import Nlp, transcribe
from spacectl.planners.collocation.transcription.scaling import scale_programme
from spacectl.planners.collocation.transcription.schemes import Radau, Scheme
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Problem

__all__ = ["WARM", "Run", "as_guess", "mesh_errors", "polish_arcs", "polish_switches", "prepare", "refine_solution"]

WARM = {"mu_strategy": "monotone", "bound_push": 1e-5, "bound_frac": 1e-5}
#: initial barrier parameter of a warm start, and the number of points above which it is reduced
_BARRIER = (1e-3, 200)
_PATIENCE = 150  # maximum iterations of a polishing solve, which starts near its solution


@dataclass(eq=False)
class Run:
    """State shared by the steps of one call.

    `weights` (per phase) regularise undetermined inputs; `effort` is the effort of the inputs without
    regularisation.
    """

    scheme: Scheme
    refine: Refinement
    options: dict[str, Any]
    stats: dict[str, Any] = field(default_factory=dict)
    weights: list[np.ndarray] | None = None
    effort: dict[str, float] = field(default_factory=dict)
    report: Callable[[float, str], None] | None = None

    def notify(self, fraction: float, message: str) -> None:
        """Report the progress of the planning to the user."""
        if self.report is not None:
            self.report(fraction, message)

    def transcribe(self, phases: Sequence[Problem], meshes: Sequence[np.ndarray]) -> Nlp:
        """Return the programme of the user's phases on given meshes."""
        return transcribe(phases, self.scheme, meshes, weights=self.weights)

    def solve(self, nlp: Nlp, x: np.ndarray, options: Mapping[str, Any], *, most: int = 500) -> NlpSolution:
        """Scale and solve within `most` iterations, and update the statistics."""
        begin = time.perf_counter()
        scale_programme(nlp, x)
        if options is WARM:
            share = min(1.0, _BARRIER[1] / sum(block.P for block in nlp.blocks))
            options = {**options, "mu_init": _BARRIER[0] * share**4}
        found = solve_programme(nlp, x, {"max_iter": most, **options, **self.options})
        self.stats["iterations"] = self.stats.get("iterations", 0) + found.iterations
        self.stats["solves"] = self.stats.get("solves", 0) + 1
        self.stats["solve_time"] = self.stats.get("solve_time", 0.0) + time.perf_counter() - begin
        self.stats["status"] = found.status
        return found


def prepare(nlp: Nlp, x: np.ndarray) -> str | None:
    """Scale a programme and remove constant rows; return a message if one of them is violated."""
    scale_programme(nlp, x)
    return drop_constant_rows(nlp, x)


def mesh_errors(nlp: Nlp, x: np.ndarray, refine: Refinement, goal: float) -> list[np.ndarray]:
    """Return the error of every interval of every phase; path residuals are scaled by their own tolerance."""
    part = goal / refine.path
    return [np.maximum(interval_errors(item), part * path_errors(item)) for item in phase_solutions(nlp.blocks, x)]


def refine_solution(
    phases: Sequence[Problem], run: Run, nlp: Nlp, found: NlpSolution, goal: float
) -> tuple[Nlp, NlpSolution]:
    """Solve on refined meshes until the error of every interval is below the goal or the rounds are exhausted."""
    for count in range(run.refine.rounds):
        run.notify(0.5 + 0.3 * count / run.refine.rounds, f"mesh of {sum(block.N for block in nlp.blocks)} intervals")
        errors = mesh_errors(nlp, found.x, run.refine, goal)
        if max(item.max() for item in errors) <= goal:
            break
        meshes = [
            refine_mesh(block.mesh, error, goal, run.scheme.order, run.refine.intervals)
            for block, error in zip(nlp.blocks, errors, strict=True)
        ]
        if all(len(mesh) == len(block.mesh) for mesh, block in zip(meshes, nlp.blocks, strict=True)):
            break
        finer = run.transcribe(phases, meshes)
        x = guess_unknowns(finer.blocks, as_guess(phase_solutions(nlp.blocks, found.x)))
        prepare(finer, x)
        again = run.solve(finer, x, WARM)
        if not again.is_success:
            break
        nlp, found = finer, again
    return nlp, found


def as_guess(solutions: Sequence[PhaseSolution]) -> Plan:
    """Return a solution as a warm start for another mesh."""
    x, u = join_trajectories(solutions)
    times = [solutions[0].begin, *(item.end for item in solutions)]
    return Plan(name="guess", x=x, u=u, notes={"phase_times": times})


def polish_switches(
    phases: Sequence[Problem], run: Run, nlp: Nlp, found: NlpSolution
) -> tuple[Nlp, NlpSolution, list[int]] | None:
    """Solve the programme of the arcs on a mesh that meets the tolerance.

    The first attempt fixes controls at their limits wherever possible, the second leaves those between limits
    free. Return the programme, its solution and the index of the user's phase of each arc; None if nothing
    can be polished or both fail.
    """
    if any(item.duration != (0.0, np.inf) for item in phases):
        return None
    solutions = phase_solutions(nlp.blocks, found.x)
    at_limits, free = (arc_phases(solutions, found.bound_multipliers, bang=bang) for bang in (True, False))
    tries = [at_limits] if [arc.fixed for arc in at_limits] == [arc.fixed for arc in free] else [at_limits, free]
    for arcs in tries:
        run.notify(0.8, f"switching times of {len(arcs)} arcs")
        if any(arc.fixed for arc in arcs):
            done = polish_arcs(arcs, run, solutions, found.cost)
            if done is not None:
                return done
    return None


def polish_arcs(
    arcs: Sequence[ArcPhase], run: Run, solutions: Sequence[PhaseSolution], cost: float, *, most: int = _PATIENCE
) -> tuple[Nlp, NlpSolution, list[int]] | None:
    """Solve the programme of given arcs; return None if it fails or costs more than `cost`."""
    scheme = Radau(2, max(5, getattr(run.scheme, "degree", 0)))
    guess = replace(as_guess(solutions), notes={"phase_times": [arcs[0].begin, *(arc.end for arc in arcs)]})
    goal = 0.1 * run.refine.tolerance
    for _ in range(run.refine.rounds + 1):
        nlp = arcs_programme(arcs, scheme, run.weights)
        x = guess_unknowns(nlp.blocks, guess)
        prepare(nlp, x)
        found = run.solve(nlp, x, WARM, most=most)
        run.stats["polish"] = f"{len(arcs)} arcs" if found.is_success else f"{found.status}, {len(arcs)} arcs"
        if not found.is_success or found.cost > cost + 1e-3 * abs(cost):
            return None
        errors = mesh_errors(nlp, found.x, run.refine, goal)
        if max(item.max() for item in errors) <= goal:
            break
        arcs = _finer(arcs, errors, run, scheme)
        guess = as_guess(phase_solutions(nlp.blocks, found.x))
    return nlp, found, [arc.source for arc in arcs]


def _finer(arcs: Sequence[ArcPhase], errors: Sequence[np.ndarray], run: Run, scheme: Scheme) -> list[ArcPhase]:
    return [
        replace(arc, mesh=refine_mesh(arc.mesh, error, 0.1 * run.refine.tolerance, scheme.order, run.refine.intervals))
        for arc, error in zip(arcs, errors, strict=True)
    ]
