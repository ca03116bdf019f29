"""Tighten bounds by the violations of a simulated plan, so that the next one satisfies them between points."""

from __future__ import annotations

from dataclasses import replace

from spacectl.planners.flight import Violations
from spacectl.planners.problem import Phases, Problem

__all__ = ["keep_back"]

_MORE = 1.2  # margin of a bound, as a multiple of its violation


def keep_back(problem: Problem | Phases, missed: list[Violations]) -> Problem | Phases:
    """Return the problem with its bounds tightened by their violations; empty ranges collapse to their middle."""
    phases = tuple(_drawn_in(item, found) for item, found in zip(problem.phases, missed, strict=True))
    return replace(problem, phases=phases) if isinstance(problem, Phases) else phases[0]


def _drawn_in(problem: Problem, missed: Violations) -> Problem:
    pairs = [_narrow((item.low, item.high), off) for item, off in zip(problem.path, missed.path, strict=True)]
    path = tuple(replace(item, low=low, high=high) for item, (low, high) in zip(problem.path, pairs, strict=True))
    bounds = {
        name: _with_ends(problem, name, _narrow(pair, missed.bounds[name])) for name, pair in problem.bounds.items()
    }
    return replace(problem, path=path, bounds=bounds)


def _with_ends(problem: Problem, name: str, pair: tuple[float, float]) -> tuple[float, float]:
    """Widen a range so that it still contains the boundary values of the state."""
    low, high = pair
    for least, most in (item[name] for item in (problem.start, problem.end) if name in item):
        low, high = min(low, most), max(high, least)
    return low, high


def _narrow(pair: tuple[float, float], off: tuple[float, float]) -> tuple[float, float]:
    low, high = pair[0] + _MORE * off[0], pair[1] - _MORE * off[1]
    return (low, high) if low <= high else (0.5 * (low + high),) * 2
