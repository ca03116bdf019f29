"""Equal runs are equal to the last digit, and the recorded origin of a result distinguishes different runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacectl import design_pd, form_equations, library, simulate
from spacectl.cli.main import run_command_line
from spacectl.codegen.bound_function import CALLBACK, GENERATED
from spacectl.simulation.driver.native_loop import bind_plant

STUDY = Path(__file__).resolve().parents[3] / "studies" / "free_flyer_arm"
RUN = {"x0": {"joint1": 0.4}, "t_span": (0.0, 1.0)}


def test_equal_runs_are_equal() -> None:
    eom = form_equations(library.planar_arm())
    one, two = (simulate(eom, design_pd(eom, kp=5.0, kd=1.0), **RUN) for _ in range(2))
    assert one.dataset.identical(two.dataset)


def test_law_and_parameters_are_identified() -> None:
    eom = form_equations(library.planar_arm())
    base = simulate(eom, design_pd(eom, kp=5.0, kd=1.0), **RUN).dataset
    gains = simulate(eom, design_pd(eom, kp=6.0, kd=1.0), **RUN).dataset
    heavy = simulate(eom, design_pd(eom, kp=5.0, kd=1.0), p={"link2.mass": 2.0}, **RUN).dataset
    assert base.attrs["law_hash"] != gains.attrs["law_hash"]
    assert base.attrs["parameters_hash"] == gains.attrs["parameters_hash"] != heavy.attrs["parameters_hash"]
    named = dict(zip(heavy["parameter_name"].values.tolist(), heavy["p"].values.tolist(), strict=True))
    assert named["link2.mass"] == 2.0
    long = form_equations(library.chain(26))
    assert simulate(long, t_span=(0.0, 0.01), grid=2, tier="vm").dataset.attrs["plant"] == "data-driven"


def test_the_plant_used_is_recorded() -> None:
    """Embedded equations have no function for the virtual machine: their native sweep serves, or their calls in Python."""
    eom = form_equations(library.four_bar(), formulation="embedded")
    for tier, plant, kind in (("vm", "data-driven", GENERATED), ("callback", "callback", CALLBACK)):
        assert bind_plant(eom, tier, np.asarray(eom.p)).kind == kind
        assert simulate(eom, t_span=(0.0, 1e-3), grid=2, tier=tier).dataset.attrs["plant"] == plant


@pytest.mark.usefixtures("unrendered_figures")
def test_the_same_command_gives_the_same_numbers(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        options = ["--quick", "--set", "duration=0.3"]
        assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / name), *options]) == 0
        found.append(json.loads((tmp_path / name / "metrics.json").read_text()))
    assert found[0] == found[1]
    assert np.isfinite(found[0]["tracking_error_max"])
