"""Every kind of limit: the plan reaches it, never exceeds it, and the rows are the quantity they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacectl import (
    AccelerationLimits,
    FlexibleJointLimit,
    GraspLimit,
    JointForce,
    JointPath,
    LineCurve,
    ModelError,
    Part,
    Plan,
    Prismatic,
    RigidBody,
    SpeedLimits,
    System,
    TorqueLimits,
    form_equations,
    library,
    plan_phase_plane,
    plan_reachability,
)
from spacectl.planners.paths.dynamics import PathDynamics, combine
from spacectl.planners.paths.limit_rows import form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.solve import solve_path
from tests.oracles.path_timing import bang_bang_time
from tests.planners.path_systems import arm, lift, lift_path, line, turn, wheel

REACHED = 3e-3  #: the margin kept back on grids of 300 cells, and the sampling of the histories


def reactions(plan: Plan, joint: str) -> np.ndarray:
    """Loads (n, 6) that a joint passes on, at the knots of a plan, by the equations' own forward dynamics."""
    eom = arm()
    k = [part.joint_name for part in eom.system.tree].index(joint)
    x, u = np.asarray(plan.x.values), np.asarray(plan.u.values)
    return np.array([eom.reactions(0.0, a[:3], a[3:], b)[k] for a, b in zip(x[::5], u[::5], strict=True)])


def test_torques_may_use_a_fraction() -> None:
    plan = plan_phase_plane(wheel(), turn(4.0), limits=TorqueLimits(fraction=0.64))
    assert plan.final_time == pytest.approx(bang_bang_time(2.0, 4.0, -1.92, 1.92), rel=2e-5)
    assert np.max(np.abs(np.asarray(plan.u.values))) <= 1.92


def test_a_torque_speed_curve_keeps_its_linear_term() -> None:
    """``|u| <= 3 - w``: while accelerating the inertia sees a friction of 1, while braking one of -1 (closed form)."""
    limits = TorqueLimits(limits={"turn": lambda s: (-3.0 + s["turn_dot"], 3.0 - s["turn_dot"])})
    plan = plan_phase_plane(wheel(), turn(4.0), limits=limits)
    # by symmetry in time the switch is in the middle: w = 3 (1 - exp(-t/2)), angle 3 t - 2 w = 2 at the middle
    t = np.linspace(0.0, 4.0, 400001)
    way = 3.0 * t - 6.0 * (1.0 - np.exp(-0.5 * t))
    assert plan.final_time == pytest.approx(2.0 * float(np.interp(2.0, way, t)), rel=5e-5)
    u, w = plan.u.column("turn"), plan.x.column("turn_dot")
    assert np.max(np.abs(u) + w - 3.0) <= 1e-5
    assert plan_reachability(wheel(), turn(4.0), limits=limits, points=300).final_time == pytest.approx(
        plan.final_time, rel=5e-4
    )


def test_a_torque_limit_keeps_its_quadratic_term() -> None:
    """``|u| <= 3 - w^2`` on an inertia of 2: w = sqrt(3) tanh(sqrt(3) t / 2), angle 2 ln cosh(sqrt(3) t / 2)."""
    limits = TorqueLimits(limits={"turn": lambda s: (-3.0 + s["turn_dot"] ** 2, 3.0 - s["turn_dot"] ** 2)})
    plan = plan_phase_plane(wheel(), turn(4.0), limits=limits)
    # by symmetry in time the switch is in the middle, at an angle of 2: cosh(sqrt(3) t / 2) = e
    assert plan.final_time == pytest.approx(4.0 * np.arccosh(np.e) / np.sqrt(3.0), rel=5e-5)
    u, w = plan.u.column("turn"), plan.x.column("turn_dot")
    assert np.max(np.abs(u) + w**2 - 3.0) <= 1e-5


def test_a_torque_limit_that_depends_on_the_posture() -> None:
    limits = TorqueLimits(limits={"elbow": lambda s: (-500.0 - 100.0 * s["elbow"], 500.0 + 100.0 * s["elbow"])})
    plan = plan_phase_plane(arm(), line(), limits=limits, points=300)
    ratio = np.abs(plan.u.column("elbow")) / (500.0 + 100.0 * plan.x.column("elbow"))
    assert 1.0 - REACHED < np.max(ratio) <= 1.0 + 1e-9 and np.min(ratio) > 1.0 - REACHED


