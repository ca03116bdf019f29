"""Reference tables in the driver follow the same rule as `core.Trajectory`."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.core.control_law import make_law
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import make_plant

KNOTS = np.array([0.5, 1.0, 1.7, 3.1, 3.2])
VALUES = np.column_stack([np.sin(KNOTS), KNOTS**2])
RATES = np.column_stack([np.cos(KNOTS), 2.0 * KNOTS])


def table(rule, rates=None, count=5):
    return Trajectory(
        t=KNOTS[:count],
        values=VALUES[:count],
        rates=None if rates is None else rates[:count],
        labels=Labels(("a", "b")),
        interpolation=rule,
    )


def follow(reference, driver, period=0.0, grid=101):
    """Inputs that are the reference itself, driving two integrators."""
    eom = make_plant(lambda s: [s["left"], s["right"]], ("p", "q"), ("left", "right"))
    law = make_law(
        lambda s: [s["a"], s["b"]],
        name="follow",
        states=eom.labels.x,
        inputs=eom.labels.u,
        reference=reference,
        period=period,
    )
    return simulate(eom, law, t_span=(0.0, 4.0), grid=grid, driver=driver)


TABLES = {
    "previous": table("previous"),
    "linear": table("linear"),
    "cubic": table("cubic"),
    "cubic with rates": table("cubic", RATES),
    "one knot": table("cubic", count=1),
    "two knots": table("linear", count=2),
}


@pytest.mark.parametrize("driver", ["native", "python"])
@pytest.mark.parametrize("name", TABLES)
def test_table_is_read_as_the_trajectory_reads_it(name, driver):
    grid = np.unique(np.concatenate([np.linspace(0.0, 4.0, 83), KNOTS]))  # before, at, between and behind the knots
    sim = follow(TABLES[name], driver, grid=grid)
    np.testing.assert_allclose(sim.u, TABLES[name](grid), rtol=1e-15, atol=1e-15)


def test_sampled_law_reads_the_table_at_its_samples():
    sim = follow(TABLES["cubic"], "native", period=0.5, grid=[0.0, 0.7, 1.2, 3.0, 3.9])
    np.testing.assert_allclose(sim.u, TABLES["cubic"]([0.0, 0.5, 1.0, 3.0, 3.5]), rtol=1e-15)


def test_steps_of_a_table_are_integrated_exactly_without_rejected_steps():
    sim = follow(TABLES["previous"], "native", grid=[4.0])
    lengths = np.diff([0.0, *KNOTS[1:], 4.0])
    np.testing.assert_allclose(sim.x[0], lengths @ VALUES, rtol=1e-14)
    assert sim.outcome.stats["n_rejected"] == 0


def test_kinks_of_a_table_are_integrated_exactly_without_rejected_steps():
    sim = follow(TABLES["linear"], "native", grid=[4.0])
    inside = 0.5 * np.diff(KNOTS) @ (VALUES[1:] + VALUES[:-1])
    np.testing.assert_allclose(sim.x[0], 0.5 * VALUES[0] + inside + 0.8 * VALUES[-1], rtol=1e-14)
    assert sim.outcome.stats["n_rejected"] == 0
