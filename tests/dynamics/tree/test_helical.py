"""`Helical` against a cylindrical joint whose slide a rule ties to its angle, and against a falling nut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Constraint,
    Cylindrical,
    Drive,
    Free,
    Helical,
    JointTorque,
    Loop,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    close_loops,
    form_equations,
    linearize,
    load_system,
    save_system,
    simulate,
)
from spacectl.dynamics.absolute_state import absolute_state
from spacectl.model.joints import Joint

PITCH, AXIS, G = 0.07, (0.6, 0.0, 0.8), 9.81


def link(name: str) -> RigidBody:
    return RigidBody(name=name, mass=2.0, inertia=(0.3, 0.4, 0.25, 0.02, 0.01, -0.03), com=(0.3, 0.1, 0.2))


def arm(joint: Joint, **more: Any) -> System:
    """A turning base, a nut on a skew screw, and a link that swings on the nut."""
    parts = (
        Part(link("base"), joint=Revolute(name="root", axis="y")),
        Part(link("nut"), on="base", at=(0.2, 0.1, 0.5), rotation=(0.8, 0.6, 0, 0), joint=joint, child_at=(0.1, 0, 0)),
        Part(link("tip"), on="nut", at=(0.1, 0.0, 0.4), joint=Revolute(name="wrist", axis="x")),
    )
    motors = tuple(JointTorque(joint=name) for name in ("wrist", "root"))
    return System(
        name="screw arm", parts=parts, environment=UniformGravity(g=(0.3, -0.2, -G)), actuators=motors, **more
    )


def screw_arm(**more: Any) -> System:
    return arm(Helical(name="screw", axis=AXIS, pitch=PITCH), **more)


def tied_arm() -> System:
    rule = Constraint(name="thread", rule=lambda s: s["screw.slide"] - PITCH * s["screw.angle"])
    return arm(Cylindrical(name="screw", axis=AXIS), constraints=(rule,))


def states(n: int = 4) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [(3.0 * rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)) for _ in range(n)]


def with_slide(x: np.ndarray) -> np.ndarray:
    return np.array([x[0], x[1], PITCH * x[1], x[2]])


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded", "udwadia_phohomsiri"])
def test_it_moves_as_a_cylindrical_joint_whose_slide_follows_its_angle(formulation: str) -> None:
    eom, other = form_equations(screw_arm(), formulation=formulation), form_equations(tied_arm(), formulation="kane")
    native = eom.compiled()
    for q, v, u in states():
        expected = other.v_dot(0.0, with_slide(q), with_slide(v), u)[[0, 1, 3]]
        # rounding times the condition of M, about 1e3 with this pitch
        np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(native.x_dot(0.0, np.r_[q, v], u)[3:], expected, rtol=1e-11, atol=1e-11)


def test_its_joint_passes_what_cylinder_and_thread_pass_together() -> None:
    eom, other = form_equations(screw_arm()), form_equations(tied_arm(), formulation="kane")
    for q, v, u in states(2):
        found, expected = eom.reactions(0.0, q, v, u), other.reactions(0.0, with_slide(q), with_slide(v), u)
        np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]], atol=1e-11)
        n = np.array(AXIS)
        across = np.kron(np.eye(2), np.eye(3) - np.outer(n, n))  # along the axis the rule acts within the joint
        np.testing.assert_allclose(across @ found[1], across @ expected[1], atol=1e-11)


def test_in_absolute_coordinates_it_holds_for_any_number_of_turns() -> None:
    eom, absolute = form_equations(screw_arm()), form_equations(screw_arm(), coordinates="absolute")
    assert "screw.screw" in absolute.constraint_rows
    h = 1e-6
    for q, v, u in states(3):
        x = np.r_[4.0 * q, v]  # several turns
        xa = absolute_state(eom, absolute, x)
        assert np.max(np.abs(absolute.residual(0.0, xa[: absolute.n_q], xa[absolute.n_q :]))) < 1e-13
        ahead, behind = (absolute_state(eom, absolute, x + s * h * eom.x_dot(0.0, x, u)) for s in (1.0, -1.0))
        rate = (ahead - behind)[absolute.n_q :] / (2.0 * h)
        # truncation h^2 times third derivatives of order 1e2
        np.testing.assert_allclose(absolute.v_dot(0.0, xa[: absolute.n_q], xa[absolute.n_q :], u), rate, atol=3e-9)


def nut(**more: Any) -> System:
    body = RigidBody(name="nut", mass=3.0, inertia=(0.03, 0.04, 0.05))
    part = Part(body, joint=Helical(name="screw", axis="z", pitch=PITCH))
    return System(name="nut", parts=(part,), environment=UniformGravity(g=(0.0, 0.0, -G)), **more)


FALL = -3.0 * G * PITCH / (0.05 + 3.0 * PITCH**2)  # (I + m h^2) theta_ddot = -m g h


def test_a_nut_falls_as_its_inertia_about_the_axis_lets_it() -> None:
    assert form_equations(nut()).v_dot(0.0, [0.4], [0.3])[0] == pytest.approx(FALL, rel=1e-14)
    for tier in ("native", "vm"):
        sim = simulate(form_equations(nut()), x0=[0.0, 0.0], t_span=(0.0, 2.0), tier=tier)
        assert sim["screw"][-1] == pytest.approx(2.0 * FALL, rel=1e-8), tier


@pytest.mark.parametrize(
    "formulation", ["kane", "multipliers", "udwadia_phohomsiri", "partitioned", "embedded", "artificial"]
)
def test_a_screw_that_closes_a_loop_leads_a_free_body(formulation: str) -> None:
    """Five equations on a free body; the accelerations are those of the joint, reached without its coordinate."""
    body = Part(nut().parts[0].body, joint=Free(name="nut"))
    closing = Loop(name="thread", a="world", b="nut", joint=Helical(axis="z", pitch=PITCH))
    system = replace(nut(), parts=(body,), constraints=(closing,))
    eom = form_equations(system, formulation=formulation)
    angle = 9.0
    start = eom.state(
        **{"nut.qw": np.cos(angle / 2), "nut.qz": np.sin(angle / 2), "nut.z": PITCH * angle},
        **{"nut.wz": 0.8, "nut.z_dot": PITCH * 0.8},
    )
    rates = dict(zip(eom.speeds, eom.v_dot(0.0, start[:7], start[7:]), strict=True))
    assert rates["nut.wz"] == pytest.approx(FALL, rel=1e-11)
    assert rates["nut.z_dot"] == pytest.approx(PITCH * FALL, rel=1e-11)


def test_a_motor_may_work_in_the_screw_that_closes_a_loop() -> None:
    body = Part(nut().parts[0].body, joint=Cylindrical(name="nut", axis="z"))
    closing = Loop(name="thread", a="world", b="nut", joint=Helical(axis="z", pitch=PITCH))
    motor = JointTorque(joint="thread")
    system = replace(nut(), parts=(body,), constraints=(closing,), actuators=(motor,))
    expected = FALL + 0.2 / (0.05 + 3.0 * PITCH**2)
    for formulation in ("kane", "partitioned", "embedded"):
        eom = form_equations(system, formulation=formulation)
        assert eom.v_dot(0.0, [0.4, 0.4 * PITCH], [0.0, 0.0], [0.2])[0] == pytest.approx(expected, rel=1e-11), (
            formulation
        )


def test_a_loop_with_a_screw_closes_on_the_nearest_thread() -> None:
    body = Part(nut().parts[0].body, joint=Cylindrical(name="nut", axis="z"))
    closing = Loop(name="thread", a="world", b="nut", joint=Helical(axis="z", pitch=PITCH))
    eom = form_equations(replace(nut(), parts=(body,), constraints=(closing,)), formulation="partitioned")
    angle, slide = close_loops(eom, eom.state(**{"nut.angle": 7.0, "nut.slide": 7.0 * PITCH + 0.01})).x[:2]
    assert slide == pytest.approx(PITCH * angle, rel=1e-12)
    assert angle == pytest.approx(7.0, abs=0.2)


def test_its_linearisation_agrees_with_central_differences() -> None:
    eom = form_equations(screw_arm())
    q, v, u = states(1)[0]
    x, h = np.r_[q, v], 1e-6
    model = linearize(eom, x, u, check=False)
    columns = [(eom.x_dot(0.0, x + d, u) - eom.x_dot(0.0, x - d, u)) / (2.0 * h) for d in h * np.eye(6)]
    np.testing.assert_allclose(model.A, np.array(columns).T, rtol=1e-6, atol=1e-6)


def test_it_can_be_driven_prescribed_and_saved(tmp_path: Any) -> None:
    drive = Drive(joint="screw", ratio=50.0, rotor_inertia=1e-4, stiffness=1e4)
    driven = screw_arm(elements=(drive,))
    assert load_system(save_system(driven, tmp_path / "arm.toml")) == driven
    assert form_equations(driven).v_dot(0.0, np.zeros(4), np.zeros(4), np.zeros(2)).shape == (4,)
    moved = arm(Helical(name="screw", axis=AXIS, pitch=PITCH, prescribed=lambda s: 0.3 * s.t**2))
    eom = form_equations(moved)
    placed = eom.placements(2.0, np.zeros(2))[1]
    expected = form_equations(screw_arm()).placements(0.0, np.array([0.0, 1.2, 0.0]))[1]
    np.testing.assert_allclose(placed, expected, atol=1e-14)


def test_a_screw_without_pitch_is_refused() -> None:
    with pytest.raises(ModelError, match="use Revolute"):
        Helical(pitch=0.0)
