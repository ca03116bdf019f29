"""The imported antenna: its file, its reduction, and the loop that must know its modes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from spacectl import load_fem
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "fem_antenna"


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("antenna") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text())


def test_the_file_is_what_its_program_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_antenna", STUDY / "make_antenna.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made, stored = module.antenna(), load_fem(STUDY / "antenna.npz")
    for name in ("mass", "stiffness"):
        a, b = getattr(made, name), getattr(stored, name)
        assert abs(a - b).max() < 1e-9 * abs(a).max()


def test_the_reduction_keeps_the_lowest_frequencies(metrics: dict) -> None:
    """Against a dense solution of the whole matrices with the feed's mass on its node."""
    fem = load_fem(STUDY / "antenna.npz")
    K, M = (A.toarray() for A in (fem.stiffness, fem.mass))
    M[fem.index[70], fem.index[70]] += [1.0, 1.0, 1.0, 0.01, 0.01, 0.01]
    free = fem.dofs[:, 0] >= 14
    exact = np.sqrt(eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)[0])
    assert metrics["first_frequency_unreduced"] == pytest.approx(exact, rel=1e-6)
    assert exact < metrics["first_frequency"] < 1.06 * exact  # four modes (quick), from above
    assert metrics["mass"] == pytest.approx(float(fem.rigid_mass[0, 0]), rel=1e-12)


def test_the_design_must_include_the_modes(metrics: dict) -> None:
    assert metrics["modal_is_stable"] and metrics["modal_modes_destabilised"] == 0
    assert not metrics["rigid_is_stable"] and metrics["rigid_modes_destabilised"] >= 1
    assert metrics["beam_late_modal"] < 0.02 * np.radians(0.5) and metrics["lost_at_modal"] is None
    assert 0.0 < metrics["lost_at_rigid"] < 2.0
