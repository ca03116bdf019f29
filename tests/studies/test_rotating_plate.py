"""The rotating plate's constants, and its frequencies against finite elements with geometric stiffness."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl.cli.main import run_command_line
from tests.oracles.flexible.plate_elements import ElementPlate

STUDY = Path(__file__).resolve().parents[2] / "studies" / "rotating_plate"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("plate") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text())


def test_constants_by_two_methods_differ_from_the_published_ones(metrics: dict) -> None:
    assert metrics["constants_max_difference"] < 1e-8
    assert metrics["bending_constant"] == pytest.approx(1.8751040687**4, rel=1e-9)
    for name, off in (("bending_constant", 0.0095), ("torsion_factor", 0.024), ("stiffening", 0.086)):
        assert metrics[f"{name}_printed"] / metrics[name] - 1.0 == pytest.approx(off, rel=0.03)


def test_line_integrals_stiffen_torsion_like_bending_and_elements_do_not(metrics: dict) -> None:
    assert metrics["stiffening_torsion_line"] == pytest.approx(metrics["stiffening"], rel=1e-6)
    fe = ElementPlate(1.0, 1.0, 1.0, 12.0 / 0.005**2, 0.3, 1.0, 8)  # stretch stiffness 12 D / h^2
    rate = 2.0 * metrics["bending_constant"] ** 0.5
    spun = fe.squares(2, rate**2 * (fe.geometric(lambda x, y: (x, 0.0 * x)) - fe.mass))
    gain = (spun - fe.squares(2)) / rate**2
    found = [metrics["stiffening_converged"], metrics["stiffening_torsion_converged"]]
    np.testing.assert_allclose(found, gain, atol=0.012)  # four modes (quick) of a plate at twice its first frequency
    assert metrics["elements_max_difference"] < 0.01  # coarse triangles (quick)
    assert gain[1] < 0.4 * metrics["stiffening_torsion_line"]


def test_the_premature_plate_is_lost(metrics: dict) -> None:
    assert 0.0 < metrics["premature_lost_at"] < 2.0 and metrics["consistent_largest"] < 0.1
