"""The published minimum-time benchmarks, run as studies in their quick form."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl.cli.main import run_command_line
from tests.oracles.bang_bang import two_mass_spring

STUDIES = Path(__file__).resolve().parents[2] / "studies"


def run_quick(name: str, folder: Path) -> dict:
    out = folder / name
    assert run_command_line(["run", str(STUDIES / name), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text())


def test_two_masses_switch_as_their_equations_say(tmp_path: Path) -> None:
    metrics = run_quick("two_mass_spring", tmp_path)
    np.testing.assert_allclose([*metrics["switch_times"], metrics["final_time"]], two_mass_spring(), atol=1e-6)
    assert metrics["symmetry"] < 1e-6
    assert metrics["residual_energy"] < 1e-12  # an error of 1e-6 in states, squared
    assert metrics["replay_error"] < 1e-6
    assert metrics["smooth_time"] > metrics["final_time"] > metrics["rigid_time"]


@pytest.mark.slow
def test_two_links_are_as_quick_as_published(tmp_path: Path) -> None:
    metrics = run_quick("two_link_min_time", tmp_path)
    assert metrics["final_time"] == pytest.approx(2.98, abs=5e-3)
    assert len(metrics["switch_times"]) == 3
    assert metrics["replay_error"] < 1e-5  # interpolation of states between knots of the plan included
    assert metrics["smooth_time"] > metrics["final_time"]


@pytest.mark.slow
def test_optimal_slew_beats_the_eigenaxis(tmp_path: Path) -> None:
    metrics = run_quick("eigenaxis_slew", tmp_path)
    assert metrics["eigenaxis_time"] == pytest.approx(2.0 * np.sqrt(np.pi), abs=1e-6)
    assert metrics["optimal_time"] == pytest.approx(3.243, abs=1e-3)  # Bilimoria and Wie
    assert len(metrics["switch_times"]) == 5
    assert metrics["pointing_error"] < 1e-6


def test_flexible_slew_leaves_nothing_behind(tmp_path: Path) -> None:
    metrics = run_quick("free_flyer_slew", tmp_path)
    assert metrics["residual_energy"] < 1e-9 < metrics["rigid_residual_energy"]
    assert len(metrics["switch_times"]) == 3 and metrics["symmetry"] < 1e-5
    assert metrics["final_time"] > metrics["rigid_time"]
    assert metrics["appendage_difference"] < 1e-9
    assert metrics["replay_error"] < 1e-5
