"""States inside a step in Python: reference implementation of sc_dense in rk.h and of sc_leap_state in leap.h."""

from __future__ import annotations

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.adams import adams_weights
from spacectl.simulation.driver.methods.tableau import LEAP_NODES
from spacectl.simulation.driver.reference.steps import normalise

__all__ = ["dense_state", "leap_state"]


def dense_state(L: LoopData, t: float, out: np.ndarray) -> None:
    """State at time t inside the step that was just made."""
    if t >= L.t_new:
        out[:] = L.s_new
    elif L.is_leap:
        leap_state(L, (t - L.t) / L.leap_h, out)
    elif L.is_multistep:
        k = L.order
        weights = adams_weights(L.C, L.ratios, k + 1, (t - L.t) / L.h)
        out[:] = weights[k] * L.sum
        for i in range(k - 1, -1, -1):
            out += weights[i] * L.scaled[i]
        out[:] = L.s + L.h * out
    else:
        f = (t - L.t) / L.h
        out[:] = 0.0
        for p in range(L.n_terms - 1, -1, -1):
            out[:] = (out + L.Q[p]) * (f if p % 2 == 0 else 1.0 - f)
        out[:] = L.s + L.h * out
    normalise(L, out, None)


def leap_state(L: LoopData, f: float, out: np.ndarray) -> None:
    """State at a fraction of the leap."""
    count = LEAP_NODES[1]
    out[:] = L.s
    for j in range(count):
        weight = 0.0
        for k in range(count - 1, -1, -1):
            weight = (weight + L.leap_F[j, k]) * f
        out += (L.leap_h * weight) * L.leap_K[j]
