"""Times of the phase plane do not depend on the grid, and no grid lets a plan exceed a limit between its points."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from spacectl import (
    AccelerationLimits,
    BlendCurve,
    JointPath,
    Plan,
    SpeedLimits,
    SplineCurve,
    TaskPath,
    TorqueLimits,
    plan_phase_plane,
)
from spacectl.planners.paths.dynamics import PathDynamics
from spacectl.planners.paths.limit_rows import form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.solve import solve_path
from spacectl.planners.phase_plane.grid import Margin, form_grid
from tests.oracles.path_timing import friction_times, spline_time, trapezoid_time
from tests.planners.path_systems import AT, OUTPUTS, arm, random_spline, seven_joints, turn, wheel

CLOSE = 1e-4  #: relative: what any grid from 200 cells on may lose
RESERVE = 4 * 5e-5  #: cells are split down to an excess of 5e-5; margins are a small multiple of it
SPEED, ACCELERATION = 1.0, 2.0  # [rad/s], [rad/s^2]
GRIDS = (200, 1000, 5000)


def waypoints(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (7, 7))


@cache
def plan_spline(seed: int, points: int, **options: float | None) -> Plan:
    """Speed and acceleration limits along a spline through seven random points of seven joints."""
    names = seven_joints().coordinates
    limits = (
        SpeedLimits(limits=dict.fromkeys(names, SPEED)),
        AccelerationLimits(limits=dict.fromkeys(names, ACCELERATION)),
    )
    path = JointPath(name=f"spline {seed}", curve=SplineCurve(points=waypoints(seed)), coordinates=names)
    return plan_phase_plane(seven_joints(), path, limits=limits, points=points, **options)


@cache
def least_time(seed: int) -> float:
    return spline_time(waypoints(seed), SPEED, ACCELERATION)


def test_the_oracle_has_converged() -> None:
    coarse = spline_time(waypoints(1), SPEED, ACCELERATION, cells=1000)
    assert coarse == pytest.approx(least_time(1), rel=0.3 * CLOSE)  # second order: a third of it is left at 2000


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("points", [100, *GRIDS])
def test_speeds_and_accelerations_against_a_linear_programme(seed: int, points: int) -> None:
    plan = plan_spline(seed, points)
    assert plan.final_time == pytest.approx(least_time(seed), rel=CLOSE)
    assert plan.notes["margin"] <= RESERVE and plan.notes["max_limit_violation"] == 0.0


def test_finer_grids_are_not_worse() -> None:
    times = [plan_spline(1, n).final_time for n in (200, 1000, 2000, 5000)]
    assert all(fine <= coarse * (1.0 + CLOSE) for coarse, fine in zip(times[:-1], times[1:], strict=True))


@pytest.mark.parametrize("points", GRIDS)
def test_ends_that_move(points: int) -> None:
    plan = plan_spline(0, points, begin_speed=0.2, end_speed=None)
    assert plan.final_time == pytest.approx(
        spline_time(waypoints(0), SPEED, ACCELERATION, begin=0.2, end=None), rel=CLOSE
    )


@pytest.mark.parametrize("points", [200, 5000])
def test_limits_hold_between_the_points_of_the_check(points: int) -> None:
    """Joint speeds and accelerations at places other than the quarters of cells, from the spline itself."""
    plan = plan_spline(1, points)
    t, (s, y, u) = np.asarray(plan.s.t), np.asarray(plan.s.values).T
    dt, part = np.diff(t), np.array([0.1, 0.4, 0.6, 0.9])[:, None]
    speed = y[:-1] + part * np.diff(y)
    at = s[:-1] + 0.5 * part * dt * (y[:-1] + speed)
    curve = SplineCurve(points=waypoints(1))
    _, first, second = curve.evaluate(at.ravel())
    rate = (u[:-1] + part * np.diff(u)).ravel()[:, None]
    v = speed.ravel()[:, None]
    assert np.max(np.abs(first * v)) <= SPEED * (1.0 + 1e-6)
    assert np.max(np.abs(first * rate + second * v**2)) <= ACCELERATION * (1.0 + 1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_torques_with_points_without_inertia(seed: int) -> None:
    """On 200 cells the second path used to be called not feasible."""
    plans = [plan_phase_plane(seven_joints(), random_spline(seed), points=n) for n in GRIDS]
    times = [plan.final_time for plan in plans]
    assert np.ptp(times) <= CLOSE * min(times)
    assert all(plan.notes["margin"] <= RESERVE and plan.notes["max_limit_violation"] == 0.0 for plan in plans)
    kinds = {point.kind for point in plans[0].notes["phase_plane"].points}
    assert {"zero inertia", "tangent"} <= kinds


def test_pieces_of_a_path() -> None:
    curve = BlendCurve(points=[(0.0, 15.0, 0.0), (0.0, 7.0, 0.0), (6.0, 7.0, 0.0)], radius=1.0)
    path = TaskPath(name="corner", curve=curve, outputs=OUTPUTS, at=AT)
    coarse, fine = (plan_phase_plane(arm(), path, points=n) for n in (200, 500))
    assert coarse.final_time == pytest.approx(fine.final_time, rel=CLOSE)


@pytest.mark.parametrize("points", [10, *GRIDS])
def test_constant_accelerations_are_exact_on_any_grid(points: int) -> None:
    limits = (TorqueLimits(), SpeedLimits(limits={"turn": 1.2}))
    plan = plan_phase_plane(wheel(), turn(4.0), limits=limits, points=points)
    assert plan.final_time == pytest.approx(trapezoid_time(2.0, 4.0, 3.0, 1.2), rel=2e-9)  # the margin of rounding


@pytest.mark.parametrize("points", GRIDS)
def test_viscous_friction_on_any_grid(points: int) -> None:
    plan = plan_phase_plane(wheel(viscous=0.8), turn(4.0), points=points)
    assert plan.final_time == pytest.approx(friction_times(2.0, 4.0, 3.0, 0.8)[1], rel=0.2 * CLOSE)


def test_margins_are_functions_of_the_path_not_of_the_grid() -> None:
    """A margin whose slope grew with the number of cells raised s_ddot, and with it the excess it was to remove."""
    margins = []
    for n in (200, 5000):
        s = np.linspace(0.0, 3.0, n + 1)
        excess = np.where((s[:-1] >= 1.5 - 1e-9) & (s[1:] <= 1.515 + 1e-9), 1e-4, 0.0)
        margins.append(Margin(s[[0, -1]], np.zeros(2)).raised(s, excess, 1.3))
    at = np.linspace(1.2, 1.8, 13)
    assert margins[0](at) == pytest.approx(margins[1](at), rel=0.02)
    assert margins[0](1.505) == pytest.approx(1.3e-4) and margins[0](0.0) < 1e-9


def test_a_split_grid_is_the_grid_of_its_nodes() -> None:
    path = random_spline(3)
    rows = form_rows(PathDynamics(seven_joints(), solve_path(seven_joints(), path), seven_joints().p), as_limits(None))
    grid = form_grid(rows, 20, (True, True))
    parts = np.ones(len(grid.s) - 1, dtype=int)
    parts[[0, 3, 4, -1]] = 2, 3, 8, 4
    fine = grid.split(parts)
    assert len(fine.s) == len(grid.s) + np.sum(parts - 1) and np.all(np.isin(grid.s, fine.s))
    assert np.allclose(fine.node, rows.evaluate(fine.s)[1], rtol=1e-12, atol=1e-12)
    assert np.allclose(fine.middle, rows.evaluate(0.5 * (fine.s[:-1] + fine.s[1:]))[1], rtol=1e-12, atol=1e-12)
