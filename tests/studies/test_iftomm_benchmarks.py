"""The benchmarks in their quick form: within the library's measure, and references that are right by other means."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import ModelError, form_equations, make_consistent
from spacectl.cli.lookup import load_study
from spacectl.core.studies.study import override_parameters

STUDY = Path(__file__).resolve().parents[2] / "studies" / "iftomm_benchmarks"


def part(name: str) -> Any:
    load_study(STUDY / "study.py")
    return importlib.import_module(f"spacectl_study_iftomm_benchmarks.{name}")


@pytest.fixture(scope="module")
def metrics() -> dict:
    study = load_study(STUDY / "study.py").study
    return dict(study.run(study.parameters, quick=True, progress=lambda done, what: None).metrics)


def test_every_run_is_within_the_library_s_high_precision(metrics: dict) -> None:
    """Ten to a thousand times better than asked, at steps of 1e-8; the library's own reference has six digits."""
    assert metrics["all_within_measure"] is True
    assert metrics["andrews_max_error"] < 1e-7
    assert metrics["fourbar_energy_drift"] < 1e-3
    assert metrics["bricard_energy_drift"] < 1e-4
    assert metrics["governor_max_error"] < 1e-5
    assert metrics["governor_reference_error"] < 4e-6  # half of its last digit, and what its own integrator has left
    assert metrics["pendulum_max_error"] < 1e-3
    assert len(metrics["runs"]) == len(metrics["cpu_seconds"]) == len(metrics["errors"]) == 9


def test_formulations_that_do_not_apply_are_listed_with_their_reason(metrics: dict) -> None:
    (bricard,) = metrics["not_applicable"]
    assert bricard == (
        "Bricard: multipliers: its constraint equations are dependent, so the augmented matrix is singular"
    )


@pytest.mark.slow
def test_andrews_in_absolute_coordinates_moves_alike() -> None:
    """The spring acts between separate bodies; angles follow from quaternions. A tenth of the time, twice."""
    cases, measures = part("cases"), part("measures")
    case = next(item for item in cases.benchmarks(1e-8, windows=(2,)) if item.name == "Andrews")
    joint, bodies = (
        cases.run_case(case, cases.Method("multipliers", name), duration=0.003) for name in ("joint", "absolute")
    )
    one, two = (measures.andrews_angles(item.eom, item.sim) for item in (joint, bodies))
    for name, angle in one.items():
        np.testing.assert_allclose(two[name], angle, atol=1e-8)  # a hundred steps of 1e-10


def test_the_pendulum_s_closed_form_solves_its_equation() -> None:
    t = np.linspace(0.0, 3.0, 31)
    found = solve_ivp(
        lambda _, y: [y[1], -9.81 * np.sin(y[0])], (0.0, 3.0), [-np.pi / 2, 0.0], t_eval=t, rtol=1e-11, atol=1e-12
    )
    place = part("references").pendulum_place(t)
    np.testing.assert_allclose(place, np.stack([np.sin(found.y[0]), -np.cos(found.y[0])], axis=1), atol=1e-8)


def test_andrews_starts_as_the_test_set_says() -> None:
    """Published accelerations at the start, which depend on every inertia, length, the spring and the motor."""
    systems = part("systems")
    eom = form_equations(systems.andrews(), formulation="partitioned")
    x = eom.state(**systems.ANDREWS_START)
    assert np.max(np.abs(eom.residual(0.0, x[:7], x[7:]))) < 1e-16
    v_dot = dict(zip(eom.coordinates, eom.v_dot(0.0, x[:7], x[7:], [0.033]), strict=True))
    assert v_dot["beta"] == pytest.approx(14222.4439199541138705911625887, rel=1e-12)
    assert v_dot["theta"] == pytest.approx(-10666.8329399655854029433719415, rel=1e-12)
    for name in ("gamma", "phi", "delta", "omega", "epsilon"):
        assert abs(v_dot[name]) < 1e-8


def test_andrews_agrees_with_the_test_set_in_a_state_off_rest() -> None:
    """Published accelerations at 0.03 s from published angles and rates: loops, Coriolis terms and spring together."""
    references, systems = part("references"), part("systems")
    eom = form_equations(systems.andrews(), formulation="multipliers")
    x = eom.state(**references.ANDREWS_END, **{f"{name}_dot": rate for name, rate in references.ANDREWS_RATES.items()})
    v_dot = dict(zip(eom.coordinates, eom.v_dot(0.03, x[:7], x[7:], [0.033]), strict=True))
    published = {
        "beta": -0.2463176316945196e5,
        "gamma": 0.3241025686413781e6,
        "phi": 0.5667493645176213e6,
        "epsilon": 0.9826520791458422e4,
    }
    for name, value in published.items():
        # published rates are accurate to 5e-8 (loop residual 1e-9), so their squares to 1e-7; of the largest, twice that
        assert v_dot[name] == pytest.approx(value, abs=2e-7 * 0.5667493645176213e6)


def test_embedded_loops_carry_the_springs_of_andrews_and_the_governor() -> None:
    """Andrews off rest with its spring to the ground; the governor's between bodies, as a tree and with a guided slider."""
    systems, references = part("systems"), part("references")
    published = {**references.ANDREWS_END, **{f"{name}_dot": rate for name, rate in references.ANDREWS_RATES.items()}}
    turning = {"spin_dot": 2.0 * np.pi, "swing1_dot": 0.3, "swing2_dot": -0.2}
    for system, state, u in (
        (systems.andrews(), published, [0.033]),
        (systems.governor(), {**turning, "lift_dot": 0.1}, []),
        (systems.governor(is_tree=False), turning, []),
    ):
        one, two = (form_equations(system, formulation=name) for name in ("embedded", "kane"))
        x = two.state(**state)
        if system.constraints and not u:
            x = np.asarray(make_consistent(two, x, hold=tuple(turning)).x)
        expected = two.x_dot(0.0, x, u)
        # rounding of the governor's two springs of 8e5 N/m, of the largest acceleration
        np.testing.assert_allclose(one.x_dot(0.0, x, u), expected, atol=1e-10 * np.max(np.abs(expected)))


def test_bricard_has_one_freedom_and_five_rows_of_rank_four() -> None:
    eom = form_equations(part("systems").bricard(), formulation="partitioned")
    (loop,) = eom.reduction.loops
    assert len(loop.rows) == 5 and loop.rank == 4


def test_parameters_without_sense_are_refused() -> None:
    study = load_study(STUDY / "study.py").study
    with pytest.raises(ModelError, match="rtol"):
        study.run(override_parameters(study.parameters, {"rtol": 0.1}), quick=True, progress=lambda done, what: None)
