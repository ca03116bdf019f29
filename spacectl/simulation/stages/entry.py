"""Check the entry of a stage: the side of its guards, and whether captured constraints are closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.closing.open_loops import PositionEquations
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.formulations.switching import constraints_of, rows_of
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.reference.guards import guard_values
from spacectl.simulation.driver.reference.steps import GO
from spacectl.simulation.run.run import Run
from spacectl.simulation.stages.result import Transition
from spacectl.simulation.stages.stages import Exit, Impact, Stage

__all__ = ["check_transitions", "close_gaps", "enter_guards", "is_rest"]

_ZENO_COUNT = 20  # number of equal transitions ...
_ZENO_PART = 1e-6  # ... within this fraction of the span that counts as Zeno behaviour

_ZERO = 1e-9  # magnitude below which a guard is at zero, relative to its largest value so far (at least 1)
_NOISE = 1e-5  # offset of a guard that starts at zero, relative to the magnitude above


def enter_guards(run: Run, stage: Stage, scales: Mapping[str, float], *, is_start: bool) -> Exit | None:
    """Assign guards at zero to the side of the stage; return the first exit whose guard is past zero, if there is one.

    Raises
    ------
    ModelError
        If a guard is past zero at the start of the run.
    """
    data = run.data
    if data.n_guards == 0:
        return None
    g = np.zeros(data.n_watched)
    if guard_values(data, data.t, data.s, g) != GO:  # the run reports it
        return None
    data.g_scale[:] = 0.0
    for k, item in enumerate(stage.exits):
        guard, inside = item.guard, -float(item.guard.direction) * g[k]
        if guard.direction == 0:
            continue
        zero = _ZERO * max(1.0, scales.get(guard.name, 0.0))
        if inside < -zero and is_start:
            raise ModelError(
                f"stage '{stage.name}': guard '{guard.name}' is already past zero at the start, {g[k]:.6g} at t = {data.t:g} s; "
                "start in the stage behind it, or check the guard's sign and direction"
            )
        if inside < -zero:
            return item
        if inside <= zero:
            data.g_shift[k] = -float(guard.direction) * (_NOISE * zero + max(-inside, 0.0))
    return None


def close_gaps(
    eom: EquationsOfMotion,
    t: float,
    x: np.ndarray,
    caught: Iterable[str],
    p: np.ndarray,
    tolerance: float,
    stages: tuple[str, str],
) -> np.ndarray:
    """Close captured constraints at position level, by the smallest change of coordinates in the metric of the mass matrix.

    Raises
    ------
    SolverError
        If one of them is open by more than `tolerance`, or they cannot be closed together.
    """
    rows = {eom.constraint_rows[k] for k in rows_of(eom, caught)}
    n_q, size = eom.n_q, max(1.0, float(np.max(np.abs(x[: eom.n_q]), initial=0.0)))
    equations = PositionEquations(eom, t, x[n_q:], p)

    def worst_of(g: np.ndarray) -> tuple[float, str]:
        found = [(float(value), name) for name, value in zip(eom.position_rows, g, strict=True) if name in rows]
        return max(found, key=lambda item: abs(item[0]), default=(0.0, ""))

    gap, worst = worst_of(equations(x[:n_q])[0])
    if not abs(gap) <= tolerance * size:
        raise SolverError(
            f"stage '{stages[1]}' cannot follow '{stages[0]}' at t = {t:g} s: {worst} is open by {gap:.3g}; leave "
            f"'{stages[0]}' where s.gap('{worst}') is zero, or constrain rates only (a rule of speeds)"
        )
    state = np.array(x)
    if worst:
        metric = np.linalg.inv(np.linalg.cholesky(eom.mass_matrix(t, x[:n_q], p))).T
        state[:n_q] = solve_constraints(
            equations, x[:n_q], tolerance=1e-15 * size, weight=metric, normalize=equations.normalize
        ).q
        gap, worst = worst_of(equations(state[:n_q])[0])
    if not abs(gap) <= 1e-9 * size:
        raise SolverError(
            f"stage '{stages[1]}' cannot follow '{stages[0]}' at t = {t:g} s: constraints contradict each other, {worst} stays "
            f"open by {gap:.3g}"
        )
    sides = eom.call("sides", t, state[:n_q], p=p)[0].reshape(-1)
    framed = [item.name for item in constraints_of(eom) if item.has_side]
    turned = [name for name, side in zip(framed, sides, strict=True) if not side > 0.0]
    if turned:
        raise SolverError(
            f"stage '{stages[1]}' cannot follow '{stages[0]}' at t = {t:g} s: {', '.join(turned)} would close turned by 180 "
            "degrees"
        )
    return state


def is_rest(eom: EquationsOfMotion, t: float, x: np.ndarray, impact: Impact, p: np.ndarray) -> bool:
    """Return whether contacts approach so slowly that they come to rest; none may separate faster either."""
    if impact.rest_speed == 0.0:
        return False
    rates: Any = eom.call("gaps", t, x[: eom.n_q], x[eom.n_q :], p=p)[1].reshape(-1)
    return bool(np.all(np.abs(rates[rows_of(eom, impact.contacts)]) < impact.rest_speed))


def check_transitions(transitions: Sequence[Transition], span: tuple[float, float], most: int) -> None:
    """Raise `SolverError` if the last transition repeats within almost no time, or if there are more than `most`."""
    last = transitions[-1]
    key = (last.source, last.target, last.guard)
    same = [item.time for item in transitions if (item.source, item.target, item.guard) == key]
    if len(same) >= _ZENO_COUNT and same[-1] - same[-_ZENO_COUNT] <= _ZENO_PART * (span[1] - span[0]):
        raise SolverError(
            f"guard '{last.guard}' leads from stage '{last.source}' to '{last.target}' {_ZENO_COUNT} times within "
            f"{same[-1] - same[-_ZENO_COUNT]:.2g} s at t = {last.time:.9g} s: infinitely many transitions in finite time; "
            "give the impact a rest_speed, the guards a hysteresis, or add a stage in which the chattering constraint is active"
        )
    if len(transitions) > most:
        raise SolverError(
            f"more than {most} transitions up to t = {last.time:g} s; raise max_transitions if that is intended"
        )
