"""Reference implementation of guards.h in Python: sign changes of guards, found and located on the dense output of a step.

Change both files together.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver.loop_data import MAX_DEPTH, LoopData
from spacectl.simulation.driver.native_loop import FAILED, GUARD
from spacectl.simulation.driver.reference.dense import dense_state
from spacectl.simulation.driver.reference.kink_values import kink_values
from spacectl.simulation.driver.reference.steps import EPSILON, GO, call, command, is_continuous, memory

__all__ = ["BY_ERROR", "BY_GUARD", "BY_STATE", "check_guards", "crosses", "guard_values"]

MAX_PANELS = 400  # panels after which only the signs of the samples count, as in guards.h
NOISE = 1e-13  # magnitude, relative to the largest so far, below which a guard is rounding noise

BY_STATE, BY_ERROR, BY_GUARD = 1, 2, 3  #: reasons for a failure, as in loop.h


def guard_values(L: LoopData, t: float, s: np.ndarray, g: np.ndarray) -> int:
    """Evaluate the guards, or the kinks if these are being searched, at (t, s)."""
    t = min(t, L.t_limit)
    if L.g_first > 0 or L.n_guards == 0:
        return kink_values(L, t, s, g)
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
    n = L.n_guards
    g[:n] = L.guards.results[0]
    for i in range(L.n_guards):
        if L.g_shift[i] != 0.0 and t < L.g_clear[i]:
            g[i] += L.g_shift[i]
            if g[i] / L.g_shift[i] > 100.0:
                L.g_clear[i] = t
    size = np.abs(g[:n])
    np.maximum(L.g_scale[:n], np.where(size < np.inf, size, 0.0), out=L.g_scale[:n])
    L.fired[:n] = 0
    if np.isnan(g[:n]).any():
        L.fired[int(np.argmax(np.isnan(g[:n])))] = 1
        L.reason, L.fail_t = BY_GUARD, t
        return FAILED
    return GO


def crosses(before: float, after: float, direction: int) -> bool:
    """Return whether a guard crosses zero: it rises from below zero to zero or above, or falls from above to zero or below."""
    if direction >= 0 and before < 0.0 and after >= 0.0:
        return True
    return direction <= 0 and before > 0.0 and after <= 0.0


def time_tolerance(L: LoopData) -> float:
    """Return the time interval in which crossings are located [s]."""
    return max(4.0 * EPSILON * max(abs(L.t), abs(L.t_new)), L.t_tol)


def locate(L: LoopData, i: int, a: float, weight_a: float, b: float, weight_b: float) -> tuple[int, float]:
    """Find the earliest time in (a, b] at which guard i has changed sign, by the Illinois method and bisection."""
    width, rising, side, slow = time_tolerance(L), weight_a < 0.0, 0, 0
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


def is_clear(values: list[float], noise: float) -> bool:
    """Return whether a guard has no sign changes besides those of its five equally spaced samples."""
    a, b, c, d, e = values
    k, begin, end = 2.0 * a - 4.0 * c + 2.0 * e, -3.0 * a + 4.0 * c - e, a - 4.0 * c + 3.0 * e
    deviation = max(abs(b - 0.375 * a - 0.75 * c + 0.125 * e), abs(d + 0.125 * a - 0.75 * c - 0.375 * e))
    sign = 1.0 if a > 0.0 else -1.0
    least = min(sign * a, sign * e)
    if not max(abs(a), abs(b), abs(c), abs(d), abs(e)) > noise:
        return True
    if begin * end > 0.0 and min(abs(begin), abs(end)) > 24.0 * deviation:
        return True
    if begin * end < 0.0 and sign * (a - 0.25 * begin * begin / k) < least:
        least = sign * (a - 0.25 * begin * begin / k)
    return sign * b > 0.0 and sign * c > 0.0 and sign * d > 0.0 and least > 2.0 * deviation


def guards_at(L: LoopData, t: float, g: np.ndarray) -> int:
    """Evaluate the guards at time t of the step."""
    dense_state(L, t, L.dense)
    return guard_values(L, t, L.dense, g)


def search(L: LoopData, a: float, b: float) -> tuple[int, float, float]:
    """Find the first panel in (a, b] with a crossing, if there is one; bisect panels that may hide crossings."""
    row, l, r, n_panels = L.g_panel[:5], a, b, 0
    ends: list[float] = []
    row[0] = L.g_before
    status = guards_at(L, 0.5 * (l + r), row[2])
    if status == GO:
        status = guards_at(L, r, row[4])
    if status != GO:
        return status, a, b
    while True:
        m, pending = 0.5 * (l + r), 5 + 3 * len(ends)
        clear = r - l <= time_tolerance(L) or len(ends) >= MAX_DEPTH
        if not clear:
            n_panels += 1
            clear = n_panels > MAX_PANELS
        if not clear:
            for t, k in ((0.5 * (l + m), 1), (0.5 * (m + r), 3)):
                status = guards_at(L, t, row[k])
                if status != GO:
                    return status, a, b
            clear = all(is_clear(row[:, i].tolist(), NOISE * float(L.g_scale[i])) for i in range(L.g_first, L.g_last))
        if not clear:
            L.g_panel[pending : pending + 3] = row[2:]
            ends.append(r)
            row[4], row[2] = row[2], row[1]
            r = m
            continue
        found = any(crosses(row[0, i], row[4, i], L.directions[i]) for i in range(L.g_first, L.g_last))
        L.g_before[L.g_first : L.g_last] = (row[0] if found else row[4])[L.g_first : L.g_last]
        if found or not ends:
            return GUARD if found else GO, l, r
        l, r, pending = r, ends.pop(), pending - 3
        row[0], row[2], row[4] = L.g_panel[pending : pending + 3]


def check_guards(L: LoopData, a: float, b: float) -> int:
    """Search for crossings between time a (values in g_before) and time b of the step."""
    status, a, b = search(L, a, b)
    if status != GUARD:
        return status
    width, earliest = time_tolerance(L), math.inf
    L.roots[:] = math.inf
    while True:
        dense_state(L, b, L.event_s)
        status = guard_values(L, b, L.event_s, L.g_after)
        if status != GO:
            return status
        n_new = 0
        for i in range(L.g_first, L.g_last):
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
        for i in range(L.g_first, L.g_last):
            if L.roots[i] <= earliest + width and L.roots[i] > event:
                event = float(L.roots[i])
        b = event
    if earliest < math.inf:
        L.event_t = b
        for i in range(L.g_first, L.g_last):
            L.fired[i] = crosses(L.g_before[i], L.g_after[i], L.directions[i])
    L.g_before[L.g_first : L.g_last] = L.g_after[L.g_first : L.g_last]
    return GUARD if earliest < math.inf else GO
