"""Reference implementation of adams.h in Python: Adams steps of variable length and order.

Sums are formed in the same order as in C, so that both give the same numbers. Change both files together.
"""

from __future__ import annotations

import math

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.adams import MAX_ADAMS, adams_weights
from spacectl.simulation.driver.reference.steps import GO, right_hand_side, scale, total_square

__all__ = ["adams_attempt", "adams_begin", "adams_retry", "adams_shift"]


def adams_begin(L: LoopData) -> None:
    """Restart with order 1 from s_dot at (t, s) alone."""
    L.order = L.order_next = L.n_points = L.is_starting = 1
    L.n_failed = L.n_waits = 0
    L.differences[0] = L.K[0]


def predict(L: LoopData, h: float) -> None:
    """Predict a step: set `scaled`, the derivative of the polynomial at the end (end_rate), and the predicted state (stage)."""
    k, known = L.order, L.n_points
    rows = k + 1 if k < known else k
    L.spans_new[0] = h
    L.spans_new[1:known] = L.spans[: known - 1] + h
    L.ratios[:known] = h / L.spans_new[:known]
    beta = [1.0]
    for i in range(1, rows):
        beta.append(beta[i - 1] * (L.spans_new[i - 1] / L.spans[i - 1]))
    L.weights[: k + 1] = adams_weights(L.C, L.ratios, k + 1, 1.0)
    if rows > k:
        L.scaled[k] = beta[k] * L.differences[k]
    L.end_rate[:] = L.stage[:] = 0.0
    for i in range(k - 1, -1, -1):
        L.scaled[i] = beta[i] * L.differences[i]
        L.end_rate += L.scaled[i]
        L.stage += L.weights[i] * L.scaled[i]
    L.stage[:] = L.s + h * L.stage


def growth(error: float, k: int, most: float) -> float:
    """Return the factor for the step length at order k with the given error; the target is half the tolerance."""
    factor = most if error < 1e-10 else (0.5 / error) ** (1.0 / (k + 1.0))
    return 0.5 if factor < 0.5 else min(factor, most)


def choose(L: LoopData, h: float, e0: float, e1: float, unit: float) -> None:
    """Choose the order and length of the next step after an accepted one."""
    k, e, up = L.order, e0, math.inf
    if L.n_points == 1:
        L.h_start = h * growth(e0, 1, 8.0)
    if L.is_starting and L.order_next == k and k < MAX_ADAMS:
        L.order_next = k + 1
        L.growth = max(2.0, growth(e0, 1, 8.0)) if k == 1 else 2.0
        return
    L.is_starting = 0
    if L.order_next == k and L.n_points > k and k < MAX_ADAMS:
        parts = (L.K[1] - L.end_rate - L.scaled[k]) * L.sum_second
        up = h * unit * math.sqrt(total_square(parts) / L.n_s)
        if e1 <= e0 and e1 <= up:
            L.order_next = k - 1
        elif up < 0.2 * e0:
            L.order_next = k + 1
    if L.order_next != k:
        e = e1 if L.order_next < k else up
    L.growth = growth(e, L.order_next, 2.0)
    if 1.0 < L.growth < 1.1:
        L.growth = 1.0
    if L.n_waits > 0:
        L.n_waits -= 1
        L.growth = min(L.growth, 1.0)


def adams_attempt(L: LoopData, h: float) -> tuple[int, float]:
    """Attempt a step of length h; return status and error."""
    n, k = L.n_s, L.order
    predict(L, h)
    status = right_hand_side(L, L.t_new, L.stage, L.K[1])
    if status != GO:
        return status, 0.0
    L.sum[:] = L.K[1] - L.end_rate
    L.sum_second[:] = 1.0 / scale(L, L.s, L.stage)
    once = L.sum + L.scaled[k - 1]
    twice = once + L.scaled[k - 2 if k > 1 else 0]
    sizes = [math.sqrt(total_square(item * L.sum_second) / n) for item in (L.sum, once, twice)]
    sigma = lower = lowest = 1.0
    for i in range(1, k + 1):
        lowest, lower = lower, sigma
        sigma *= i * L.ratios[i - 1]
    error = h * abs(L.weights[k] - L.weights[k - 1]) * sizes[0]
    e0 = sizes[0] * (h * L.E[k] * sigma)
    e1 = h * L.E[k - 1] * lower * sizes[1] if k > 1 else math.inf
    e2 = h * L.E[k - 2] * lowest * sizes[2] if k > 2 else e1
    is_lower = k > 1 and (e1 <= e0 and e2 <= e0 if k > 2 else e1 <= 0.5 * e0)
    L.order_next = k - 1 if is_lower else k
    if not error <= 1.0:
        factor = 0.8 * error ** (-1.0 / (k + 1.0)) if error < 1e300 else 0.1
        L.growth = min(max(factor, 0.1), 0.9)
        L.s_new[:] = L.stage
        return GO, error
    if k < L.n_points:
        L.sum[:] = L.A[k] * L.sum + (1.0 - L.A[k]) * L.scaled[k]
    L.s_new[:] = L.stage + h * L.weights[k] * L.sum
    status = right_hand_side(L, L.t_new, L.s_new, L.K[1])
    if status != GO:
        return status, error
    sigma *= (k + 1) * L.ratios[k] if k < L.n_points else 1.0
    choose(L, h, e0, e1, L.E[k + 1] * sigma)
    return GO, error


def adams_retry(L: LoopData) -> None:
    """After a rejected attempt, do not increase the step for a while; after three, discard the history."""
    L.order = L.order_next
    L.is_starting = 0
    L.n_waits = L.order + 1
    L.n_failed += 1
    if L.n_failed >= 3:
        adams_begin(L)


def adams_shift(L: LoopData) -> None:
    """Add s_dot at the end (row 1 of K) to the history."""
    k, known = L.order, L.n_points
    total = L.K[1] - L.end_rate
    L.differences[k] = total
    if known > k:
        L.differences[k + 1] = total - L.scaled[k]
    for i in range(k - 1, 0, -1):
        total = total + L.scaled[i]
        L.differences[i] = total
    L.differences[0] = L.K[1]
    L.spans[:known] = L.spans_new[:known]
    L.n_points = k + 2 if known > k else k + 1
    L.order, L.n_failed = L.order_next, 0
