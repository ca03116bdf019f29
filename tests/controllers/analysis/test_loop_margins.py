"""Margins of sampled loops: delays by whole periods in the loop itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import cont2discrete, ss2tf, tf2ss

from spacectl import Labels
from spacectl.controllers.analysis.law_loop import LoopGain

T = 0.25  # [s]
#: Continuous loops, sampled with their inputs held; the leading ones have crossings with positive phase.
SAMPLED = {
    "servo": ([2.0], [1.0, 2.0, 0.0]),
    "leading rate": ([2.0, 0.0], [1.0, 0.1, 1.0]),
    "leading acceleration": ([0.6, 0.0, 0.0], [1.0, 0.1, 1.0]),
    "leading washout": ([0.9, 0.0], [1.0, 0.3]),
    "lead": ([0.6, 0.6], [1.0, 0.0]),
    "large at half the sampling rate": ([3.0, 3.0], [1.0, 20.0]),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_delay_margin_is_the_number_of_periods_of_delay_allowed(name: str) -> None:
    """With n periods of delay ``z^n d(z) + n(z) = 0`` gives the poles; the first unstable n is the first beyond the margin."""
    A, B, C, D, _ = cont2discrete(tf2ss(*SAMPLED[name]), T)
    margin = LoopGain(A, B, C, Labels(("u",), (), "input"), T, D).classical()["u"]
    assert margin.is_stable
    top, bottom = ss2tf(A, B, C, D)
    delays = range(60)
    delayed = [np.polyadd(np.append(bottom, np.zeros(n)), top[0]) for n in delays]
    stable = [bool(np.max(np.abs(np.roots(item))) < 1.0) for item in delayed]
    if all(stable):
        assert margin.delay == np.inf
    else:
        first = stable.index(False)
        assert (first - 1) * T < margin.delay <= first * T
