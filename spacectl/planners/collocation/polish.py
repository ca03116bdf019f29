"""Polish switching times: arcs between switches become phases of free duration with inputs fixed at their limits.

Inputs at no limit (singular, or determined by a path condition) remain free in their arcs. With a scheme of
high order and mesh refinement, a simulation of the plan agrees with it to the accuracy of the integration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spacectl.planners.collocation.arcs import (
    Stretch,
    active_state_bounds,
    control_levels,
    control_stretches,
    remove_intermediate,
)
from spacectl.planners.collocation.result import PhaseSolution
from spacectl.planners.collocation.transcription.nlp import Nlp, transcribe
from spacectl.planners.collocation.transcription.schemes import Scheme
from spacectl.planners.problem import Problem

__all__ = ["ArcPhase", "arc_phases", "arcs_from", "arcs_programme"]


@dataclass(frozen=True, eq=False)
class ArcPhase:
    """An arc as a phase: its problem, fixed unknowns (by name in z), times, and the index of the user's phase."""

    problem: Problem
    fixed: dict[str, float]
    begin: float
    end: float
    source: int
    mesh: np.ndarray


def arc_phases(
    solutions: Sequence[PhaseSolution], multipliers: np.ndarray, *, bang: bool = False, shortest: float = 1e-4
) -> list[ArcPhase]:
    """Return the arcs of all phases, in order; switches closer than `shortest` of the duration are merged.

    With `bang`, stretches between the limits become switches, unless a path condition or a state bound
    explains them.
    """
    out: list[ArcPhase] = []
    for number, solution in enumerate(solutions):
        out += _of_phase(solution, multipliers, number, shortest, bang)
    return _with_boundary_conditions(out)


def _with_boundary_conditions(out: list[ArcPhase]) -> list[ArcPhase]:
    """Assign boundary conditions to the first and last arc of each phase."""
    last = len(out) - 1
    chained = []
    for k, arc in enumerate(out):
        is_begin = k == 0 or out[k - 1].source != arc.source
        is_end = k == last or out[k + 1].source != arc.source
        chained.append(
            replace(arc, problem=_arc_problem(arc.problem, is_begin=is_begin, is_end=is_end, is_first=k == 0))
        )
    return chained


def _arc_problem(problem: Problem, *, is_begin: bool, is_end: bool, is_first: bool) -> Problem:
    """Return the problem of an arc; only the first and last of a phase have boundary conditions."""
    changes: dict[str, object] = {"duration": (0.0, np.inf)}
    if not is_first:
        changes |= {"start": {}}
    if not is_begin:
        changes |= {"conditions_start": (), "inputs_start": {}}
    if not is_end:
        changes |= {"end": {}, "conditions_end": (), "cost_end": None, "inputs_end": {}}
    return replace(problem, **changes)  # type: ignore[arg-type]


def _of_phase(
    solution: PhaseSolution, multipliers: np.ndarray, number: int, shortest: float, bang: bool
) -> list[ArcPhase]:
    stretches = control_stretches(solution, multipliers)
    return _cut(solution, _all_at_limits(solution, stretches) if bang else stretches, number, shortest)


def arcs_from(
    solution: PhaseSolution, stretches: Mapping[str, list[Stretch]], *, shortest: float = 1e-4
) -> list[ArcPhase]:
    """Return the arcs of a single phase from the stretches of its inputs; unnamed inputs are at no limit."""
    names = [solution.block.model.names[column] for column in solution.block.controls]
    free = [Stretch(0.0, 1.0, 0)]
    return _with_boundary_conditions(
        _cut(solution, [stretches.get(name.removeprefix("input "), free) for name in names], 0, shortest)
    )


def _cut(solution: PhaseSolution, stretches: list[list[Stretch]], number: int, shortest: float) -> list[ArcPhase]:
    block = solution.block
    problem = block.problem
    cuts = np.unique(np.concatenate([[item.begin for item in row] for row in stretches] + [[0.0, 1.0]]))
    edges = [0.0]
    for cut in cuts[1:-1]:
        if cut - edges[-1] > shortest and 1.0 - cut > shortest:
            edges.append(float(cut))
    edges.append(1.0)
    out = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        middle = (a + b) / 2.0
        sides = [next(s.side for s in row if s.begin <= middle <= s.end) for row in stretches]
        fixed = {block.model.names[column]: float(block.control_limits[i, (sides[i] + 1) // 2])
                for i, column in enumerate(block.controls) if sides[i]}  # fmt: skip
        fixed |= active_state_bounds(solution, a, b)
        inner = block.mesh[(block.mesh > a) & (block.mesh < b)]
        count = max(2, int(np.ceil((len(inner) + 1) / 2)))
        begin, end = (solution.begin + solution.at.T * value for value in (a, b))
        out.append(ArcPhase(problem, fixed, begin, end, number, np.linspace(0.0, 1.0, count + 1)))
    return out


def _all_at_limits(solution: PhaseSolution, stretches: list[list[Stretch]]) -> list[list[Stretch]]:
    """Replace stretches between limits by switches, unless path conditions or state bounds determine them."""
    block, levels = solution.block, control_levels(solution)
    n_dependent = sum(size for _, order, size in block.model.anchors if order == 0)
    between = [sum(item.end - item.begin for item in row if item.side == 0) for row in stretches]
    exempt = set(np.argsort(between)[::-1][:n_dependent].tolist())
    out = []
    for i, row in enumerate(stretches):
        at_bound = any(active_state_bounds(solution, item.begin, item.end) for item in row if item.side == 0)
        is_exempt = i in exempt or at_bound or not np.isfinite(block.control_limits[i]).all()
        out.append(row if is_exempt else remove_intermediate(row, levels[:, i], block.mesh))
    return out


def arcs_programme(arcs: Sequence[ArcPhase], scheme: Scheme, weights: Sequence[np.ndarray] | None) -> Nlp:
    """Return the programme whose phases are the arcs; `weights` are those of the user's phases."""
    return transcribe(
        [arc.problem for arc in arcs],
        scheme,
        [arc.mesh for arc in arcs],
        fixed=[arc.fixed for arc in arcs],
        weights=None if weights is None else [weights[arc.source] for arc in arcs],
    )
