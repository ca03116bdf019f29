"""What is measured on a flown maneuver."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.maneuvers.measure import _over_limits


@pytest.mark.parametrize(
    ("u", "share"),
    [((1.0, -3.0), 0.75), ((-1.0, 9.0), 0.5), ((3.0, 0.0), 0.75), ((-2.5, 1.0), 1.25), ((0.0, 0.0), 0.0)],
)
def test_an_input_is_held_against_the_limit_on_its_own_side(u: tuple[float, float], share: float) -> None:
    """The second input has no upper limit."""
    low, high = np.array([-2.0, -4.0]), np.array([4.0, np.inf])
    assert _over_limits(np.array([u, (0.0, 0.0)]), low, high) == share
