"""The study's poles compared with a Lagrangian of point masses in Hill's frame and scipy's Riccati solver."""

from __future__ import annotations

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "tether_stationkeeping"
POINT = np.array([np.pi / 2, np.pi / 4, 3 * np.pi / 4, np.pi])  # pitch, shoulder, elbow, tether (absolute)


def lagrangian(length: float, rate: float) -> tuple[ca.SX, ca.SX, ca.SX]:
    """``sum m/2 |v|^2 + m n (x y' - y x') + 3/2 m n^2 x^2`` over points with the inertia of the bodies; x up, y along track."""
    q, v = ca.SX.sym("q", 4), ca.SX.sym("v", 4)
    arm = 8.13

    def direction(angle: ca.SX) -> ca.SX:
        return ca.vertcat(ca.cos(angle), ca.sin(angle))

    first, second = direction(q[0] + q[1]), direction(q[0] + q[1] + q[2])
    elbow, end = arm * first, arm * (first + second)
    points = []
    along, across = (
        0.5 * (1.29e6 + 10.1e6 - 9.68e6),
        0.5 * (9.68e6 + 10.1e6 - 1.29e6),
    )  # integrals of x^2, y^2 in body axes
    for angle, inertia in ((0.0, along), (np.pi / 2, across)):
        points += [(inertia / 2.0, sign * direction(q[0] + angle)) for sign in (1.0, -1.0)]
    for begin, way in ((ca.SX.zeros(2), first), (elbow, second)):  # Simpson's rule is exact for a uniform rod
        points += [(20.0 * w, begin + s * arm * way) for w, s in ((1 / 6, 0.0), (4 / 6, 0.5), (1 / 6, 1.0))]
    points.append((500.0, end + length * direction(q[3])))
    total = ca.SX(0)
    for mass, place in points:
        speed = ca.jacobian(place, q) @ v
        total += mass * (0.5 * ca.sumsqr(speed) + rate * (place[0] * speed[1] - place[1] * speed[0]))
        total += 1.5 * mass * rate**2 * place[0] ** 2
    return q, v, total


def poles_by_hand(length: float, k: float, rate: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """Closed-loop poles and trim torques; time counted in 1 / rate for the Riccati equation."""
    q, v, total = lagrangian(length, rate)
    p = ca.gradient(total, v)
    M = ca.jacobian(p, v)
    force = ca.gradient(total, q) - ca.jacobian(p, q) @ v
    linear = ca.Function("linear", [q, v], [M, force, ca.jacobian(force, q), ca.jacobian(force, v), ca.jacobian(p, q)])
    M0, force0, K, G, _ = (np.array(item) for item in linear(POINT, np.zeros(4)))
    B = np.eye(4)[:, :3]  # torque on the spacecraft; joint torques do work on relative angles
    trim = np.linalg.lstsq(B, -force0[:, 0], rcond=None)[0]
    assert np.max(np.abs(B @ trim + force0[:, 0])) < 1e-12  # it is a fixed point
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [np.linalg.solve(M0, K), np.linalg.solve(M0, G)]])
    inputs = np.vstack([np.zeros((4, 3)), np.linalg.solve(M0, B)])
    Q = np.zeros((8, 8))
    Q[:4, :4], Q[4:, 4:] = np.diag([1.0, 5.0, 10.0, 1.0]), k * M0
    R = np.diag([0.1, 1.0, 1.0])
    T = np.diag([1.0] * 4 + [rate] * 4)  # speeds in orbital rates
    A1, B1, Q1 = np.linalg.solve(T, A @ T) / rate, np.linalg.solve(T, inputs) / rate, T @ Q @ T
    size = 1e-3  # a torque of the size that occurs
    S = solve_continuous_are(A1, B1 * size, Q1, R * size**2)
    gain = np.linalg.solve(R * size**2, (B1 * size).T @ S)
    return rate * np.linalg.eigvals(A1 - B1 * size @ gain), trim


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("station") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    names = {"poles", "stationkeeping_100m", "stationkeeping_1000m", "largest_swing", "wrong_numbers", "noise"}
    assert {path.stem for path in (out / "figures").glob("*.svg")} == names
    return json.loads((out / "metrics.json").read_text())


@pytest.mark.parametrize("length", [100, 1000])
@pytest.mark.parametrize("k", [1, 25, 50])
def test_poles_agree_with_the_lagrangian(metrics: dict, length: int, k: int) -> None:
    expected, trim = poles_by_hand(float(length), float(k))
    found = np.array([complex(*pair) for pair in metrics[f"poles_L{length}_k{k}"]])
    assert len(found) == 8
    for pole in expected:  # scipy's solver loses digits: masses differ by 1e5, the weights by 1e9
        assert np.min(np.abs(found - pole)) < 1e-5 * np.abs(pole)
    assert metrics[f"trim_L{length}"] == pytest.approx(trim, rel=1e-9)
    assert metrics[f"riccati_residual_L{length}_k{k}"] < 1e-10
    assert np.max(found.real) < 0.0 and metrics[f"libration_decay_L{length}_k{k}"] < 0.2


def test_locked_arm_is_marginal_and_free_arm_unstable(metrics: dict) -> None:
    locked = np.array(metrics["open_loop_locked_L100"])
    assert locked.shape == (4, 2) and np.max(np.abs(locked[:, 0])) < 1e-12 and np.min(np.abs(locked[:, 1])) > 1e-3
    assert max(pair[0] for pair in metrics["open_loop_free_L100"]) > 1e-3


def test_shorter_is_easier_and_integral_action_removes_the_offset(metrics: dict) -> None:
    assert metrics["largest_swing_L100_k25"] > 50.0 * metrics["largest_swing_L1000_k25"] > 0.1
    assert (
        metrics["wrong_numbers_slowest_pole_L100"] < 0.0 and metrics["wrong_numbers_slowest_pole_integral_L100"] < 0.0
    )
    assert metrics["wrong_numbers_final_offset_plain_L100"] > 0.1
    assert metrics["wrong_numbers_final_offset_integral_L100"] < 1e-3


@pytest.mark.parametrize("wrong", ["orbit_rate=0", "orbits=1", "number_error=1"])
def test_numbers_without_sense_are_refused(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "o"), "--quick", "--set", wrong]) != 0
    assert wrong.split("=")[0] in capsys.readouterr().err
