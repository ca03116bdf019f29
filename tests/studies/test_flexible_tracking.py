"""The study's numbers against the closed form of the error dynamics and the geometry of the tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "flexible_tracking"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("tracking") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    names = {"line_run", "line_pushed", "orientation_run", "orientation_pushed", "before", "readings"}
    assert names | {"wrong_numbers", "noise"} == {path.stem for path in (out / "figures").glob("*.svg")}
    return json.loads((out / "metrics.json").read_text())


@pytest.mark.parametrize("word", ["line", "orientation"])
def test_nominal_output_stays_on_its_path_while_the_links_bend(metrics: dict, word: str) -> None:
    assert metrics[f"{word}_max_error"] < 1e-6 and metrics[f"{word}_max_error_open"] < 1e-6
    assert metrics[f"{word}_largest_deflection"] > 5e-3
    assert metrics[f"{word}_adequacy_min"] > 0.5 and metrics[f"{word}_slowest_pole"] < -0.5


@pytest.mark.parametrize("word", ["line", "orientation"])
def test_push_drifts_without_feedback_and_decays_as_designed_with_it(metrics: dict, word: str) -> None:
    """After a push the constraint has the rate v: g = v t without feedback, v t exp(-w t) with it, largest v / (e w)."""
    drift = metrics[f"{word}_final_error_disturbed"]
    assert drift == metrics[f"{word}_max_error_disturbed"]  # it still grows
    v = (drift if word == "line" else np.sin(drift)) / 3.0  # the rule of the orientation is its sine
    peak = v / (np.e * 40.0)
    # the record's 5 ms grid misses the peak by (w dt / 2)^2 / 2 = 0.5 % at most
    assert metrics[f"{word}_max_error_disturbed_feedback"] == pytest.approx(peak, rel=5e-3)
    assert metrics[f"{word}_final_error_disturbed_feedback"] < 1e-6


def test_both_maneuvers_go_where_the_tables_say(metrics: dict) -> None:
    q1, q3, q5 = 0.5421, 1.8964, 1.7503
    y = 0.8 * (np.sin(q1) + np.sin(q1 + q3)) + 0.15 * np.sin(q1 + q3 + q5)
    assert y == pytest.approx(0.80, abs=1e-3)
    assert metrics["line_end"][1] == pytest.approx(y, abs=2e-3)  # exp(-2 * 4 s) of 0.75 m is left
    assert metrics["orientation_end"] == pytest.approx([0.0, 0.80], abs=0.05)  # exp(-0.7 * 4 s) of 0.75 m


def test_default_shapes_lower_the_frequency_to_that_of_massless_beams_with_the_hand(metrics: dict) -> None:
    """Rayleigh's quotient of the static deflection is an upper bound: unit load at the hand's tip, links with their mass."""
    L, EI, hand, m = 0.8, 930.0, 5.0, 2.51
    a, b = np.cumsum((0.1253, 2.8909, 1.6961))[:2]
    c = 0.1253 + 2.8909 + 1.6961
    s = np.linspace(0.0, L, 401)
    along, normal = (
        np.array([[np.cos(t), np.sin(t)] for t in (a, b)]),
        np.array([[-np.sin(t), np.cos(t)] for t in (a, b)]),
    )
    upper = s[:, None] * along[0]
    lower = L * along[0] + s[:, None] * along[1]
    tip = L * along[0] + L * along[1] + 0.15 * np.array([np.cos(c), np.sin(c)])

    def deflected(force: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Displacements of both links' points and of the tip: curvature M / EI, integrated twice along the chain."""
        place, turn, moved = np.zeros(2), 0.0, []
        for points, n in ((upper, normal[0]), (lower, normal[1])):
            arm = tip - points
            curvature = (arm[:, 0] * force[1] - arm[:, 1] * force[0]) / EI
            slope = turn + np.concatenate([[0.0], np.cumsum(0.5 * (curvature[1:] + curvature[:-1]) * np.diff(s))])
            bend = np.concatenate([[0.0], np.cumsum(0.5 * (slope[1:] + slope[:-1]) * np.diff(s))])
            moved.append(place + bend[:, None] * n)
            place, turn = moved[-1][-1], slope[-1]
        rest = tip - lower[-1]
        return moved[0], moved[1], place + turn * np.array([-rest[1], rest[0]])

    def quotient(angle: float) -> float:
        force = np.array([np.cos(angle), np.sin(angle)])
        first, second, end = deflected(force)
        mass = sum(m / L * np.trapezoid(np.sum(w**2, axis=1), s) for w in (first, second)) + hand * end @ end
        return float(np.sqrt(force @ end / mass))

    bound = min(quotient(angle) for angle in np.linspace(0.0, np.pi, 181))
    assert metrics["locked_frequency_default"] == pytest.approx(bound, rel=5e-3)
    assert metrics["locked_frequency_default"] < bound
    assert metrics["locked_frequency"] > 1.2 * bound  # one cantilever mode of each link is far too stiff


def test_a_uniform_rod_cannot_do_it_with_a_step_but_with_a_smooth_reference(metrics: dict) -> None:
    assert not metrics["rod_step_is_feasible"] and 0.7 < metrics["rod_step_lost_at"] < 0.85
    assert metrics["rod_smooth_is_feasible"] and metrics["rod_smooth_max_error"] < 1e-6
    assert 0.14 < metrics["line_largest_reach"] < 0.15


def test_feedback_bounds_the_error_of_wrong_numbers(metrics: dict) -> None:
    for word in ("line", "orientation"):
        assert metrics[f"{word}_max_error_wrong_numbers"] < 0.1 * metrics[f"{word}_max_error_wrong_numbers_open"]
        assert metrics[f"{word}_final_error_wrong_numbers"] < 0.05 * metrics[f"{word}_max_error_wrong_numbers"]
        assert metrics[f"{word}_rms_error_noise"] > metrics[f"{word}_rms_error_sampled"]


@pytest.mark.parametrize("wrong", ["tip_share=1.5", "push_time=9", "frequency=0"])
def test_numbers_without_sense_are_refused(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--quick", "--set", wrong]) != 0
    assert wrong.split("=")[0] in capsys.readouterr().err
