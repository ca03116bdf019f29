"""A straight tether that would have to push is reported after the run, with time and tension; in closed form of a pendulum."""

from __future__ import annotations

import re
import warnings

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Exit,
    Guard,
    Part,
    Revolute,
    RigidBody,
    Stage,
    System,
    Tether,
    UniformGravity,
    form_equations,
    simulate,
    simulate_many,
    simulate_stages,
)

G, L, MASS = 10.0, 2.0, 3.0


def pendulum(formulation="auto", **options):
    line = Tether(name="line", on="world", length=L, joint=Revolute(name="swing", axis="z"))
    parts = (Part(RigidBody(name="bob", mass=MASS, inertia=(0.0, 0.0, 0.0)), on="line"),)
    system = System(name="swing", parts=parts, elements=(line,), environment=UniformGravity(g=(G, 0.0, 0.0)))
    return form_equations(system, formulation=formulation, **options)


def push_over(eom):
    """From below with v^2 = 3 g L: tension is m g (1 + 3 cos(angle)), and the bob turns back at cos(angle) = -1/2."""
    return {eom.coordinates[0]: 0.0, eom.speeds[0]: np.sqrt(3.0 * G / L)}


@pytest.mark.parametrize("formulation", ["kane", "articulated"])
def test_compression_is_reported_with_time_and_tension(formulation):
    eom = pendulum(formulation)
    with pytest.warns(UserWarning, match="tether 'line' of system 'swing' is in compression") as caught:
        sim = simulate(eom, x0=push_over(eom), t_span=(0.0, 3.0), grid=301)
    angle = sim[eom.coordinates[0]]
    tension = MASS * G * (1.0 + 3.0 * np.cos(angle))
    begin, worst, at = map(
        float, re.findall(r"from t = (\S+) s on, by (\S+) N at t = (\S+) s", str(caught[0].message))[0]
    )
    assert begin == pytest.approx(sim.t[np.argmax(tension < 0.0)], abs=0.021)  # two thirds of the records are looked at
    assert worst == pytest.approx(0.5 * MASS * G, rel=1e-3)  # at the turning point
    assert np.interp(at, sim.t, tension) == pytest.approx(-0.5 * MASS * G, rel=1e-2)
    assert sim.outcome.stats["least_tension of line"] == pytest.approx(-0.5 * MASS * G, rel=1e-3)
    assert len(caught) == 1


def test_a_taut_line_is_not_reported():
    eom = pendulum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = simulate(eom, x0={eom.coordinates[0]: 1.5}, t_span=(0.0, 3.0), grid=301)  # below the horizontal
        assert "least_tension of line" not in sim.outcome.stats
        lost = Guard(name="slack", expression=lambda s: 1.0 + 3.0 * ca.cos(s[eom.coordinates[0]]), direction=-1)
        simulate(eom, x0=push_over(eom), t_span=(0.0, 3.0), guards=[lost])


def test_compression_in_a_later_stage_is_reported():
    eom = pendulum(switchable=True)
    go = Exit(guard=Guard(name="go", expression=lambda s: s.t - 0.1, direction=1), to="b")
    with pytest.warns(UserWarning, match="tether 'line' of system 'swing' is in compression"):
        simulate_stages(
            eom, [Stage(name="a", exits=(go,)), Stage(name="b")], x0=push_over(eom), t_span=(0.0, 3.0), grid=301
        )


def test_batches_warn_once_for_all_runs():
    eom = pendulum()
    names = (eom.coordinates[0], eom.speeds[0])
    over, calm = push_over(eom), dict.fromkeys(names, 0.0)
    with pytest.warns(UserWarning, match="tether 'line' of system 'swing' is in compression"):
        batch = simulate_many(eom, x0=[calm, over], t_span=(0.0, 3.0), grid=301)
    assert batch.outcome.stats["least_tension of line"] == pytest.approx(-0.5 * MASS * G, rel=1e-2)
