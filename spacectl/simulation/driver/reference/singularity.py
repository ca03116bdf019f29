"""Reference implementation of singularity.h in Python: crossing of singular configurations in one long step.

``distance`` is the distance to singularity (see `constraints.projection`): 0 in a singular configuration, about 1 far from it,
and roughly the sine of an angle in between. Change both files together.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.tableau import LONG_NODES
from spacectl.simulation.driver.reference.dense import long_state
from spacectl.simulation.driver.reference.implicit import NO_CONVERGENCE
from spacectl.simulation.driver.reference.steps import GO, NOT_FINITE, project, right_hand_side, scale, total_square

__all__ = ["max_approach_step", "project_unless_close", "time_to_singular", "try_long_step", "update_distance"]

NO_PROJECTION = 0.03  #: distance below which recorded states are not projected, which would only add rounding errors
MAX_START, MIN_START = 0.35, 0.02  #: [rad] largest and smallest angle to singularity at which a long step may begin
#: largest time to singularity, in ordinary steps, at which a long step is attempted, and a look-ahead step is made
MAX_STEPS, LOOK_AHEAD = 4.0, 8.0
CENTRING = 0.07  #: largest offset of the singular configuration from the centre of a long step, over its length
MAX_CHANGE = 1e3  #: largest rounding error of a long step, over the tolerance; it would be larger in shorter steps
#: [rad] below this angle a growing distance is inconclusive: the step may have passed the middle between two singular
#: configurations
AMBIGUOUS = 0.5
INTERIOR_FACTOR = 0.016  #: largest integral of the Legendre polynomial of degree 8, over its value at the ends
INTERIOR_WEIGHT = 0.1  #: weight of errors inside a long step, which do not affect the state at its end
MAX_SWEEPS, MAX_CENTRINGS = 30, 4  #: largest number of fixed-point iterations, and of lengths tried to centre the step


def angle(distance: float) -> float:
    """Return the angle to singularity [rad]; near a singular configuration it decreases at a nearly constant rate."""
    return math.asin(min(distance, 1.0))


def time_to_singular(L: LoopData, h_wanted: float) -> tuple[int, float]:
    """Return a status and an estimate of the time to the next singular configuration.

    It is infinity if the motion leads away from it. The estimate uses the last two steps, then a short look-ahead step.
    """
    before, now = angle(L.distance_before), angle(L.distance)
    time = now / (before - now) * (L.t - L.distance_t) if now < before else math.inf
    if before <= now and before < AMBIGUOUS and now > 0.0:
        time = h_wanted
    if not time < LOOK_AHEAD * h_wanted:
        return GO, time
    ahead = 0.25 * min(h_wanted, time)
    L.stage[:] = L.s + ahead * L.K[0]
    status = project(L, L.t + ahead, L.stage)
    if status != GO:
        return status, math.inf
    after = angle(float(L.project.results[1][0]))
    return GO, now / (now - after) * ahead if after < now else math.inf


def long_step_length(L: LoopData, h_wanted: float, left: float, time: float) -> float:
    """Return the length of the long step to attempt now, or zero."""
    now = angle(L.distance)
    is_due = MIN_START < now < MAX_START and time < MAX_STEPS * h_wanted and now < L.long_angle
    return 2.0 * time if is_due and 2.0 * time < left else 0.0


def max_approach_step(L: LoopData, left: float, time: float) -> float:
    """Return the longest ordinary step towards a singular configuration that leaves room for a long step after it."""
    return 0.5 * time if angle(L.distance) > MIN_START and 2.0 * time < left else math.inf


def update_distance(L: LoopData, distance: float) -> None:
    """Store the distance to singularity at the end of a step, before t and K are updated."""
    L.distance_before, L.distance_t, L.distance = (0.0 if L.is_long else L.distance), L.t, distance
    if angle(distance) > MAX_START:
        L.long_angle = max(L.long_angle_reset, 4.0 * MIN_START)
    L.rate_before[:] = L.K[0]


def try_long_step(L: LoopData, h_wanted: float, left: float, target: float, time: float) -> int:
    """Cross a singular configuration in one long step if one is near; is_long reports whether this was done.

    A long step beyond the end of the run, `target`, is cut there.
    """
    length = long_step_length(L, h_wanted, left, time)
    if length == 0.0:
        return GO
    status, error, length = long_step(L, length, left)
    if status not in (GO, NOT_FINITE, NO_CONVERGENCE):
        return status
    if status != GO or not is_accepted(L, error):
        L.n_rejected += 1
        L.long_angle = L.long_angle_reset = 0.7 * angle(L.distance)
        return GO
    L.is_long, L.long_h, L.t_new, L.t_limit = 1, length, L.t + length, math.inf
    if error < 0.01:
        L.long_angle_reset *= 1.5
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
    """Project a state onto the constraints, unless it is so close to singularity that this would only add rounding errors."""
    L.stage[:] = s
    status = project(L, t, s)
    if status == GO and L.takes_long_steps and L.project.results[1][0] < NO_PROJECTION:
        s[:] = L.stage
    return status


def long_step(L: LoopData, length: float, left: float) -> tuple[int, float, float]:
    """Attempt a step across a singular configuration, centred on it; return status, error (about 1 is accepted) and length."""
    n_low = LONG_NODES[0]
    for trial in range(MAX_CENTRINGS):
        s_ddot = (L.K[0] - L.rate_before) / (L.t - L.distance_t)
        for i in range(n_low):
            L.long_K[i] = L.K[0] + L.long_C[i] * length * s_ddot
        status = sweep(L, length, 0)
        if status != GO:
            return status, math.inf, length
        at = singularity_at(L, n_low)
        if abs(at - 0.5) <= CENTRING or trial + 1 == MAX_CENTRINGS:
            break
        length = min(length * min(max(2.0 * at, 0.5), 2.0), 0.99 * left)
    step_end(L, length, 0, L.s_new)
    count = LONG_NODES[1]
    for i in range(count):
        L.long_S[i] = L.s
        for j in range(n_low):
            L.long_S[i] += (length * L.long_start[i, j]) * L.long_K[j]
    for i in range(count):
        status = node(L, length, i, n_low + i)
        if status != GO:
            return status, math.inf, length
    status = sweep(L, length, 1)
    if status != GO:
        return status, math.inf, length
    L.sum[:] = L.s_new
    step_end(L, length, 1, L.s_new)
    at_end = 0.1 * math.sqrt(total_square((L.s_new - L.sum) / scale(L, L.s, L.s_new)) / L.n_s)
    error = max(at_end, interior_error(L, length))
    if not is_accepted(L, error):
        return GO, error, length
    L.dense[:] = L.s_new
    status = project(L, L.t + length, L.dense)
    if status != GO:
        return status, error, length
    return right_hand_side(L, L.t + length, L.dense, L.K[L.n_stages]), error, length


def interior_error(L: LoopData, length: float) -> float:
    """Return the largest error of the states inside a long step.

    It follows from the mismatch between its polynomial and s_dot at its beginning, which the polynomial does not use.
    """
    gap = -L.K[0]
    for j in range(LONG_NODES[1]):
        gap = gap + L.long_F[j, 0] * L.long_K[j]
    return INTERIOR_WEIGHT * INTERIOR_FACTOR * length * math.sqrt(total_square(gap / scale(L, L.s, L.s_new)) / L.n_s)


def is_accepted(L: LoopData, error: float) -> bool:
    """Return whether a long step with this error is accepted; rounding errors of the iteration may exceed the tolerance."""
    return error <= 1.0 + 10.0 * L.long_change


def step_end(L: LoopData, length: float, which: int, out: np.ndarray) -> None:
    """Set `out` to the state at the end of the long step, by the solution of low (which = 0) or high order (1)."""
    first = LONG_NODES[0] * which
    out[:] = L.s
    for j in range(LONG_NODES[which]):
        out += (length * L.long_B[first + j]) * L.long_K[j]


def node(L: LoopData, length: float, i: int, at: int) -> int:
    """Project the state of a node, then evaluate its distance to singularity and its s_dot."""
    t = L.t + L.long_C[at] * length
    status = project(L, t, L.long_S[i])
    if status != GO:
        return status
    L.long_distance[i] = L.project.results[1][0]
    return right_hand_side(L, t, L.long_S[i], L.long_K[i])


def sweep(L: LoopData, length: float, which: int) -> int:
    """Solve the collocation equations by fixed-point iteration, until the state at the end converges."""
    count, first = LONG_NODES[which], LONG_NODES[0] * which
    offset = LONG_NODES[0] ** 2 * which
    L.long_change = math.inf
    step_end(L, length, which, L.stage)
    for k in range(MAX_SWEEPS):
        for i in range(count):
            L.long_S[i] = L.s
            for j in range(count):
                L.long_S[i] += (length * L.long_A[offset + count * i + j]) * L.long_K[j]
        for i in range(count):
            status = node(L, length, i, first + i)
            if status != GO:
                return status
        step_end(L, length, which, L.sum)
        last, L.long_change = L.long_change, math.sqrt(total_square((L.sum - L.stage) / scale(L, L.s, L.sum)) / L.n_s)
        L.stage[:] = L.sum
        is_noise = k > 3 and 0.7 * last < L.long_change < MAX_CHANGE  # the changes no longer decrease
        if is_noise or L.long_change < 0.01:
            return GO
    return NO_CONVERGENCE


def singularity_at(L: LoopData, count: int) -> float:
    """Return the position of the singular configuration as a fraction of the long step.

    The angle changes sign there, but only its magnitude is known: a straight line is fitted for each possible position of
    the sign change, and the zero of the best fit is returned.
    """
    best, found = math.inf, 0.5
    for split in range(1, count):
        m = f = mm = mf = ff = 0.0
        for i in range(count):
            value = angle(float(L.long_distance[i])) * (1.0 if i < split else -1.0)
            at = L.long_C[i]
            m, f, mm, mf, ff = m + value, f + at, mm + value * value, mf + value * at, ff + at * at
        slope = (count * mf - m * f) / (count * ff - f * f)
        level = (m - slope * f) / count
        misfit = mm - level * m - slope * mf
        if misfit < best and slope < 0.0:
            best, found = misfit, -level / slope
    return found
