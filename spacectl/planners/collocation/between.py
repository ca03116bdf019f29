"""Tighten bounds by the violations of a simulated plan, so that the next one satisfies them between points."""

from __future__ import annotations

from dataclasses import replace

from spacectl.planners.flight import Violations
from spacectl.planners.problem import Phases, Problem

__all__ = ["tighten_bounds"]

_MARGIN_FACTOR = 1.2  # margin of a bound, as a multiple of its violation


def tighten_bounds(problem: Problem | Phases, violations: list[Violations]) -> Problem | Phases:
    """Return the problem with its bounds tightened by their violations; empty ranges collapse to their middle."""
    phases = tuple(_tighten_phase(item, found) for item, found in zip(problem.phases, violations, strict=True))
    return replace(problem, phases=phases) if isinstance(problem, Phases) else phases[0]


def _tighten_phase(problem: Problem, violations: Violations) -> Problem:
    pairs = [
        _tighten((item.low, item.high), violation)
        for item, violation in zip(problem.path, violations.path, strict=True)
    ]
    path = tuple(replace(item, low=low, high=high) for item, (low, high) in zip(problem.path, pairs, strict=True))
    bounds = {
        name: _include_boundary_values(problem, name, _tighten(pair, violations.bounds[name]))
        for name, pair in problem.bounds.items()
    }
    return replace(problem, path=path, bounds=bounds)


def _include_boundary_values(problem: Problem, name: str, pair: tuple[float, float]) -> tuple[float, float]:
    """Widen a range so that it still contains the boundary values of the state."""
    low, high = pair
    for least, most in (item[name] for item in (problem.start, problem.end) if name in item):
        low, high = min(low, most), max(high, least)
    return low, high


def _tighten(pair: tuple[float, float], violation: tuple[float, float]) -> tuple[float, float]:
    low, high = pair[0] + _MARGIN_FACTOR * violation[0], pair[1] - _MARGIN_FACTOR * violation[1]
    return (low, high) if low <= high else (0.5 * (low + high),) * 2
