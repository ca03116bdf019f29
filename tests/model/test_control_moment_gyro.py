"""Control moment gyros against the balance of angular momentum, and against the same built by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spacectl import (
    ControlMomentGyro,
    Fixed,
    Free,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    Spherical,
    System,
    form_equations,
    linearize,
    load_system,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.errors import ModelError
from spacectl.dynamics.reactions.wrenches import find_base_wrench
from spacectl.model.joints import Joint
from spacectl.spatial.rotation import rotation_from_quaternion
from tests.oracles.mechanics.control_moment_gyro import Gyrostat

BODY = np.array([[30.0, 1.0, -2.0], [1.0, 40.0, 0.5], [-2.0, 0.5, 25.0]])
GIMBAL, SPIN = np.array([0.0, 0.6, 0.8]), np.array([0.0, 0.8, -0.6])
GYRO = ControlMomentGyro(
    name="cmg", on="hub", gimbal_axis=GIMBAL, spin_axis=SPIN, inertia=(0.4, 0.25), gimbal_inertia=0.05, rate=300.0
)
ORACLE = Gyrostat(BODY, GIMBAL, SPIN, 0.4, 0.25, 0.05, 300.0)


def craft(joint: Joint | None = None, *gyros: ControlMomentGyro) -> System:
    hub = RigidBody(name="hub", mass=100.0, inertia=BODY)
    part = Part(hub, joint=joint or Spherical(name="hub"))
    return System(name="craft", parts=(part,), actuators=gyros or (GYRO,))


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded", "multipliers", "udwadia_phohomsiri"])
def test_it_moves_by_the_balance_of_angular_momentum(formulation: str) -> None:
    eom = form_equations(craft(), formulation=formulation)
    assert eom.coordinates[-1] == "cmg" and eom.speeds[-1] == "cmg_dot" and eom.inputs == ("cmg",)
    native, rng = eom.compiled(), np.random.default_rng(0)
    for _ in range(5):
        omega, angle, rate, torque = 0.3 * rng.standard_normal(3), *rng.standard_normal(3)
        names = dict(zip(("hub.wx", "hub.wy", "hub.wz"), omega, strict=True))
        x = eom.state(**names, cmg=angle, cmg_dot=rate)
        expected = ORACLE.accelerations(omega, angle, rate, torque)
        scale = np.max(np.abs(expected))
        for found in (eom.x_dot(0.3, x, [torque]), native.x_dot(0.3, x, np.array([torque]))):
            assert np.allclose(found[eom.n_q :], expected, rtol=1e-12, atol=1e-13 * scale)


def test_momentum_is_conserved_without_torque_from_outside() -> None:
    eom = form_equations(craft(Free(name="hub")))
    x0 = eom.state(**{"hub.wx": 0.02, "hub.wz": -0.05})
    sim = simulate(eom, lambda t, x: 2.0 * np.sin(3.0 * t) + 10.0, x0=x0, t_span=(0.0, 5.0), rtol=1e-11, atol=1e-12)
    assert np.ptp(sim["cmg"]) > 1.0  # it works
    q, v = sim.x[:, : eom.n_q], sim.x[:, eom.n_q :]
    momenta = np.array([eom.momentum(t, *state) for t, state in zip(sim.t, zip(q, v, strict=True), strict=True)])
    assert np.max(np.abs(momenta - momenta[0])) < 1e-8 * np.max(np.abs(momenta))
    own = [
        rotation_from_quaternion(state[:4]) @ ORACLE.momenta(rates[:3], state[7], rates[6])[0]
        for state, rates in zip(q, v, strict=True)
    ]
    assert np.max(np.abs(np.array(own) - momenta[:, :3])) < 1e-10 * np.max(np.abs(momenta))


def test_a_body_at_rest_is_subject_to_the_gyroscopic_torque() -> None:
    eom = form_equations(craft(Fixed()))
    angle, rate = 0.7, 0.9
    s = np.cos(angle) * SPIN + np.sin(angle) * np.cross(GIMBAL, SPIN)
    wrench = find_base_wrench(eom, 0.0, eom.state(cmg=angle, cmg_dot=rate), [0.0])
    assert np.allclose(wrench[:3], -np.cross(rate * GIMBAL, 0.4 * 300.0 * s), rtol=1e-12, atol=1e-10)
    assert eom.v_dot(0.0, [angle], [rate], [2.0]) == pytest.approx(2.0 / (0.05 + 0.25), rel=1e-12)


def test_it_equals_rotor_and_gimbal_built_by_hand() -> None:
    """Rotor and gimbal with mass on the hub's centre; what turns with the hub is taken off it."""
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    gyro = ControlMomentGyro(name="cmg", on="hub", inertia=(0.4, 0.25), gimbal_inertia=0.05, rate=300.0)
    parts = (
        Part(RigidBody(name="hub", mass=88.0, inertia=BODY - np.diag([0.03, 0.03, 0.0])), joint=Free(name="hub")),
        Part(
            RigidBody(name="ring", mass=2.0, inertia=(0.03, 0.03, 0.05)), on="hub", joint=Revolute(name="cmg", axis=z)
        ),
        Part(
            RigidBody(name="rotor", mass=10.0, inertia=(0.4, 0.25, 0.25)),
            on="ring",
            joint=Revolute(axis=x, prescribed=lambda s: 300.0 * s.t),
        ),
    )
    by_hand = form_equations(System(name="by hand", parts=parts, actuators=(JointTorque(joint="cmg"),)))
    eom, rng = form_equations(craft(Free(name="hub"), gyro)), np.random.default_rng(5)
    assert eom.states == by_hand.states
    for t in (0.0, 0.013, 2.0):
        state, u = eom.state(rng.standard_normal(eom.n_x)), rng.standard_normal(1)
        expected = by_hand.x_dot(t, state, u)
        assert np.allclose(eom.x_dot(t, state, u), expected, rtol=0.0, atol=1e-11 * np.max(np.abs(expected)))


