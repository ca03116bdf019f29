"""The study's results compared with a separate program (eight speeds, numpy and scipy), and published statements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spacectl import StudyResult
from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line
from spacectl.core.studies.study import override_parameters
from tests.oracles.mechanics.two_body_spacecraft import relative_history, spacecraft_history

STUDY = Path(__file__).resolve().parents[2] / "studies" / "multibody_spacecraft"


def run_study(*, quick: bool = True, **changes: float) -> StudyResult:
    study = load_study(STUDY / "study.py").study
    return study.run(override_parameters(study.parameters, changes), quick=quick, progress=lambda done, what: None)


@pytest.fixture(scope="module")
def flight() -> StudyResult:
    return run_study(duration=300.0)


@pytest.fixture
def quick(flight: StudyResult) -> dict:
    return dict(flight.metrics)


def same_end(metrics: dict, history: dict[str, np.ndarray], tolerance: float) -> None:
    for key in ("relative_position", "omega1", "omega2"):
        np.testing.assert_allclose(metrics[f"final_{key}"], history[key][-1], rtol=0.0, atol=tolerance)


def test_the_motion_is_that_of_eight_speeds_from_scratch(quick: dict) -> None:
    t = np.linspace(0.0, 300.0, 301)
    history = relative_history(spacecraft_history(t, rtol=1e-10))
    same_end(quick, history, 1e-9)  # m and rad/s, two integrations at 1e-10 and 1e-12 over nine vibrations
    assert quick["stretch_max"] == pytest.approx(np.max(history["stretch"]), abs=5e-6)  # between records 1 s apart
    assert quick["stretch_min"] == pytest.approx(np.min(history["stretch"]), abs=5e-6)
    assert np.max(np.abs(history["stretch"])) > 5e-4  # so that 5e-6 is significant


def test_a_changed_spring_and_damper_change_the_motion_as_the_oracle_says() -> None:
    changed = {"stiffness": 60.0, "cubic": 1e7, "damping": 8.0}
    metrics = dict(run_study(duration=60.0, **changed).metrics)
    t = np.linspace(0.0, 60.0, 2)
    same_end(metrics, relative_history(spacecraft_history(t, rtol=1e-10, **changed)), 1e-9)
    plain = relative_history(spacecraft_history(t, rtol=1e-10, stiffness=60.0, damping=8.0))
    # the cubic spring is felt far above the tolerance
    assert np.max(np.abs(plain["relative_position"][-1] - metrics["final_relative_position"])) > 1e-7


def test_the_vibration_starts_as_two_masses_on_a_spring(quick: dict) -> None:
    """The line passes both centres at the same side, so that nothing turns; the cubic term is 1e-8 of the other."""
    reduced = 2200.0 * 1200.0 / 3400.0
    # the turning that gravity begins within the first period changes the period in the fourth digit
    assert quick["vibration_period_start"] == pytest.approx(2.0 * np.pi * np.sqrt(reduced / 25.0), rel=1e-3)


def test_all_constraints_hold_and_ranks_are_those_of_the_paper(quick: dict) -> None:
    assert quick["max_constraint_error"] < 1e-9
    assert quick["max_error_e1"] > 0.0  # D has a life of its own
    assert (quick["rank_A"], quick["rank_Mhat"], quick["rank_changes"]) == (6, 14, 0)
    assert quick["tree_position_difference"] < 1e-9  # two integrations at 1e-12
    # drift at 1e-10, absolute positions carry 1e-9 m of rounding
    assert quick["drift_absolute_plain"] > 10.0 * quick["drift_relative_plain"] > quick["drift_relative_projected"]


def test_the_multiplier_form_is_rejected_with_its_reason(flight: StudyResult) -> None:
    assert flight.metrics["kkt_refused"] is True
    note = flight.notes[-1]
    assert "8 constraint equations, 6 independent" in note and "multipliers are not unique" in note


def test_ports_that_would_meet_are_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--set", "distance=1.5"]) == 2
    assert "'distance'" in capsys.readouterr().err


@pytest.mark.slow
def test_three_orbits_equal_the_program_from_scratch() -> None:
    metrics = run_study(quick=False).metrics
    t = np.linspace(0.0, 16293.0, 16294)
    history = relative_history(spacecraft_history(t, rtol=1e-10))
    same_end(metrics, history, 1e-7)  # ten times better than the 1e-6 m that the study promises
    assert metrics["max_constraint_error"] < 1e-9
    assert metrics["tree_position_difference"] < 1e-7
    contracted = t[history["stretch"] < 0.0]
    assert abs(metrics["last_contraction_time"] - contracted[-1]) < 1.0  # the grid's step
    assert metrics["last_contraction_time"] < metrics["orbit_period"]  # "contractions only occur in the first orbit"
    assert 32.0 < metrics["vibration_period_min"] < 32.5 and 34.5 < metrics["vibration_period_max"] < 35.5
    # opposite sides: stretching turns the whole about y (inertias 4500 and 2000, centres 4 m apart along, 2 m across)
    reduced = 2200.0 * 1200.0 / 3400.0
    felt = reduced * (1.0 - 4.0 * reduced / (6500.0 + 20.0 * reduced))
    assert metrics["vibration_period_min"] == pytest.approx(2.0 * np.pi * np.sqrt(felt / 25.0), rel=5e-3)
    assert metrics["gradient_position_difference"] > 1e-6  # so the exact law is needed
    assert metrics["default_rank_inertial_axes"] > 6 == metrics["rank_A"]
