"""The study's constants compared with values independent of both its methods, and its map with Mathieu's equation."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl.cli.lookup import load_study
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "cantilever_base_motion"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("cantilever") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    assert {file.name for file in (out / "figures").glob("*.png")} == {"histories.png", "stabilisation_map.png"}
    return json.loads((out / "metrics.json").read_text())


def test_constants_have_their_closed_forms(metrics: dict) -> None:
    """c1 = 1.87510407^4; alpha1 of the exact mode by a third method, finite differences of the mode on a fine grid."""
    k = 1.875104068711961
    assert metrics["c1_equations"] == pytest.approx(k**4, rel=1e-10)
    assert metrics["c2"] == pytest.approx(np.pi**2 / 4, rel=1e-12)
    assert metrics["alpha2"] == pytest.approx(-4.0 / np.pi, rel=1e-12)
    x = np.linspace(0.0, 1.0, 20001)
    s = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
    phi = np.cosh(k * x) - np.cos(k * x) - s * (np.sinh(k * x) - np.sin(k * x))
    slope2, middle = (np.diff(phi) / np.diff(x)) ** 2, 0.5 * (x[1:] + x[:-1])
    alpha = np.sum((1.0 - middle) * slope2) / np.sum((0.5 * (phi[1:] + phi[:-1])) ** 2)
    assert metrics["alpha1_equations"] == pytest.approx(alpha, rel=1e-7)  # the grid's error is 1e-8
    assert metrics["constants_max_difference"] < 2e-4  # lambda = 1.875 is off by 5.5e-5
    for name in ("c1", "c2", "alpha2", "beta1"):
        assert metrics[name] == pytest.approx(metrics[f"{name}_printed"], rel=5e-4)  # digits published
    assert abs(metrics["alpha1"] - 1.571) < 1e-3 < abs(metrics["alpha1"] - metrics["alpha1_printed"])


def test_buckling_weight_is_greenhills(metrics: dict) -> None:
    assert metrics["critical_gravity_bessel"] == pytest.approx(7.8373, abs=1e-4)
    assert 0.0 < metrics["critical_gravity"] / metrics["critical_gravity_bessel"] - 1.0 < 5e-5  # Ritz: from above
    assert metrics["critical_ratio"] == pytest.approx(0.634, abs=1e-3)
    assert abs(metrics["growth_at_half"]) < 1e-4  # stable: published as unstable
    assert metrics["growth_at_0_65"] == pytest.approx(metrics["growth_at_0_65_formula"], rel=1e-3)


def test_premature_order_contains_no_gravity(metrics: dict) -> None:
    assert metrics["pendulum_stiffness_proper"] == pytest.approx(1.0, rel=1e-12)
    assert abs(metrics["pendulum_stiffness_premature"]) < 1e-12
    assert metrics["premature_change_by_gravity"] < 1e-9


def test_map_is_mathieus_and_simulations_grow_as_it_says(metrics: dict) -> None:
    assert metrics["mathieu_agreement"] == 1.0
    assert metrics["growth_at_resonance"] == pytest.approx(metrics["growth_at_resonance_floquet"], rel=0.01)
    assert metrics["map_held_growth"] < 0.0 and metrics["map_held_growth_floquet"] < 0.0
    assert metrics["map_lost_growth"] == pytest.approx(metrics["map_lost_growth_floquet"], rel=0.02)  # beats
    assert metrics["stabilised_fraction_several_modes"] < 0.5 * metrics["stabilised_fraction_one_mode"]


def test_multipliers_equal_those_of_mathieus_equation_integrated() -> None:
    load_study(STUDY / "study.py")
    mathieu = sys.modules["spacectl_study_cantilever_base_motion.mathieu"]
    ratio, shake, alpha = 3.0, 0.9, 1.5708781899942508

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        field = 1.0 - alpha * (0.7 + shake * np.cos(ratio * t))
        return np.array([x[1], -field * x[0]])

    ends = [solve_ivp(rate, (0.0, 2 * np.pi / ratio), e, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1] for e in np.eye(2)]
    expected = np.max(np.abs(np.linalg.eigvals(np.array(ends).T)))
    found = mathieu.largest_multiplier(1, 0.7, np.array([ratio]), np.array([shake]))[0]
    assert found == pytest.approx(expected, abs=1e-8)  # 160 steps of order 4


def test_a_map_below_buckling_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--out", str(tmp_path / "out"), "--quick", "--set", "map_weight=0.5"]
    assert run_command_line(["run", str(STUDY), *options]) == 2
    assert "'map_weight'" in capsys.readouterr().err
