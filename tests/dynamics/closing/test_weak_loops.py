"""Singular positions and limits of loops: which loop, how near, and who says so before numbers mean nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from spacectl import (
    ModelError,
    Part,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    SolverError,
    System,
    factor_mass,
    form_equations,
    library,
    linearize,
    make_consistent,
    simulate,
)
from spacectl.dynamics.closing.closures import loop_closures
from spacectl.dynamics.closing.weak_loops import can_close, find_weak_loop
from spacectl.model.library.rods import rod
from spacectl.spatial.rotation import rotation_about
from tests.dynamics.constraints.test_constraint_drift import bennett, bennett_start
from tests.dynamics.embedding.test_embedded_errors import parallelogram

FORMULATIONS = ("kane", "partitioned", "embedded", "multipliers", "udwadia_phohomsiri")
PINS = r"loop 'pin_x', 'pin_y' \(joints 'crank_pin', 'coupler_pin', 'rocker_pin'\)"


def pulled_four_bar(rate: float = 2.0) -> System:
    """Bars of 0.3, 0.9 and 0.7 m whose second pivot is pulled away from 1 m: all stretched at 1.9 m."""
    crank, ground = 1.0, 1.0
    tip = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    way = np.array([ground, 0.0]) - tip
    d = np.linalg.norm(way)
    coupler = np.arctan2(way[1], way[0]) + np.arccos((0.9**2 + d**2 - 0.7**2) / (2 * 0.9 * d))
    end = tip + 0.9 * np.array([np.cos(coupler), np.sin(coupler)]) - [ground, 0.0]
    rocker = np.arctan2(end[1], end[0])
    turn = [rotation_about("z", angle) for angle in (crank, coupler - crank, rocker)]
    slide = Prismatic(name="slide", axis="x", prescribed=lambda s: rate * s.t)
    parts = (
        Part(RigidBody(name="block", mass=1.0, inertia=(0.1, 0.1, 0.1)), at=(ground, 0, 0), joint=slide),
        Part(rod("crank", 0.3, 1.0), rotation=turn[0], joint=Revolute(name="crank_pin", axis="z")),
        Part(rod("coupler", 0.9, 1.0), on="crank.end", rotation=turn[1], joint=Revolute(name="coupler_pin", axis="z")),
        Part(rod("rocker", 0.7, 1.0), on="block", rotation=turn[2], joint=Revolute(name="rocker_pin", axis="z")),
    )
    pins = tuple(PointOnPlane(name=f"pin_{axis}", b="coupler.end", a="rocker.end", normal=axis) for axis in "xy")
    return System(name="pulled four-bar", parts=parts, constraints=pins)


def folded(eom: Any) -> np.ndarray:
    return np.asarray(eom.state(crank_pin=-0.5 * np.pi, coupler_pin=0.5 * np.pi, rocker_pin=-0.5 * np.pi))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_to_the_limit_of_a_loop_says_so(formulation: str) -> None:
    """0.9 m at 2 m/s: after 0.45 s no position closes the loop."""
    eom = form_equations(pulled_four_bar(), formulation=formulation)
    x = np.asarray(make_consistent(eom, eom.state()).x)
    with pytest.raises(SolverError, match=PINS + r" cannot close after t = 0\.4(5|49999\d*) s .*'slide'") as caught:
        simulate(eom, x0=x, t_span=(0.0, 1.0), grid=3, rtol=1e-4, atol=1e-4)
    assert "jumps" not in str(caught.value) and "constrained least" in str(caught.value)
    near = float(str(caught.value).split("singularity ")[1].split(",")[0])
    assert near < 1e-3 and caught.value.partial.t[-1] == pytest.approx(0.45, abs=1e-4)


def test_a_loop_closes_before_its_limit_and_not_after() -> None:
    eom = form_equations(pulled_four_bar())
    x = np.asarray(make_consistent(eom, eom.state(), t=0.44).x)
    (closure,) = loop_closures(eom, 0.44, x)
    assert can_close(closure, 0.4499) and not can_close(closure, 0.4501)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_nearness_falls_with_the_angle_and_vanishes_on_the_line(formulation: str) -> None:
    """Beside the line the vanishing row is as long as the sine of the cranks' angle."""
    eom = form_equations(parallelogram(), formulation=formulation)

    def near(angle: float) -> float:
        q = np.array([angle - 0.5 * np.pi, 0.5 * np.pi - angle, angle - 0.5 * np.pi])
        loop = find_weak_loop(eom, 0.0, np.concatenate([q, np.zeros(3)]))
        assert loop is not None
        return loop.distance

    assert near(0.0) == 0.0
    # of second order: the other row, which does not vanish, changes by the square of the angle
    assert near(1e-3) / near(1e-4) == pytest.approx(10.0, rel=1e-3)
    assert near(1e-4) < 1e-3 and near(1.0) > 0.3


def test_rows_that_depend_only_on_the_constraints_are_no_singular_position() -> None:
    eom = form_equations(bennett(rows="all"))
    x, _ = bennett_start(eom)
    loop = find_weak_loop(eom, 0.0, x)
    assert loop is not None and loop.distance > 0.1
    two = find_weak_loop(form_equations(bennett(rows="two")), 0.0, x)
    assert two is not None and two.distance > 0.1


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_linear_model_in_a_singular_position_is_refused(formulation: str) -> None:
    """Two freedoms for an instant, one beside it."""
    eom = form_equations(parallelogram(), formulation=formulation)
    with pytest.raises(ModelError, match=PINS + r".*singular position.*nearby"):
        linearize(eom, folded(eom), check=False)
    beside = make_consistent(eom, eom.state(crank_pin=-1.5, coupler_pin=1.5, rocker_pin=-1.5), hold=("crank_pin",)).x
    assert len(linearize(eom, beside, check=False).x) == 2


def test_the_mass_matrix_in_a_singular_position_comes_with_a_warning() -> None:
    eom = form_equations(parallelogram(), formulation="embedded")
    with pytest.warns(UserWarning, match="factor_mass: " + PINS + r".*singular position"):
        factor_mass(eom, 0.0, folded(eom)[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(factor_mass(eom, 0.0, eom.state()[:3]).independent) == 1


@pytest.mark.parametrize("formulation", ["kane", "partitioned"])
def test_a_run_that_starts_in_a_singular_position_warns(formulation: str) -> None:
    eom = form_equations(parallelogram(), formulation=formulation)
    with pytest.warns(UserWarning, match="simulate: .*starts in a singular position of " + PINS):
        simulate(eom, x0=folded(eom), u=[0.0], t_span=(0.0, 1e-3), grid=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(eom, x0=eom.state(), u=[0.0], t_span=(0.0, 1e-3), grid=2)


def test_dependent_rows_under_multipliers_come_with_the_cure_in_runs_too() -> None:
    eom = form_equations(library.redundant_four_bar(), formulation="multipliers")
    cure = r"depend on each other.*formulation='kane', 'udwadia_phohomsiri', 'partitioned' or 'embedded'"
    with pytest.raises(SolverError, match=cure):
        eom.v_dot(0.0, np.zeros(3), np.zeros(3), np.zeros(eom.n_u))
    with pytest.raises(SolverError, match="not finite.*" + cure):
        simulate(eom, t_span=(0.0, 0.1), tier="vm")
    for formulation in ("kane", "udwadia_phohomsiri", "partitioned", "embedded"):
        cured = form_equations(library.redundant_four_bar(), formulation=formulation)
        assert np.all(np.isfinite(cured.v_dot(0.0, np.zeros(3), np.zeros(3), np.zeros(cured.n_u))))
