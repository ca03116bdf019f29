"""The slew of the spacecraft with solar arrays: what shaping leaves, and that momentum is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl import load_simulation
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "solar_array_spacecraft"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("arrays") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def test_shaping_leaves_almost_no_vibration(done: tuple[dict, Path]) -> None:
    m, _ = done
    assert m["residual_ratio"] < 0.02 and m["pointing_ratio"] < 0.2
    assert m["duration_unshaped"] < m["duration_shaped"] < 1.3 * m["duration_unshaped"]
    assert max(m["residual_fast"], m["residual_slow"]) < 0.1 * m["residual_unshaped"]  # wrong by 10 %
    assert m["residual_shaped"] < min(m["residual_fast"], m["residual_slow"])


def test_the_slew_ends_where_it_should(done: tuple[dict, Path]) -> None:
    _, out = done
    for name in ("unshaped", "shaped"):
        sim = load_simulation(out / "result.nc", group=name)
        angle = np.degrees(2.0 * np.arctan2(sim["hub.qx"][-1], sim["hub.qw"][-1]))
        assert angle == pytest.approx(40.0, abs=0.02)
        assert np.max(np.abs(sim["torque_x"])) < 20.0


def test_arrays_swing_against_each_other(done: tuple[dict, Path]) -> None:
    """A turn about x excites the antisymmetric motion of equal arrays only, to the second order of the deflection."""
    _, out = done
    sim = load_simulation(out / "result.nc", group="unshaped")
    both = sim["array1.eta1"] + sim["array2.eta1"]
    assert np.max(np.abs(both)) < 0.05 * np.max(np.abs(sim["array1.eta1"]))


def test_a_negative_mass_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--quick", "--set", "hub_mass=-1"]) == 2
    assert "'hub_mass'" in capsys.readouterr().err
