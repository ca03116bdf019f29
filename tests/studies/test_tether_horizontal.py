"""The attachment keeps to its line, returns to it, and the libration decays as the poles say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "tether_horizontal"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("horizontal") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    assert {path.stem for path in (out / "figures").glob("*.svg")} == {"horizontal", "disturbed"}
    return json.loads((out / "metrics.json").read_text())


@pytest.mark.parametrize("k", [1, 5, 25])
def test_attachment_stays_on_the_line_and_libration_decays_at_the_slowest_pole(metrics: dict, k: int) -> None:
    assert metrics[f"horizontal_max_error_k{k}"] < 1e-6 and metrics[f"travel_k{k}"] > 0.1
    slowest = max(pair[0] for pair in metrics[f"poles_k{k}"])
    assert len(metrics[f"poles_k{k}"]) == 6 and slowest < 0.0
    # three orbits lie between the two windows; phase and the other modes make the difference of the logarithms
    expected = 3.0 * 2.0 * np.pi / 1e-3 * slowest
    assert np.log(metrics[f"libration_decay_k{k}"]) == pytest.approx(expected, rel=0.15)


def test_disturbed_start_drifts_without_error_feedback(metrics: dict) -> None:
    """A rate w of the elbow moves the end, one horizontal link of 8.13 m away, at 8.13 w off the line, for good."""
    duration = 2.0 * 2.0 * np.pi / 1e-3
    assert metrics["horizontal_max_error_disturbed"] == pytest.approx(8.13 * 1e-5 * duration, rel=1e-3)
    # v t exp(-20 n t) is largest with v / (20 n e), between records of 12.6 s
    assert metrics["horizontal_max_error_disturbed_feedback"] == pytest.approx(8.13e-5 / (0.02 * np.e), rel=0.02)
    assert metrics["horizontal_final_error_disturbed_feedback"] < 1e-9


def test_the_line_costs_authority(metrics: dict) -> None:
    assert 0.01 < metrics["largest_swing_k5"] < 0.1


def test_numbers_without_sense_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--quick", "--set", "length=0"]) != 0
    assert "length" in capsys.readouterr().err
