"""The study's numbers against a hand calculation of the pull on the payload, beam statics, and its own limits."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from subprocess import run
from sys import executable

import numpy as np
import pytest
from scipy.linalg import eigh

from spacectl import load_simulation
from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line
from spacectl.spatial.backend import skew
from tests.oracles.flexible.beam_elements import beam_matrices

STUDY = Path(__file__).resolve().parents[2] / "studies" / "ssrms"
RATIO, PAYLOAD, BOOM = 1700.0, 90000.0, 7.0


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("ssrms") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def pull(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """phi, and the force along X on a payload that moves as 14 cos(phi), by hand."""
    s = t / 60.0
    phi = 0.6 * (10 * s**3 - 15 * s**4 + 6 * s**5)
    rate = 0.6 * (30 * s**2 - 60 * s**3 + 30 * s**4) / 60.0
    second = 0.6 * (60 * s - 180 * s**2 + 120 * s**3) / 3600.0
    return phi, -PAYLOAD * 2.0 * BOOM * (np.sin(phi) * second + np.cos(phi) * rate**2)


def test_the_arm_has_the_coordinates_of_the_thesis_and_pulls_the_payload_in(quick: tuple[dict, Path]) -> None:
    metrics, out = quick
    assert metrics["n_coordinates"] == 20
    sim = load_simulation(out / "result.nc", group="flexible")
    names = [str(name) for name in sim.dataset["state"].values]
    joints = [f"joint{i + 1}" for i in range(7)]
    modes = [f"link{i}.eta{k}" for i in (4, 5) for k in (1, 2, 3)]
    assert set(names[:20]) == {*joints, *(f"{name}.motor" for name in joints), *modes}
    assert metrics["payload_travel_rigid"] == pytest.approx(14.0 * (1.0 - np.cos(0.6)), rel=1e-12)
    # deflections of 1e-2 m change the elbow's moment arm of metres by some 1e-3
    assert metrics["payload_travel_x"] == pytest.approx(metrics["payload_travel_rigid"], rel=2e-3)
    assert abs(metrics["payload_travel_x"] - metrics["payload_travel_rigid"]) > 1e-4  # yet it is not the rigid motion
    assert sim["place.x"][0] - sim["place.x"][-1] == pytest.approx(metrics["payload_travel_x"])


def test_the_rigid_arm_under_its_own_torques_stays_on_the_line(quick: tuple[dict, Path]) -> None:
    flexible, stiff = (load_simulation(quick[1] / "result.nc", group=name).u for name in ("flexible", "joints_only"))
    np.testing.assert_allclose(flexible, stiff, atol=1e-9)  # booms at rest are the rigid ones: their integrals, 1e-10
    # the table of torques is exact to 1e-9 of them; two integrations over 60 s
    assert quick[0]["payload_error_max_rigid"] < 1e-6
    assert quick[0]["energy_balance_error"] < 1e-7  # at rtol 1e-7


def test_motor_torques_are_payload_force_times_moment_arm(quick: tuple[dict, Path]) -> None:
    """Moments about the pitch axes: the booms start 0.6 m beside the payload's line, the elbow moves by 7 sin(phi)."""
    sim = load_simulation(quick[1] / "result.nc", group="flexible")
    phi, force = pull(sim.t)
    by_hand = {"joint3": -0.6 * force, "joint4": (BOOM * np.sin(phi) - 0.6) * force, "joint5": -0.6 * force}
    for name, expected in by_hand.items():
        torque = RATIO * sim.column("u", f"{name}.motor")
        # the arm's own mass, 2 % of the payload's, is left out by hand
        np.testing.assert_allclose(torque, expected, atol=0.05 * np.max(np.abs(expected)))


def test_deflections_are_those_of_statics_but_for_vibration(quick: tuple[dict, Path]) -> None:
    metrics, out = quick
    sim = load_simulation(out / "result.nc", group="flexible")
    phi, force = pull(sim.t)
    root, tip = (BOOM * np.sin(phi) - 0.6) * force, -0.6 * force
    bent = BOOM**2 / 2.5e6 * (root / 3.0 + tip / 6.0)
    # one cantilever mode instead of exact statics, the arm's mass, and vibration
    np.testing.assert_allclose(sim["tip5.z"], bent, atol=0.06 * np.max(np.abs(bent)))
    assert metrics["max_in_plane_deflection"] == pytest.approx(metrics["in_plane_deflection_quasi_static"], rel=0.06)
    assert metrics["max_joint_deflection"] == pytest.approx(metrics["joint_deflection_quasi_static"], rel=0.06)
    motor = np.max(np.abs(sim.column("u", "joint4.motor")))
    assert metrics["joint_deflection_quasi_static"] == pytest.approx((motor + 0.4425) / 0.4 / RATIO, rel=1e-9)
    assert metrics["max_boom_deflection"] >= metrics["max_in_plane_deflection"]