def test_it_does_not_depend_on_time_and_linearizes() -> None:
    eom = form_equations(craft(Revolute(name="hub", axis="x")))
    x, h = eom.state(hub=0.2, hub_dot=0.1, cmg=0.4, cmg_dot=-0.3), 1e-5
    model = linearize(eom, x, u=[0.5], check=False)
    differences = [(eom.x_dot(9.0, x + h * d, [0.5]) - eom.x_dot(3.0, x - h * d, [0.5])) / (2.0 * h) for d in np.eye(4)]
    assert np.allclose(model.A, np.array(differences).T, atol=1e-6)
    assert np.allclose(model.B[:, 0], eom.x_dot(0.0, x, [1.0]) - eom.x_dot(0.0, x, [0.0]), atol=1e-13)


def test_its_numbers_are_run_time_parameters(tmp_path: Path) -> None:
    system = craft()
    eom = form_equations(system)
    changed = craft(None, replace(GYRO, rate=-150.0, inertia=(0.3, 0.2), gimbal_inertia=0.07))
    assert changed.structure_hash() == system.structure_hash()
    p = eom.parameters.vector({"cmg.rate": -150.0, "cmg.inertia": (0.3, 0.2), "cmg.gimbal_inertia": 0.07})
    x = eom.state(**{"hub.wy": 0.2}, cmg=0.3, cmg_dot=0.8)
    assert np.allclose(eom.x_dot(0.0, x, [1.0], p), form_equations(changed).x_dot(0.0, x, [1.0]), rtol=1e-13)
    assert load_system(save_system(system, tmp_path / "craft.toml")) == system


def test_a_pyramid_of_four_runs_in_all_tiers_and_is_drawn(tmp_path: Path) -> None:
    gyros = []
    for k in range(4):
        c, s = np.cos(0.5 * np.pi * k), np.sin(0.5 * np.pi * k)
        axis, spin = np.array([0.8 * c, 0.8 * s, 0.6]), np.array([-s, c, 0.0])
        gyros.append(replace(GYRO, name=f"cmg{k}", gimbal_axis=axis, spin_axis=spin, limit=2.0))
    eom = form_equations(craft(Free(name="hub"), *gyros))
    law = lambda t, x: np.array([0.3, -0.1, 0.2, 0.1])  # noqa: E731
    runs = [simulate(eom, law, t_span=(0.0, 1.0), tier=tier, grid=5) for tier in ("native", "vm", "callback")]
    for run in runs[1:]:
        assert np.allclose(run.x, runs[0].x, atol=1e-8)
    text = write_report(runs[0], tmp_path / "craft.html").read_text(encoding="utf-8")
    assert "control moment gyro cmg2" in text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"spin_axis": "z", "gimbal_axis": "z"}, "normal to each other"),
        ({"inertia": (0.4, 0.1)}, "twice"),
        ({"gimbal_inertia": 0.0}, "positive"),
        ({"inertia": 0.4}, "shape"),
        ({"on": "nothing"}, "nothing"),
    ],
)
def test_wrong_gyros_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        craft(None, replace(GYRO, **fields))
