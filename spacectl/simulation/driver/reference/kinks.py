"""Reference implementation of kinks.h in Python: steps that end at the kinks of the right-hand side.

Change both files together.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.native_loop import GUARD
from spacectl.simulation.driver.reference.guards import check_guards, guard_values, time_tolerance
from spacectl.simulation.driver.reference.steps import GO, scale

__all__ = ["SHORTER", "check_kinks", "reset_kinks"]

SHORTER = -4  #: as in loop.h

MARGIN = 1e-3  # distance from the kink at which a step ends, over that at its beginning
NEAR_START = 0.02  # a kink within this fraction of the step is crossed by a short step at once
NEGLIGIBLE = 0.1  # largest error of the step across a kink, over the tolerance
CHATTER_GAP = 1e-2  # crossings of one kink within this fraction of the usual step are in close succession
CHATTER = 20  # number of crossings in close succession after which a kink is no longer located


def reset_kinks(L: LoopData) -> None:
    """Reset the history of all kinks at the beginning of a run."""
    L.is_ignored[:] = L.n_close[:] = 0
    L.kink_t[:] = -math.inf
    L.g_scale[L.n_guards :] = 0.0
    L.is_short = 0


def change_in_step(L: LoopData, h: float) -> float:
    """Bound the error of a step within which s_dot changes in any way, relative to the tolerance."""
    return h * float(np.max(np.abs(L.K[L.n_stages] - L.K[0]) / scale(L, L.s, L.s_new)))


def resume_after_kink(L: LoopData) -> None:
    """Restart the integration after a kink."""
    L.is_short, L.is_fresh, L.wants_jacobian, L.eta, L.h_next = 0, 1, 1, 1.0, L.h_resume


def pass_kink(L: LoopData, at: float) -> None:
    """Record the crossing of a kink, and restart the integration after it."""
    for k in range(L.n_watched - L.n_guards):
        if not L.fired[L.n_guards + k]:
            continue
        L.n_close[k] = L.n_close[k] + 1 if at - L.kink_t[k] < CHATTER_GAP * L.h_resume else 0
        L.is_ignored[k] = L.n_close[k] >= CHATTER
        L.kink_t[k] = at
    L.n_kinks += 1
    resume_after_kink(L)


def find_kink(L: LoopData) -> tuple[int, float]:
    """Find the first crossing of a kink in the accepted step; return GUARD and its time, or GO."""
    first_limit, event_t = L.n_watched - L.n_limits, L.event_t
    L.g_first, L.g_last = L.n_guards, L.n_watched if L.limit_changed else first_limit
    L.fired[L.g_first :] = 0
    status = guard_values(L, L.t, L.s, L.g_before)
    if status == GO:
        status = check_guards(L, L.t, L.t_new)
    if status == GO and L.g_last > first_limit:
        L.is_beyond[:] = L.g_before[first_limit:] > 0.0
    at, L.event_t = L.event_t, event_t
    L.g_first, L.g_last = 0, L.n_guards
    return status, at


def check_kinks(L: LoopData, h: float, h_usual: float, tries: int) -> tuple[int, float]:
    """Check an accepted attempt for kinks; return GO if the step is valid, or SHORTER and the length to try instead.

    `tries` counts the previous attempts of this step that contained a kink.
    """
    status, at = GO, 0.0
    if L.limit_changed or L.n_plant_kinks + L.n_law_kinks > 0:
        h_before, L.h = L.h, h
        status, at = find_kink(L)
        L.h = h_before
    if status == GO and L.is_short and L.kink_at <= L.t_new:
        resume_after_kink(L)
    if status != GUARD:
        return status, h
    if L.is_short and (h <= 8.0 * time_tolerance(L) or change_in_step(L, h) <= NEGLIGIBLE):
        pass_kink(L, at)
        return GO, h
    if not L.is_short:
        L.h_resume = h_usual
    margin = MARGIN
    while tries > 0 and margin < 0.5:
        margin, tries = 4.0 * margin, tries - 1
    left = at - L.t
    L.is_short, L.kink_at = 1, at
    if L.is_implicit:
        L.has_history = 0
    return SHORTER, 2.0 * left if left < NEAR_START * h else (1.0 - margin) * left
