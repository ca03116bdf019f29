"""Sequential linear programming in a trust region, until no programme improves the motion."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from spacectl.planners.bang_bang.linear_programme import Curvature, Point, Step, Weights, solve_step
from spacectl.planners.bang_bang.motion import Motion

__all__ = ["Found", "search"]

_log = logging.getLogger(__name__)

_MET = 1e-8  # scaled terminal-constraint violation that counts as feasible
_KEPT = 1e-7  # scaled violation of a bound that counts as feasible (the rest becomes margins, see `improve`)
_PRICE = 10.0  # initial penalty weight, in durations per unit
_MOST_PRICE = 1e6
_WATCHED = -0.1  # scaled value from which a bound is included in the next programme from the beginning
_LEAST = 1e-9  # trust-region radius over the duration at which the search stops


@dataclass(frozen=True, eq=False)
class Found:
    """The best motion, the last programme, the number of programmes, feasibility and optimality."""

    motion: Motion
    step: Step
    rounds: int
    is_met: bool
    is_best: bool


def search(
    motion: Motion, span: tuple[float, float], radius: float, tolerance: float, most: int, patience: int
) -> Found:
    """Improve a motion until its linear programme gains less than `tolerance` of its duration.

    Where a trial deviates from the linear model, the programme is solved again with the deviation added
    (second-order correction). The trust-region radius follows their agreement. The search stops if the motion
    is infeasible after `patience` rounds.
    """
    price = _PRICE * motion.T
    weights = Weights(np.full(len(motion.error), price), price, tolerance * motion.T / radius)
    points: set[Point] = set()
    best, first = False, radius
    for count in range(1, most + 1):
        step = solve_step(motion, weights, radius, points, span)
        weights = replace(
            weights, end=np.maximum(weights.end, 2.0 * np.where(_is_paid(step, weights), 0.0, step.prices))
        )
        merit = weights.merit(motion)
        gain = merit - step.merit
        trial, ratio = _try(motion, step, weights, gain)
        if ratio < 0.5 and gain > _MET * motion.T:
            curvature = Curvature(trial.end[0] - step.end, _differences(trial, step))
            again = solve_step(motion, weights, radius, step.points, span, curvature)
            other, other_ratio = _try(motion, again, weights, gain)
            if other_ratio > ratio:
                trial, ratio = other, other_ratio
        _log.info("round %d: %.6g s -> %.6g s, predicted gain %.2g s, achieved %.0f %%; end %.1e, bounds %.1e, radius %.2g s",
                  count, motion.T, trial.T, gain, 100.0 * ratio, np.abs(trial.error).max(initial=0.0), trial.excess,
                  radius)  # fmt: skip
        points = {q for q in step.points if trial.sides[q.side].value[q.cell, q.row] > _WATCHED}
        small = gain * max(1.0, first / radius) <= tolerance * motion.T  # a small region alone proves nothing
        if ratio > 0.1:
            motion = trial
        met = _is_met(motion)
        if small and met:
            best = True
            break
        if small and not _raise_prices(weights, motion):
            break
        if small:
            weights = replace(weights, end=10.0 * weights.end, way=10.0 * weights.way)
        radius *= 2.0 if ratio > 0.75 else 1.0 if ratio > 0.3 else 0.3
        if radius < _LEAST * motion.T or (count >= patience and not met):
            break
    return Found(motion, step, count, _is_met(motion), best)


def _is_paid(step: Step, weights: Weights) -> np.ndarray:
    """Return a mask of violated terminal constraints: their dual variable equals the penalty weight."""
    return step.prices >= weights.end * (1.0 - 1e-9)


def _try(motion: Motion, step: Step, weights: Weights, gain: float) -> tuple[Motion, float]:
    """Return the trial motion and the ratio of its actual to the predicted reduction of merit."""
    trial = motion.cells.follow(motion.w + step.w, motion.h + motion.stretch * step.T)
    if not np.all(np.isfinite(trial.fine)) or trial.h.min() <= 0.0:
        return motion, -np.inf
    return trial, (weights.merit(motion) - weights.merit(trial)) / max(gain, 1e-300)


def _differences(trial: Motion, step: Step) -> tuple[np.ndarray, np.ndarray]:
    begin, end = (side.value - said for side, said in zip(trial.sides, step.sides, strict=True))
    return begin, end


def _is_met(motion: Motion) -> bool:
    return bool(np.abs(motion.error).max(initial=0.0) <= _MET and motion.excess <= _KEPT)


def _raise_prices(weights: Weights, motion: Motion) -> bool:
    """Return whether the penalty weights may be raised further."""
    return weights.way < _MOST_PRICE * motion.T
