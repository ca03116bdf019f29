"""The closed loop of `tracking` in scipy with Pinocchio as right-hand side, as fast as Python allows.

Every integrator returns the states at the grid, shape (n_t, 14). `solve_ivp` is what most people call; `odeint` runs
the loop of LSODA in compiled code and is the stronger peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import odeint, solve_ivp

from tests.benchmarks.systems import pin
from tests.benchmarks.tracking import PERIOD, Tracking

__all__ = ["PEERS", "Run", "continuous_run", "right_hand_side", "sampled_run"]

PEERS = ("solve_ivp DOP853", "solve_ivp RK45", "solve_ivp LSODA", "odeint (LSODA)")

Run = Callable[[float], np.ndarray]  #: tolerance -> states at the grid


def right_hand_side(loop: Tracking, model: Any) -> Callable[[float, np.ndarray], np.ndarray]:
    """x_dot(t, x) of the continuous loop: eight numpy operations and one call of `aba`."""
    waves, data = loop.waves, model.createData()
    middle, amplitude, frequency, phase, gains = (
        waves[name] for name in ("middle", "amplitude", "frequency", "phase", "gains")
    )
    aba, sin, concatenate = pin.aba, np.sin, np.concatenate

    def x_dot(t: float, x: np.ndarray) -> np.ndarray:
        pull = gains * (middle + amplitude * sin(frequency * t + phase) - x)
        v = x[7:]
        return concatenate((v, aba(model, data, x[:7], v, pull[:7] + pull[7:])))

    return x_dot


def continuous_run(name: str, loop: Tracking, model: Any, x0: np.ndarray, grid: np.ndarray) -> Run:
    """One of `PEERS` with the continuous law; `grid` begins after t = 0."""
    x_dot, span, times = right_hand_side(loop, model), (0.0, float(grid[-1])), np.concatenate([[0.0], grid])
    if name.startswith("odeint"):
        return lambda tol: odeint(x_dot, x0, times, rtol=tol, atol=tol, tfirst=True, mxstep=100_000)[1:]
    method = name.split()[-1]
    return lambda tol: solve_ivp(x_dot, span, x0, method=method, t_eval=grid, rtol=tol, atol=tol).y.T


def sampled_run(name: str, loop: Tracking, model: Any, x0: np.ndarray, grid: np.ndarray) -> Run:
    """One of `PEERS` with the law sampled: inputs are held, and the integrator starts anew at each sample.

    The grid must be samples, so that nothing has to be interpolated; the first step tried is the whole period.
    """
    waves, data = loop.waves, model.createData()
    middle, amplitude, frequency, phase, gains = (
        waves[name] for name in ("middle", "amplitude", "frequency", "phase", "gains")
    )
    aba, concatenate = pin.aba, np.concatenate
    stride = round(float(grid[0]) / PERIOD)
    count, u = round(float(grid[-1]) / PERIOD), np.zeros(7)
    if np.max(np.abs(grid - PERIOD * stride * np.arange(1, grid.size + 1))) > 1e-9:
        raise ValueError("the grid must be equally spaced samples")

    def x_dot(t: float, x: np.ndarray) -> np.ndarray:
        v = x[7:]
        return concatenate((v, aba(model, data, x[:7], v, u)))

    if name.startswith("odeint"):
        times = np.array([0.0, PERIOD])  # nothing depends on time while u is held

        def advance(x: np.ndarray, tol: float) -> np.ndarray:
            return odeint(x_dot, x, times, rtol=tol, atol=tol, tfirst=True, h0=PERIOD)[1]
    else:
        method = name.split()[-1]

        def advance(x: np.ndarray, tol: float) -> np.ndarray:
            return solve_ivp(x_dot, (0.0, PERIOD), x, method=method, rtol=tol, atol=tol, first_step=PERIOD).y[:, -1]

    def run(tol: float) -> np.ndarray:
        x, out = x0, np.empty((grid.size, 14))
        for k in range(count):
            pull = gains * (middle + amplitude * np.sin(frequency * (k * PERIOD) + phase) - x)
            u[:] = pull[:7] + pull[7:]
            x = advance(x, tol)
            if (k + 1) % stride == 0:
                out[(k + 1) // stride - 1] = x
        return out

    return run
