"""Embedded loops against Pinocchio's constrained dynamics, and gears against closed forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    BodyTorque,
    Free,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    factor_mass,
    form_equations,
    library,
    make_consistent,
)
from spacectl.model.library.loops.gears import gear
from tests.peers.pinocchio_loops import LoopPeer
from tests.peers.pinocchio_peer import pin


@pytest.mark.skipif(pin is None, reason="Pinocchio is not installed; install spacectl[crosscheck]")
@pytest.mark.parametrize(
    "system",
    [library.geared_chain(20), library.four_bar_chain(2), library.four_bar_chain(10), library.five_bar()],
    ids=lambda system: system.name,
)
def test_accelerations_agree_with_pinocchio(system: System) -> None:
    eom, peer = form_equations(system, formulation="embedded"), LoopPeer(system)
    rng = np.random.default_rng(1)
    x = np.asarray(make_consistent(eom, eom.state() + 0.08 * rng.standard_normal(eom.n_x)).x)
    q, v, u = x[: eom.n_q], x[eom.n_q :], rng.standard_normal(eom.n_u)
    order = peer.order(eom)
    tau = eom.input_map(0.0, q) @ u
    found = peer.accelerate(q[order], v[order], tau[order])
    expected = eom.v_dot(0.0, q, v, u)[order]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.max(np.abs(expected)))  # as asked for


def geared_arm(ratio: float, gravity: float = 0.0) -> tuple[System, dict[str, float]]:
    """Two planar links; the elbow's motor sits on the first link, at its centre of mass."""
    n = {"l": 0.5, "m1": 2.0, "c1": 0.2, "I1": 0.05, "m2": 1.0, "c2": 0.15, "I2": 0.02, "mr": 0.3, "Jr": 4e-4}
    upper = RigidBody(name="upper", mass=n["m1"], inertia=(n["I1"], n["I1"], n["I1"]), com=(n["c1"], 0, 0))
    fore = RigidBody(name="fore", mass=n["m2"], inertia=(n["I2"], n["I2"], n["I2"]), com=(n["c2"], 0, 0))
    spinning = RigidBody(name="rotor", mass=n["mr"], inertia=(2e-4, 2e-4, n["Jr"]))
    system = System(
        name="geared arm",
        environment=UniformGravity(g=(0.0, -gravity, 0.0)),
        parts=(
            Part(upper, joint=Revolute(name="shoulder", axis="z")),
            Part(spinning, on="upper", at=(n["c1"], 0, 0), joint=Revolute(name="motor", axis="z")),
            Part(fore, on="upper", at=(n["l"], 0, 0), joint=Revolute(name="elbow", axis="z")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="motor")),
        constraints=(gear("gear", "motor", "elbow", ratio),),
    )
    return system, n


@pytest.mark.parametrize("ratio", [1.0, -25.0, 120.0])
def test_rotor_on_a_moving_link_couples_to_it(ratio: float) -> None:
    """The rotor turns at (link rate + ratio joint rate): J r off the diagonal, J r^2 at the joint, J at the link."""
    system, n = geared_arm(ratio)
    eom = form_equations(system, formulation="embedded")
    q2 = 0.7
    q = eom.state(elbow=q2, motor=ratio * q2)[:3]
    mass = factor_mass(eom, 0.0, q)
    cosine = n["m2"] * n["l"] * n["c2"] * np.cos(q2)
    carried = n["I1"] + (n["m1"] + n["mr"]) * n["c1"] ** 2 + n["m2"] * n["l"] ** 2
    M22 = n["I2"] + n["m2"] * n["c2"] ** 2
    M = np.array([[carried + M22 + 2 * cosine, M22 + cosine], [M22 + cosine, M22]])
    M += n["Jr"] * np.array([[1.0, ratio], [ratio, ratio**2]])
    # the independent speed of the gear is motor or elbow, whichever pivoting chose
    unit = np.array([1.0, 1.0 if "elbow_dot" in mass.independent else 1.0 / ratio])
    found = np.stack([mass.apply(row) for row in np.eye(2)], axis=1)
    np.testing.assert_allclose(found, unit[:, None] * M * unit, rtol=1e-13)


