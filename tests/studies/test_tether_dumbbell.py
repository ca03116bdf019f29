"""The study's numbers against closed forms and a second program for the slack satellite."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "tether_dumbbell"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("tether") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    figures = {"libration", "held_angles", "retrieval", "free_reeling", "convergence", "slack"}
    assert {path.stem for path in (out / "figures").glob("*.svg")} == figures
    return json.loads((out / "metrics.json").read_text())


def test_librations_have_the_textbook_frequencies_and_periods(metrics: dict) -> None:
    for prefix in ("", "free_"):
        assert metrics[f"{prefix}in_plane_over_orbital_rate"] == pytest.approx(np.sqrt(3.0), rel=1e-10)
        assert metrics[f"{prefix}out_of_plane_over_orbital_rate"] == pytest.approx(2.0, rel=1e-10)
    assert metrics["libration_period_error"] < 1e-9 and metrics["jacobi_drift"] < 1e-9  # tolerance 1e-11


def test_line_goes_slack_beyond_65_9_degrees(metrics: dict) -> None:
    """Both T and dT/dtheta vanish there; with w = -theta': T = (1 - w)^2 - 1 + 3 cos^2, w^2 = 3 (sin(a)^2 - sin^2)."""

    def touch(a: float) -> float:
        angle = np.linspace(0.3 * a, a, 20001)
        w = np.sqrt(3.0 * np.maximum(np.sin(a) ** 2 - np.sin(angle) ** 2, 0.0))
        return float(np.min((1.0 - w) ** 2 - 1.0 + 3.0 * np.cos(angle) ** 2))

    expected = brentq(touch, 1.1, 1.2)
    assert np.degrees(metrics["slack_amplitude"]) == pytest.approx(65.9, abs=0.05)  # Tethers in Space Handbook: 65.9
    assert metrics["slack_amplitude"] == pytest.approx(expected, abs=1e-6)  # grid of 4e-5 rad, squared


def test_retrieval_is_held_and_grows_as_the_closed_form_says(metrics: dict) -> None:
    assert np.sin(2.0 * metrics["retrieval_angle"]) == pytest.approx(4.0 * 0.22 / 3.0, rel=1e-10)
    assert metrics["pole_error"] < 1e-10 and metrics["retrieval_growth"] == pytest.approx(0.22, rel=1e-9)
    assert metrics["flown_growth"] == pytest.approx(0.22, rel=1e-6)  # the swing of 1e-5 is not quite small


def test_largest_angles_agree_with_the_equation_of_a_reeled_pendulum(metrics: dict) -> None:
    end = 0.85 * 500.0 / 46.0
    profiles = {
        "exponential": lambda t: -0.22,
        "constant": lambda t: -46.0 / (500.0 - 46.0 * t),
        "station": lambda t: 0.0,
    }
    for name, c in profiles.items():

        def rate(t: float, x: np.ndarray, c=c) -> list[float]:
            return [x[1], -2.0 * c(t) * (x[1] + 1.0) - 1.5 * np.sin(2.0 * x[0])]

        times = np.linspace(0.0, end, 401)
        done = solve_ivp(rate, (0.0, end), [0.1, 0.0], "DOP853", times, rtol=1e-10, atol=1e-12)
        # the study's swing of 1e-3 rad out of the plane acts on the angle by its square
        assert metrics[f"{name}_largest_angle"] == pytest.approx(np.max(np.abs(done.y[0])), abs=2e-5)


def test_momentum_stays_and_the_drum_takes_its_share(metrics: dict) -> None:
    assert metrics["straight_momentum_drift"] < 1e-9 and metrics["elastic_momentum_drift"] < 1e-9  # tolerances
    assert metrics["drum_force_error"] < 1e-10 and metrics["mass_flow_share"] > 0.01


def test_elastic_line_converges_with_second_order(metrics: dict) -> None:
    assert metrics["convergence_order"] == pytest.approx(2.0, abs=0.1)
    assert metrics["elastic_difference"] < metrics["single_mass_difference"] / 10.0


def test_slack_satellite_moves_freely_until_the_line_is_taut(metrics: dict) -> None:
    """Hill's equations from the place where the straight line stops pulling, until the distance is 500 m again."""
    swing = solve_ivp(
        lambda t, x: [x[1], -1.5 * np.sin(2.0 * x[0])],
        (0.0, 1.0),
        [1.4, 0.0],
        "DOP853",
        rtol=1e-11,
        atol=1e-13,
        dense_output=True,
    ).sol

    def tension(t: float) -> float:
        angle, speed = swing(t)
        return float((speed + 1.0) ** 2 - 1.0 + 3.0 * np.cos(angle) ** 2)

    begin = brentq(tension, 1e-3, 0.3)
    assert metrics["straight_pushes_from"] == pytest.approx(1e3 * begin, abs=0.1)  # interpolated between records
    angle, speed = swing(begin)
    e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])

    def hill(t: float, x: np.ndarray) -> list[float]:
        return [x[2], x[3], 3.0 * x[0] + 2.0 * x[3], -2.0 * x[2]]

    def caught(t: float, x: np.ndarray) -> float:
        return float(np.hypot(x[0], x[1]) - 500.0) if t > begin + 0.5 else -1.0

    caught.terminal = True  # type: ignore[attr-defined]
    flight = solve_ivp(
        hill,
        (begin, 5.0),
        [*(500.0 * e), *(500.0 * speed * n)],
        "DOP853",
        None,
        False,
        caught,
        rtol=1e-10,
        max_step=0.01,
    )
    # the line's own mass (5 % of the satellite's, two points of it) and damping make the difference
    assert metrics["taut_again"] == pytest.approx(1e3 * flight.t[-1], rel=5e-3)
    assert metrics["closest_distance"] == pytest.approx(np.min(np.hypot(*flight.y[:2])), rel=5e-3)
    assert metrics["snap_tension"] > 100.0 * abs(metrics["straight_least_tension"])
    assert metrics["slack_jacobi_rise"] < 1e-6 and metrics["string_jacobi_drift"] < 1e-7  # tolerances, over the kinks


@pytest.mark.parametrize("wrong", ["retrieval=0.8", "length=-1", "slack_masses=0", "swing=2"])
def test_numbers_without_sense_are_refused(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--quick", "--set", wrong]) != 0
    assert wrong.split("=")[0] in capsys.readouterr().err
