"""The spin-up against Exudyn, closed forms and a modal model written by hand; what a missing peer gives."""

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

STUDY = Path(__file__).resolve().parents[2] / "studies" / "spin_up_beam"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("spin") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def test_history_is_within_a_per_cent_of_exudyn(done: tuple[dict, Path]) -> None:
    metrics, _ = done
    assert metrics["exudyn_max_difference"] is not None, "install spacectl[crosscheck]"
    assert 0.0 < metrics["exudyn_max_difference"] < 0.01 and 0.0 < metrics["exudyn_max_difference_linearised"] < 0.01
    assert metrics["exudyn_steady_stretch"] == pytest.approx(metrics["steady_stretch_formula"], rel=0.01)


def test_segments_are_closer_to_exudyn_than_one_beam(done: tuple[dict, Path]) -> None:
    """Three segments: 0.09 % of a fine solution, and 0.04 % more that the quick run's elements and steps make."""
    metrics, out = done
    assert metrics["segments_max_difference"] < 1.5e-3 < 0.5 * metrics["exudyn_max_difference"]
    assert metrics["theory_error"] > 0.01 > metrics["segments_theory_error"]  # one beam warns, segments do not
    sim = load_simulation(out / "result.nc", group="segments")
    assert np.min(sim["tip.y"]) == pytest.approx(metrics["exudyn_deflection_min"], rel=2e-3)


def test_stretch_and_lag_stiffness_have_their_closed_forms(done: tuple[dict, Path]) -> None:
    metrics, _ = done
    assert metrics["steady_stretch_formula"] == pytest.approx(5.142857e-4, rel=1e-6)
    # three extension shapes hold all but 0.06 % of the stretch (a series in 1 / (k - 1/2)^4)
    assert metrics["steady_stretch"] == pytest.approx(metrics["steady_stretch_formula"], rel=2e-3)
    w1 = 1.875104068711961**2 * np.sqrt(1.4e4 / (1.2 * 10.0**4))
    assert metrics["first_frequency"] == pytest.approx(w1, rel=1e-8)
    assert metrics["premature_critical_rate"] == pytest.approx(w1, rel=1e-8)
    assert metrics["premature_lag_stiffness"] == pytest.approx(w1**2 - 36.0, rel=1e-8)  # negative
    assert metrics["consistent_lag_stiffness"] > w1**2


def test_deflection_is_that_of_a_one_mode_model_by_hand(done: tuple[dict, Path]) -> None:
    """``q'' + (w1^2 + (1.193 - 1) Omega^2) q = -1.566 Omega' L / ...``: quadratures and scipy, nothing of the toolbox."""
    metrics, out = done
    k, L = 1.875104068711961, 10.0
    s = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))

    def phi(x: float) -> float:
        return 0.5 * (np.cosh(k * x) - np.cos(k * x) - s * (np.sinh(k * x) - np.sin(k * x)))

    def slope(x: float) -> float:
        return 0.5 * k * (np.sinh(k * x) + np.sin(k * x) - s * (np.cosh(k * x) - np.cos(k * x)))

    mass = quad(lambda x: phi(x) ** 2, 0.0, 1.0)[0]
    stiffening = quad(lambda x: 0.5 * (1.0 - x * x) * slope(x) ** 2, 0.0, 1.0)[0] / mass
    moment = L * quad(lambda x: x * phi(x), 0.0, 1.0)[0] / mass
    w1 = k**2 * np.sqrt(1.4e4 / (1.2 * L**4))

    def rate(t: float, x: np.ndarray) -> list[float]:
        ramp = t < 15.0
        omega = 0.4 * (t - 7.5 / np.pi * np.sin(np.pi * t / 7.5)) if ramp else 6.0
        omega_dot = 0.4 * (1.0 - np.cos(np.pi * t / 7.5)) if ramp else 0.0
        return [x[1], -(w1**2 + (stiffening - 1.0) * omega**2) * x[0] - moment * omega_dot]

    by_hand = solve_ivp(rate, (0.0, 20.0), [0.0, 0.0], "DOP853", rtol=1e-9, atol=1e-11, max_step=0.1, dense_output=True)
    sim = load_simulation(out / "result.nc", group="consistent")
    # one mode against four: the higher ones add 2 % of the deflection under a load that grows along the beam
    tip = np.sum([sim[f"beam.eta{j + 1}"] for j in range(4)], axis=0)
    np.testing.assert_allclose(tip, by_hand.sol(sim.t)[0], atol=0.03 * abs(metrics["tip_deflection_min"]))
    assert np.min(tip) == pytest.approx(metrics["tip_deflection_min"], abs=1e-3)


def test_orders_agree_where_they_must_and_part_where_they_must(done: tuple[dict, Path]) -> None:
    metrics, _ = done
    # terms of third order, at a deflection of 6 % of the length: (0.06)^2
    assert metrics["linearised_max_difference"] < 0.004 and metrics["pseudo_potential_max_difference"] < 0.004
    assert metrics["strain_max_difference"] > 0.1
    assert metrics["premature_lost_at"] < 15.0


def test_a_missing_peer_gives_null_and_names_the_extra() -> None:
    loaded = load_study(STUDY / "study.py")
    study = sys.modules["spacectl_study_spin_up_beam"]
    grid = np.linspace(0.0, 20.0, 5)
    tips = {order: np.ones((5, 3)) for order in study.ORDERS}
    outcome = type("Outcome", (), {"stats": {"theory_error": 0.0}})
    sims = dict.fromkeys(
        ("premature", "consistent", "segments"), type("Run", (), {"t": grid, "events": (), "outcome": outcome})
    )
    metrics = study.measure(loaded.study.parameters, grid, tips, sims, {}, None)
    assert metrics["exudyn_max_difference"] is None and metrics["segments_max_difference"] is None
    assert any("crosscheck" in note for note in study.notes({**metrics, "premature_critical_rate": 1.0}))


def test_a_run_that_ends_in_the_ramp_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--out", str(tmp_path / "out"), "--quick", "--set", "duration=10"]
    assert run_command_line(["run", str(STUDY), *options]) == 2
    assert "'duration'" in capsys.readouterr().err
