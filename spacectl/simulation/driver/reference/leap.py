"""Reference implementation of leap.h in Python: when a singular position is near, how steps go towards it, and the step across.

``near`` is how far the constraints are from a singular position (`constraints.projection`): 0 there, about 1 far away, and
roughly the sine of an angle between.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.tableau import LEAP_NODES
from spacectl.simulation.driver.reference.dense import leap_state
from spacectl.simulation.driver.reference.implicit import NO_CONVERGENCE
from spacectl.simulation.driver.reference.steps import GO, NOT_FINITE, project, right_side, scale, total_square

__all__ = ["note_near", "project_unless_close", "time_to_singular", "towards", "try_leap"]

CLOSE = 0.03  #: nearer than this, records stay as they were integrated: a projection would only add rounding
BEGIN, LEAST = 0.35, 0.02  #: the angles between which a leap may begin
REACH, AHEAD = 4.0, 8.0  #: how far off a singular position may be for a leap, and for a look ahead, in ordinary steps
MIDDLE = 0.07  #: how far from the middle of a leap it may be, as a part of the leap
NOISE = 1e3  #: rounding, in units of the tolerance, that a leap may have: shorter steps would have more
UNSURE = 0.5  #: a step that began within this angle of one may have come over the middle between two
INSIDE = 0.016  #: the largest integral of the Legendre polynomial of degree 8, over its value at the ends
FREELY = 0.1  #: how much an error inside a leap counts, which is not handed on
SWEEPS, PLACES = 30, 4  #: of the iteration, at most; and tries to get it into the middle


def angle(near: float) -> float:
    """What falls evenly towards a singular position."""
    return math.asin(min(near, 1.0))


def time_to_singular(L: LoopData, h_wanted: float) -> tuple[int, float]:
    """Status, and when the run would get there if it goes towards one, else infinite: from two steps, then from a look ahead."""
    before, now = angle(L.near_before), angle(L.near)
    time = now / (before - now) * (L.t - L.near_t) if now < before else math.inf
    if before <= now and before < UNSURE and now > 0.0:
        time = h_wanted
    if not time < AHEAD * h_wanted:
        return GO, time
    look = 0.25 * min(h_wanted, time)
    L.stage[:] = L.s + look * L.K[0]
    status = project(L, L.t + look, L.stage)
    if status != GO:
        return status, math.inf
    after = angle(float(L.project.results[1][0]))
    return GO, now / (now - after) * look if after < now else math.inf


def leap_length(L: LoopData, h_wanted: float, left: float, time: float) -> float:
    """Length of the leap that is due, or zero."""
    now = angle(L.near)
    is_due = LEAST < now < BEGIN and time < REACH * h_wanted and now < L.near_failed
    return 2.0 * time if is_due and 2.0 * time < left else 0.0


def towards(L: LoopData, left: float, time: float) -> float:
    """Longest ordinary step towards a singular position, so that a leap may follow."""
    return 0.5 * time if angle(L.near) > LEAST and 2.0 * time < left else math.inf


def note_near(L: LoopData, near: float) -> None:
    """After a step, before t and K move on."""
    L.near_before, L.near_t, L.near = (0.0 if L.is_leap else L.near), L.t, near
    if angle(near) > BEGIN:
        L.near_failed = max(L.near_good, 4.0 * LEAST)
    L.rate_before[:] = L.K[0]


def try_leap(L: LoopData, h_wanted: float, left: float, target: float, time: float) -> int:
    """Across a singular position in one step, if one is near (see `is_leap`); cut at `target`, the end of the run."""
    length = leap_length(L, h_wanted, left, time)
    if length == 0.0:
        return GO
    status, error, length = leap(L, length, left)
    if status not in (GO, NOT_FINITE, NO_CONVERGENCE):
        return status
    if status != GO or not is_good(L, error):
        L.n_rejected += 1
        L.near_failed = L.near_good = 0.7 * angle(L.near)
        return GO
    L.is_leap, L.leap_h, L.t_new, L.t_limit = 1, length, L.t + length, math.inf
    if error < 0.01:
        L.near_good *= 1.5
    if L.t_new > target:
        L.t_new = target
        leap_state(L, (target - L.t) / length, L.s_new)
    L.h = L.t_new - L.t
    L.has_history, L.is_jacobian_current, L.wants_jacobian = 0, 0, 1
    L.n_steps += 1
    L.n_leaps += 1
    L.i_check = 0
    return GO


def project_unless_close(L: LoopData, t: float, s: np.ndarray) -> int:
    """Move a state to the constraints, unless it is so close to a singular position that this would only add rounding."""
    L.stage[:] = s
    status = project(L, t, s)
    if status == GO and L.leaps and L.project.results[1][0] < CLOSE:
        s[:] = L.stage
    return status


def leap(L: LoopData, length: float, left: float) -> tuple[int, float, float]:
    """Step across a singular position: status, error (at most 1 is accepted), and its length."""
    few = LEAP_NODES[0]
    for place in range(PLACES):
        slope = (L.K[0] - L.rate_before) / (L.t - L.near_t)
        for i in range(few):
            L.leap_K[i] = L.K[0] + L.leap_C[i] * length * slope
        status = sweep(L, length, 0)
        if status != GO:
            return status, math.inf, length
        at = crossing(L, few)
        if abs(at - 0.5) <= MIDDLE or place + 1 == PLACES:
            break
        length = min(length * min(max(2.0 * at, 0.5), 2.0), 0.99 * left)
    ends(L, length, 0, L.s_new)
    count = LEAP_NODES[1]
    for i in range(count):
        L.leap_S[i] = L.s
        for j in range(few):
            L.leap_S[i] += (length * L.leap_start[i, j]) * L.leap_K[j]
    for i in range(count):
        status = node(L, length, i, few + i)
        if status != GO:
            return status, math.inf, length
    status = sweep(L, length, 1)
    if status != GO:
        return status, math.inf, length
    L.sum[:] = L.s_new
    ends(L, length, 1, L.s_new)
    at_end = 0.1 * math.sqrt(total_square((L.s_new - L.sum) / scale(L, L.s, L.s_new)) / L.n_s)
    error = max(at_end, inside(L, length))
    if not is_good(L, error):
        return GO, error, length
    L.dense[:] = L.s_new
    status = project(L, L.t + length, L.dense)
    if status != GO:
        return status, error, length
    return right_side(L, L.t + length, L.dense, L.K[L.n_stages]), error, length


def inside(L: LoopData, length: float) -> float:
    """Largest error of the states inside a leap, from the rate at its beginning, which its polynomial does not know."""
    gap = -L.K[0]
    for j in range(LEAP_NODES[1]):
        gap = gap + L.leap_F[j, 0] * L.leap_K[j]
    return FREELY * INSIDE * length * math.sqrt(total_square(gap / scale(L, L.s, L.s_new)) / L.n_s)


def is_good(L: LoopData, error: float) -> bool:
    """Whether a leap with this error is taken."""
    return error <= 1.0 + 10.0 * L.leap_noise


def ends(L: LoopData, length: float, which: int, out: np.ndarray) -> None:
    """End of the step by one of the two solutions."""
    first = LEAP_NODES[0] * which
    out[:] = L.s
    for j in range(LEAP_NODES[which]):
        out += (length * L.leap_B[first + j]) * L.leap_K[j]


def node(L: LoopData, length: float, i: int, at: int) -> int:
    """Rate and nearness at a node, from its state moved to the constraints."""
    t = L.t + L.leap_C[at] * length
    status = project(L, t, L.leap_S[i])
    if status != GO:
        return status
    L.leap_near[i] = L.project.results[1][0]
    return right_side(L, t, L.leap_S[i], L.leap_K[i])


def sweep(L: LoopData, length: float, which: int) -> int:
    """Iterate until the end stays where it is."""
    count, first = LEAP_NODES[which], LEAP_NODES[0] * which
    offset = LEAP_NODES[0] ** 2 * which
    L.leap_noise = math.inf
    ends(L, length, which, L.stage)
    for k in range(SWEEPS):
        for i in range(count):
            L.leap_S[i] = L.s
            for j in range(count):
                L.leap_S[i] += (length * L.leap_A[offset + count * i + j]) * L.leap_K[j]
        for i in range(count):
            status = node(L, length, i, first + i)
            if status != GO:
                return status
        ends(L, length, which, L.sum)
        last, L.leap_noise = L.leap_noise, math.sqrt(total_square((L.sum - L.stage) / scale(L, L.s, L.sum)) / L.n_s)
        L.stage[:] = L.sum
        is_noise = k > 3 and 0.7 * last < L.leap_noise < NOISE  # as near as rounding lets it
        if is_noise or L.leap_noise < 0.01:
            return GO
    return NO_CONVERGENCE


def crossing(L: LoopData, count: int) -> float:
    """Where nearness changes sign, as a fraction of the leap: the straight line that fits best over where it might."""
    best, found = math.inf, 0.5
    for split in range(1, count):
        m = f = mm = mf = ff = 0.0
        for i in range(count):
            value = angle(float(L.leap_near[i])) * (1.0 if i < split else -1.0)
            at = L.leap_C[i]
            m, f, mm, mf, ff = m + value, f + at, mm + value * value, mf + value * at, ff + at * at
        slope = (count * mf - m * f) / (count * ff - f * f)
        level = (m - slope * f) / count
        misfit = mm - level * m - slope * mf
        if misfit < best and slope < 0.0:
            best, found = misfit, -level / slope
    return found
