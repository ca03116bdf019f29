"""The study's numbers against second programs: Euler's equations in numpy, closed forms, and a spinner derived by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from spacectl import load_simulation
from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line
from tests.oracles.mechanics import spinner_with_damper

STUDY = Path(__file__).resolve().parents[2] / "studies" / "gravity_gradient"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("gravity") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def test_charts_agree_with_the_textbook_at_every_point(quick: tuple[dict, Path]) -> None:
    metrics, _ = quick
    for name in ("rest_agreement", "spin_agreement", "floquet_agreement", "unsymmetric_edge_agreement"):
        assert metrics[name] == 1.0
    assert (
        metrics["rest_lagrange_fraction"] > 0.1 and metrics["rest_debra_delp_fraction"] > 0.01
    )  # both regions are seen
    assert 0.2 < metrics["spin_stable_fraction"] < 0.9 and metrics["floquet_points"] > 10
    assert metrics["rest_lagrange_kept_with_damping"] == 1.0 and metrics["rest_debra_delp_kept_with_damping"] == 0.0
    assert metrics["libration_frequency_error"] < 1e-9
    assert metrics["rod_pitch_frequency"] == pytest.approx(np.sqrt(3.0), rel=1e-7)  # a rod of finite thickness, 1e-8
    assert metrics["rod_roll_frequency"] == pytest.approx(2.0, rel=1e-7)


def test_a_large_libration_has_the_period_of_its_integral(quick: tuple[dict, Path]) -> None:
    """theta'^2 = 3 n^2 (sin(a)^2 - sin(theta)^2); with sin(theta) = sin(a) sin(f) the integrand is smooth."""
    quarter = quad(lambda f: 1.0 / np.sqrt(1.0 - np.sin(1.0) ** 2 * np.sin(f) ** 2), 0.0, np.pi / 2)[0]
    expected = 4.0 * quarter / (1.1e-3 * np.sqrt(3.0))
    assert quick[0]["libration_period"] == pytest.approx(expected, rel=1e-7)  # rod of finite thickness


