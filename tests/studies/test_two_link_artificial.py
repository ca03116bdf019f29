"""The study's numbers against closed forms and against equations integrated by another program."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import load_simulation
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "two_link_artificial"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("two_link") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def test_published_equations_hold(quick: tuple[dict, Path]) -> None:
    for name in ("eq_3_7_error", "eq_3_8_error", "eq_7_4_error", "eq_7_5_error"):
        assert (
            quick[0][name] < 1e-12
        )  # rounding; they are proved exactly in tests/dynamics/constraints/test_artificial.py


def test_guides_and_motor_give_their_different_inertia(quick: tuple[dict, Path]) -> None:
    metrics, out = quick
    assert (
        metrics["inertia_natural"] == pytest.approx(4.0 / 3.0, rel=1e-12) and metrics["inertia_natural_spread"] < 1e-12
    )
    assert metrics["inertia_artificial_max"] == pytest.approx(4.0 / 3.0 + 0.5, rel=1e-12)
    assert metrics["inertia_artificial_min"] == pytest.approx(4.0 / 3.0 - 0.5, rel=1e-12)
    natural, artificial = (
        load_simulation(out / "result.nc", group=f"level_{kind}") for kind in ("natural", "artificial")
    )
    t = np.asarray(natural.t)
    np.testing.assert_allclose(natural["shoulder"], 1.2 - 0.4 / (4.0 / 3.0) * t**2 / 2.0, atol=1e-9)  # Eq 3.7

    def rate(_: float, s: np.ndarray) -> list[float]:
        """Eq 3.8 with the elbow's torque put in: m l^2 (4/3 + cos q / 2) q'' = tau + m l^2 / 2 sin q q'^2."""
        return [s[1], (-0.4 + 0.5 * np.sin(s[0]) * s[1] ** 2) / (4.0 / 3.0 + 0.5 * np.cos(s[0]))]

    other = solve_ivp(rate, (0.0, t[-1]), [1.2, 0.0], "DOP853", t_eval=t, rtol=1e-11, atol=1e-13).y[0]
    np.testing.assert_allclose(artificial["shoulder"], other, atol=1e-8)
    assert metrics["level_angle_difference"] == pytest.approx(
        np.max(np.abs(natural["shoulder"] - artificial["shoulder"])), rel=1e-9
    )
    assert metrics["level_angle_difference"] > 0.5 and metrics["level_residual"] < 1e-9


def test_the_payload_stays_on_its_line_if_the_model_is_right(quick: tuple[dict, Path]) -> None:
    metrics, out = quick
    sim = load_simulation(out / "result.nc", group="line_ideal")
    t = np.asarray(sim.t)
    expected = 0.3 + 0.9 * (1.0 + 2.0 * t) * np.exp(
        -2.0 * t
    )  # Eq 7.5 with the PD law: critically damped, whatever the payload
    np.testing.assert_allclose(sim["shoulder"], expected, atol=1e-8)
    assert metrics["line_error_ideal"] < 1e-9 and metrics["line_adequate"] and metrics["line_least_leverage"] > 0.1


def test_the_open_loop_law_drifts_and_feedback_holds(quick: tuple[dict, Path]) -> None:
    """Eq 7.4 with the wrong payload, on Eq 7.6 with the right one, integrated here."""
    metrics, out = quick
    assumed, true = 0.5, 0.55

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        q_1, q_2, u_1, u_2 = s
        tau_1 = 4.0 * (0.3 - q_1) - 4.0 * u_1
        # the law uses the measured state, off the line too: the assumed arm's augmented system with J = cos q1, cos q2
        mass = np.array([[4 / 3 + assumed, (0.5 + assumed) * np.cos(q_1 - q_2)], [0.0, 1 / 3 + assumed]])
        mass[1, 0] = mass[0, 1]
        side = (0.5 + assumed) * np.sin(q_1 - q_2) * np.array([-(u_2**2), u_1**2])
        J, gamma = np.array([np.cos(q_1), np.cos(q_2)]), np.sin(q_1) * u_1**2 + np.sin(q_2) * u_2**2
        push = np.array([-1.0, 1.0])
        whole = np.block([[mass, -push[:, None]], [J[None, :], np.zeros((1, 1))]])
        tau_2 = np.linalg.solve(whole, [*(side + [tau_1, 0.0]), gamma])[2]
        mass = np.array([[4 / 3 + true, (0.5 + true) * np.cos(q_1 - q_2)], [0.0, 1 / 3 + true]])
        mass[1, 0] = mass[0, 1]
        side = (0.5 + true) * np.sin(q_1 - q_2) * np.array([-(u_2**2), u_1**2])
        return np.concatenate([[u_1, u_2], np.linalg.solve(mass, side + [tau_1 - tau_2, tau_2])])

    t = np.linspace(0.0, 5.0, 251)
    run = solve_ivp(rate, (0.0, 5.0), [1.2, -1.2, 0.0, 0.0], "DOP853", t_eval=t, rtol=1e-11, atol=1e-13).y
    height = np.sin(run[0]) + np.sin(run[1])
    assert metrics["line_error_open_loop"] == pytest.approx(np.max(np.abs(height)), rel=1e-6)
    assert metrics["line_error_open_loop"] > 0.01
    assert metrics["line_error_feedback"] < 0.05 * metrics["line_error_open_loop"]
    sim = load_simulation(out / "result.nc", group="line_open_loop")
    np.testing.assert_allclose(sim["shoulder"], run[0], atol=1e-7)


def test_who_can_hold_the_first_link(quick: tuple[dict, Path]) -> None:
    metrics, _ = quick
    assert metrics["shoulder_contributes"] is False and metrics["elbow_contributes"] is True
    assert metrics["shoulder_least_leverage"] == pytest.approx(1.0, abs=1e-12)
    assert metrics["lost_cosine"] == pytest.approx(-2.0 / 3.0, abs=1e-12) and metrics["T_prime_relative_max"] == 0.0
    assert metrics["elbow_adequate"] is False and "loses its authority" in metrics["elbow_diagnosis"]


@pytest.mark.parametrize(
    ("option", "named"),
    [("angle_start=1.6", "'angle_start'"), ("mass=-1", "'mass'"), ("payload_error=-1", "'payload_error'")],
)
def test_wrong_parameters_are_refused_in_one_line(option: str, named: str, tmp_path: Path, capsys) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--quick", "--set", option]) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
