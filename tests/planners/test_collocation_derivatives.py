"""Derivatives of the transcribed programme against differences, and constrained and quaternion systems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import Condition, Constraint, HermiteSimpson, Problem, Radau, form_equations, plan_collocation, replay
from spacectl.planners.collocation.guess import guess_unknowns
from spacectl.planners.collocation.transcription.nlp import transcribe
from spacectl.planners.collocation.transcription.scaling import scale_programme
from tests.planners.systems import sledge, symmetric_body, two_links


def coupled():
    """The sledge on a diagonal rail: y = x is kept by a natural constraint."""
    rail = Constraint(name="rail", rule=lambda s: s["y"] - s["x"])
    return replace(sledge(), constraints=(rail,))


def problems():
    links = form_equations(two_links())
    clocked = Condition(name="band", rule=lambda s: s.position("lower")[0] + 0.1 * s.t, low=-9.0, high=9.0)
    energy = Condition(name="still", rule=lambda s: s.energy())
    yield Problem(
        eom=links, end={"shoulder": 0.4}, path=(clocked,), conditions_end=(energy,), rate_limits={"elbow": 3.0},
        cost_rate=lambda s: s.input("shoulder") ** 2 * s["elbow"] ** 2 + s.input_rate("elbow") ** 2,
        cost_end=lambda s: s["elbow_dot"] ** 2,
    )  # fmt: skip
    body = form_equations(symmetric_body())
    yield Problem(eom=body, end={"attitude.qz": 0.5, "attitude.wx": 0.0})
    yield Problem(eom=form_equations(coupled()), end={"x": 1.0, "x_dot": 0.0})


@pytest.mark.parametrize("scheme", [Radau(3, degree=2), HermiteSimpson(3)], ids=["radau", "hermite"])
@pytest.mark.parametrize("problem", list(problems()), ids=["links", "body", "rail"])
def test_derivatives_are_those_of_differences(problem, scheme):
    nlp = transcribe([problem], scheme, [np.array([0.0, 0.2, 0.6, 1.0])], weights=[np.full(problem.eom.n_u, 0.1)])
    x = guess_unknowns(nlp.blocks, None)
    scale_programme(nlp, x)
    rng = np.random.default_rng(3)
    at = x / nlp.scale + 0.1 * rng.normal(size=nlp.n)
    lam, h = rng.normal(size=nlp.m), 1e-6

    def jacobian(y):
        J = np.zeros((nlp.m, nlp.n))
        J[nlp.jacobian_sum.rows, nlp.jacobian_sum.columns] = nlp.jacobian(y)
        return J

    def slope(y):
        return 0.7 * nlp.gradient(y) + jacobian(y).T @ lam

    steps = h * np.eye(nlp.n)
    found = np.array([(nlp.rows(at + e) - nlp.rows(at - e)) / (2.0 * h) for e in steps]).T
    np.testing.assert_allclose(jacobian(at), found, atol=1e-6)  # rounding over the step, 1e-16 / 1e-6, times 1e3
    costs = np.array([(nlp.objective(at + e) - nlp.objective(at - e)) / (2.0 * h) for e in steps])
    np.testing.assert_allclose(nlp.gradient(at), costs, atol=1e-6)
    upper = np.zeros((nlp.n, nlp.n))
    upper[nlp.hessian_sum.rows, nlp.hessian_sum.columns] = nlp.hessian(at, 0.7, lam)
    second = np.array([(slope(at + e) - slope(at - e)) / (2.0 * h) for e in steps])
    np.testing.assert_allclose(upper + np.triu(upper, 1).T, second, atol=1e-5 * max(1.0, np.abs(second).max()))


def test_constrained_system_is_planned_in_residual_form():
    """Both slides move together: 1.001 kg along x and 1 kg along y under both forces of 5 N."""
    eom = form_equations(coupled())
    plan = plan_collocation(Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0, "y": 1.0, "y_dot": 0.0}), scheme=Radau(12))
    expected = 2.0 * np.sqrt((1.001 + 1.0) / 10.0)
    assert plan.final_time == pytest.approx(expected, abs=1e-6)
    sim = replay(eom, plan)
    assert np.abs(sim.x[-1] - plan.x(plan.final_time)).max() < 1e-6


def test_path_condition_is_satisfied_along_the_plan():
    """The second link keeps its direction in space while the first turns."""
    eom = form_equations(two_links())
    level = Condition(name="level", rule=lambda s: s["shoulder"] + s["elbow"])
    end = {"shoulder": 0.5, "elbow": -0.5, "shoulder_dot": 0.0, "elbow_dot": 0.0}
    plan = plan_collocation(Problem(eom=eom, end=end, path=(level,)), scheme=Radau(15))
    sim = replay(eom, plan)
    assert np.abs(sim["shoulder"] + sim["elbow"]).max() < 1e-6
    assert np.abs(sim.x[-1] - eom.state(**end)).max() < 1e-6
    assert np.abs(sim.u_commanded).max() <= 1.0 + 1e-12
