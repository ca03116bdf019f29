"""Reference implementation of loop.c in Python, for machines without a compiler and as a check of the C code.

It has the same phases and works on the same `LoopData`, statement for statement. Change both files together.
"""

from __future__ import annotations

import math
import time

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.native_loop import DONE, FAILED, GUARD, LIMIT, SLICE
from spacectl.simulation.driver.reference.adams import adams_attempt, adams_begin, adams_retry, adams_shift
from spacectl.simulation.driver.reference.dense import dense_state
from spacectl.simulation.driver.reference.guards import BY_ERROR, BY_STATE, check_guards, crosses, guard_values
from spacectl.simulation.driver.reference.implicit import NO_CONVERGENCE, implicit_attempt, implicit_factor
from spacectl.simulation.driver.reference.kinks import SHORTER, check_kinks, reset_kinks
from spacectl.simulation.driver.reference.singularity import (
    max_approach_step,
    project_unless_close,
    time_to_singular,
    try_long_step,
    update_distance,
)
from spacectl.simulation.driver.reference.steps import (
    EPSILON,
    GO,
    NOT_FINITE,
    attempt,
    command,
    excess,
    first_step,
    instant,
    is_continuous,
    mark_worst,
    memory,
    next_factor,
    normalise,
    project,
    right_hand_side,
)

__all__ = ["PythonLoop"]

POINT, RECORD, STEP, SCAN = range(4)  #: phases, as in loop.h


def _attempt_step(L: LoopData, h: float, needs_dense: bool) -> tuple[int, float]:
    """Attempt a step of length h by the method of this run; return status and error."""
    if L.is_multistep:
        return adams_attempt(L, h)
    return implicit_attempt(L, h) if L.is_implicit else attempt(L, h, needs_dense)


def _growth(L: LoopData, h: float, error: float, accepted: bool) -> float:
    """Return the factor for the step length after an attempt with this error."""
    if L.is_multistep:
        return L.growth
    return implicit_factor(L, h, error, accepted) if L.is_implicit else next_factor(L, error, accepted)


def _fraction(i: int, parts: int) -> float:
    """Return the beginning of part i of a step, as a fraction; uneven, so as not to synchronise with a periodic guard."""
    return 0.0 if i == 0 else (i - 0.0853) / parts


