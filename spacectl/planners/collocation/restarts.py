"""Perturbed restarts, to escape from local minima and from saddle points due to symmetry."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spacectl.planners.collocation.failure import is_feasible
from spacectl.planners.collocation.solver import NlpSolution
from spacectl.planners.collocation.steps import Run
from spacectl.planners.collocation.transcription.nlp import Nlp
from spacectl.planners.collocation.transcription.phase import PhaseBlock

__all__ = ["RestartSettings", "find_better_solutions", "perturbed"]

_SIZES = (0.1, 0.3, 0.2)  # amplitudes in turn, relative to the range of a state or an input
_WAVES = 3
_LEAST_GAIN = 1e-5  # relative gain of cost below which two plans count as equal
_PATIENCE = 200  # iterations of a restart


@dataclass(frozen=True)
class RestartSettings:
    """Number of restarts, and the time allowed for all of them [s]."""

    restarts: int = 3
    budget: float = 10.0


def find_better_solutions(
    nlp: Nlp, found: NlpSolution, run: Run, settings: RestartSettings, *, from_x: np.ndarray | None = None
) -> list[NlpSolution]:
    """Return better solutions of the same programme from perturbed restarts, best first.

    ``run.stats["restarts"]`` lists the costs of all restarts, None for those that did not converge.
    """
    begin, tried, better = time.perf_counter(), [], []
    for k in range(settings.restarts):
        left = settings.budget - (time.perf_counter() - begin)
        if left <= 0.0:
            break
        x = perturbed(
            nlp.blocks, found.x if from_x is None else from_x, np.random.default_rng(k), _SIZES[k % len(_SIZES)]
        )
        other = run.solve(nlp, x, {"max_wall_time": max(left, 0.1)}, most=_PATIENCE)
        is_good = other.is_success and is_feasible(nlp, other.x)
        tried.append(other.cost if is_good else None)
        if is_good and (not found.is_success or other.cost < found.cost - _LEAST_GAIN * abs(found.cost)):
            better.append(other)
    run.stats.setdefault("restarts", []).extend(tried)
    return sorted(better, key=lambda item: item.cost)


def perturbed(blocks: Sequence[PhaseBlock], x: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """Return unknowns with smooth random waves added to states and inputs, zero at both ends of each phase."""
    out = x.copy()
    for block in blocks:
        own = slice(block.column, block.column + block.n - 1)
        Z = out[own].reshape(block.P, block.model.n_z)
        for key in ("q", "v", "s", "u"):
            place = block.places[key]
            count = place.stop - place.start
            if count:
                Z[:, place] += size * _span(block, Z, key) * _waves(block.fractions, count, rng)
    return out


def _span(block: PhaseBlock, Z: np.ndarray, key: str) -> np.ndarray:
    """Return the amplitude scale of unknowns: the largest range of states, half the range of input limits."""
    place = block.places[key]
    span = np.ptp(Z[:, place], axis=0)
    if key in ("q", "v"):
        return np.maximum(span, span.max(initial=0.0))
    low, high = (np.asarray(item) for item in block.problem.input_limits())
    is_smooth = np.array([name in block.model.smooth for name in block.problem.eom.inputs], dtype=bool)
    own = is_smooth if key == "s" else ~is_smooth
    reach = 0.5 * (high - low)[own]
    return np.where(np.isfinite(reach), reach, span)


def _waves(s: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    orders = np.arange(1, _WAVES + 1)
    return np.asarray(np.sin(np.pi * s[:, None] * orders) @ (rng.normal(size=(_WAVES, count)) / orders[:, None]))
