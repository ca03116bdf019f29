"""The study's claims: agreement with the augmented system, closed loops, and the rotor by a hand calculation."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "embedded_loops"


@pytest.fixture(scope="module")
def gears() -> Any:
    load_study(STUDY / "study.py")
    return importlib.import_module("spacectl_study_embedded_loops.gears")


@pytest.fixture(scope="module")
def metrics() -> dict:
    study = load_study(STUDY / "study.py").study
    return dict(study.run(study.parameters, quick=True, progress=lambda done, what: None).metrics)


def test_embedded_loops_give_the_augmented_solution(metrics: dict) -> None:
    assert metrics["max_difference_to_kkt"] < 1e-9  # asked for; beams lose a few digits more than rods
    assert metrics["loop_residual"] < 1e-11  # rounding of motor angles up to 30 rad
    assert np.isfinite(metrics["loglog_slope"]) and metrics["loglog_slope"] > 0.0  # a time: nothing is asked of it here


def by_hand(ratio: float, is_coupled: bool) -> np.ndarray:
    """Accelerations of shoulder and elbow for unit torque at the elbow: two rods and a rotor in a plane, elbow at 0.6 rad."""
    length, mass, m_r, J = 0.3, 1.2, 0.4, 0.5 * 0.4 * 0.04**2
    own = mass * (length**2 / 12.0 + (length / 40.0) ** 2 / 4.0)
    outer = own + mass * (length / 2.0) ** 2
    mixed = mass * length * (length / 2.0) * np.cos(0.6)
    inner = outer + mass * length**2 + m_r * (length + 0.02) ** 2
    M = np.array([[inner + outer + 2.0 * mixed, outer + mixed], [outer + mixed, outer]])
    coupling = np.array([[1.0, ratio], [ratio, ratio**2]]) if is_coupled else np.array([[0.0, 0.0], [0.0, ratio**2]])
    return np.linalg.solve(M + J * coupling, [0.0, 1.0])


@pytest.mark.parametrize("ratio", [1.0, 50.0, 300.0])
def test_the_rotor_acts_as_by_hand(gears: Any, ratio: float) -> None:
    exact, diagonal = gears.reach(ratio)
    np.testing.assert_allclose(exact, by_hand(ratio, True), rtol=1e-10)
    # the stator keeps 1e-9 kg m^2, for a body must have some inertia about every axis
    np.testing.assert_allclose(diagonal, by_hand(ratio, False), rtol=1e-6)


def test_the_diagonal_model_misses_the_carrier(metrics: dict) -> None:
    exact, diagonal = by_hand(300.0, True), by_hand(300.0, False)
    worst = float(np.max(np.abs((exact - diagonal) / exact)))
    assert metrics["worst_acceleration_error"] == pytest.approx(worst, rel=1e-4)  # it grows to the largest ratio
    assert metrics["shoulder_diagonal"] < 0.9 * metrics["shoulder_exact"]


def test_a_wrong_number_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--set", "links=0"]) == 2
    assert "'links'" in capsys.readouterr().err
