"""Reference implementation of the dense output in Python: sc_dense in rk.h and sc_long_state in singularity.h."""

from __future__ import annotations

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.adams import adams_weights
from spacectl.simulation.driver.methods.tableau import LONG_NODES
from spacectl.simulation.driver.reference.steps import normalise

__all__ = ["dense_state", "long_state"]


def dense_state(L: LoopData, t: float, out: np.ndarray) -> None:
    """Set `out` to the state at time t inside the accepted step."""
    if t >= L.t_new:
        out[:] = L.s_new
    elif L.is_long:
        long_state(L, (t - L.t) / L.long_h, out)
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


def long_state(L: LoopData, f: float, out: np.ndarray) -> None:
    """Set `out` to the state at the fraction f of the long step."""
    count = LONG_NODES[1]
    out[:] = L.s
    for j in range(count):
        weight = 0.0
        for k in range(count - 1, -1, -1):
            weight = (weight + L.long_F[j, k]) * f
        out += (L.long_h * weight) * L.long_K[j]
