"""Summaries of equations, linear models, laws and plans contain names and numbers that can be verified."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import block_diag

from spacectl import (
    Labels,
    LinearModel,
    TorqueLimits,
    Trajectory,
    design_lqr,
    find_operating_point,
    form_equations,
    linearize,
    plan_phase_plane,
)
from spacectl.model.library import pendulum
from spacectl.planners.plan import Arc, Plan
from spacectl.reports.page.figure_data import figure_to_data
from spacectl.reports.page.summaries import equation_summary, law_summary, linear_summary, plan_figures, plan_summary
from spacectl.reports.units import format_value
from tests.planners.path_systems import turn, wheel


def test_equations_and_linear_model_of_a_pendulum() -> None:
    eom = form_equations(pendulum())
    rows = dict(equation_summary("pendulum", eom)["rows"])
    assert rows["coordinates q (1)"] == "hinge [rad]"
    assert int(rows["operations of x_dot"]) > 5
    model = linearize(eom, find_operating_point(eom))
    summary = linear_summary("hanging", model)
    (pole,) = summary["poles"]
    assert "2 states" in summary["text"]
    frequency = float(np.max(np.abs(model.poles.imag))) / (2.0 * np.pi)
    assert np.isclose(float(pole[2]), frequency, rtol=1e-5)


def test_gains_carry_the_names_of_states() -> None:
    eom = form_equations(pendulum())
    law = design_lqr(linearize(eom, find_operating_point(eom)), Q=np.eye(2), R=[[1.0]])
    summary = law_summary("lqr", law)
    assert summary["gains"]["columns"] == ["hinge", "hinge_dot"]
    assert np.allclose([float(value) for value in summary["gains"]["rows"][0][1:]], np.asarray(law.K)[0], rtol=1e-3)


def test_a_plan_shows_its_arcs_and_its_phase_plane() -> None:
    t = np.linspace(0.0, 2.0, 21)
    s = np.where(t < 1.0, 0.5 * t**2, 1.0 - 0.5 * (2.0 - t) ** 2)
    s_dot = np.where(t < 1.0, t, 2.0 - t)
    plan = Plan(
        name="slew",
        x=Trajectory(t=t, values=np.column_stack([s, s_dot]), labels=Labels(("a", "a_dot"), ("rad", "rad/s"), "state")),
        u=Trajectory(t=t, values=np.where(t < 1.0, 1.0, -1.0)[:, None], labels=Labels(("a",), ("N m",), "input")),
        s=Trajectory(t=t, values=np.column_stack([s, s_dot]), labels=Labels(("s", "s_dot"), ("1", "1/s"), "value")),
        arcs=(
            Arc(begin=0.0, end=1.0, limit="a at its upper limit"),
            Arc(begin=1.0, end=2.0, limit="a at its lower limit"),
        ),
    )
    summary = plan_summary("slew", plan)
    assert [arc[2] for arc in summary["arcs"]] == ["a at its upper limit", "a at its lower limit"]
    phase, inputs = plan_figures("plan1", "slew", plan)
    switches = phase.panels[0].lines[1]
    assert (float(switches.x[0]), float(switches.y[0])) == (0.5, 1.0)
    assert inputs.panels[0].unit == "N m"


def test_a_plan_with_a_phase_plane_brings_its_own_figure() -> None:
    plan = plan_phase_plane(wheel(), turn(4.0), limits=TorqueLimits(fraction=0.64))
    phase, _ = plan_figures("plan1", "turn", plan)
    assert phase.name == "plan1_phase_plane"
    assert phase.panels[0].regions, "what no motion may enter is shaded"
    assert all(
        "PhasePlane" not in text and "SwitchPoint" not in text for _, text in plan_summary("turn", plan)["notes"]
    )
    json.dumps([plan_summary("turn", plan), figure_to_data(phase)], allow_nan=False)


def linear_model(*blocks: np.ndarray) -> LinearModel:
    A = block_diag(*blocks)
    x = Labels(tuple(f"x{k + 1}" for k in range(len(A))), (), "state")
    return LinearModel(
        A=A, B=np.zeros((len(A), 0)), C=np.zeros((0, len(A))), D=np.zeros((0, 0)), x=x, u=Labels(), y=Labels()
    )


def oscillator(frequency: float, ratio: float) -> np.ndarray:
    """Of ``s^2 + 2 ratio frequency s + frequency^2``."""
    return np.array([[0.0, 1.0], [-(frequency**2), -2.0 * ratio * frequency]])


@pytest.mark.parametrize(("frequency", "ratio"), [(2.0, 0.3), (40.0, 0.02), (0.5, -0.1)])
def test_a_pole_is_listed_with_its_frequency_and_damping_ratio(frequency: float, ratio: float) -> None:
    summary = linear_summary("mode", linear_model(oscillator(frequency, ratio)))
    (row,) = summary["poles"]
    numbers = [float(text.replace("−", "-")) for text in row]
    ringing = frequency * np.sqrt(1.0 - ratio**2)
    np.testing.assert_allclose(numbers, [-ratio * frequency, ringing, frequency / (2.0 * np.pi), ratio], rtol=1e-5)


def test_a_real_pole_has_no_frequency_and_no_ratio() -> None:
    summary = linear_summary("lag", linear_model(np.array([[-3.0]])))
    assert [text.replace("−", "-") for text in summary["poles"][0]] == ["-3", "0", "", ""]


@pytest.mark.parametrize(
    ("blocks", "verdict"),
    [
        ((oscillator(2.0, 0.3), np.array([[-1.0]])), "asymptotically stable"),
        ((oscillator(2.0, 0.3), np.array([[-1e-6]])), "asymptotically stable"),
        ((oscillator(2.0, 0.3), np.array([[0.0]])), "marginal"),
        ((oscillator(2.0, 0.0), np.array([[-1.0]])), "marginal"),
        ((oscillator(2.0, 0.3), np.array([[1e-12]])), "marginal"),  # rounding of an integrator
        ((oscillator(2.0, 0.3), np.array([[1e-6]])), "unstable"),
        ((oscillator(2.0, -0.01), np.array([[-1.0]])), "unstable"),
    ],
)
def test_stability_follows_from_the_rightmost_pole(blocks: tuple[np.ndarray, ...], verdict: str) -> None:
    summary = linear_summary("poles", linear_model(*blocks))["text"]
    assert summary.startswith(f"3 states, 0 inputs, 0 outputs; {verdict} (largest real part ")


@pytest.mark.parametrize(("value", "shown"), [(1.2345678e-6, "1.23457 × 10⁻⁶"), (1.2345678e-8, "1.23 × 10⁻⁸")])
def test_numbers_of_the_size_of_rounding_are_shown_with_few_digits(value: float, shown: str) -> None:
    assert format_value(value) == shown
