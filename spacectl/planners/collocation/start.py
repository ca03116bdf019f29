"""The solution of a collocation run on the first mesh, improved by perturbed restarts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spacectl.planners.collocation.failure import is_feasible
from spacectl.planners.collocation.guess import guess_unknowns
from spacectl.planners.collocation.inputs import (
    first_solve_weights,
    free_inputs,
    limit_impulses,
    regularisation_weights,
    total_effort,
)
from spacectl.planners.collocation.restarts import RestartSettings, find_better_solutions
from spacectl.planners.collocation.result import phase_solutions
from spacectl.planners.collocation.solver import NlpSolution
from spacectl.planners.collocation.steps import WARM, Run, prepare
from spacectl.planners.collocation.transcription.nlp import Nlp, transcribe
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Phases, Problem

__all__ = ["First", "first_solution"]

_LEAST_DURATION = 0.05  # lower bound of the duration in the regularised first solve, relative to the guess


@dataclass(frozen=True, eq=False)
class First:
    """The programme on the first mesh with its solutions, best first; or its unknowns and the cause of failure.

    `problem` is the user's problem with limits added for impulsive inputs.
    """

    problem: Problem | Phases
    nlp: Nlp
    x: np.ndarray
    solutions: tuple[NlpSolution, ...] = ()
    failure: str = ""

    @property
    def found(self) -> NlpSolution | None:
        """The best solution, or the last attempt."""
        return self.solutions[0] if self.solutions else None


def first_solution(problem: Problem | Phases, run: Run, guess: Plan | None, settings: RestartSettings) -> First:
    """Solve on the first mesh, regularise undetermined inputs, and try perturbed restarts."""
    phases = problem.phases
    meshes = _meshes(problem, run)
    nlp = run.transcribe(phases, meshes)
    x = guess_unknowns(nlp.blocks, guess)
    failure = prepare(nlp, x)
    if failure:
        return First(problem, nlp, x, (), failure)
    if guess is None and any(item.time_weight for item in phases):
        damped = transcribe(phases, run.scheme, meshes, weights=first_solve_weights(phases))
        _bound_durations(damped, x)
        prepare(damped, x)
        x = run.solve(damped, x, {}).x
    found = run.solve(nlp, x, WARM)
    if not found.is_success and not is_feasible(nlp, found.x):
        found = run.solve(nlp, guess_unknowns(nlp.blocks, guess), {})
    first = First(problem, nlp, found.x, (found,))
    if found.is_success:
        first = _regularised(first, run)
    return _with_restarts(first, run, settings, guess)


def _bound_durations(nlp: Nlp, x: np.ndarray) -> None:
    """Bound the durations from below by a fraction of the guess.

    As a duration tends to zero, unlimited inputs grow and the solver cannot recover.
    """
    for block in nlp.blocks:
        k = block.column + block.n - 1
        nlp.low[k] = min(max(nlp.low[k], _LEAST_DURATION * x[k]), nlp.high[k])


def _meshes(problem: Problem | Phases, run: Run) -> list[np.ndarray]:
    return [np.linspace(0.0, 1.0, run.scheme.intervals + 1) for _ in problem.phases]


def _with_restarts(first: First, run: Run, settings: RestartSettings, guess: Plan | None) -> First:
    found = first.solutions[0]
    run.notify(0.2, f"{settings.restarts} restarts")
    at = None if found.is_success else guess_unknowns(first.nlp.blocks, guess)
    better = find_better_solutions(first.nlp, found, run, settings, from_x=at)
    return replace(first, solutions=(*better, *first.solutions)) if better else first


def _regularised(first: First, run: Run) -> First:
    """Solve again with regularised inputs: free ones take their least effort, without impulses."""
    if run.weights is not None or not any(free_inputs(item) for item in first.problem.phases):
        return first
    rough = first.solutions[0]
    before = phase_solutions(first.nlp.blocks, rough.x)
    phases = tuple(limit_impulses(item) for item in before)
    problem = replace(first.problem, phases=phases) if isinstance(first.problem, Phases) else phases[0]
    run.weights = regularisation_weights(before, rough.cost)
    nlp = run.transcribe(phases, _meshes(problem, run))
    x = np.clip(rough.x, nlp.low, nlp.high)
    prepare(nlp, x)
    found = run.solve(nlp, x, WARM)
    if not found.is_success:
        run.weights = None
        return first
    run.effort = total_effort(before)
    return First(problem, nlp, found.x, (found,))
