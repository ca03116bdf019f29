"""The twin of guards.h in Python: sign changes of guards, found and located on the dense output of a step.

Change both together.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver import FAILED, GUARD
from spacectl.simulation.loop_data import LoopData
from spacectl.simulation.twin_steps import EPSILON, GO, call, command, dense_state, is_continuous, memory

__all__ = ["BY_ERROR", "BY_GUARD", "BY_STATE", "check_guards", "crosses", "guard_values"]

BY_STATE, BY_ERROR, BY_GUARD = 1, 2, 3  #: why a run failed, as in loop.h


def guard_values(L: LoopData, t: float, s: np.ndarray, g: np.ndarray) -> int:
    """Guard values at (t, s)."""
    t = min(t, L.t_limit)
    if L.guards_use_u and is_continuous(L):
        status = command(L, t, s)
        if status != GO:
            return status
    L.guards.arguments[0][0] = t
    L.guards.arguments[1][:] = s[: L.n_x]
    L.guards.arguments[2][:] = L.u
    L.guards.arguments[3][:] = memory(L, s)
    status = call(L.guards)
    if status != GO:
        return status
    g[:] = L.guards.results[0]
    L.fired[:] = 0
    if np.isnan(g).any():
        L.fired[int(np.argmax(np.isnan(g)))] = 1
        L.reason, L.fail_t = BY_GUARD, t
        return FAILED
    return GO


def crosses(before: float, after: float, direction: int) -> bool:
    """Rising: from below zero to zero or above. Falling: from above zero to zero or below."""
    if direction >= 0 and before < 0.0 and after >= 0.0:
        return True
    return direction <= 0 and before > 0.0 and after <= 0.0


def width_of(L: LoopData) -> float:
    """How closely events are located [s]."""
    return max(4.0 * EPSILON * max(abs(L.t), abs(L.t_new)), L.t_tol)


def locate(L: LoopData, i: int, a: float, weight_a: float, b: float, weight_b: float) -> tuple[int, float]:
    """Earliest time found in (a, b] after which guard i has changed sign (Illinois and bisection)."""
    width, rising, side, slow = width_of(L), weight_a < 0.0, 0, 0
    while b - a > width:
        length = b - a
        m = b - weight_b * length / (weight_b - weight_a)
        if slow >= 2:
            m = a + 0.5 * length
        if not m > a + 0.4 * width:
            m = a + 0.4 * width
        if not m < b - 0.4 * width:
            m = b - 0.4 * width
        if not a < m < b:
            break
        dense_state(L, m, L.dense)
        status = guard_values(L, m, L.dense, L.g_point)
        if status != GO:
            return status, b
        value = float(L.g_point[i])
        slow = 0 if slow >= 2 else slow
        if value >= 0.0 if rising else value <= 0.0:
            b, weight_b = m, value
            if side > 0:
                weight_a *= 0.5
            side = 1
        else:
            a, weight_a = m, value
            if side < 0:
                weight_b *= 0.5
            side = -1
        slow = slow + 1 if b - a > 0.5 * length else 0
    return GO, b


def check_guards(L: LoopData, a: float, b: float) -> int:
    """Look for crossings between g_before (at a) and time b of the step."""
    width, earliest = width_of(L), math.inf
    L.roots[:] = math.inf
    while True:
        dense_state(L, b, L.event_s)
        status = guard_values(L, b, L.event_s, L.g_after)
        if status != GO:
            return status
        n_new = 0
        for i in range(L.n_guards):
            if L.roots[i] != math.inf or not crosses(L.g_before[i], L.g_after[i], L.directions[i]):
                continue
            status, L.roots[i] = locate(L, i, a, float(L.g_before[i]), b, float(L.g_after[i]))
            if status != GO:
                return status
            earliest = min(earliest, float(L.roots[i]))
            n_new += 1
        if n_new == 0:
            break
        event = earliest
        for i in range(L.n_guards):
            if L.roots[i] <= earliest + width and L.roots[i] > event:
                event = float(L.roots[i])
        b = event
    if earliest < math.inf:
        L.event_t = b
        L.fired[:] = [crosses(L.g_before[i], L.g_after[i], L.directions[i]) for i in range(L.n_guards)]
    L.g_before[:] = L.g_after
    return GUARD if earliest < math.inf else GO
