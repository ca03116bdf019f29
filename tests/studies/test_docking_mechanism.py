"""Docking mechanisms in the study's quick form: reduction, closed forms and the wrench on the carrier."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacectl import ModelError
from spacectl.cli.lookup import load_study
from spacectl.core.studies.study import override_parameters

STUDY = Path(__file__).resolve().parents[2] / "studies" / "docking_mechanism"


@pytest.fixture(scope="module")
def metrics() -> dict:
    study = load_study(STUDY / "study.py").study
    return dict(study.run(study.parameters, quick=True, progress=lambda done, what: None).metrics)


def test_reduction_equals_the_augmented_system_along_the_motion(metrics: dict) -> None:
    assert metrics["max_difference_to_kkt"] < 1e-10  # asked for; rounding times the condition of the masses is 1e-13


def test_closed_forms_equal_newton(metrics: dict) -> None:
    assert metrics["max_difference_to_newton"] < 1e-12
    assert metrics["closed_form_speedup"] > 0.0  # the benchmarks measure the ratio


def test_momentum_and_the_carrier_s_own_motion_agree_with_the_wrench(metrics: dict) -> None:
    assert metrics["momentum_error"] < 1e-5  # of 6 N s in the blow, steps of 1e-6
    assert metrics["base_wrench_error"] < 1e-8  # of hundreds of newtons


def test_dampers_dissipate(metrics: dict) -> None:
    assert metrics["ring_dissipated"] > 0.0 and metrics["probe_dissipated"] > 0.0


def test_parameters_without_sense_are_refused() -> None:
    study = load_study(STUDY / "study.py").study
    with pytest.raises(ModelError, match="carrier_mass"):
        study.run(
            override_parameters(study.parameters, {"carrier_mass": -1.0}), quick=True, progress=lambda done, what: None
        )
