"""The phase plane against closed forms, a second solver, the source's case, and a replay by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    AccelerationLimits,
    BlendCurve,
    CircularOrbit,
    JointPath,
    LineCurve,
    ModelError,
    SolverError,
    SpeedLimits,
    TaskPath,
    TorqueLimits,
    form_equations,
    library,
    plan_phase_plane,
    plan_reachability,
)
from tests.oracles.path_timing import bang_bang_time, friction_times, trapezoid_time
from tests.planners.path_systems import AT, OUTPUTS, arm, line, random_spline, replay, seven_joints, turn, wheel

MARGIN = 20.0 / 1000**2  #: part of the limits that a plan of 1000 cells keeps back; times grow by half of it
EXACT = 1e-6  #: cells of constant acceleration are exact for a double integrator; what is left is the margin


def test_double_integrator_is_exact() -> None:
    plan = plan_phase_plane(wheel(), turn(4.0))
    assert plan.final_time == pytest.approx(2.0 * np.sqrt(2.0 * 4.0 / 3.0), rel=MARGIN)
    assert plan.switch_times == pytest.approx((0.5 * plan.final_time,), rel=1e-9)
    assert [arc.limit for arc in plan.arcs] == ["turn at its upper limit", "turn at its lower limit"]
    bare = plan_phase_plane(wheel(), turn(4.0), margin=0.0)
    assert bare.final_time == pytest.approx(2.0 * np.sqrt(2.0 * 4.0 / 3.0), rel=1e-12)


@pytest.mark.parametrize(("w0", "w1"), [(0.0, 1.0), (1.5, 0.0), (0.7, 1.9)])
def test_given_end_speeds_and_unequal_limits(w0: float, w1: float) -> None:
    limits = TorqueLimits(limits={"turn": (-1.0, 2.5)})
    plan = plan_phase_plane(wheel(), turn(4.0), limits=limits, begin_speed=w0, end_speed=w1)
    assert plan.final_time == pytest.approx(bang_bang_time(2.0, 4.0, -1.0, 2.5, w0, w1), rel=2 * MARGIN)
    assert plan.x(0.0)[1] == pytest.approx(w0) and plan.x(plan.final_time)[1] == pytest.approx(w1)


def test_free_end_speed_is_the_largest() -> None:
    plan = plan_phase_plane(
        wheel(), turn(4.0), end_speed=None, limits=(TorqueLimits(), SpeedLimits(limits={"turn": 50.0}))
    )
    assert plan.final_time == pytest.approx(np.sqrt(2.0 * 2.0 * 4.0 / 3.0), rel=MARGIN)
    assert len(plan.arcs) == 1


def test_speed_limit_gives_an_arc_along_the_limit_curve() -> None:
    limits = (TorqueLimits(), SpeedLimits(limits={"turn": 1.2}))
    plan = plan_phase_plane(wheel(), turn(4.0), limits=limits)
    assert plan.final_time == pytest.approx(trapezoid_time(2.0, 4.0, 3.0, 1.2), rel=2 * MARGIN)
    assert [arc.limit for arc in plan.arcs][1] == "turn_dot at its upper limit"
    speed = plan.x.column("turn_dot")
    assert np.max(speed) <= 1.2 and plan_reachability(wheel(), turn(4.0), limits=limits).final_time == pytest.approx(
        plan.final_time, rel=5e-4
    )


def test_acceleration_limit_takes_the_place_of_the_torque() -> None:
    plan = plan_phase_plane(wheel(), turn(4.0), limits=AccelerationLimits(limits={"turn_dot": 0.5}))
    assert plan.final_time == pytest.approx(bang_bang_time(1.0, 4.0, -0.5, 0.5), rel=MARGIN)
    assert plan.arcs[0].limit == "rate of turn_dot at its upper limit"


@pytest.mark.parametrize("solver", [plan_phase_plane, plan_reachability])
def test_viscous_friction_is_carried_exactly(solver: object) -> None:
    """The term linear in s_dot: dropping it would change the time by 16 %."""
    switch, final = friction_times(2.0, 4.0, 3.0, 0.8)
    plan = solver(wheel(viscous=0.8), turn(4.0), points=1000 if solver is plan_phase_plane else 300)  # type: ignore[operator]
    assert plan.final_time == pytest.approx(final, rel=2e-4 if solver is plan_reachability else 3 * MARGIN)
    assert plan.switch_times[0] == pytest.approx(switch, rel=2e-3 if solver is plan_reachability else 3 * MARGIN)
    assert abs(bang_bang_time(2.0, 4.0, -3.0, 3.0) - final) > 0.02 * final


def test_the_error_falls_with_the_square_of_the_grid() -> None:
    exact = friction_times(2.0, 4.0, 3.0, 0.8)[1]
    errors = [
        abs(plan_phase_plane(wheel(viscous=0.8), turn(4.0), points=n, margin=0.0).final_time - exact)
        for n in (50, 100, 200)
    ]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(orders > 1.8)


def test_retrieval_of_a_satellite() -> None:
    """Sadigh (1995), section 8.3, gives 40.37 s and 14.61 s; ours by two solvers, the elbow saturated throughout."""
    plan, second = plan_phase_plane(arm(), line()), plan_reachability(arm(), line(), points=500)
    assert second.final_time == pytest.approx(plan.final_time, rel=5e-4)
    assert second.switch_times == pytest.approx(plan.switch_times, rel=2e-3)
    assert plan.final_time == pytest.approx(40.37, rel=3e-3) and plan.switch_times[0] == pytest.approx(14.61, rel=0.05)
    assert [arc.limit for arc in plan.arcs] == ["elbow at its upper limit", "elbow at its lower limit"]
    assert np.allclose(np.abs(plan.u.column("elbow")), 800.0, rtol=1e-3)
    assert plan.x(0.0)[:3] == pytest.approx([1.175, 0.7925, 1.175], abs=6e-4)  # Table 8.2, four digits
    assert plan.x(plan.final_time)[:3] == pytest.approx([0.1856, 2.7705, 0.1856], abs=6e-5)


def test_orbital_terms_and_their_sign_matter() -> None:
    """Without the orbit, and with the orbit normal reversed, the switch moves by tenths of a second."""
    plan = plan_phase_plane(arm(), line(), points=300)
    still = plan_phase_plane(form_equations(library.retrieval_arm(period=None)), line(), points=300)
    assert abs(plan.switch_times[0] - still.switch_times[0]) > 0.2
    assert isinstance(arm().system.environment, CircularOrbit)


def test_replay_returns_to_rest_at_the_end() -> None:
    plan = plan_phase_plane(arm(), line())
    flown = replay(arm(), plan)
    assert np.max(np.abs(flown.x - plan.x(flown.t))) < 2e-5  # second order in 1000 cells, twice integrated
    low, high = arm().limits()
    values = np.asarray(plan.u.values)
    assert np.all(values >= low) and np.all(values <= high)


def test_many_switches_and_both_solvers() -> None:
    curve = BlendCurve(points=[(0.0, 15.0, 0.0), (0.0, 7.0, 0.0), (6.0, 7.0, 0.0)], radius=1.0)
    path = TaskPath(name="corner", curve=curve, outputs=OUTPUTS, at=AT)
    plan = plan_phase_plane(arm(), path)
    second = plan_reachability(arm(), path, points=500)
    assert second.final_time == pytest.approx(plan.final_time, rel=5e-4)
    kinds = [item.kind for item in plan.notes["switches"] if item.kind != "other limit"]
    assert len(kinds) >= 5 and {"crossing", "zero inertia"} <= set(kinds)
    assert plan.notes["max_limit_violation"] <= 1e-9


def test_corners_are_stopped_in() -> None:
    path = JointPath(
        name="corner",
        curve=BlendCurve(points=[(0.0, 0.0), (0.5, 0.0), (0.5, 0.4)]),
        coordinates=("joint1", "joint2"),
    )
    eom = form_equations(library.planar_arm())
    limits = TorqueLimits(limits={"joint1": 2.0, "joint2": 1.0})
    plan = plan_phase_plane(eom, path, limits=limits)
    legs = [
        plan_phase_plane(
            eom,
            JointPath(curve=LineCurve(start=a, end=b), coordinates=("joint1", "joint2")),
            limits=limits,
        ).final_time
        for a, b in (((0.0, 0.0), (0.5, 0.0)), ((0.5, 0.0), (0.5, 0.4)))
    ]
    assert plan.final_time == pytest.approx(sum(legs), rel=1e-4)


def test_seven_joints_without_chattering() -> None:
    plan = plan_phase_plane(seven_joints(), random_spline(0))
    fine = plan_phase_plane(seven_joints(), random_spline(0), points=4000)
    assert plan.final_time == pytest.approx(fine.final_time, rel=2e-4)
    assert len(plan.arcs) < 20 and plan.notes["max_limit_violation"] <= 1e-9
    times = np.linspace(0.0, fine.final_time, 60)
    rates = np.array([seven_joints().x_dot(t, fine.x(t), fine.u(t)) for t in times[1:-1]])
    size = np.max(np.abs(rates), axis=0)
    assert np.max(np.abs(rates - fine.x.rate(times[1:-1])) / size) < 5e-3  # linear torques on a grid of 4000


def test_initial_speed_above_the_limit_curve() -> None:
    with pytest.raises(SolverError, match=r"initial speed s_dot = 5 lies above .* at s = 0, .* allows .*elbow"):
        plan_phase_plane(arm(), line(), begin_speed=5.0)


def test_a_load_above_the_torque_at_the_begin() -> None:
    eom = form_equations(library.pendulum())
    up = JointPath(name="lift", curve=LineCurve(start=(1.5,), end=(2.5,)), coordinates=("hinge",))
    with pytest.raises(SolverError, match=r"'lift'.*comes to rest at s = 0 of 1, with hinge at its upper limit"):
        plan_phase_plane(eom, up, limits=TorqueLimits(limits={"hinge": 3.0}))


def test_an_end_that_cannot_be_reached_says_where() -> None:
    eom = form_equations(library.pendulum())
    up = JointPath(name="swing", curve=LineCurve(start=(0.0,), end=(2.0,)), coordinates=("hinge",))
    with pytest.raises(
        SolverError, match=r"'swing'.*comes to rest at s = (1\.\d+) of 2, with hinge at its upper limit"
    ):
        plan_phase_plane(eom, up, limits=TorqueLimits(limits={"hinge": 3.0}))
    with pytest.raises(SolverError, match="hinge at its"):
        plan_reachability(eom, up, limits=TorqueLimits(limits={"hinge": 3.0}), points=200)


def test_a_path_no_speed_is_possible_on() -> None:
    with pytest.raises(
        SolverError, match=r"not feasible at s = .* elbow at its (upper|lower) limit.*takes .* times the limit"
    ):
        plan_phase_plane(arm(), line(), limits=TorqueLimits(limits={"shoulder": 1e-6, "elbow": 1e-6, "wrist": 1e-6}))


def test_a_plan_needs_limits_and_a_path() -> None:
    with pytest.raises(ModelError, match="no limits"):
        plan_phase_plane(form_equations(library.pendulum()), JointPath(curve=turn(1.0).curve, coordinates=("hinge",)))
    with pytest.raises(ModelError, match="expected JointPath"):
        plan_phase_plane(arm(), turn(1.0).curve)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="expected EquationsOfMotion"):
        plan_phase_plane(library.pendulum(), turn(1.0))
