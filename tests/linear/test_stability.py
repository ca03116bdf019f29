"""Stability of operating points against closed forms, and of matrices whose eigenvalues are multiple or known to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag

from spacectl import (
    Free,
    JointSpring,
    Part,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    find_operating_point,
    form_equations,
    library,
    linearize,
)
from spacectl.linear.analysis.stability import judge_stability
from spacectl.reports.page.summaries import linear_summary
from tests.linear.test_periodic_motions import rolling

RATE = np.sqrt(1.5 * 9.80665)  # [rad/s], of a uniform rod of 1 m about its end


@pytest.mark.parametrize(
    ("angle", "word", "pole"),
    [(0.0, "marginal", 1j * RATE), (0.5, "marginal", 1j * RATE * np.sqrt(np.cos(0.5))), (np.pi, "unstable", RATE)],
)
def test_a_pendulum_is_judged_by_its_closed_form(angle: float, word: str, pole: complex) -> None:
    point = find_operating_point(form_equations(library.pendulum()), q={"hinge": angle})
    assert (point.stability, point.is_stable) == (word, False)
    assert point.pole is not None
    assert complex(point.pole.real, abs(point.pole.imag)) == pytest.approx(pole, rel=1e-9)
    assert f"stability='{word}'" in repr(point)


def test_damping_makes_the_hanging_pendulum_stable() -> None:
    rod = RigidBody(name="rod", mass=1.0, inertia=(1 / 12, 1 / 12, 0.0), com=(0.0, 0.0, -0.5))
    spring = JointSpring(name="damper", joint="hinge", stiffness=0.0, damping=0.1)
    parts = (Part(rod, joint=Revolute(name="hinge", axis="y")),)
    system = System(name="damped", parts=parts, elements=(spring,), environment=UniformGravity(g=(0.0, 0.0, -9.81)))
    point = find_operating_point(form_equations(system))
    assert point.is_stable
    assert point.pole is not None
    assert point.pole.real == pytest.approx(-0.5 * 0.1 * 3.0, rel=1e-9)  # half of damping over m L^2 / 3


def test_drift_of_a_free_body_is_marginal() -> None:
    body = RigidBody(name="body", mass=3.0, inertia=(1.0, 2.0, 2.5), com=(0.3, -0.2, 0.1))
    eom = form_equations(System(name="free", parts=(Part(body, joint=Free(name="base")),)))
    assert find_operating_point(eom).stability == "marginal"


def test_a_motion_along_which_the_model_changes_is_not_judged() -> None:
    eom, x = rolling(3.0)
    point = find_operating_point(eom, guess=x, v=dict(zip(eom.speeds, x[eom.n_q :], strict=True)))
    assert (point.stability, point.pole) == ("unknown", None)
    assert find_operating_point(eom).stability == "unstable"  # at rest it falls over


@pytest.mark.parametrize(
    ("A", "word"),
    [
        ([[0.0, 1.0], [0.0, 0.0]], "marginal"),
        ([[0.0, 1.0], [-4.0, -1e-6]], "stable"),
        ([[0.0, 1.0], [-4.0, 1e-6]], "unstable"),
        ([[0.0, 1.0], [-4.0, 1e-13]], "marginal"),
        ([[-1.0, 1e6], [0.0, -2.0]], "stable"),
        (np.zeros((0, 0)), "stable"),
    ],
)
def test_matrices(A: list[list[float]], word: str) -> None:
    assert judge_stability(A)[0] == word


def test_a_double_zero_behind_a_change_of_coordinates_is_marginal() -> None:
    drift = block_diag([[0.0, 1.0], [0.0, 0.0]], [[-1.0, 2.0], [-2.0, -1.0]])
    rng = np.random.default_rng(3)
    for _ in range(20):
        T = rng.normal(size=(4, 4))
        assert judge_stability(T @ drift @ np.linalg.inv(T))[0] == "marginal"


def test_reports_say_which_real_part_decides() -> None:
    model = linearize(eom := form_equations(library.pendulum()), find_operating_point(eom, q={"hinge": np.pi}))
    assert "unstable (largest real part 3.83536 1/s)" in linear_summary("up", model)["text"]
