"""The corner needs several switches, both solvers agree on it, and the plan can be flown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "multi_switch"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("multi_switch") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text())


def test_three_or_more_switches(metrics: dict) -> None:
    assert metrics["switches"] >= 3 and len(metrics["switch_times"]) == metrics["switches"]
    assert "zero inertia" in metrics["switch_kinds"] and "crossing" in metrics["switch_kinds"]
    assert metrics["switch_times"] == sorted(metrics["switch_times"])


def test_both_solvers_agree(metrics: dict) -> None:
    assert metrics["time_difference"] < 5e-4
    assert metrics["switch_time_difference"] < 2e-3


def test_no_limit_is_exceeded_and_the_plan_is_flown(metrics: dict) -> None:
    assert metrics["max_limit_violation"] <= 1e-9  # rounding; inputs are clipped
    assert metrics["replay_position_error"] < 2e-3  # [m], torques linear on 1000 cells, twice integrated over a minute
