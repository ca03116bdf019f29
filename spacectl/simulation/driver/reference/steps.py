"""Reference implementation of table.h, right_hand_side.h and rk.h in Python: one evaluation of the closed loop, and one step.

Sums are formed in the same order as in C, so that both give the same numbers. Change the files together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import NONE, BoundFunction
from spacectl.simulation.driver.loop_data import LoopData

__all__ = [
    "CALLBACK_ERROR",
    "EPSILON",
    "GO",
    "NOT_FINITE",
    "attempt",
    "call",
    "command",
    "excess",
    "first_step",
    "instant",
    "is_continuous",
    "mark_worst",
    "memory",
    "next_factor",
    "normalise",
    "project",
    "right_hand_side",
    "scale",
    "total_square",
]

GO, NOT_FINITE, CALLBACK_ERROR = -1, -2, 4  #: as in loop.h
EPSILON = 2.220446049250313e-16


def interval(knots: np.ndarray, t: float) -> int:
    """Return the largest i with knots[i] <= t, or 0."""
    return max(int(np.searchsorted(knots, t, side="right")) - 1, 0)


def table(L: LoopData, t: float, r: np.ndarray) -> None:
    """Set r to the reference at t, followed by its rate if the law uses it."""
    n, k = L.n_knots, L.n_r
    is_inside = L.knots[0] <= t < L.knots[n - 1]
    t = min(max(t, L.knots[0]), L.knots[n - 1])
    i = L.i_knot = interval(L.knots, t)
    if n == 1 or L.table_rule == 0:
        r[:k], rate = L.values[i], np.zeros(k)
    else:
        i = min(i, n - 2)
        length = L.knots[i + 1] - L.knots[i]
        f = (t - L.knots[i]) / length
        a, b = L.values[i], L.values[i + 1]
        if L.table_rule == 1:
            r[:k], rate = a + f * (b - a), (b - a) / length
        else:
            ra, rb = L.rates[i] * length, L.rates[i + 1] * length
            c2, c3 = 3.0 * (b - a) - 2.0 * ra - rb, 2.0 * (a - b) + ra + rb
            r[:k], rate = a + f * (ra + f * (c2 + f * c3)), (ra + f * (2.0 * c2 + f * 3.0 * c3)) / length
    if L.table_rates:
        r[k:] = rate if is_inside else 0.0


def call(f: BoundFunction) -> int:
    """Evaluate a bound function."""
    return GO if f.call() else CALLBACK_ERROR


def is_continuous(L: LoopData) -> bool:
    """Return whether the law is continuous."""
    return L.law.kind != NONE and L.period == 0.0


def memory(L: LoopData, s: np.ndarray) -> np.ndarray:
    """Return the memory of the law: part of s for a continuous law, else z."""
    return s[L.n_x :] if is_continuous(L) else L.z


def excess(L: LoopData, k: int) -> float:
    """Return the amount by which the command exceeds limit k; it is negative within the limit."""
    i = L.limit_inputs[k]
    return max(float(L.u_commanded[i] - L.u_high[i] if L.limit_sides[k] > 0 else L.u_low[i] - L.u_commanded[i]), -1e300)


def command(L: LoopData, t: float, s: np.ndarray) -> int:
    """Evaluate the law at (t, s): set u_commanded and u."""
    if L.law.kind == NONE:
        return GO
    if L.n_measured > 0:
        L.sensors.arguments[0][0] = t
        L.sensors.arguments[1][:] = s[: L.n_x]
        status = call(L.sensors)
        if status != GO:
            return status
        L.law.arguments[2][:] = L.sensors.results[0][L.y_map]
    L.law.arguments[0][0] = t
    L.law.arguments[1][:] = s[: L.n_x]
    L.law.arguments[3][:] = memory(L, s)
    if L.n_r > 0:
        table(L, t, L.law.arguments[4])
    L.n_law_calls += 1
    status = call(L.law)
    if status != GO:
        return status
    L.u_commanded[L.u_map] = L.law.results[0]
    value = np.where(L.u_commanded < L.u_low, L.u_low, L.u_commanded)
    L.u[:] = np.where(value > L.u_high, L.u_high, value)
    L.u[~np.isfinite(L.u_commanded)] = np.nan  # an infinite command is a failure, not the limit
    if any((excess(L, k) > 0.0) != L.is_beyond[k] for k in range(L.n_limits)):
        L.limit_changed = 1
    return GO


def right_hand_side(L: LoopData, t: float, s: np.ndarray, s_dot: np.ndarray) -> int:
    """Evaluate s_dot at (t, s), and mark non-finite entries in `bad`."""
    t = min(t, L.t_limit)
    if L.project_stages:
        L.projected[:] = s
        status = project(L, t, L.projected)
        if status != GO:
            return status
        s = L.projected
    if is_continuous(L):
        status = command(L, t, s)
        if status != GO:
            return status
        s_dot[L.n_x :] = L.law.results[1]
    L.plant.arguments[0][0] = t
    L.plant.arguments[1][:] = s[: L.n_x]
    L.plant.arguments[2][:] = L.u
    L.n_right_sides += 1
    status = call(L.plant)
    if status != GO:
        return status
    s_dot[: L.n_x] = L.plant.results[0]
    finite = np.isfinite(s_dot)
    if finite.all():
        return GO
    L.bad[:] = ~finite
    return NOT_FINITE


def project(L: LoopData, t: float, s: np.ndarray) -> int:
    """Project a state onto the constraints, if there are any."""
    if L.project.kind == NONE:
        return GO
    L.project.arguments[0][0] = t
    L.project.arguments[1][:] = s[: L.n_x]
    if not L.project.call():
        return CALLBACK_ERROR
    s[: L.n_x] = L.project.results[0]
    return GO


def normalise(L: LoopData, s: np.ndarray, rate: np.ndarray | None) -> None:
    """Normalise the unit quaternions of s, and scale the same entries of `rate` by the same factor."""
    for k in L.quaternions:
        q = s[k : k + 4]
        factor = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        q *= factor
        if rate is not None:
            rate[k : k + 4] *= factor


def instant(L: LoopData, t: float) -> float:
    """Return the difference below which two times are considered equal."""
    return 8.0 * EPSILON * max(abs(t), abs(L.t_start))


def combine(L: LoopData, weights: Any, count: int, total: np.ndarray) -> None:
    """Set total = sum_j weights[j] K[j] over the first `count` rows."""
    total[:] = 0.0
    for j in range(count):
        if weights[j] != 0.0:
            total += weights[j] * L.K[j]


def stage(L: LoopData, i: int, h: float, state: np.ndarray, evaluate: bool) -> int:
    """Compute the state of stage i for a step of length h and, with `evaluate`, row i of K."""
    combine(L, L.A[i], i, L.sum)
    state[:] = L.s + h * L.sum
    return right_hand_side(L, L.t + L.C[i] * h, state, L.K[i]) if evaluate else GO


def scale(L: LoopData, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the tolerance of each state, with values a and b at the ends of a step."""
    return L.atol + L.rtol * np.maximum(np.abs(a), np.abs(b))


