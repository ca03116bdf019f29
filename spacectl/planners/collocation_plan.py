"""Arcs of a solved programme in words: which input or condition is at which limit, from when to when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.planners.collocation_arcs import active_rows, control_stretches
from spacectl.planners.collocation_result import PhaseSolution
from spacectl.planners.plan import Arc

__all__ = ["describe_arcs"]

_SHORT = 1e-7  # of the duration: shorter arcs are not told


def describe_arcs(solutions: Sequence[PhaseSolution], multipliers: np.ndarray) -> tuple[Arc, ...]:
    """Arcs of all phases; neighbours with the same words are one."""
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
