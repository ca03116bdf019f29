"""Closed forms of quickest motions along a line: one inertia, one torque, friction, speed limits (numpy and scipy only)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

__all__ = ["bang_bang_time", "friction_times", "trapezoid_time"]


def bang_bang_time(inertia: float, angle: float, low: float, high: float, w0: float = 0.0, w1: float = 0.0) -> float:
    """Least time over an angle with torque in [low, high], low < 0 < high, from rate w0 to w1."""
    up, down = high / inertia, -low / inertia
    # w_top^2 = w0^2 + 2 up a = w1^2 + 2 down (angle - a)
    a = (w1**2 - w0**2 + 2.0 * down * angle) / (2.0 * (up + down))
    top = np.sqrt(w0**2 + 2.0 * up * a)
    return float((top - w0) / up + (top - w1) / down)


def trapezoid_time(inertia: float, angle: float, torque: float, rate: float) -> float:
    """Least time rest to rest with a limit of the rate that is reached."""
    return angle / rate + rate * inertia / torque


def friction_times(inertia: float, angle: float, torque: float, viscous: float) -> tuple[float, float]:
    """Switch and final time rest to rest with viscous friction: ``inertia w_dot = u - viscous w``."""
    tau, top = inertia / viscous, torque / viscous

    def up(t: float) -> tuple[float, float]:
        rate = top * (1.0 - np.exp(-t / tau))
        return rate, top * t - tau * rate

    def down(rate: float) -> tuple[float, float]:
        t = tau * np.log(1.0 + rate / top)
        return t, tau * rate - top * t

    def gap(t: float) -> float:
        rate, way = up(t)
        return way + down(rate)[1] - angle

    switch = brentq(gap, 1e-9, 100.0 * tau + 100.0 * np.sqrt(inertia * angle / torque), xtol=1e-14, rtol=1e-14)
    return float(switch), float(switch + down(up(switch)[0])[0])
