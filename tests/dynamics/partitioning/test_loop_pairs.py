"""Four-bars and crank-sliders whose dependent joints are on two branches: circle on circle, and circle on line, either elbow."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from spacectl import close_loops, close_positions, form_equations, library
from tests.dynamics.bar_systems import TILT, crank_slider, four_bar
from tests.dynamics.leg_systems import leg_system

MECHANISMS: dict[str, Any] = {
    "four-bar": (four_bar, {}, "R1-(R1)-R1"),
    "hinged four-bar, oblique": (four_bar, {"closing": "hinge", "tilt": TILT}, "R1-(R1)-R1"),
    "crank-slider": (crank_slider, {}, "R1-(R1)-P1"),
    "hinged crank-slider, oblique": (crank_slider, {"closing": "hinge", "tilt": TILT}, "R1-(R1)-P1"),
}


@cache
def equations(name: str) -> Any:
    make, how, _ = MECHANISMS[name]
    return form_equations(make(**how), formulation="partitioned", independent=("crank_pin",))


@pytest.mark.parametrize("name", MECHANISMS)
def test_closed_forms_equal_newton_all_the_way_round(name: str) -> None:
    """Any crank angle, any start of the others: the form closes at once, and Newton's method stays where it is."""
    eom = equations(name)
    (loop,) = eom.reduction.loops
    assert (loop.leg, loop.method) == (MECHANISMS[name][2], "closed form")
    rng = np.random.default_rng(0)
    for _ in range(25):
        start = eom.state(np.concatenate([rng.uniform(-3.0, 3.0, 3), rng.standard_normal(3)]))
        form = close_loops(eom, start)
        assert form.loops[0].method == "closed form" and form.loops[0].steps <= 1 and form.residual < 1e-13
        moved = np.asarray(form.x) + np.array([0.0, *(1e-3 * rng.standard_normal(2)), 0.0, 0.0, 0.0])
        newton = close_loops(eom, moved, method="newton")
        assert newton.loops[0].steps >= 2
        np.testing.assert_allclose(np.asarray(form.x), np.asarray(newton.x), atol=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "crank-slider"])
def test_each_elbow_stays_on_its_branch(name: str) -> None:
    """The two solutions mirror each other about the line from the crank's end; the formulas of the triangle give both."""
    eom, crank = equations(name), 0.3
    knee = 0.3 * np.array([np.cos(1.0 + crank), np.sin(1.0 + crank)])
    if name == "four-bar":
        to = np.array([1.0, 0.0]) - knee
        distance = float(np.hypot(*to))
        bend = np.arccos((0.9**2 + distance**2 - 0.7**2) / (2.0 * 0.9 * distance))
        along = np.arctan2(to[1], to[0]) + bend * np.array([1.0, -1.0])
    else:
        rise = np.arcsin((0.1 - knee[1]) / 0.9)
        along = np.array([rise, np.pi - rise])
    ends = knee[:, None] + 0.9 * np.array([np.cos(along), np.sin(along)])
    drawn = eom.placements(0.0, eom.state()[:3])[1][:9].reshape(3, 3)
    before = np.arctan2(drawn[1, 0], drawn[0, 0])
    found = []
    for angle, end in zip(along, ends.T, strict=True):
        start = np.array([crank, angle - before - crank, 0.0])
        if name == "four-bar":
            rocker = eom.placements(0.0, eom.state()[:3])[2][:9].reshape(3, 3)
            start[2] = np.arctan2(end[1], end[0] - 1.0) - np.arctan2(rocker[1, 0], rocker[0, 0])
        else:
            start[2] = end[0] - eom.placements(0.0, eom.state()[:3])[2][9]
        near = start + np.array([0.0, 0.2, -0.1])
        state = close_loops(eom, eom.state(np.concatenate([near, np.zeros(3)])))
        turned = np.asarray(state.x)[:3] - start
        if name == "four-bar":
            turned -= 2.0 * np.pi * np.round(turned / (2.0 * np.pi))
        else:
            turned[1] -= 2.0 * np.pi * np.round(turned[1] / (2.0 * np.pi))
        np.testing.assert_allclose(turned, 0.0, atol=1e-13)
        found.append(near)
    closed = close_positions(eom, np.array(found), method="closed form")
    newton = close_positions(eom, closed + np.array([0.0, 1e-3, 1e-3]), method="newton")
    np.testing.assert_allclose(closed, newton, atol=1e-12)
    assert np.max(np.abs(closed[0] - closed[1])) > 0.1


def test_legs_are_named_after_what_depends() -> None:
    """Joints that depend in part, joints between that do not, and both branches of a loop."""
    platform = form_equations(leg_system("R1-R2-R3"), formulation="partitioned", independent=("one",))
    (loop,) = platform.reduction.loops
    assert loop.leg == "1 of F6-(R3)-R2" and not loop.has_form
    chain = form_equations(library.redundant_four_bar(), formulation="partitioned", independent=("rocker_pin",))
    (loop,) = chain.reduction.loops
    assert loop.leg == "R1-R1-r1-R1" and not loop.has_form  # the rocker has a prescribed rotation
    spatial = form_equations(leg_system("R2-P1-R3"), formulation="partitioned")
    assert spatial.reduction.loops[0].leg == "R2-P1-R3"