def total_square(values: np.ndarray) -> float:
    """Return the sum of squares, accumulated from first to last as in C (numpy uses pairwise summation)."""
    return float(np.cumsum(values * values)[-1]) if values.size else 0.0


def error_size(L: LoopData, h: float) -> float:
    """Return the norm of the error estimate relative to the tolerance; a step with at most 1 is accepted."""
    columns = L.n_stages + 1
    combine(L, L.E[0], columns, L.sum)
    combine(L, L.E[1], columns, L.sum_second)
    size = scale(L, L.s, L.s_new)
    first, second = total_square(L.sum / size), total_square(L.sum_second / size)
    if first == 0.0 and second == 0.0:
        return 0.0
    if L.has_error_pair:
        return h * first / math.sqrt((first + 0.01 * second) * L.n_s)
    return h * math.sqrt(first / L.n_s)


def mark_worst(L: LoopData) -> None:
    """Mark the state with the largest error in `bad`, after `error_size`."""
    L.bad[:] = 0
    size = np.abs(L.sum) / scale(L, L.s, L.s_new)
    L.bad[int(np.argmax(np.where(np.isnan(size), -1.0, size)))] = 1


def first_step(L: LoopData) -> int:
    """Choose the length of the first step."""
    n, f0, f1 = L.n_s, L.K[0], L.K[1]
    size = scale(L, L.s, L.s)
    d0, d1 = math.sqrt(total_square(L.s / size) / n), math.sqrt(total_square(f0 / size) / n)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, L.t_end - L.t, L.max_step)
    L.stage[:] = L.s + h0 * f0
    status = right_hand_side(L, L.t + h0, L.stage, f1)
    if status == CALLBACK_ERROR:
        return status
    if status == NOT_FINITE:
        L.h_next = 1e-3 * h0
        return GO
    d2 = math.sqrt(total_square((f1 - f0) / size) / n) / h0
    largest = max(d1, d2)
    h1 = max(1e-6, 1e-3 * h0) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / (L.error_order + 1.0))
    L.h_next = min(100.0 * h0, h1)
    return GO


def attempt(L: LoopData, h: float, needs_dense: bool) -> tuple[int, float]:
    """Attempt a step of length h; return status and error."""
    last, rows = L.n_stages, L.n_stages + 1 + L.n_extra
    for i in range(1, last):
        status = stage(L, i, h, L.stage, True)
        if status != GO:
            return status, 0.0
    status = stage(L, last, h, L.s_new, bool(L.needs_end_rate))
    if status != GO:
        return status, 0.0
    error = error_size(L, h)
    if not error <= 1.0:
        return GO, error
    if not L.needs_end_rate:
        status = stage(L, last, h, L.s_new, True)
        if status != GO:
            return status, error
    if not needs_dense and not L.limit_changed:
        return GO, error
    for i in range(last + 1, rows):
        status = stage(L, i, h, L.stage, True)
        if status != GO:
            return status, error
    for p in range(L.n_terms):
        combine(L, L.F[p], rows, L.Q[p])
    return GO, error


def next_factor(L: LoopData, error: float, accepted: bool) -> float:
    """Return the factor for the next step length."""
    order = L.error_order + 1.0
    if error == 0.0:
        return 10.0
    if not error < 1e300:
        return 0.2
    if accepted:
        factor = 0.9 * error ** (-0.85 / order) * L.error_old ** (0.2 / order)
    else:
        factor = 0.9 * error ** (-1.0 / order)
    return 0.2 if factor < 0.2 else min(factor, 10.0)
