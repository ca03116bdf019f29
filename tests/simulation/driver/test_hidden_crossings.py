"""Crossings that come in pairs within one step: found from a bound on the guard between its values, at small cost."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import integrator, oscillator

DRIVERS = ("native", "python")


def watching(rule, name="guard", **options):
    """A guard that does not end the run."""
    return Guard(name=name, expression=rule, is_terminal=False, **options)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("half", [1e-2, 1e-4, 1e-6])
def test_visit_far_shorter_than_a_step_is_found(driver, half):
    """x' = 1 is integrated exactly with steps of seconds; the guard is below zero for 2 half."""
    guard = watching(lambda s: (s["level"] - 5.3) ** 2 - half**2)
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=[guard], driver=driver)
    assert sim.outcome.stats["n_steps"] <= 9
    found = [event.time for event in sim.events]
    np.testing.assert_allclose(found, [5.3 - half, 5.3 + half], rtol=0.0, atol=1e-15 * 30.0 / half)  # rounding / slope


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("direction", "count"), [(0, 3), (1, 2), (-1, 1)])
def test_the_first_of_three_crossings_in_a_step_comes_first(driver, direction, count):
    """A cubic with roots 5.3, 5.301 and 5.302 rises, falls and rises again."""
    guard = watching(lambda s: (s["level"] - 5.3) * (s["level"] - 5.301) * (s["level"] - 5.302), direction=direction)
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=[guard], driver=driver)
    roots = {0: [5.3, 5.301, 5.302], 1: [5.3, 5.302], -1: [5.301]}[direction]
    assert len(sim.events) == count
    np.testing.assert_allclose([event.time for event in sim.events], roots, rtol=0.0, atol=1e-8)  # 1e-15 / slope 1e-6


@pytest.mark.parametrize("driver", DRIVERS)
def test_guard_that_touches_zero_from_above_does_not_cross(driver):
    guards = [
        watching(lambda s: (s["level"] - 5.3) ** 2 + 1e-12, "near miss"),
        watching(lambda s: 0.0 * s["level"], "nothing"),
        watching(lambda s: (s["level"] - 5.3) ** 2 - 1e-12, "hit"),
    ]
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=guards, driver=driver)
    assert [event.name for event in sim.events] == ["hit", "hit"]


def test_grazing_oscillator_is_seen_to_the_accuracy_of_the_motion():
    """The angle exceeds 1 - 1e-8 for 2.8e-4 s around its top, far below the step."""
    guard = watching(lambda s: s["angle"] - (1.0 - 1e-8))
    sim = simulate(oscillator(), x0=[0.0, 1.0], t_span=(0.0, 3.0), guards=[guard], rtol=1e-11, atol=1e-11)
    half = np.arccos(1.0 - 1e-8)
    np.testing.assert_allclose([e.time for e in sim.events], [np.pi / 2 - half, np.pi / 2 + half], rtol=0.0, atol=1e-6)


def test_event_times_do_not_depend_on_the_output_grid():
    guard = watching(lambda s: s["angle"] - 0.3)
    found = [
        [e.time for e in simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 20.0), guards=[guard], grid=grid).events]
        for grid in (2, 57, 4001)
    ]
    assert found[0] == found[1] == found[2]  # the grid does not touch the steps: equal to the last bit
