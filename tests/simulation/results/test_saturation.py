"""Inputs that are commanded beyond their limits over much of a run are reported; commands at a limit are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from spacectl import (
    JointForce,
    Part,
    Prismatic,
    RigidBody,
    Stage,
    System,
    Thruster,
    design_pd,
    form_equations,
    simulate,
    simulate_many,
    simulate_stages,
)
from spacectl.reports.page.summary import simulation_warnings

LIMIT = 2.0
BODY = RigidBody(name="body", mass=1.0, inertia=(1.0, 1.0, 1.0))


def slider(**options):
    force = JointForce(joint="x", limit=LIMIT)
    parts = (Part(BODY, joint=Prismatic(name="x", axis="x")),)
    return form_equations(System(name="slider", parts=parts, actuators=(force,)), **options)


def ramp(share):
    """A force that is beyond its limit from ``1 - share`` of 10 s on."""
    return lambda t, x: [LIMIT * (1.0 + 0.1 * (t - 10.0 * (1.0 - share)))]


@pytest.mark.parametrize("driver", ["native", "python"])
def test_the_share_of_the_run_is_reported_by_name(driver):
    sim = simulate(slider(), ramp(0.63), t_span=(0.0, 10.0), grid=1001, driver=driver)
    assert sim.outcome.stats["saturated of x"] == pytest.approx(0.63, abs=1e-3)
    (text,) = simulation_warnings({"run": sim})
    assert "simulation 'run': input 'x' is saturated during 63 % of the run" in text


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_a_short_time_is_not_reported(share):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = simulate(slider(), ramp(share), t_span=(0.0, 10.0), grid=1001)
    assert not [key for key in sim.outcome.stats if key.startswith("saturated")]


def test_commands_at_the_limit_are_no_saturation():
    """As a bang-bang plan that is flown open loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = simulate(slider(), lambda t, x: [LIMIT * np.sign(5.0 - t)], t_span=(0.0, 10.0), grid=101, stops=[5.0])
    assert simulation_warnings({"run": sim}) == []


def test_rounding_below_the_zero_limit_of_a_thruster_is_no_saturation():
    jet = Thruster(name="jet", on=BODY.name, direction=(1.0, 0.0, 0.0), limit=LIMIT)
    parts = (Part(BODY, joint=Prismatic(name="x", axis="x")),)
    eom = form_equations(System(name="jet", parts=parts, actuators=(jet,)))
    low = simulate(eom, lambda t, x: [-1e-17], t_span=(0.0, 1.0), grid=11)
    assert not [key for key in low.outcome.stats if key.startswith("saturated")]
    with pytest.warns(UserWarning, match="saturated during 100 %"):
        simulate(eom, lambda t, x: [-0.1], t_span=(0.0, 1.0), grid=11)


def test_a_law_that_hardly_acts_is_warned_of_in_stages_too():
    with pytest.warns(UserWarning, match="input 'x' of system 'slider' is saturated during 97 % of the run"):
        simulate(slider(), ramp(0.97), t_span=(0.0, 10.0), grid=1001)
    with pytest.warns(UserWarning, match="is saturated during 97 %"):
        stages = [Stage(name="only", law=ramp(0.97))]
        sim = simulate_stages(slider(switchable=True), stages, x0={}, t_span=(0.0, 10.0), grid=1001)
    assert sim.outcome.stats["saturated of x"] == pytest.approx(0.97, abs=1e-3)


def test_batches_report_saturation_over_all_runs():
    """A spring of 10 N/m from 2 m and from 0.1 m: the first run asks for more than 2 N until it has come within 0.2 m."""
    eom = slider()
    law = design_pd(eom, kp=10.0, kd=10.0)
    starts = np.array([[2.0, 0.0], [0.1, 0.0]])
    batch = simulate_many(eom, law, x0=starts, t_span=(0.0, 1.0), grid=501)
    single = simulate(eom, law, x0=starts[0], t_span=(0.0, 1.0), grid=501)
    assert batch.outcome.stats["saturated of x"] == pytest.approx(
        0.5 * single.outcome.stats["saturated of x"], abs=2e-3
    )
