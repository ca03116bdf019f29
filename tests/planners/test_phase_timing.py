"""Time laws in cells of constant acceleration."""

from __future__ import annotations

import numpy as np

from spacectl.planners.phase_plane.timing import Law


def uniform_law(rate: float, n: int = 5) -> Law:
    """From rest at constant s_ddot: s = rate t^2 / 2."""
    t = np.linspace(0.0, 2.0, n)
    s, one = 0.5 * rate * t**2, np.ones(n - 1, dtype=int)
    return Law(
        s=s, x=(rate * t) ** 2, t=t, piece=0 * one, centre=0.5 * (s[:-1] + s[1:]), kind=one, row=0 * one,
        starts=np.array([0]), jumps=np.array([0]),
    )  # fmt: skip


def test_uniform_acceleration_is_found_in_every_cell() -> None:
    law = uniform_law(0.75)
    np.testing.assert_allclose(law.cell_acceleration, 0.75, rtol=1e-13)
    for end in law.node_accelerations():
        np.testing.assert_allclose(end, 0.75, rtol=1e-13)


def test_motion_inside_a_cell_is_that_of_its_acceleration() -> None:
    law, parts = uniform_law(0.75), np.array([0.0, 0.3, 1.0])
    s, s_dot, s_ddot = law.between(parts, np.array([False, True, False, True]))
    t = np.array([0.5, 1.5]) + 0.5 * parts[:, None]
    np.testing.assert_allclose(s, 0.375 * t**2, rtol=1e-13)
    np.testing.assert_allclose(s_dot, 0.75 * t, rtol=1e-13)
    np.testing.assert_allclose(s_ddot, 0.75, rtol=1e-13)
