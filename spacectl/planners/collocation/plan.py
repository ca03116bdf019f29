"""Convert a solved programme to a `Plan`, whose arcs name the inputs and conditions at their limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.core.outcome import Outcome, Status
from spacectl.planners.collocation.arcs import active_rows, control_stretches
from spacectl.planners.collocation.inputs import undetermined_inputs
from spacectl.planners.collocation.mesh import interval_errors, path_errors
from spacectl.planners.collocation.result import PhaseSolution, join_trajectories, phase_solutions
from spacectl.planners.collocation.solver import NlpSolution
from spacectl.planners.collocation.steps import Run
from spacectl.planners.collocation.transcription.nlp import Nlp
from spacectl.planners.plan import Arc, Plan
from spacectl.planners.problem import Phases, Problem

__all__ = ["describe_arcs", "make_plan"]

_SHORT = 1e-7  # of the duration: shorter arcs are not reported


def make_plan(
    problem: Problem | Phases,
    run: Run,
    nlp: Nlp,
    x: np.ndarray,
    found: NlpSolution | None,
    status: Status = Status.OK,
    message: str = "",
    sources: Sequence[int] | None = None,
) -> Plan:
    """Return the plan with its outcome; `sources` gives the user's phase of each programme phase."""
    solutions = phase_solutions(nlp.blocks, x)
    states, inputs = join_trajectories(solutions)
    arcs = describe_arcs(solutions, found.bound_multipliers) if found is not None and status is Status.OK else ()
    stats = dict(run.stats)
    if status is not Status.FAILED:
        stats["mesh_error"] = max(float(interval_errors(item).max()) for item in solutions)
        stats["path_error"] = max(float(path_errors(item).max()) for item in solutions)
        stats["intervals"] = [block.N for block in nlp.blocks]
        stats["cost"] = found.cost if found is not None else None
        stats["undetermined_inputs"] = undetermined_inputs(run.effort, solutions)
    if status is Status.OK:
        message = f"{solutions[-1].end:.6g} s in {len(arcs)} arcs; " + "; ".join(
            dict.fromkeys(arc.limit for arc in arcs)
        )
    owner = list(sources) if sources is not None else list(range(len(solutions)))
    ends = [
        max(item.end for item, source in zip(solutions, owner, strict=True) if source == k) for k in sorted(set(owner))
    ]
    notes = {"scheme": run.scheme, "phase_times": [0.0, *ends]}
    return Plan(
        name=problem.name,
        x=states,
        u=inputs,
        arcs=arcs,
        outcome=Outcome(status=status, message=message, stats=stats),
        notes=notes,
    )


def describe_arcs(solutions: Sequence[PhaseSolution], multipliers: np.ndarray) -> tuple[Arc, ...]:
    """Return the arcs of all phases; neighbours with the same active limits are merged."""
    total = solutions[-1].end - solutions[0].begin
    arcs: list[Arc] = []
    for solution in solutions:
        for begin, end, words in _of_phase(solution, multipliers):
            if end - begin <= _SHORT * total:
                continue
            if arcs and arcs[-1].limit == words:
                arcs[-1] = Arc(begin=arcs[-1].begin, end=end, limit=words)
            else:
                arcs.append(Arc(begin=arcs[-1].end if arcs else begin, end=end, limit=words))
    return tuple(arcs)


def _of_phase(solution: PhaseSolution, multipliers: np.ndarray) -> list[tuple[float, float, str]]:
    block = solution.block
    stretches = control_stretches(solution, multipliers)
    active = active_rows(solution)
    edges = [block.fractions[np.flatnonzero(np.diff(mask.astype(int))) + 1] for mask in active.values()]
    cuts = np.unique(np.concatenate([*([item.begin for item in row] for row in stretches), *edges, [0.0, 1.0]]))
    out = []
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        middle = (a + b) / 2.0
        words = []
        for i, row in enumerate(stretches):
            side = next(item.side for item in row if item.begin <= middle <= item.end)
            words += [f"{block.control_words(i)} at its {'upper' if side > 0 else 'lower'} limit"] if side else []
        near = (block.fractions >= a - 1e-12) & (block.fractions < b - 1e-12)  # an edge belongs to what begins there
        words += [text for text, mask in active.items() if near.any() and mask[near].mean() > 0.5 and text not in words]
        out.append(
            (solution.begin + a * solution.at.T, solution.begin + b * solution.at.T, ", ".join(words) or "no limit")
        )
    return out