def test_reflected_torque_of_a_geared_motor() -> None:
    """From rest: M q_ddot = (tau_1, ratio tau_m) with the mass matrix above; half of it with 'N^2 J on the diagonal' is wrong."""
    ratio = 40.0
    system, n = geared_arm(ratio)
    eom = form_equations(system, formulation="embedded")
    rates = eom.v_dot(0.0, np.zeros(3), np.zeros(3), [0.4, 0.02])
    shoulder, motor, elbow = (rates[eom.speeds.index(f"{name}_dot")] for name in ("shoulder", "motor", "elbow"))
    assert motor == pytest.approx(ratio * elbow, rel=1e-13)
    cosine, M22 = n["m2"] * n["l"] * n["c2"], n["I2"] + n["m2"] * n["c2"] ** 2
    carried = n["I1"] + (n["m1"] + n["mr"]) * n["c1"] ** 2 + n["m2"] * n["l"] ** 2
    M = np.array([[carried + M22 + 2 * cosine, M22 + cosine], [M22 + cosine, M22]])
    M += n["Jr"] * np.array([[1.0, ratio], [ratio, ratio**2]])
    np.testing.assert_allclose([shoulder, elbow], np.linalg.solve(M, [0.4, ratio * 0.02]), rtol=1e-12)


def test_spinning_rotor_turns_its_carrier_gyroscopically() -> None:
    """A geared rotor on a free body about an axis across its turning: the torque on the body is that of the spin momentum."""
    ratio, J = 50.0, 3e-3
    body = RigidBody(name="bus", mass=10.0, inertia=(1.0, 1.0, 1.0))
    wheel = RigidBody(name="wheel", mass=0.5, inertia=(J / 2, J / 2, J))
    flap = RigidBody(name="flap", mass=1e-9, inertia=(1e-9, 1e-9, 1e-9))
    system = System(
        name="gyrostat",
        parts=(
            Part(body, joint=Free(name="base")),
            Part(wheel, on="bus", joint=Revolute(name="spin", axis="z")),
            Part(flap, on="bus", joint=Revolute(name="flap", axis="z")),
        ),
        actuators=(BodyTorque(name="turn", on="bus", direction="x"),),
        constraints=(gear("gear", "spin", "flap", ratio),),
    )
    eom = form_equations(system, formulation="embedded")
    rate, omega = 2.0, 0.3
    x = eom.state(flap_dot=rate, spin_dot=ratio * rate, **{"base.wx": omega})
    rates = eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], [0.0])
    # transverse inertia of body and wheel; momentum J s along z, body turns about x: J s wx about y
    expected = J * ratio * rate * omega / (1.0 + J / 2)
    assert rates[eom.speeds.index("base.wy")] == pytest.approx(expected, rel=1e-6)  # the flap has 1e-9 of the inertia
    momentum = eom.momentum(0.0, x[: eom.n_q], x[eom.n_q :])
    assert momentum[2] == pytest.approx(J * ratio * rate, rel=1e-6)


def test_gear_passes_torque_times_ratio() -> None:
    """At rest against gravity the motor holds 1 / ratio of the joint's load, and the multiplier is the motor's torque."""
    ratio = 30.0
    system, n = geared_arm(ratio, gravity=9.81)
    eom = form_equations(system, formulation="embedded")
    load = n["m2"] * 9.81 * n["c2"]
    shoulder = 9.81 * ((n["m1"] + n["mr"]) * n["c1"] + n["m2"] * (n["l"] + n["c2"]))
    u = [shoulder, load / ratio]
    np.testing.assert_allclose(eom.v_dot(0.0, np.zeros(3), np.zeros(3), u), 0.0, atol=1e-12)
    np.testing.assert_allclose(eom.multipliers(0.0, np.zeros(3), np.zeros(3), u), [-load / ratio], rtol=1e-12)


def test_motion_is_that_of_the_rotor_spun_by_hand() -> None:
    """Another model of the same arm: the rotor's spin as a prescribed ratio in an independent description of the energy."""
    ratio = 12.0
    system, n = geared_arm(ratio)
    eom = form_equations(system, formulation="embedded")
    rng = np.random.default_rng(0)
    q2, (w1, w2) = 0.4, rng.standard_normal(2)
    x = eom.state(elbow=q2, motor=ratio * q2, shoulder_dot=w1, elbow_dot=w2, motor_dot=ratio * w2)
    kinetic = eom.call("energy", 0.0, x[:3], x[3:])[0][0, 0]
    own = 0.5 * n["Jr"] * (w1 + ratio * w2) ** 2 + 0.5 * n["mr"] * (n["c1"] * w1) ** 2
    still: Any = replace(
        system, parts=tuple(part for part in system.parts if part.name != "rotor"), constraints=(), actuators=()
    )
    plain = form_equations(still)
    rest = plain.call("energy", 0.0, [0.0, q2], [w1, w2])[0][0, 0]
    assert kinetic == pytest.approx(own + rest, rel=1e-13)
