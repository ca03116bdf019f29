"""Reference implementation of kink_values.h in Python: values that pass zero where the right-hand side has a kink or a jump.

Change both together.
"""

from __future__ import annotations

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.reference.steps import GO, beyond, call, command

__all__ = ["kink_values"]

ROUNDING = 1e-14  # of the largest value seen: nearer to zero, it is zero


def kink_values(L: LoopData, t: float, s: np.ndarray, g: np.ndarray) -> int:
    """Values of the kinks at (t, s), behind those of the guards; one that is ignored, or not a number, stays at zero."""
    law = L.n_guards + L.n_plant_kinks
    limits, status = law + L.n_law_kinks, GO
    if L.g_last > law:
        status = command(L, t, s)
    if status == GO and L.n_plant_kinks > 0:
        L.kinks.arguments[0][0] = t
        L.kinks.arguments[1][:] = s[: L.n_x]
        status = call(L.kinks)
        g[L.n_guards : law] = L.kinks.results[0]
    if status == GO and L.n_law_kinks > 0:
        for i in range(5):
            L.law_kinks.arguments[i][:] = L.law.arguments[i]
        status = call(L.law_kinks)
        g[law:limits] = L.law_kinks.results[0]
    if status != GO:
        return status
    for i in range(limits, L.g_last):
        g[i] = beyond(L, i - limits)
    for i in range(L.g_first, L.g_last):
        size = abs(g[i])
        if L.g_scale[i] < size < np.inf:
            L.g_scale[i] = size
        L.fired[i] = 0
        if L.is_ignored[i - L.n_guards] or not size > ROUNDING * L.g_scale[i]:
            g[i] = 0.0
    return GO
