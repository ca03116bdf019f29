"""The study's numbers against two programs from scratch (in the plane and in space), and the orders of its errors."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import form_equations, library, simulate, simulate_many
from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line
from spacectl.core.studies.study import override_parameters
from tests.oracles.mechanics.three_link import planar_centres, planar_history, spatial_centres, spatial_history

STUDY = Path(__file__).resolve().parents[2] / "studies" / "three_link"


@pytest.fixture(scope="module")
def model() -> Any:
    load_study(STUDY / "study.py")
    return importlib.import_module("spacectl_study_three_link.model")


def run_study(*, quick: bool = True, **changes: float) -> dict:
    study = load_study(STUDY / "study.py").study
    found = study.run(override_parameters(study.parameters, changes), quick=quick, progress=lambda done, what: None)
    return dict(found.metrics)


@pytest.fixture(scope="module")
def metrics() -> dict:
    return run_study()


def test_centres_are_those_of_a_planar_triple_pendulum(metrics: dict) -> None:
    expected = planar_centres(planar_history(np.array([0.0, 1.0, 2.0, 5.0])))
    for k, key in enumerate(("link_centres_1s", "link_centres_2s", "link_centres_5s")):
        np.testing.assert_allclose(
            metrics[key], expected[k + 1], rtol=0.0, atol=1e-8
        )  # two runs at 1e-12, grown by 1e2
    assert metrics["tree_difference"] < 1e-8
    assert metrics["out_of_plane"] < 1e-8


def test_absolute_and_joint_coordinates_move_in_space_as_the_oracle_says(model: Any) -> None:
    """Started with spins about all axes, so that balls and pin are felt in all directions."""
    parameters = model.Parameters()
    omega1, omega2, pin = np.array([0.3, 0.5, -0.2]), np.array([-0.4, 0.8, 0.1]), 0.7
    t = np.linspace(0.0, 2.0, 5)
    expected = spatial_centres(spatial_history(t, omega1, omega2, pin))
    assert np.max(np.abs(expected[:, :, 2])) > 0.1  # not a planar motion
    tree = form_equations(model.tree_system(parameters))
    start = dict(zip(("A.wx", "A.wy", "A.wz", "B.wx", "B.wy", "B.wz"), [*omega1, *(omega2 - omega1)], strict=True))
    # link by link: links start parallel, so body axes are root axes; velocities of the origins follow from the joints
    rates = {"link1": omega1, "link2": omega2, "link3": omega2 + pin * np.array([0.0, 0.0, 1.0])}
    x0: dict[str, float] = {"link2.x": 1.0, "link3.x": 2.0}
    velocity = np.zeros(3)
    for name, omega in rates.items():
        x0 |= {f"{name}.w{axis}": value for axis, value in zip("xyz", omega, strict=True)}
        x0 |= {f"{name}.{axis}_dot": value for axis, value in zip("xyz", velocity, strict=True)}
        velocity = velocity + np.cross(omega, [1.0, 0.0, 0.0])
    absolute = model.form_absolute(parameters)
    for eom, begin in ((tree, {**start, "C_dot": pin}), (absolute, x0)):
        sim = simulate(eom, x0=begin, t_span=(0.0, 2.0), grid=t, rtol=1e-11, atol=1e-11)
        found = model.centres(eom, sim, parameters)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8)


def test_stabilisation_lowers_drift_and_energy_error(metrics: dict) -> None:
    assert metrics["drift_projected"] < 1e-13 < metrics["drift_stabilised"] < 0.1 * metrics["drift_plain"]
    assert metrics["energy_error_stabilised"] < metrics["energy_error_plain"]
    assert metrics["energy_error_projected"] < metrics["energy_error_plain"]


def test_errors_are_of_the_order_of_the_method(metrics: dict) -> None:
    """Order 5; over a factor of two in the step, terms of the next order still shift the exponent by a few tenths."""
    for name in ("plain", "stabilised", "projected"):
        assert 4.5 < metrics[f"energy_order_{name}"] < 6.0
    for name in ("plain", "stabilised"):
        assert 4.5 < metrics[f"drift_order_{name}"] < 6.0
    # an error control of order 4 for steps of order 5 makes errors follow the tolerance with powers near 1
    assert 0.8 < metrics["drift_order_tolerance"] < 1.4
    assert 0.8 < metrics["energy_order_tolerance"] < 1.4


def test_neighbours_separate_after_a_few_seconds(metrics: dict) -> None:
    assert metrics["separation_5s"] < 1e2 < 1e4 < metrics["separation_10s"]
    assert 1.0 < metrics["separation_rate"] < 4.0


def test_projection_can_be_switched_off_and_the_run_says_so(model: Any) -> None:
    parameters = model.Parameters()
    eom = model.form_absolute(parameters)
    drift = {}
    for project in (True, False):
        options = {"t_span": (0.0, 1.0), "grid": 11, "method": "rk45", "rtol": 1e-5, "atol": 1e-5}
        for driver in ("native", "python"):
            sim = simulate(eom, x0=model.start(parameters), project=project, driver=driver, **options)
            assert sim.dataset.attrs["project"] == int(project)
            drift[project, driver] = float(np.max(np.abs(model.errors(eom, sim)[0])))
    assert drift[True, "native"] < 1e-13 and drift[True, "python"] < 1e-13
    assert drift[False, "native"] > 1e-7
    assert drift[False, "python"] == pytest.approx(drift[False, "native"], rel=1e-3)  # the same steps, other rounding


def test_many_runs_can_do_without_projection_too() -> None:
    eom = form_equations(library.four_bar())
    options = {"t_span": (0.0, 1.0), "grid": 11, "method": "rk45", "rtol": 1e-5, "atol": 1e-5}
    x0 = eom.state()
    drift = {}
    for project in (True, False):
        batch = simulate_many(eom, x0=np.stack([x0, x0]), project=project, **options)
        one = simulate(eom, x0=x0, project=project, tier="native", **options)
        for run in range(2):
            np.testing.assert_array_equal(batch.x[run], one.x)  # the same code with the same numbers
        drift[project] = np.max(np.abs(eom.along("residual", one.t, one.x)))
    assert drift[True] < 1e-13 < 1e-8 < drift[False]


def test_a_wrong_number_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--set", "length=-1"]) == 2
    assert "'length'" in capsys.readouterr().err


@pytest.mark.slow
def test_fitted_orders_of_the_full_run_are_near_five() -> None:
    full = run_study(quick=False)
    orders = [value for key, value in full.items() if "_order_" in key and not key.endswith("tolerance")]
    assert len(orders) == 5
    assert all(4.6 < order < 5.6 for order in orders)
