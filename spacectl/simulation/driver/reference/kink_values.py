"""Reference implementation of kink_values.h in Python: functions that cross zero at kinks and jumps of the right-hand side.

Change both files together.
"""

from __future__ import annotations

import numpy as np

from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.reference.steps import GO, call, command, excess

__all__ = ["kink_values"]

ROUNDING = 1e-14  # magnitude, relative to the largest so far, below which a value counts as zero


def kink_values(L: LoopData, t: float, s: np.ndarray, g: np.ndarray) -> int:
    """Evaluate the kinks at (t, s); g has them after the guards. Ignored kinks and NaN are set to zero."""
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
        g[i] = excess(L, i - limits)
    for i in range(L.g_first, L.g_last):
        size = abs(g[i])
        if L.g_scale[i] < size < np.inf:
            L.g_scale[i] = size
        L.fired[i] = 0
        if L.is_ignored[i - L.n_guards] or not size > ROUNDING * L.g_scale[i]:
            g[i] = 0.0
    return GO
