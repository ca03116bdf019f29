"""Fastest motions without our own code: closed forms along a line, a linear programme along a spline (numpy and scipy)."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, linprog
from scipy.sparse import csr_array, vstack

__all__ = ["bang_bang_time", "friction_times", "spline_time", "trapezoid_time"]


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


def spline_time(
    points: np.ndarray,
    speed: float,
    acceleration: float,
    *,
    begin: float = 0.0,
    end: float | None = 0.0,
    cells: int = 2000,
) -> float:
    """Least time along a cubic spline by chord lengths, with one limit each of all speeds and accelerations.

    A linear programme in ``x = s_dot^2``: ``q'' x + q' x' / 2`` within its limits in the middle of every cell, the largest
    x. Its error falls with the square of the cells; it uses more than the limits allow between the middles.
    """
    knots = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    spline = CubicSpline(knots, points)
    s = knots[-1] * (0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, cells + 1)))
    h, middle = np.diff(s), 0.5 * (s[:-1] + s[1:])
    inertia, bend = spline(middle, 1) / (2.0 * h)[:, None], 0.5 * spline(middle, 2)
    row, cell = np.arange(inertia.size), np.repeat(np.arange(cells), inertia.shape[1])
    entries = np.append((bend - inertia).ravel(), (bend + inertia).ravel())
    matrix = csr_array((entries, (np.append(row, row), np.append(cell, cell + 1))), shape=(inertia.size, cells + 1))
    high = (speed / np.max(np.abs(spline(s, 1)), axis=1)) ** 2
    low = np.zeros(cells + 1)
    low[0] = high[0] = begin**2
    high[-1] = high[-1] if end is None else end**2
    weight = np.append(h, 0.0) + np.append(0.0, h)
    bounds = np.full(2 * inertia.size, acceleration)
    found = linprog(-weight, A_ub=vstack([matrix, -matrix]), b_ub=bounds, bounds=np.stack([low, high], axis=1))
    y = np.sqrt(np.maximum(found.x, 0.0))
    return float(np.sum(2.0 * h / (y[:-1] + y[1:])))
