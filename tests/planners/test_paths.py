"""Paths: curves and their derivatives, conditions solved along s, redundancy, what is singular or crosses itself."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    ArcCurve,
    BlendCurve,
    BodyTorque,
    Free,
    ImplicitPath,
    JointPath,
    LineCurve,
    ModelError,
    Part,
    RigidBody,
    ShapeError,
    SlewPath,
    SolverError,
    SplineCurve,
    System,
    TaskPath,
    check_path,
    choose_path,
    form_equations,
    library,
    plan_phase_plane,
    solve_path,
)
from spacectl.planners.paths.curves import Curve
from spacectl.planners.paths.dynamics import PathDynamics
from tests.planners.path_systems import AT, OUTPUTS, arm, line, wheel

CURVES = [
    LineCurve(start=(0.0, 1.0), end=(2.0, -1.0)),
    ArcCurve(start=(1.0, 0.0, 0.2), via=(0.3, 1.0, 0.1), end=(-1.0, 0.2, 0.0)),
    SplineCurve(points=[[0.0, 0.0], [1.0, 0.5], [0.5, 1.5], [2.0, 2.0]]),
    BlendCurve(points=[[0.0, 0.0], [1.0, 0.0], [1.5, 1.0], [0.0, 2.0]], radius=0.2),
]


@pytest.mark.parametrize("curve", CURVES, ids=lambda item: type(item).__name__)
def test_derivatives_are_those_of_the_values(curve: Curve) -> None:
    h = 1e-5
    for i, (begin, end) in enumerate(zip(curve.breaks[:-1], curve.breaks[1:], strict=True)):
        s = np.linspace(begin + 2 * h, end - 2 * h, 7)
        up, here, down = (curve.evaluate(s + d, i) for d in (h, 0.0, -h))
        assert np.allclose((up[0] - down[0]) / (2 * h), here[1], atol=1e-8)
        assert np.allclose((up[1] - down[1]) / (2 * h), here[2], atol=1e-8)


@pytest.mark.parametrize("curve", CURVES, ids=lambda item: type(item).__name__)
def test_pieces_join(curve: Curve) -> None:
    for i, at in enumerate(curve.breaks[1:-1]):
        left, right = (curve.evaluate(np.array([at]), i + k) for k in (0, 1))
        assert np.allclose(left[0], right[0]) and np.allclose(left[1], right[1])  # arcs are tangent to their lines


def test_lines_and_arcs_are_parametrised_by_length() -> None:
    for curve in (CURVES[0], CURVES[1], CURVES[3]):
        for i, (begin, end) in enumerate(zip(curve.breaks[:-1], curve.breaks[1:], strict=True)):
            speed = np.linalg.norm(curve.evaluate(np.linspace(begin, end, 5), i)[1], axis=1)
            assert np.allclose(speed, 1.0)
    assert np.allclose(CURVES[1].evaluate(np.array([CURVES[1].length]))[0], [[-1.0, 0.2, 0.0]])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LineCurve(start=(1.0,), end=(1.0,)), "needs a length"),
        (lambda: ArcCurve(start=(0.0, 0.0), via=(1.0, 1.0), end=(2.0, 2.0)), "on a line"),
        (lambda: SplineCurve(points=[[0.0], [0.0]]), "two points coincide"),
        (lambda: BlendCurve(points=[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], radius=3.0), "does not fit"),
        (lambda: JointPath(curve=CURVES[0], coordinates=("a",)), "2 dimensions, but 1 coordinates"),
        (lambda: ImplicitPath(rule=lambda q, s: [q["a"] - s], begin=1.0, end=1.0), "needs a length"),
        (lambda: JointPath(curve=CURVES[0], coordinates=("a", "b"), weights={"a": 0.0}), "expected above 0"),
    ],
)
def test_descriptions_that_cannot_be_right(build: Any, message: str) -> None:
    with pytest.raises((ModelError, ShapeError), match=message):
        build()


def test_the_source_conditions_and_the_task_path_agree() -> None:
    """Sadigh (1995), Eq 8.32, as published, compared with sensors on the payload; both exact to rounding."""
    length, offset = 8.13, 1.0
    path = ImplicitPath(
        name="8.32",
        rule=lambda q, s: [
            q["shoulder"] + q["elbow"] + q["wrist"] - np.pi,
            offset + length * (ca.cos(q["shoulder"]) + ca.cos(q["shoulder"] + q["elbow"])) - 1.0,
            length * (ca.sin(q["shoulder"]) + ca.sin(q["shoulder"] + q["elbow"])) - s,
        ],
        begin=15.0,
        end=3.0,
        at=AT,
    )
    s = np.linspace(0.0, 12.0, 25)
    first, second = (solve_path(arm(), item).evaluate(s) for item in (path, line()))
    for a, b in zip((first.q, first.dq, first.ddq), (second.q, second.dq, second.ddq), strict=True):
        assert np.allclose(a, b, atol=1e-13)
    assert first.q[0] == pytest.approx([1.175, 0.7925, 1.175], abs=6e-4)  # Sadigh (1995), Table 8.2
    assert first.q[-1] == pytest.approx([0.1856, 2.7705, 0.1856], abs=6e-5)


@pytest.mark.parametrize("redundant", [False, True])
def test_derivatives_along_solved_paths(redundant: bool) -> None:
    outputs, curve = OUTPUTS, LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 3.0, 0.0))
    if redundant:
        outputs, curve = OUTPUTS[:2], LineCurve(start=(0.0, 15.0), end=(0.0, 9.0))
    path = TaskPath(curve=curve, outputs=outputs, at=AT, weights={"wrist": 3.0})
    solved, s, h = solve_path(arm(), path), np.linspace(1.0, 5.0, 5), 1e-4
    up, here, down = (solved.evaluate(s + d) for d in (h, 0.0, -h))
    assert np.allclose((up.q - down.q) / (2 * h), here.dq, atol=2e-8)  # redundant: the branch to 1e-11
    assert np.allclose((up.dq - down.dq) / (2 * h), here.ddq, atol=2e-8)


def test_a_rule_keeps_all_of_its_second_derivatives() -> None:
    """``exp(q) (1 + s) = (1 + s)^3`` has q = 2 ln(1 + s); its rule is curved in q, in s, and in both together."""
    path = ImplicitPath(rule=lambda q, s: [ca.exp(q["turn"]) * (1.0 + s) - (1.0 + s) ** 3], begin=0.2, end=1.5)
    s = np.linspace(0.0, 1.3, 7)
    found, base = solve_path(wheel(), path).evaluate(s), 1.2 + s
    np.testing.assert_allclose(found.q[:, 0], 2.0 * np.log(base), rtol=1e-10)
    np.testing.assert_allclose(found.dq[:, 0], 2.0 / base, rtol=1e-10)
    np.testing.assert_allclose(found.ddq[:, 0], -2.0 / base**2, rtol=1e-10)
    # the inertia of 2 makes it a torque: tau = 2 (q' s_ddot + q'' s_dot^2)
    y, z = np.full(7, 1.7), np.full(7, -0.6)
    u = PathDynamics(wheel(), solve_path(wheel(), path), wheel().p).evaluate(s).inputs(y, z)
    np.testing.assert_allclose(u[:, 0], 2.0 * (2.0 / base * z - 2.0 / base**2 * y**2), rtol=1e-9)


def curved_path() -> Any:
    curve = ArcCurve(start=(0.0, 15.0, 0.0), via=(-1.5, 12.0, 0.1), end=(-0.5, 9.0, 0.2))
    return solve_path(arm(), TaskPath(curve=curve, outputs=OUTPUTS, at=AT))


def floating_path() -> Any:
    curve = LineCurve(start=(0.0, 0.2, 0.1), end=(0.8, -0.5, 0.9))
    path = JointPath(curve=curve, coordinates=("joint2", "joint4", "joint6"), free_floating=True)
    return solve_path(form_equations(library.free_flyer_arm()), path)


def loop_path() -> Any:
    eom = form_equations(library.four_bar())
    start = float(np.asarray(eom.x_rest)[0])
    return solve_path(
        eom, JointPath(curve=LineCurve(start=(start,), end=(start + 0.4,)), coordinates=eom.coordinates[:1])
    )


@pytest.mark.parametrize("solve", [curved_path, floating_path, loop_path])
def test_derivatives_along_curves_floating_bases_and_loops(solve: Any) -> None:
    """Central differences of coordinates and of their first derivatives."""
    solved, s, h = solve(), np.linspace(0.1, 0.3, 3), 1e-4
    up, here, down = (solved.evaluate(s + d) for d in (h, 0.0, -h))
    np.testing.assert_allclose((up.q - down.q) / (2 * h), here.dq, atol=1e-7)
    np.testing.assert_allclose((up.dq - down.dq) / (2 * h), here.ddq, atol=1e-6)
    assert np.max(np.abs(here.ddq)) > 1e-3  # far above the error of the differences


def test_redundant_arms_move_by_the_least_weighted_norm() -> None:
    weights = np.array([1.0, 2.0, 5.0])
    names = dict(zip(("shoulder", "elbow", "wrist"), weights, strict=True))
    path = TaskPath(curve=LineCurve(start=(0.0, 15.0), end=(0.0, 9.0)), outputs=OUTPUTS[:2], at=AT, weights=names)
    here = solve_path(arm(), path).evaluate(np.array([2.0]))
    x = np.concatenate([here.q[0], np.zeros(3)])
    K = arm().jacobian("sensors", "y", "x", 0.0, x)[:2, :3]
    assert np.allclose(K @ here.dq[0], [0.0, -1.0])  # follows the line ...
    _, _, null = np.linalg.svd(K)
    assert abs(null[-1] @ (weights * here.dq[0])) < 1e-12  # ... and every other q' that does is longer


def test_a_path_beyond_reach_says_where_it_is_singular() -> None:
    path = TaskPath(name="out", curve=LineCurve(start=(0.0, 12.0, 0.0), end=(0.0, 18.0, 0.0)), outputs=OUTPUTS, at=AT)
    # stretched where (1 - 1)^2 + y^2 = (2 * 8.13)^2, that is y = 16.26
    with pytest.raises(SolverError, match=r"'out': (singular at|cannot be followed beyond) s = 4\.2[56]"):
        solve_path(arm(), path)
    assert "4.2" in check_path(arm(), path).failure


def test_an_output_out_of_reach_at_the_begin() -> None:
    path = TaskPath(name="far", curve=LineCurve(start=(0.0, 40.0, 0.0), end=(0.0, 30.0, 0.0)), outputs=OUTPUTS, at=AT)
    with pytest.raises(SolverError, match="'far': no coordinates satisfy its conditions at the start"):
        solve_path(arm(), path)


def test_names_are_checked() -> None:
    with pytest.raises(ModelError, match="did you mean 'payload.x'"):
        solve_path(arm(), TaskPath(curve=LineCurve(start=(0.0,), end=(1.0,)), outputs=("paylod.x",)))
    with pytest.raises(ModelError, match="unknown coordinate or output 'sholder'"):
        solve_path(arm(), ImplicitPath(rule=lambda q, s: [q["sholder"] - s], begin=0.0, end=1.0))


def test_crossings_corners_and_the_point_itself() -> None:
    eight = SplineCurve(points=[[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, -1.0], [0.5, 1.0]])
    eom = form_equations(library.planar_arm())
    report = check_path(eom, JointPath(curve=eight, coordinates=("joint1", "joint2")))
    (a, b), *_ = report.crossings
    q = solve_path(eom, JointPath(curve=eight, coordinates=("joint1", "joint2"))).evaluate(np.array([a, b])).q
    assert b - a > 1.0 and np.allclose(q[0], q[1], atol=1e-8) and not report.is_clean
    corner = BlendCurve(points=[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert check_path(eom, JointPath(curve=corner, coordinates=("joint1", "joint2"))).corners == (1.0,)
    assert check_path(arm(), line()).is_clean


def test_a_closed_point_path_of_a_redundant_arm_is_distinguished() -> None:
    loop = SplineCurve(points=[[0.0, 14.0], [1.5, 13.0], [0.0, 12.0], [-1.5, 13.0], [0.0, 14.0]])
    report = check_path(arm(), TaskPath(curve=loop, outputs=OUTPUTS[:2], at=AT))
    assert report.crossings == () and len(report.point_crossings) == 1  # the arm drifts: least norm is not cyclic
    assert report.point_crossings[0] == pytest.approx((0.0, loop.length), abs=1e-6)


def test_the_quickest_of_several_paths() -> None:
    via = [TaskPath(name=f"via {x:g}", curve=ArcCurve(start=(0.0, 15.0, 0.0), via=(x, 9.0, 0.0), end=(0.0, 3.0, 0.0)),
                    outputs=OUTPUTS, at=AT) for x in (1.0, -1.0)]  # fmt: skip
    out = TaskPath(name="out", curve=LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 18.0, 0.0)), outputs=OUTPUTS, at=AT)
    choice = choose_path(arm(), [line(), *via, out], points=200)
    assert choice.plan.final_time == min(choice.times) and choice.times[3] == float("inf")
    assert "singular" in choice.reasons[3] or "cannot be followed" in choice.reasons[3]
    assert choice.plan.name in choice.why and "limited by" in choice.why


def test_a_free_base_floats_by_its_momentum() -> None:
    """Joints move, the base follows from zero momentum: no force on it is left over, and momentum stays zero."""
    eom = form_equations(library.free_flyer_arm())
    curve = LineCurve(start=(0.0, 0.2, 0.1), end=(0.8, -0.5, 0.9))
    path = JointPath(curve=curve, coordinates=("joint2", "joint4", "joint6"), free_floating=True)
    solved = solve_path(eom, path)
    motion = PathDynamics(eom, solved, eom.p).evaluate(np.linspace(0.0, curve.length, 9))  # raises if any is left over
    for q, V in zip(motion.points.q, motion.V, strict=True):
        assert np.max(np.abs(eom.momentum(0.0, q, V))) < 1e-9 * np.max(np.abs(eom.mass_matrix(0.0, q)))
    held = JointPath(curve=curve, coordinates=("joint2", "joint4", "joint6"))
    with pytest.raises(ModelError, match="no input drives .*free_floating=True"):
        PathDynamics(eom, solve_path(eom, held), eom.p).evaluate(np.array([0.1]))


def test_a_slew_turns_about_its_axis() -> None:
    """Rest to rest through 180 degrees about a principal axis of a body of unit inertia: 2 sqrt(pi) = 3.545 (published)."""
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="body", direction=axis, limit=1.0) for axis in "xyz")
    eom = form_equations(System(name="body", parts=(Part(body, joint=Free(name="base")),), actuators=torques))
    begin = (0.8, 0.0, 0.6, 0.0)
    plan = plan_phase_plane(eom, SlewPath(joint="base", axis=(0.0, 0.0, 1.0), angle=np.pi, begin=begin))
    assert plan.final_time == pytest.approx(2.0 * np.sqrt(np.pi), rel=2e-5)  # the margin of a grid of 1000
    first, last = (plan.x(t)[:4] for t in (0.0, plan.final_time))
    assert np.allclose(first, begin) and abs(first @ last) == pytest.approx(0.0, abs=1e-9)
    oblique = plan_phase_plane(eom, SlewPath(joint="base", axis=(1.0, 1.0, 1.0), angle=np.pi))
    assert oblique.final_time == pytest.approx(2.0 * np.sqrt(np.pi / np.sqrt(3.0)), rel=2e-5)  # three torques share it


def test_loops_are_followed_on_their_constraints() -> None:
    eom = form_equations(library.four_bar())
    name, start = eom.coordinates[0], np.asarray(eom.x_rest)[0]
    path = JointPath(curve=LineCurve(start=(start,), end=(start + 0.4,)), coordinates=(name,))
    solved = solve_path(eom, path)
    motion = PathDynamics(eom, solved, eom.p).evaluate(np.linspace(0.0, 0.4, 7))
    y, z = np.full(7, 0.6), np.full(7, -0.3)
    u, v, v_dot = motion.inputs(y, z), motion.speeds(y), motion.accelerations(y, z)
    for k in range(7):
        assert np.max(np.abs(eom.residual(0.0, motion.points.q[k], v[k]))) < 1e-9
        assert np.allclose(eom.v_dot(0.0, motion.points.q[k], v[k], u[k]), v_dot[k], atol=1e-8)
