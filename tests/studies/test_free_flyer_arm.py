"""The study's numbers against a second program: the same closed loop built by hand in Pinocchio, integrated by scipy."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "free_flyer_arm"
POSTURE = np.array([0.0, 0.7, 0.0, -1.2, 0.0, 0.7, 0.0])
FREQUENCY = 0.6 * 1.1 ** np.arange(7)


def build(pin, base_mass: float, payload_mass: float):
    """The arm from its description: bus, seven links of 20 kg (4 m in all) about z and y in turn, and the payload."""
    model = pin.Model()
    model.gravity.linear = np.zeros(3)
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(
        joint, pin.Inertia(base_mass, np.zeros(3), base_mass * np.diag([0.5, 0.6, 0.55])), pin.SE3.Identity()
    )
    length, at = 4.0 / 7.0, 0.9
    across, along = 20.0 * (length**2 / 12.0 + 0.5 * 0.15**2), 20.0 * 0.15**2
    for i in range(7):
        kind = pin.JointModelRZ() if i % 2 == 0 else pin.JointModelRY()
        joint = model.addJoint(joint, kind, pin.SE3(np.eye(3), np.array([0.0, 0.0, at])), f"joint{i + 1}")
        link = pin.Inertia(20.0, np.array([0.0, 0.0, length / 2]), np.diag([across, across, along]))
        model.appendBodyToJoint(joint, link, pin.SE3.Identity())
        at = length
    block = pin.Inertia(payload_mass, np.array([0.1, 0.0, 0.2]), payload_mass * np.diag([0.08, 0.1, 0.06]))
    turn = pin.SE3(Rotation.from_euler("z", 90, degrees=True).as_matrix(), np.array([0.0, 0.0, length]))
    model.appendBodyToJoint(joint, block, turn)
    return model, model.createData()


def run_by_hand(pin, base_mass: float, payload_mass: float, duration: float) -> dict[str, float]:
    """The study's closed loop: PD with gains for the floating base, start on the reference with zero momentum."""
    model, data = build(pin, base_mass, payload_mass)
    q0 = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], POSTURE])
    M = pin.crba(model, data, q0).copy()
    M = np.triu(M) + np.triu(M, 1).T
    felt = np.diag(M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:]))
    kp, kd = felt * 12.0**2, felt * 2.0 * 0.9 * 12.0
    rates = 0.4 * FREQUENCY
    v0 = np.concatenate([-np.linalg.solve(M[:6, :6], M[:6, 6:] @ rates), rates])

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        wanted, wanted_rate = POSTURE + 0.4 * np.sin(FREQUENCY * t), rates * np.cos(FREQUENCY * t)
        return np.clip(kp * (wanted - q[7:]) + kd * (wanted_rate - v[6:]), -120.0, 120.0)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:14].copy(), y[14:]
        q[3:7] /= np.linalg.norm(q[3:7])
        R = pin.Quaternion(q[6], q[3], q[4], q[5]).toRotationMatrix()
        w = v[3:6]
        e, s = q[3:6], q[6]
        turning = 0.5 * np.concatenate([s * w + np.cross(e, w), [-e @ w]])
        a = pin.aba(model, data, q, v, np.concatenate([np.zeros(6), torque(t, q, v)]))
        return np.concatenate([R @ v[:3], turning, v[6:], a])

    t = np.linspace(0.0, duration, round(100 * duration) + 1)
    y = solve_ivp(rate, (0.0, duration), np.concatenate([q0, v0]), "DOP853", t, rtol=1e-9, atol=1e-11).y.T
    error = y[:, 7:14] - POSTURE - 0.4 * np.sin(np.outer(t, FREQUENCY))
    return {
        "tracking_error_max": np.max(np.abs(error)),
        "base_rotation_max": np.max(2.0 * np.arctan2(np.linalg.norm(y[:, 3:6], axis=1), np.abs(y[:, 6]))),
        "base_displacement_max": np.max(np.linalg.norm(y[:, :3], axis=1)),
        "torque_max": np.max(
            [np.max(np.abs(torque(time, row[:14], row[14:]))) for time, row in zip(t, y, strict=True)]
        ),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [("base_mass", 500.0), ("base_mass", 400.0), ("payload_mass", 80.0)],
    ids=["as is", "lighter base", "heavier payload"],
)
def test_a_changed_parameter_changes_the_metrics_as_pinocchio_says(name: str, value: float, tmp_path: Path) -> None:
    pin = importlib.import_module("pinocchio")  # of the extra [crosscheck], which `make test` installs
    options = ["--quick", "--set", f"{name}={value}", "--set", "duration=1.0"]
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), *options]) == 0
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    numbers = {"base_mass": 500.0, "payload_mass": 50.0, name: value}
    for key, expected in run_by_hand(pin, duration=1.0, **numbers).items():
        assert metrics[key] == pytest.approx(expected, rel=1e-6)  # two integrations at 1e-9 and 1e-10
    assert metrics["pinocchio_max_difference"] < 1e-10
    assert metrics["momentum_linear_drift"] < 1e-8 and metrics["momentum_angular_drift"] < 1e-8


def test_without_the_peer_its_metric_is_null_and_the_extra_is_named(tmp_path: Path, monkeypatch, capsys) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pinocchio" else find(name, *rest)
    )
    assert (
        run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--quick", "--set", "duration=0.2"]) == 0
    )
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["pinocchio_max_difference"] is None
    assert "spacectl[crosscheck]" in (tmp_path / "out" / "report.html").read_text()
    said = capsys.readouterr()
    assert "spacectl[crosscheck]" in said.out + said.err


def test_a_wrong_posture_is_refused_in_one_line(tmp_path: Path, capsys) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--set", "posture=0.1,0.2"]) == 2
    assert "'posture'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
