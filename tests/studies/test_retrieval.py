"""Retrieval (Sadigh 1995, section 8.3): two planners agree, limits are satisfied, the free path is faster, the report plays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line
from tests.reports.browser import open_browser, play_report

STUDY = Path(__file__).resolve().parents[2] / "studies" / "retrieval"
RENDERED = True  # a browser opens the page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("retrieval") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return out


@pytest.fixture(scope="module")
def metrics(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def test_two_planners_agree_on_the_line(metrics: dict) -> None:
    assert metrics["line_time_second_solver"] == pytest.approx(metrics["line_time"], rel=5e-4)
    assert metrics["line_switch_time_second_solver"] == pytest.approx(metrics["line_switch_time"], rel=2e-3)


def test_the_published_final_time_agrees_and_the_switch_does_not(metrics: dict) -> None:
    """An independent check of the document found the same: 0.2 % in the final time, about 4 % in the switch."""
    assert metrics["line_time"] == pytest.approx(40.37, rel=3e-3)
    assert metrics["line_switch_time"] / 14.61 == pytest.approx(1.04, abs=0.005)


def test_the_free_path_saves_fifteen_per_cent_within_all_limits(metrics: dict) -> None:
    assert metrics["free_path_time"] < metrics["flexible_optimal_time"] < 0.85 * metrics["line_time"]
    assert metrics["flexible_optimal_arrival_time"] < 0.85 * metrics["line_time"]
    assert metrics["attitude_error"] < 1e-4 and metrics["max_limit_violation"] <= 1e-12


def test_shaped_timing_leaves_little_energy_and_tolerates_wrong_frequencies(metrics: dict) -> None:
    assert metrics["line_shaped_residual_energy"] < 1e-4 * metrics["line_residual_energy"]
    assert metrics["residual_energy_soft_shaped"] < 1e-3 * metrics["residual_energy_soft_after"]
    assert metrics["free_shaped_residual_energy"] < 0.02 * metrics["residual_energy_soft_free_after"]


def test_the_flexible_arm_is_nearly_as_quick_as_a_rigid_one_and_arrives_at_rest(metrics: dict) -> None:
    assert metrics["free_path_time"] < metrics["flexible_optimal_time"] < metrics["free_shaped_time"]
    assert metrics["flexible_optimal_time"] < 1.005 * metrics["free_path_time"]
    assert metrics["flexible_optimal_residual_energy"] < 1e-4  # of 25 J that the rigid plan leaves


def test_default_shapes_are_softer_and_leave_more_energy(metrics: dict) -> None:
    """What bent links release is half the last force squared over their stiffness: it grows as the frequency falls."""
    ratio = metrics["locked_frequency"] / metrics["locked_frequency_default"]
    assert ratio > 1.2
    assert metrics["line_residual_energy_default"] / metrics["line_residual_energy"] == pytest.approx(ratio**2, rel=0.1)


def test_every_variant_arrives(metrics: dict) -> None:
    after, during, shaped = (metrics[f"near_minimum_{name}_time"] for name in ("after", "during", "shaped"))
    assert metrics["line_time"] < after < during and metrics["line_time"] < shaped < during


def test_the_report_opens_plays_and_bends(folder: Path) -> None:
    with open_browser() as browser:
        play_report(browser, folder / "report.html")


def test_numbers_without_sense_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--set", "payload_mass=0"]) != 0
    assert "payload_mass" in capsys.readouterr().err
