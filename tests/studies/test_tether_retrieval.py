"""The study against a pendulum of changing length, written down by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "tether_retrieval"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("retrieval") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    figures = {path.stem for path in (out / "figures").glob("*.svg")}
    assert figures == {"uncontrolled", "steps", "profiles", "torque_jumps"}
    return json.loads((out / "metrics.json").read_text())


def swing(rate_of, length_of, end: float, *, start: float, up: float) -> np.ndarray:
    """Satellite on a line from a point fixed in the orbit frame, x up; time in 1 / orbital rate, angle from straight down.

    ``a'' = -2 (L'/L) (a' + 1) - 3/2 sin 2a + 3 (up / L) sin a`` with the point `up` above the centre of mass.
    """

    def rate(t: float, x: np.ndarray) -> list[float]:
        c, length = rate_of(t), length_of(t)
        return [x[1], -2.0 * c * (x[1] + 1.0) - 1.5 * np.sin(2.0 * x[0]) + 3.0 * up / length * np.sin(x[0])]

    grid = np.linspace(0.0, end, 301)
    return solve_ivp(rate, (0.0, end), [start, 0.0], "DOP853", grid, rtol=1e-10, atol=1e-12).y[0]


def test_reeling_with_the_arm_held_is_the_pendulum_of_changing_length(metrics: dict) -> None:
    """With Q = M^-1 pitch and joints stay, so the tether's first swing has a closed equation; one step is the largest there."""
    end = np.log(4.0) / 0.22
    up = 8.13 * (np.cos(0.75 * np.pi) + np.cos(1.5 * np.pi))  # the arm's end, below the centre of mass
    angle = swing(lambda t: -0.22, lambda t: 200.0 * np.exp(-0.22 * t), end, start=0.0, up=up)
    assert metrics["exponential_1step_largest_libration"] == pytest.approx(np.max(np.abs(angle)), rel=1e-4)
    first = angle[:151]  # the first of two steps is half of the time
    assert metrics["exponential_2step_largest_libration"] == pytest.approx(np.max(np.abs(first)), rel=1e-3)


def test_retrieval_diverges_and_deployment_decays_without_control(metrics: dict) -> None:
    assert metrics["free_growth_exponential"] > 2.0 and metrics["free_growth_constant"] > 2.0
    assert metrics["free_growth_station"] == pytest.approx(1.0, abs=0.1)
    assert metrics["free_growth_deployment"] < 0.5 and metrics["deployment_growth"] < 0.7


def test_steps_arrive_with_bounded_libration_and_beat_one_step(metrics: dict) -> None:
    assert metrics["multi_step_is_better"] and metrics["exponential_2step_final_libration"] < 1e-3
    assert metrics["exponential_is_better_multi_step"] and not metrics["exponential_is_better_one_step"]
    assert metrics["wrong_numbers_final_libration"] < 0.01 and metrics["noise_final_libration"] < 0.01


def test_the_weight_decides(metrics: dict) -> None:
    assert metrics["weight_inverse_mass_arrives"] and not metrics["weight_identity_arrives"]
    assert metrics["weight_identity_largest_pole"] < 0.0
    assert abs(metrics["weight_inverse_mass_largest_pole"]) < 1e-9  # the tether swings freely


@pytest.mark.parametrize("wrong", ["retrieval=0.8", "steps=1", "length=40"])
def test_numbers_without_sense_are_refused(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--quick", "--set", wrong]) != 0
    assert wrong.split("=")[0] in capsys.readouterr().err
