"""Reference implementation of singularity.h in Python: approach to a singular position, and the long step across.

``near`` is how far the constraints are from a singular position (`constraints.projection`): 0 there, about 1 far away, and
roughly the sine of an angle between.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.tableau import LONG_NODES
from spacectl.simulation.driver.reference.dense import long_state
from spacectl.simulation.driver.reference.implicit import NO_CONVERGENCE
from spacectl.simulation.driver.reference.steps import GO, NOT_FINITE, project, right_side, scale, total_square

__all__ = ["note_near", "project_unless_close", "time_to_singular", "towards", "try_long_step"]

CLOSE = 0.03  #: nearer than this, records stay as they were integrated: a projection would only add rounding
BEGIN, LEAST = 0.35, 0.02  #: the angles between which a long step may begin
#: how far off a singular position may be for a long step, and for a look ahead, in ordinary steps
REACH, AHEAD = 4.0, 8.0
MIDDLE = 0.07  #: how far from the middle of a long step it may be, as a part of the long step
NOISE = 1e3  #: rounding, in units of the tolerance, that a long step may have: shorter steps would have more
UNSURE = 0.5  #: a step that began within this angle of one may have come over the middle between two
INSIDE = 0.016  #: the largest integral of the Legendre polynomial of degree 8, over its value at the ends
FREELY = 0.1  #: how much an error inside a long step counts, which the end of the step does not inherit
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


def long_step_length(L: LoopData, h_wanted: float, left: float, time: float) -> float:
    """Length of the long step that is due, or zero."""
    now = angle(L.near)
    is_due = LEAST < now < BEGIN and time < REACH * h_wanted and now < L.near_failed
    return 2.0 * time if is_due and 2.0 * time < left else 0.0


def towards(L: LoopData, left: float, time: float) -> float:
    """Longest ordinary step towards a singular position, so that a long step may follow."""
    return 0.5 * time if angle(L.near) > LEAST and 2.0 * time < left else math.inf


def note_near(L: LoopData, near: float) -> None:
    """After a step, before t and K move on."""
    L.near_before, L.near_t, L.near = (0.0 if L.is_long else L.near), L.t, near
    if angle(near) > BEGIN:
        L.near_failed = max(L.near_good, 4.0 * LEAST)
    L.rate_before[:] = L.K[0]


def try_long_step(L: LoopData, h_wanted: float, left: float, target: float, time: float) -> int:
    """Across a singular position in one step, if one is near (see `is_long`); cut at `target`, the end of the run."""
    length = long_step_length(L, h_wanted, left, time)
    if length == 0.0:
        return GO
    status, error, length = long_step(L, length, left)
    if status not in (GO, NOT_FINITE, NO_CONVERGENCE):
        return status
    if status != GO or not is_good(L, error):
        L.n_rejected += 1
        L.near_failed = L.near_good = 0.7 * angle(L.near)
        return GO
    L.is_long, L.long_h, L.t_new, L.t_limit = 1, length, L.t + length, math.inf
    if error < 0.01:
        L.near_good *= 1.5
    if L.t_new > target:
        L.t_new = target
        long_state(L, (target - L.t) / length, L.s_new)
    L.h = L.t_new - L.t
    L.has_history, L.is_jacobian_current, L.wants_jacobian = 0, 0, 1
    L.n_steps += 1
    L.n_crossings += 1
    L.i_check = 0
    return GO


def project_unless_close(L: LoopData, t: float, s: np.ndarray) -> int:
    """Move a state to the constraints, unless it is so close to a singular position that this would only add rounding."""
    L.stage[:] = s
    status = project(L, t, s)
    if status == GO and L.takes_long_steps and L.project.results[1][0] < CLOSE:
        s[:] = L.stage
    return status


def long_step(L: LoopData, length: float, left: float) -> tuple[int, float, float]:
    """Step across a singular position: status, error (at most 1 is accepted), and its length."""
    few = LONG_NODES[0]
    for place in range(PLACES):
        slope = (L.K[0] - L.rate_before) / (L.t - L.near_t)
        for i in range(few):
            L.long_K[i] = L.K[0] + L.long_C[i] * length * slope
        status = sweep(L, length, 0)
        if status != GO:
            return status, math.inf, length
        at = singularity_at(L, few)
        if abs(at - 0.5) <= MIDDLE or place + 1 == PLACES:
            break
        length = min(length * min(max(2.0 * at, 0.5), 2.0), 0.99 * left)
    ends(L, length, 0, L.s_new)
    count = LONG_NODES[1]
    for i in range(count):
        L.long_S[i] = L.s
        for j in range(few):
            L.long_S[i] += (length * L.long_start[i, j]) * L.long_K[j]
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
    """Largest error of the states inside a long step, from the rate at its beginning, which its polynomial does not know."""
    gap = -L.K[0]
    for j in range(LONG_NODES[1]):
        gap = gap + L.long_F[j, 0] * L.long_K[j]
    return FREELY * INSIDE * length * math.sqrt(total_square(gap / scale(L, L.s, L.s_new)) / L.n_s)


def is_good(L: LoopData, error: float) -> bool:
    """Whether a long step with this error is taken."""
    return error <= 1.0 + 10.0 * L.long_noise


def ends(L: LoopData, length: float, which: int, out: np.ndarray) -> None:
    """End of the step by one of the two solutions."""
    first = LONG_NODES[0] * which
    out[:] = L.s
    for j in range(LONG_NODES[which]):
        out += (length * L.long_B[first + j]) * L.long_K[j]


def node(L: LoopData, length: float, i: int, at: int) -> int:
    """Rate and nearness at a node, from its state moved to the constraints."""
    t = L.t + L.long_C[at] * length
    status = project(L, t, L.long_S[i])
    if status != GO:
        return status
    L.long_near[i] = L.project.results[1][0]
    return right_side(L, t, L.long_S[i], L.long_K[i])


def sweep(L: LoopData, length: float, which: int) -> int:
    """Iterate until the end stays where it is."""
    count, first = LONG_NODES[which], LONG_NODES[0] * which
    offset = LONG_NODES[0] ** 2 * which
    L.long_noise = math.inf
    ends(L, length, which, L.stage)
    for k in range(SWEEPS):
        for i in range(count):
            L.long_S[i] = L.s
            for j in range(count):
                L.long_S[i] += (length * L.long_A[offset + count * i + j]) * L.long_K[j]
        for i in range(count):
            status = node(L, length, i, first + i)
            if status != GO:
                return status
        ends(L, length, which, L.sum)
        last, L.long_noise = L.long_noise, math.sqrt(total_square((L.sum - L.stage) / scale(L, L.s, L.sum)) / L.n_s)
        L.stage[:] = L.sum
        is_noise = k > 3 and 0.7 * last < L.long_noise < NOISE  # as close as rounding permits
        if is_noise or L.long_noise < 0.01:
            return GO
    return NO_CONVERGENCE


def singularity_at(L: LoopData, count: int) -> float:
    """Where nearness changes sign, as a fraction of the long step: the straight line that fits best over where it might."""
    best, found = math.inf, 0.5
    for split in range(1, count):
        m = f = mm = mf = ff = 0.0
        for i in range(count):
            value = angle(float(L.long_near[i])) * (1.0 if i < split else -1.0)
            at = L.long_C[i]
            m, f, mm, mf, ff = m + value, f + at, mm + value * value, mf + value * at, ff + at * at
        slope = (count * mf - m * f) / (count * ff - f * f)
        level = (m - slope * f) / count
        misfit = mm - level * m - slope * mf
        if misfit < best and slope < 0.0:
            best, found = misfit, -level / slope
    return found
