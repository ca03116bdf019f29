"""Sequential linear programming in a trust region, until no programme improves the motion."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from spacectl.planners.bang_bang.linear_programme import Curvature, Point, Step, Weights, solve_step
from spacectl.planners.bang_bang.motion import Motion

__all__ = ["Found", "search"]

_log = logging.getLogger(__name__)

_TERMINAL_TOLERANCE = 1e-8  # scaled terminal-constraint violation that counts as feasible
_BOUND_TOLERANCE = 1e-7  # scaled violation of a bound that counts as feasible (the rest becomes margins, see `improve`)
_INITIAL_PENALTY = 10.0  # initial penalty weight, in durations per unit
_LARGEST_PENALTY = 1e6
_NEARLY_ACTIVE = -0.1  # scaled value from which a bound is included in the next programme from the beginning
_SMALLEST_RADIUS = 1e-9  # trust-region radius over the duration at which the search stops


@dataclass(frozen=True, eq=False)
class Found:
    """The best motion, the last programme, the number of programmes, feasibility and optimality."""

    motion: Motion
    step: Step
    rounds: int
    is_feasible: bool
    is_optimal: bool


def search(
    motion: Motion, span: tuple[float, float], radius: float, tolerance: float, most: int, patience: int
) -> Found:
    """Improve a motion until its linear programme gains less than `tolerance` of its duration.

    Where a trial deviates from the linear model, the programme is solved again with the deviation added
    (second-order correction). The trust-region radius follows their agreement. The search stops if the motion
    is infeasible after `patience` rounds.
    """
    penalty = _INITIAL_PENALTY * motion.T
    weights = Weights(np.full(len(motion.error), penalty), penalty, tolerance * motion.T / radius)
    points: set[Point] = set()
    optimal, first = False, radius
    for count in range(1, most + 1):
        step = solve_step(motion, weights, radius, points, span)
        weights = replace(
            weights, end=np.maximum(weights.end, 2.0 * np.where(_is_violated(step, weights), 0.0, step.duals))
        )
        merit = weights.merit(motion)
        gain = merit - step.merit
        trial, ratio = _evaluate_trial(motion, step, weights, gain)
        if ratio < 0.5 and gain > _TERMINAL_TOLERANCE * motion.T:
            curvature = Curvature(trial.end[0] - step.end, _model_errors(trial, step))
            again = solve_step(motion, weights, radius, step.points, span, curvature)
            other, other_ratio = _evaluate_trial(motion, again, weights, gain)
            if other_ratio > ratio:
                trial, ratio = other, other_ratio
        _log.info("round %d: %.6g s -> %.6g s, predicted gain %.2g s, achieved %.0f %%; end %.1e, bounds %.1e, radius %.2g s",
                  count, motion.T, trial.T, gain, 100.0 * ratio, np.abs(trial.error).max(initial=0.0), trial.excess,
                  radius)  # fmt: skip
        points = {q for q in step.points if trial.sides[q.side].value[q.cell, q.row] > _NEARLY_ACTIVE}
        converged = gain * max(1.0, first / radius) <= tolerance * motion.T  # a small region alone proves nothing
        if ratio > 0.1:
            motion = trial
        feasible = _is_feasible(motion)
        if converged and feasible:
            optimal = True
            break
        if converged and not _can_raise_penalties(weights, motion):
            break
        if converged:
            weights = replace(weights, end=10.0 * weights.end, bound=10.0 * weights.bound)
        radius *= 2.0 if ratio > 0.75 else 1.0 if ratio > 0.3 else 0.3
        if radius < _SMALLEST_RADIUS * motion.T or (count >= patience and not feasible):
            break
    return Found(motion, step, count, _is_feasible(motion), optimal)


def _is_violated(step: Step, weights: Weights) -> np.ndarray:
    """Return a mask of violated terminal constraints: their dual variable equals the penalty weight."""
    return step.duals >= weights.end * (1.0 - 1e-9)


def _evaluate_trial(motion: Motion, step: Step, weights: Weights, gain: float) -> tuple[Motion, float]:
    """Return the trial motion and the ratio of its actual to the predicted reduction of merit."""
    trial = motion.cells.follow(motion.w + step.w, motion.h + motion.duration_shares * step.T)
    if not np.all(np.isfinite(trial.fine)) or trial.h.min() <= 0.0:
        return motion, -np.inf
    return trial, (weights.merit(motion) - weights.merit(trial)) / max(gain, 1e-300)


def _model_errors(trial: Motion, step: Step) -> tuple[np.ndarray, np.ndarray]:
    begin, end = (side.value - predicted for side, predicted in zip(trial.sides, step.sides, strict=True))
    return begin, end


def _is_feasible(motion: Motion) -> bool:
    return bool(np.abs(motion.error).max(initial=0.0) <= _TERMINAL_TOLERANCE and motion.excess <= _BOUND_TOLERANCE)


def _can_raise_penalties(weights: Weights, motion: Motion) -> bool:
    """Return whether the penalty weights may be raised further."""
    return weights.bound < _LARGEST_PENALTY * motion.T