def multipliers_by_hand(moments: np.ndarray, spin: float) -> np.ndarray:
    """Tilt multipliers over half a turn from differences of nonlinear runs: Euler's equations and a rotation matrix, n = 1."""

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        R, w = state[:9].reshape(3, 3), state[9:]  # body to orbit axes; inertial rate in body axes
        normal, radial = R[2], R[0]
        torque = 3.0 * np.cross(radial, moments * radial) - np.cross(w, moments * w)
        relative = w - normal
        x, y, z = relative
        return np.concatenate([(R @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])).ravel(), torque / moments])

    k = (moments[1] - moments[0]) / moments[2]
    period = quad(lambda a: 1.0 / np.sqrt(spin**2 - 3.0 * k * np.sin(a) ** 2), 0.0, np.pi)[0]

    def end(tilt: np.ndarray) -> np.ndarray:
        """Tilts of the spin axis in the orbit frame, and transverse relative rates, after half a turn."""
        a, b = tilt[:2]
        angle = np.hypot(a, b)
        s, v = np.sinc(angle / np.pi), 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
        K = np.array([[0.0, 0.0, b], [0.0, 0.0, -a], [-b, a, 0.0]])
        R = np.eye(3) + s * K + v * K @ K
        w = np.array([tilt[2], tilt[3], spin]) + R[2]
        done = solve_ivp(rate, (0.0, period), np.concatenate([R.ravel(), w]), "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        R, w = done[:9].reshape(3, 3), done[9:] - done[6:9]
        # the body has turned by half a turn: its x and y axes point the other way, its own components do not know
        return np.array([R[2, 1], -R[2, 0], w[0], w[1]])

    h = 1e-4
    monodromy = np.array([(end(h * e) - end(-h * e)) / (2 * h) for e in np.eye(4)]).T
    return np.linalg.eigvals(monodromy)


@pytest.mark.parametrize(("asymmetry", "spin"), [(0.0, 1.3), (0.105, 2.66), (0.2, -1.08), (0.2, 3.0), (0.25, 1.06)])
def test_floquet_multipliers_equal_those_of_nonlinear_runs(asymmetry: float, spin: float) -> None:
    load_study(STUDY / "study.py")
    spinning = sys.modules["spacectl_study_gravity_gradient.spinning"]
    at_rest = sys.modules["spacectl_study_gravity_gradient.at_rest"]
    moments = 100.0 * np.array([1.0 - asymmetry, 1.0 + asymmetry, 1.4])
    ours = spinning.largest_multiplier(at_rest.body_in_orbit(1.1e-3), 1.1e-3, moments, spin)
    by_hand = np.max(np.abs(multipliers_by_hand(moments, spin)))
    assert ours == pytest.approx(by_hand, abs=2e-5)  # splines through 60 intervals; differences 1e-8
    if (asymmetry, spin) in ((0.105, 2.66), (0.2, -1.08)):
        assert by_hand > 1.001  # a tongue of parametric resonance, and the static one
    else:
        assert by_hand == pytest.approx(1.0, abs=1e-5)


def test_the_fall_into_flat_spin_is_that_of_a_spinner_derived_by_hand(quick: tuple[dict, Path]) -> None:
    metrics, out = quick
    mass, bus = 0.4, 300.0
    mu, b = mass * bus / (mass + bus), 1.0 + mass / bus
    x, y, z = np.array([100.0, 90.0, 40.0]) + mu * b**2 * np.array([0.0, 1.0, 1.0])
    w = np.sqrt((x - z) * (y - z) / (x * y))
    body = {"inertia": (100.0, 90.0, 40.0), "mu": mu, "b": b, "k": mass * w**2, "c": 2.0 * 0.2 * mass * w}
    assert metrics["growth_rate_eigenvalue"] == pytest.approx(spinner_with_damper.growth_rate(z, body), rel=1e-6)
    assert metrics["growth_rate_simulation"] == pytest.approx(metrics["growth_rate_eigenvalue"], rel=1e-3)
    assert metrics["growth_rate_energy_sink"] == pytest.approx(metrics["growth_rate_eigenvalue"], rel=0.2)
    sim = load_simulation(out / "result.nc", group="flat_spin")
    rates, slide = (
        np.stack([sim[f"base.w{axis}"] for axis in "xyz"], axis=1),
        np.stack([sim["slide"], sim["slide_dot"]], 1),
    )

    def state(k: int) -> np.ndarray:
        s, s_dot = slide[k]
        rho = np.array([b, 0.0, s])
        J = np.diag(body["inertia"]) + mu * (rho @ rho * np.eye(3) - np.outer(rho, rho))
        return np.concatenate([J @ rates[k] + [0.0, -mu * b * s_dot, 0.0], [s, mu * (s_dot - b * rates[k, 1])]])

    stop = int(np.searchsorted(sim.t, 320.0))  # well into the fall; later two runs may part into either flat spin
    done = solve_ivp(
        lambda _, s: spinner_with_damper.rate(s, body), (0.0, sim.t[stop]), state(0), "DOP853", rtol=1e-11, atol=1e-13
    ).y[:, -1]
    # errors of the start grow by exp(0.0144 * 320) = 100 and of each step as they come
    np.testing.assert_allclose(state(stop), done, atol=1e-6 * np.linalg.norm(done[:3]))
    energies = [spinner_with_damper.energy(state(k), body) for k in range(0, sim.t.size, 50)]
    assert np.all(np.diff(energies) < 1e-9 * energies[0])
    assert metrics["flat_energy_rise"] < 1e-9 and metrics["flat_momentum_drift"] < 1e-7
    assert metrics["flat_final_energy"] == pytest.approx(1.0, abs=1e-3) and metrics["flat_final_tilt"] < 0.05
    assert metrics["flat_final_rate"] == pytest.approx(z / x, rel=5e-3)  # the same momentum about the major axis


@pytest.mark.parametrize(
    ("option", "named"), [("inertia=10,20,30", "'inertia'"), ("libration=2.0", "'libration'"), ("spin=-1.0", "'spin'")]
)
def test_wrong_parameters_are_refused_in_one_line(option: str, named: str, tmp_path: Path, capsys) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--quick", "--set", option]) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