def element_frequencies(n: int = 20) -> np.ndarray:
    """The straight arm with its joints locked by finite elements: two booms in line, what they carry from Table 6.1."""
    polar = 160.0 / 7.0 * 0.18**2
    m, k, _ = beam_matrices(BOOM, n, mass=160.0, EA=1.0, GJ=1.27e6, EIy=2.5e6, EIz=2.5e6, polar=polar)
    M, K = (np.zeros((12 * n + 6, 12 * n + 6)) for _ in range(2))
    for own in (slice(0, 6 * n + 6), slice(6 * n, 12 * n + 6)):
        M[own, own] += m
        K[own, own] += k
    at_elbow = [(90.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))]  # mass, inertia and centre of mass from the boom's tip
    at_wrist = [
        (90.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        (90.0, (5.6, 2.1, 5.8), (0.0, -0.25, 0.0)),
        (90.0, (0.0, 0.0, 0.0), (0.0, -0.5, 0.0)),
        (90.0, (8.4, 8.1, 2.1), (0.0, -0.5, -0.3)),
        (90.0, (0.0, 0.0, 0.0), (0.0, -0.5, -0.6)),
        (207.0, (6.4, 30.6, 30.6), (0.6, -0.5, -0.6)),
        (PAYLOAD, (9.68e6, 1.29e6, 10.1e6), (1.2 + 0.7, -0.5, -0.6)),
    ]
    for node, bodies in ((n, at_elbow), (2 * n, at_wrist)):
        for mass, inertia, centre in bodies:
            moved = np.block([np.eye(3), -skew(np.array(centre))])  # velocity of the centre of mass
            own = slice(6 * node, 6 * node + 6)
            M[own, own] += mass * moved.T @ moved + np.diag([0.0, 0.0, 0.0, *inertia])
    free = [i for i in range(6, len(M)) if i % 6]  # the first node is held; booms do not stretch
    return np.sqrt(eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)[:2])


def test_default_shapes_of_the_booms_meet_finite_elements_and_those_of_the_thesis_do_not(
    quick: tuple[dict, Path],
) -> None:
    metrics, _ = quick
    for key, exact in zip(("torsion_frequency", "bending_frequency"), element_frequencies(), strict=True):
        assert metrics[f"{key}_converged"] == pytest.approx(exact, rel=1e-5)
        assert metrics[f"{key}_default"] == pytest.approx(exact, rel=1e-5)
        assert metrics[key] > 1.1 * exact
    # one twist mode of a clamped rod has 8 / pi^2 of its compliance
    assert metrics["torsion_compliance_error"] == pytest.approx(8.0 / np.pi**2 - 1.0, abs=1e-9)
    assert abs(metrics["torsion_compliance_error_default"]) < 1e-9


def test_link_4_follows_statics_with_default_shapes_only(quick: tuple[dict, Path]) -> None:
    assert quick[0]["link4_deflection_share"] < 0.65
    assert quick[0]["link4_deflection_share_default"] == pytest.approx(1.0, abs=0.02)  # vibration, the arm's mass


def test_another_payload_and_start_give_another_answer(quick: tuple[dict, Path]) -> None:
    study = load_study(STUDY / "study.py").study
    changes = {"payload_mass": 70000.0, "start": (0.001, 0.0, 0.002, 0.0, 0.0, 0.0, 0.0)}
    result = study.run(replace(study.parameters, **changes), quick=True, progress=lambda fraction, message: None)
    sim = result.simulations["flexible"]
    assert sim["joint3"][0] == 0.002 and sim.column("x", "joint3.motor")[0] == RATIO * 0.002
    # torques are proportional to the payload but for the arm's own mass
    assert result.metrics["motor_torque_max"] / quick[0]["motor_torque_max"] == pytest.approx(7.0 / 9.0, rel=0.01)
    assert result.metrics["payload_error_max"] > 2.0 * quick[0]["payload_error_max"]


@pytest.mark.slow
def test_from_a_cold_start_in_less_than_60_s_and_warm_in_less_than_5_s(tmp_path: Path) -> None:
    """Empty cache, then the cached code with other numbers: building (equations, torques, code) and simulating 60 s."""
    environment = {**os.environ, "SPACECTL_CACHE": str(tmp_path / "cache")}
    program = "import sys; from spacectl.cli.main import run_command_line; sys.exit(run_command_line(sys.argv[1:]))"
    taken, travel = [], []
    for name, options in (("cold", []), ("warm", ["--set", "payload_mass=70000", "--set", "start=0.001,0,0,0,0,0,0"])):
        out = tmp_path / name
        command = [executable, "-c", program, "run", str(STUDY), "--out", str(out), "--quick", *options]
        run(command, check=True, env=environment, cwd=STUDY.parents[1], capture_output=True)
        metrics = json.loads((out / "metrics.json").read_text())
        taken.append(metrics["build_time"] + metrics["simulation_time"])
        travel.append(metrics["payload_travel_x"])
    assert taken[0] < 60.0 and taken[1] < 5.0
    assert taken[1] < taken[0]  # the code, not the result, came from the cache
    assert travel[0] != travel[1]


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("start=0.1,0.2", "'start'"),
        ("boom_modes=0", "'boom_modes'"),
        ("boom_torsion=5", "'boom_torsion'"),
        ("duration=-1", "'duration'"),
    ],
)
def test_wrong_parameters_are_refused_in_one_line(setting: str, word: str, tmp_path: Path, capsys) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--set", setting]) == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
