"""The study's events against a plane problem from scratch, and its claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl.cli.lookup import load_study

STUDY = Path(__file__).resolve().parents[2] / "studies" / "booster_separation"


@pytest.fixture(scope="module")
def metrics() -> dict:
    study = load_study(STUDY / "study.py").study
    return dict(study.run(study.parameters, quick=True, progress=lambda done, what: None).metrics)


def plane_events() -> tuple[float, float]:
    """When R1 is zero and when 5 mm have been slid, by a symmetric plane problem: core along x, booster angle, slide.

    Booster: centre at ball - R(theta) (l, -e), theta its tilt nose inwards; Newton and Euler with the ball's force.
    """
    p = load_study(STUDY / "study.py").study.parameters
    M, m, inertia = p.core_mass, p.booster_mass, p.booster_inertia_across
    centre, offset, back = p.booster_centre, p.thrust_offset, p.booster_centre - p.booster_length

    def solve(t: float, theta: float, omega: float, slides: bool) -> np.ndarray:
        """Accelerations X'' of the core, theta'', s'' of the slide, and reactions R1, R2."""
        c, s = np.cos(theta), np.sin(theta)
        R = np.array([[c, s], [-s, c]])  # axes of the booster in (x forward, y outward)
        turn = np.array([[-s, c], [-c, -s]])  # its derivative with respect to theta
        arm = np.array([centre, -offset])  # ball from the centre of mass
        force = R @ (p.thrust * np.exp(-t / p.tail_off) * np.array([np.cos(p.thrust_cant), np.sin(p.thrust_cant)]))
        thrust_arm = R @ np.array([back, 0.0])
        # unknowns: X'', theta'', s'', R1, R2; centre of mass = (X - slide, y0) - R arm; R'' arm = turn arm th'' - R arm th'^2
        A, b = np.zeros((5, 5)), np.zeros(5)
        A[0, [0, 3]], b[0] = (M, -4.0), p.core_thrust
        A[1:3, 1], A[1, 0], A[1, 2] = -m * (turn @ arm), m, -m
        A[1, 3], A[2, 4] = 1.0, -1.0  # R1 presses the booster backwards, R2 outwards
        b[1:3] = force - m * (R @ arm) * omega**2
        ball = R @ arm
        A[3, 1], A[3, 3], A[3, 4] = inertia, ball[1], ball[0]  # theta turns from y to x, against x cross y
        b[3] = -(thrust_arm[0] * force[1] - thrust_arm[1] * force[0])
        A[3, 3] *= 1.0
        A[4, 3 if slides else 2] = 1.0
        return np.linalg.solve(A, b)

    def rates(slides: bool):
        def f(t: float, z: np.ndarray) -> np.ndarray:
            found = solve(t, z[0], z[1], slides)
            return np.array([z[1], found[1], z[3], found[2]])

        return f

    def first(t: float, z: np.ndarray) -> float:
        return solve(t, z[0], z[1], False)[3]

    def slid(t: float, z: np.ndarray) -> float:
        return z[2] - p.slide

    first.terminal = slid.terminal = True  # type: ignore[attr-defined]
    one = solve_ivp(rates(False), (0.0, 3.0), [p.booster_tilt, 0.0, 0.0, 0.0], events=first, rtol=1e-12, atol=1e-13)
    t, z = one.t[-1], one.y[:, -1]
    two = solve_ivp(rates(True), (t, 3.0), z, events=slid, rtol=1e-12, atol=1e-13)
    return float(t), float(two.t[-1])


def test_events_are_those_of_a_plane_problem_from_scratch(metrics: dict) -> None:
    first, opened = plane_events()
    assert metrics["first_reaction_zero"] == pytest.approx(first, abs=1e-8)
    assert metrics["nozzle_opening"] == pytest.approx(opened, abs=1e-8)
    assert first == pytest.approx(0.7, abs=0.05)  # as printed, with the assumed tail-off


def test_event_times_are_sharp_and_do_not_depend_on_the_grid(metrics: dict) -> None:
    assert metrics["event_time_error"] < 1e-8
    assert metrics["event_time_grid_difference"] == 0.0
    assert metrics["release_jump"] == 0.0


def test_boosters_part_and_stay_clear(metrics: dict) -> None:
    assert metrics["second_reaction_zero"] >= metrics["nozzle_opening"] > metrics["first_reaction_zero"]
    assert metrics["recontact"] == 0.0
    assert metrics["turn_rate_at_release"] > 0.0
    for name in ("one_booster", "two_opposite"):
        assert 0.0 < metrics[f"least_clearance_{name}"] < metrics["least_clearance"]
    assert metrics["core_turn_two_opposite"] < metrics["core_turn_one_booster"]  # opposite pushes balance


def test_first_event_is_proportional_to_the_tail_off(metrics: dict) -> None:
    """lambda 1 is zero where thrust per mass equals the core's acceleration, but for the turning: near log(T m_c / (F m_b))."""
    p = load_study(STUDY / "study.py").study.parameters
    expected = np.log(p.thrust * p.core_mass / (p.core_thrust * p.booster_mass))
    assert metrics["first_event_slope"] == pytest.approx(expected, rel=0.05)
