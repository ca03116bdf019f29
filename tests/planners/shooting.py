"""The shooting construction of Sadigh (1995), section 8.2.2, steps 1 to 5, as published: reference for our direct one.

It knows nothing of characteristic points: where an accelerating curve enters the region that is not feasible, it drops to
lower speeds by bisection until the decelerating curve just touches the region (step 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Shot", "shoot"]

Bounds = Callable[[float, float], tuple[float, float]]


@dataclass
class Shot:
    """A profile s_dot(s) with its switches."""

    s: np.ndarray
    s_dot: np.ndarray
    switches: list[float]

    @property
    def final_time(self) -> float:
        return float(np.sum(2.0 * np.diff(self.s) / (self.s_dot[1:] + self.s_dot[:-1])))


def bounds_from(rows: np.ndarray, s: np.ndarray) -> Bounds:
    """Least and largest s_ddot at (s, s_dot), Eqs 8.20-8.23 with the sides derived, from rows (n, m, 4) on a grid."""

    def bounds(at: float, y: float) -> tuple[float, float]:
        k = min(max(int(np.searchsorted(s, at)) - 1, 0), len(s) - 2)
        w = (at - s[k]) / (s[k + 1] - s[k])
        c = (1.0 - w) * rows[k] + w * rows[k + 1]
        rest = (c[:, 1] * y + c[:, 2]) * y + c[:, 3]
        up, down = c[:, 0] > 1e-12, c[:, 0] < -1e-12
        return float(np.max(-rest[down] / c[down, 0])), float(np.min(-rest[up] / c[up, 0]))

    return bounds


def _run(
    bounds: Bounds, s: np.ndarray, start: int, y: float, step: int, largest: bool
) -> tuple[list[int], list[float], str]:
    """Follow ``s_ddot = g`` or ``h`` over the nodes: forward or backward, until an end, the region, or zero speed."""
    nodes, speeds, k, x = [start], [y], start, y * y
    while 0 <= k + step < len(s):
        h = s[k + step] - s[k]

        def slope(at: float, value: float) -> float:
            low, high = bounds(at, np.sqrt(max(value, 0.0)))
            if low > high:
                raise ArithmeticError
            return 2.0 * (high if largest else low)

        try:
            k1 = slope(s[k], x)
            k2 = slope(s[k] + 0.5 * h, x + 0.5 * h * k1)
            k3 = slope(s[k] + 0.5 * h, x + 0.5 * h * k2)
            k4 = slope(s[k] + h, x + h * k3)
        except ArithmeticError:
            return nodes, speeds, "region"
        x, k = x + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0, k + step
        if x < 0.0:
            return nodes, speeds, "axis"
        nodes.append(k)
        speeds.append(float(np.sqrt(x)))
    return nodes, speeds, "end"


def shoot(bounds: Bounds, s: np.ndarray) -> Shot:
    """Steps 1 to 5, rest to rest."""
    n = len(s)
    profile, switches = np.full(n, np.nan), []
    nodes, speeds, _ = _run(bounds, s, n - 1, 0.0, -1, largest=False)  # step 1
    last = np.full(n, np.inf)
    last[nodes] = speeds
    start, y = 0, 0.0
    for _ in range(20):
        nodes, speeds, why = _run(bounds, s, start, y, 1, largest=True)  # steps 2 and 5
        curve = np.full(n, np.inf)
        curve[nodes] = speeds
        over = np.flatnonzero((curve >= last) & np.isfinite(curve) & (np.arange(n) > start))
        if len(over):
            k = int(over[0])
            profile[start:k], profile[k:] = curve[start:k], last[k:]
            return Shot(s, profile, [*switches, float(s[k])])
        if why == "end":
            raise ArithmeticError("the last curve was missed")
        b, touch = _drop(bounds, s, nodes[-1], speeds[-1])  # step 3
        slow = np.full(n, np.inf)
        for step in (1, -1):  # step 4: the decelerating curve through the touching point, and back to c2
            slow_nodes, slow_speeds, _ = _run(bounds, s, nodes[-1], b, step, largest=False)
            slow[slow_nodes] = slow_speeds
        both = np.isfinite(slow) & np.isfinite(curve) & (np.arange(n) > start)
        meet = int(np.flatnonzero(both & (slow < curve))[0])
        profile[start:meet], profile[meet:touch] = curve[start:meet], slow[meet:touch]
        switches += [float(s[meet]), float(s[touch])]
        start, y = touch, float(slow[touch])
    raise ArithmeticError("too many switches")


def _drop(bounds: Bounds, s: np.ndarray, k: int, top: float) -> tuple[float, int]:
    """Step 3: the highest speed below point a from which the decelerating curve does not enter the region, by iteration,
    and the node at which it just touches it."""
    low, high = 0.0, top
    for _ in range(50):
        y = 0.5 * (low + high)
        _, _, why = _run(bounds, s, k, y, 1, largest=False)
        low, high = (low, y) if why == "region" else (y, high)
    return low, _run(bounds, s, k, high, 1, largest=False)[0][-1]