def test_speeds_and_accelerations_of_the_arm() -> None:
    limits = (
        TorqueLimits(),
        SpeedLimits(limits={"elbow": 0.05}),
        AccelerationLimits(limits={"wrist_dot": (-0.01, 0.02)}),
    )
    plan = plan_phase_plane(arm(), line(), limits=limits, points=300)
    second = plan_reachability(arm(), line(), limits=limits, points=300)
    assert second.final_time == pytest.approx(plan.final_time, rel=5e-4)
    assert 0.05 * (1.0 - REACHED) < np.max(plan.x.column("elbow_dot")) <= 0.05
    rates = np.asarray(plan.x.rates)[:, plan.x.labels.index("wrist_dot")]
    assert np.min(rates) >= -0.01 - 1e-9 and np.max(rates) <= 0.02 + 1e-9
    assert any("elbow_dot" in arc.limit for arc in plan.arcs)


def test_a_grasp_carries_no_more_than_it_may() -> None:
    free = plan_phase_plane(arm(), line(), points=300)
    peak = np.max(np.abs(reactions(free, "wrist")[:, 3:]), axis=0)
    size = 0.5 * float(np.max(peak))
    plan = plan_phase_plane(arm(), line(), limits=(TorqueLimits(), GraspLimit(joint="wrist", force=size)), points=300)
    held = np.abs(reactions(plan, "wrist")[:, 3:])
    assert size * (1.0 - REACHED) < np.max(held) <= size * (1.0 + 1e-6)
    assert plan.final_time > free.final_time
    assert any(arc.limit.startswith("force") and "wrist" in arc.limit for arc in plan.arcs)


def test_a_flexible_joint_is_wound_up_no_further() -> None:
    limit = FlexibleJointLimit(joint="elbow", stiffness=2.0e4, deflection=0.02)
    plan = plan_phase_plane(arm(), line(), limits=(TorqueLimits(), limit), points=300)
    torque = np.abs(plan.u.column("elbow"))  # no spring or friction in the joint: what the motor gives reaches the link
    assert 400.0 * (1.0 - REACHED) < np.max(torque) <= 400.0 * (1.0 + 1e-9)
    assert plan.arcs[0].limit == "transmission of elbow at its upper limit"


def test_a_flexible_drive_of_a_slider_is_limited_by_its_force() -> None:
    """A mass of 2 kg, off the axis so that the drive passes a moment too: 1.5 N give the time of a double integrator."""
    plan = plan_phase_plane(lift(), lift_path(), limits=(TorqueLimits(), FlexibleJointLimit(joint="slide", torque=1.5)))
    assert plan.final_time == pytest.approx(bang_bang_time(2.0, 4.0, -1.5, 1.5), rel=2e-5)
    wound = FlexibleJointLimit(joint="slide", stiffness=300.0, deflection=0.005)  # 1.5 N again
    assert plan_phase_plane(lift(), lift_path(), limits=(wound,)).final_time == plan.final_time


def test_a_joint_of_ones_own_that_slides_is_limited_by_its_force() -> None:
    class Rail(Prismatic):
        """A kind that the planners do not know by name."""

    body = RigidBody(name="slider", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.3, 0.2, -0.4))
    system = System(
        name="rail", parts=(Part(body, joint=Rail(name="slide", axis="y")),), actuators=(JointForce(joint="slide"),)
    )
    plan = plan_phase_plane(form_equations(system), lift_path(), limits=FlexibleJointLimit(joint="slide", torque=1.5))
    assert plan.final_time == pytest.approx(bang_bang_time(2.0, 4.0, -1.5, 1.5), rel=2e-5)