class PythonLoop:
    """Advance a run by the reference implementation, with the interface of `NativeLoop`.

    Parameters
    ----------
    data : LoopData
        The run.
    """

    kind = "python"

    def __init__(self, data: LoopData):
        self.data = data

    def record(self, row: int, t: float, s: np.ndarray) -> int:
        """Write one row of the records from (t, s)."""
        L = self.data
        if is_continuous(L):
            status = command(L, t, s)
            if status != GO:
                return status
        L.out_x[row] = s[: L.n_x]
        L.out_z[row] = memory(L, s)
        L.out_u[row] = L.u
        L.out_u_commanded[row] = L.u_commanded
        return GO

    def _point(self) -> int:
        L = self.data
        now = instant(L, L.t)
        L.t_limit = math.inf
        if L.period > 0.0 and L.t_start + L.k_sample * L.period <= L.t + now:
            status = command(L, L.t, L.s)
            if status != GO:
                return status
            L.z[:] = L.law.results[2]
            L.k_sample += 1
            L.is_fresh = 1
        while L.i_stop < L.n_stops and L.stops[L.i_stop] <= L.t + now:
            L.i_stop += 1
            L.is_fresh = 1
        L.phase = RECORD
        if not L.is_fresh:
            return GO
        L.is_fresh = L.has_history = 0
        L.distance_before = L.distance
        if L.n_steps == 0:
            reset_kinks(L)
        status = right_hand_side(L, L.t, L.s, L.K[0])
        L.is_beyond[:] = [excess(L, k) > 0.0 for k in range(L.n_limits)]
        if status == NOT_FINITE:
            L.reason, L.fail_t = BY_STATE, L.t
            return FAILED
        if status != GO or L.n_guards == 0:
            return status
        if not L.has_guard_values:
            L.g_scale[: L.n_guards] = 0.0
        status = guard_values(L, L.t, L.s, L.g_after)
        if status != GO:
            return status
        for i in range(L.n_guards):
            L.fired[i] = L.has_guard_values and crosses(L.g_before[i], L.g_after[i], L.directions[i])
        L.has_guard_values = 1
        L.g_before[: L.n_guards] = L.g_after[: L.n_guards]
        if not L.fired[: L.n_guards].any():
            return GO
        L.event_t = L.t
        L.event_s[:] = L.s
        return GUARD

    def _record_here(self) -> int:
        L = self.data
        while L.i_grid < L.n_grid and L.grid[L.i_grid] <= L.t + instant(L, L.t):
            status = self.record(L.i_grid, L.t, L.s)
            if status != GO:
                return status
            L.i_grid += 1
        L.phase = STEP
        return DONE if L.t >= L.t_end else GO

    def _target(self) -> tuple[float, bool]:
        L = self.data
        target = L.t_end
        if L.period > 0.0:
            target = min(target, L.t_start + L.k_sample * L.period)
        if L.i_stop < L.n_stops and L.stops[L.i_stop] <= target:
            return float(L.stops[L.i_stop]), True
        return target, False

    def _step(self) -> int:
        L = self.data
        shortest = 1e-290 + 16.0 * EPSILON * abs(L.t)
        was_rejected = False
        if L.n_steps >= L.max_steps:
            return LIMIT
        if L.h_next == 0.0:
            status = first_step(L)
            if status != GO:
                return status
            L.h_start = L.h_next
        if L.is_multistep and not L.has_history:
            adams_begin(L)
            L.h_next = L.h_start
        h_usual, tries, is_exact = L.h_next, 0, False
        target, is_break = self._target()
        left = target - L.t
        h_wanted = max(min(L.h_next, L.max_step), shortest)
        L.is_long, is_cut = 0, False
        if L.takes_long_steps:
            reach = math.inf if target == L.t_end and not is_break else left  # it may extend beyond the end of the run
            room = min(reach, L.max_step)
            status, time_left = time_to_singular(L, h_wanted)
            status = try_long_step(L, h_wanted, room, target, time_left) if status == GO else status
            if status != GO or L.is_long:
                L.phase = SCAN if L.is_long else L.phase
                return status
            longest = max_approach_step(L, room, time_left)
            is_cut = longest < h_wanted
            h_wanted = max(longest, shortest) if is_cut else h_wanted
        if L.is_short and 2.0 * (L.kink_at - L.t) < h_wanted:
            h_wanted, is_exact = max(2.0 * (L.kink_at - L.t), shortest), True
        while True:
            is_last = h_wanted >= left or (1.01 * h_wanted >= left and left <= L.max_step and not is_exact)
            h = left if is_last else 0.5 * left if 2.0 * h_wanted > left and not is_exact else h_wanted
            L.t_new = target if is_last else L.t + h
            L.t_limit = math.nextafter(target, L.t) if is_last and is_break else math.inf
            needs_dense = L.n_guards + L.n_plant_kinks + L.n_law_kinks > 0 or (
                L.i_grid < L.n_grid and bool(L.grid[L.i_grid] < L.t_new - instant(L, L.t_new))
            )
            L.limit_changed = 0
            status, error = _attempt_step(L, h, needs_dense)
            if status == GO and error <= 1.0:
                status, shorter = check_kinks(L, h, h_usual, tries)
                if status == GO:
                    break
                if status != SHORTER:
                    return status
                L.n_rejected += 1
                h_wanted, tries, is_exact = max(shorter, shortest), tries + 1, True
                continue
            if status not in (GO, NOT_FINITE, NO_CONVERGENCE):
                return status
            L.n_rejected += 1
            was_rejected = True
            if status == GO:
                h_wanted = h * _growth(L, h, error, False)
            else:
                h_wanted = h * (0.25 if status == NOT_FINITE else 0.5)
            if L.is_multistep:
                adams_retry(L)
            if not h_wanted > shortest:
                if status != NOT_FINITE:
                    mark_worst(L)
                L.reason, L.fail_t = BY_STATE if status == NOT_FINITE else BY_ERROR, L.t
                return FAILED
        factor = _growth(L, h, error, True)
        if was_rejected and factor > 1.0:
            factor = 1.0
        L.error_old = max(error, 1e-4)
        is_free = not L.is_short and not L.is_fresh
        if is_free and (was_rejected or factor < 1.0 or (h * factor > L.h_next and not is_cut)):
            L.h_next = h * factor
        L.h, L.has_history, L.i_check, L.phase = h, 1, 0, SCAN
        L.n_steps += 1
        return GO

    def _record_inside(self, limit: float) -> int:
        L = self.data
        limit = min(limit, L.t_new - instant(L, L.t_new))
        while L.i_grid < L.n_grid and L.grid[L.i_grid] < limit:
            dense_state(L, float(L.grid[L.i_grid]), L.dense)
            status = project_unless_close(L, float(L.grid[L.i_grid]), L.dense)
            if status != GO:
                return status
            status = self.record(L.i_grid, float(L.grid[L.i_grid]), L.dense)
            if status != GO:
                return status
            L.i_grid += 1
        return GO

    def _scan(self) -> int:
        L = self.data
        parts = L.n_checks if L.n_guards > 0 else 1
        while L.i_check < parts:
            begin = L.t + L.h * _fraction(L.i_check, parts)
            end = L.t_new if L.i_check + 1 == parts else L.t + L.h * _fraction(L.i_check + 1, parts)
            found = GO
            if L.n_guards > 0:
                if begin < L.event_t <= end:
                    begin = L.event_t
                found = check_guards(L, begin, end)
                if found not in (GO, GUARD):
                    return found
            status = self._record_inside(L.event_t - instant(L, L.event_t) if found == GUARD else end)
            if status != GO:
                return status
            if found == GUARD:
                return GUARD
            L.i_check += 1
        status = (project_unless_close if L.is_long else project)(L, L.t_new, L.s_new)
        if status != GO:
            return status
        normalise(L, L.s_new, L.K[L.n_stages])
        if L.takes_long_steps:
            update_distance(L, float(L.project.results[1][0]))
        if L.is_multistep and not L.is_long:
            adams_shift(L)
        L.K[0] = L.K[L.n_stages]
        L.s[:] = L.s_new
        L.t, L.phase = L.t_new, POINT
        return GO

    def advance(self, steps: int = 1 << 60, seconds: float = math.inf) -> int:
        """Advance until there is something to report; return one of the status codes of `native_loop`."""
        L = self.data
        begin, last = time.perf_counter(), L.n_steps + steps
        phases = (self._point, self._record_here, self._step, self._scan)
        while True:
            status = phases[L.phase]()
            if status != GO:
                return status
            if L.phase == STEP and (L.n_steps >= last or time.perf_counter() - begin > seconds):
                return SLICE

    def restart(self, t: float, s: np.ndarray) -> None:
        """Restart from another time and state."""
        L = self.data
        L.t = t
        L.s[:] = s
        normalise(L, L.s, None)
        L.phase, L.is_fresh, L.has_guard_values, L.is_short = POINT, 1, 0, 0
