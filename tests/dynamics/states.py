"""States for the tests of the equations."""

from __future__ import annotations

import numpy as np


def random_state(eom, seed: int = 0) -> np.ndarray:
    """Near the state of rest, with unit quaternions."""
    rng = np.random.default_rng(seed)
    return eom.state(eom.state() + 0.5 * rng.standard_normal(eom.n_x))