@pytest.mark.parametrize("axis", ["x", "-z", (0.6, 0.0, 0.8)])
def test_what_a_transmission_carries_is_what_moves_its_link(axis: Any) -> None:
    """Prismatic and revolute: the motor less spring and damper beside it, at arbitrary s_dot and s_ddot."""
    stiffness, damping, sizes = 7.0, 0.4, {"slide": 2.0, "swing": 5.0}
    eom = lift(axis, stiffness, damping, has_arm=True)
    limits = tuple(FlexibleJointLimit(joint=name, torque=size) for name, size in sizes.items())
    path = JointPath(curve=LineCurve(start=(0.0, 0.3), end=(0.9, 1.5)), coordinates=("slide", "swing"))
    rows = form_rows(PathDynamics(eom, solve_path(eom, path), eom.p), limits)
    motion, table = rows.evaluate(np.array([0.2, 1.1]))
    y, z = np.array([0.7, 1.3]), np.array([-0.4, 0.2])
    q, v, u = motion.points.q, motion.speeds(y), motion.inputs(y, z)
    carried = np.column_stack([u[:, 0] - stiffness * q[:, 0] - damping * v[:, 0], u[:, 1]]) / [2.0, 5.0]
    values = combine(table, y, z)
    np.testing.assert_allclose(values[:, 0::2], carried - 1.0, atol=1e-9)
    np.testing.assert_allclose(values[:, 1::2], -carried - 1.0, atol=1e-9)


def test_rows_are_what_they_stand_for() -> None:
    """Torque, load, speed and acceleration of the rows against the equations of motion at arbitrary s_dot, s_ddot."""
    eom = arm()
    limits = as_limits(
        (TorqueLimits(), GraspLimit(joint="wrist", moment=1.0, force=1.0), SpeedLimits(limits={"elbow": 1.0}))
    )
    rows = form_rows(PathDynamics(eom, solve_path(eom, line()), eom.p), limits)
    motion, table = rows.evaluate(np.array([2.0, 7.0]))
    y, z = np.array([0.7, 1.3]), np.array([-0.4, 0.2])
    values, u = combine(table, y, z), motion.inputs(y, z)
    k = [part.joint_name for part in eom.system.tree].index("wrist")
    for i in range(2):
        q, v = motion.points.q[i], motion.speeds(y)[i]
        assert np.allclose(eom.v_dot(0.0, q, v, u[i]), motion.accelerations(y, z)[i], rtol=1e-10)
        load = eom.reactions(0.0, q, v, u[i])[k]
        expected = [*(u[i] / [800.0, 800.0, 400.0]), *load, v[1]]
        assert np.allclose(values[i][0::2], np.array(expected) - 1.0, atol=1e-8)
        assert np.allclose(values[i][1::2], -np.array(expected) - 1.0, atol=1e-8)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TorqueLimits(limits={"elbow": -1.0}), "low < high"),
        (lambda: TorqueLimits(fraction=1.5), "above 0 and up to 1"),
        (lambda: GraspLimit(joint="wrist"), "force=, moment= or both"),
        (lambda: FlexibleJointLimit(joint="elbow", stiffness=1.0), "stiffness= and deflection="),
        (lambda: SpeedLimits(limits=0.3), "expected names and numbers"),
        (lambda: TorqueLimits(limits={"elbow": lambda s: s["elbow"]}), "expected two"),
        (lambda: as_limits((1.0,)), "is not a limit"),
    ],
)
def test_descriptions_that_cannot_be_right(build: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        build()


def test_unknown_names_and_wrong_laws() -> None:
    for limits, message in (
        (TorqueLimits(limits={"elbw": 1.0}), "did you mean 'elbow'"),
        (SpeedLimits(limits={"knee": 1.0}), "unknown .* 'knee'"),
        (GraspLimit(joint="hand", force=1.0), "unknown joint 'hand'"),
        (TorqueLimits(limits={"elbow": lambda s: (-1.0 - s["elbow_dot"] ** 3, 1.0)}), "more than quadratic"),
    ):
        with pytest.raises(ModelError, match=message):
            plan_phase_plane(arm(), line(), limits=limits, points=50)


def test_flexible_systems_are_planned_by_their_rigid_counterpart() -> None:
    with pytest.raises(ModelError, match=r"no input drives '(upper|lower)\.eta1_dot'.*rigid counterpart"):
        plan_phase_plane(form_equations(library.retrieval_arm(flexible=True)), line(), points=50)
