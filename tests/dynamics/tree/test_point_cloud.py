"""The equations compared with a cloud of point masses, a method that shares no formula and no code with the package.

First the reference itself is checked (moments of the clouds, step size, Euler's equations), then accelerations,
energy and momentum of three-dimensional examples with all joint kinds in all environments.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl.dynamics.form import form_equations
from spacectl.model.actuators import BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel, Thruster
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import CentralGravity, CircularOrbit, Environment, FreeSpace, UniformGravity
from spacectl.model.joints import Cylindrical, Fixed, Free, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.oracles.mechanics import point_cloud
from tests.oracles.mechanics.cloud_positions import cloud
from tests.peers import point_cloud_peer
from tests.peers.tree_properties import evaluate
from tests.strategies import (
    KINDS,
    Case,
    environments,
    joints,
    random_body,
    random_direction,
    random_place,
    random_quaternion,
    random_rotation,
    random_state,
    random_tree,
    rigid_bodies,
)

ACTUATORS = (
    JointTorque(joint="shoulder"),
    JointTorque(joint="neck", component="second_dot"),
    JointForce(joint="boom"),
    JointForce(joint="sleeve", component="slide_dot"),
    JointTorque(joint="ball", component="wy"),
    JointForce(joint="table", component="x_dot"),
    JointForce(joint="drifter", component="z_dot"),
    BodyForce(name="push", on="hub", direction=(0.6, 0.0, 0.8), at=(0.2, -0.1, 0.4), axes="world"),
    BodyForce(name="shove", on="plate", direction="-y", at=(0.0, 0.3, 0.1), axes="body"),
    BodyTorque(name="twist", on="mast", direction="z", axes="world"),
    BodyTorque(name="wring", on="cart", direction=(0.0, 0.6, -0.8), axes="body"),
    Thruster(name="jet", on="loose", direction="x", at=(0.0, 0.5, 0.0)),
    ReactionWheel(name="wheel", on="hub", axis=(0.6, 0.8, 0.0), inertia=0.02),
)
ENVIRONMENTS = (FreeSpace(), UniformGravity(g=(1.0, -3.0, 9.0)), CircularOrbit(period=9.0))
LAYOUT = (  # body, parent, joint
    ("hub", "world", Free(name="base")),
    ("mast", "hub", Revolute(name="shoulder", axis="y")),
    ("sensor", "mast", Fixed()),
    ("pole", "mast", Prismatic(name="boom", axis=(0.0, 0.6, 0.8))),
    ("plate", "hub", Universal(name="neck", first="x", second=(0.0, 0.8, 0.6))),
    ("tube", "plate", Cylindrical(name="sleeve", axis=(2 / 3, -1 / 3, 2 / 3))),
    ("eye", "tube", Spherical(name="ball")),
    ("cart", "hub", Planar(name="table", normal="x")),
    ("loose", "cart", Free(name="drifter")),
)


def make_case(environment: Environment, seed: int, *, distance: float = 0.0) -> Case:
    """All joint kinds in one tree, with placements on both sides of every joint; `distance` moves the root."""
    rng = np.random.default_rng(seed)
    parts = []
    for name, on, joint in LAYOUT:
        at = random_place(rng) + (np.array([0.0, distance, 0.0]) if on == "world" else 0.0)
        part = Part(
            random_body(rng, name), on=on, at=at, rotation=random_quaternion(rng), joint=joint,
            child_at=rng.normal(size=3), child_rotation=random_quaternion(rng),
        )  # fmt: skip
        parts.append(part)
    system = System(name="all joints", parts=tuple(parts), environment=environment, actuators=ACTUATORS)
    return random_state(rng, system)


def compare(case: Case) -> float:
    """Relative difference of accelerations, ``max |difference| / max |v_dot|``."""
    theirs = point_cloud_peer.accelerate(case.system, case.q, case.v, case.u)
    return evaluate(form_equations(case.system), case).acceleration_error(theirs)


@given(body=rigid_bodies(), corners=st.sampled_from(["octahedron", "tetrahedron"]))
def test_cloud_has_the_mass_properties_of_the_body(body: RigidBody, corners: str) -> None:
    points, weights = cloud(body.mass, body.com, body.inertia, corners)
    arms = points - np.asarray(body.com)
    inertia = sum(m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(weights, arms, strict=True))
    assert np.all(weights > 0.0)
    assert np.sum(weights) == pytest.approx(body.mass, rel=1e-15)
    np.testing.assert_allclose(weights @ points / body.mass, body.com, atol=1e-14)  # rounding of points of a few metres
    np.testing.assert_allclose(inertia, body.inertia, atol=1e-14 * body.mass)


def test_reference_is_accurate_whatever_its_step() -> None:
    case = make_case(UniformGravity(), 1)
    results = [
        np.array(list(point_cloud_peer.accelerate(case.system, case.q, case.v, case.u, step=step).values()))
        for step in (0.5 * point_cloud.STEP, point_cloud.STEP, 2.0 * point_cloud.STEP)
    ]
    scale = np.max(np.abs(results[1]))
    # halving the step multiplies truncation by 1/256 and rounding by 4; the results differ by 1e-12, so that 1e-10 of
    # the largest acceleration is a safe statement of the accuracy of the reference
    assert 0.0 < np.max(np.abs(results[0] - results[1])) < 1e-10 * scale
    assert 0.0 < np.max(np.abs(results[2] - results[1])) < 1e-10 * scale


def test_reference_gives_eulers_equations_for_one_body() -> None:
    inertia, omega = np.array([1.0, 2.0, 2.5]), np.array([0.3, -0.7, 0.5])
    body = {
        "parent": -1, "kind": "Spherical", "axes": (), "R_PJ": np.eye(3), "p_PJ": np.zeros(3), "R_BF": np.eye(3),
        "p_BF": np.zeros(3), "mass": 3.0, "com": np.zeros(3), "inertia": np.diag(inertia),
    }  # fmt: skip
    torque = np.array([0.1, 0.2, -0.3])
    v_dot = point_cloud.accelerations([body], [np.array([0.5, 0.5, 0.5, 0.5])], omega, torques=[(0, torque, "body")])
    expected = (torque - np.cross(omega, inertia * omega)) / inertia
    np.testing.assert_allclose(v_dot, expected, atol=1e-11)  # truncation of the stencil


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: type(e).__name__)
def test_all_joints_agree_with_the_cloud(environment: Environment, seed: int) -> None:
    assert compare(make_case(environment, seed)) < 1e-10  # the accuracy of the reference, shown above


@given(
    joint=joints([kind for kind in KINDS if kind != "Fixed"]),
    environment=environments(["FreeSpace", "UniformGravity", "CircularOrbit"]),
    body=rigid_bodies(),
    seed=st.integers(0, 1000),
)
def test_a_joint_alone_agrees_with_the_cloud(
    joint: Joint, environment: Environment, body: RigidBody, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    part = Part(
        body, at=random_place(rng), rotation=random_rotation(rng), joint=joint,
        child_at=random_place(rng), child_rotation=random_rotation(rng),
    )  # fmt: skip
    push = BodyForce(name="push", on="body", direction=random_direction(rng), at=random_place(rng))
    twist = BodyTorque(name="twist", on="body", direction=random_direction(rng), axes="world")
    system = System(name="one joint", parts=(part,), environment=environment, actuators=(push, twist))
    # truncation of the stencil, 2e-11 of the velocity terms, which may exceed a small acceleration by far
    assert compare(random_state(rng, system)) < 1e-8


@pytest.mark.parametrize("seed", range(2))
def test_all_joints_agree_with_the_cloud_in_central_gravity(seed: int) -> None:
    # Bodies reach about 1 m and the centre is 500 m away: the second-order field of each body is off by (1/500)^4 =
    # 2e-11 of the attraction (4 m/s^2); rounding of positions of 500 m in the stencils adds 500 times 1e-11.
    case = make_case(CentralGravity(mu=4.0 * 500.0**2), seed, distance=500.0)
    assert compare(case) < 2e-8


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: type(e).__name__)
def test_energy_and_momentum_agree_with_the_cloud(environment: Environment) -> None:
    case = make_case(environment, 5)
    eom = form_equations(case.system)
    q, v, _ = case.vectors(eom)
    energy = point_cloud_peer.energy(case.system, case.q, case.v)
    assert eom.energy(0.0, q, v) == pytest.approx(energy, rel=1e-10)  # velocities by an eighth-order stencil
    momentum = point_cloud_peer.momentum(case.system, case.q, case.v)
    np.testing.assert_allclose(eom.momentum(0.0, q, v), momentum, atol=1e-10 * np.max(np.abs(momentum)))


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: type(e).__name__)
def test_joint_reactions_agree_with_the_cloud(environment: Environment) -> None:
    case = make_case(environment, 7)
    eom = form_equations(case.system)
    q, v, u = case.vectors(eom)
    v_dot = dict(zip(eom.speeds, eom.v_dot(0.0, q, v, u).tolist(), strict=True))
    expected = point_cloud_peer.react(case.system, case.q, case.v, v_dot, case.u)
    found = eom.reactions(0.0, q, v, u)
    bodies = [i for i, part in enumerate(case.system.tree) if part.name != "wheel"]
    # second differences of positions: rounding 1e-16 over the squared step, (0.05 / 20)^2, is 2e-11 of each term
    np.testing.assert_allclose(found[bodies], expected[bodies], atol=1e-9 * np.max(np.abs(expected)))
    assert found[-1, 0:3] @ [0.6, 0.8, 0.0] == pytest.approx(case.u["wheel"], rel=1e-10)  # the motor's torque, as given


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_in_orbit_agree_with_the_cloud(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_tree(rng, bodies=2 + seed % 5, free_bases=seed % 3, environment="CircularOrbit")
    assert compare(case) < 1e-10  # as above


def test_a_spinning_wheel_makes_the_gyroscopic_torque_of_the_ring() -> None:
    hub = RigidBody(name="hub", mass=10.0, inertia=(2.0, 3.0, 4.0), com=(0.1, 0.0, -0.2))
    wheel = ReactionWheel(name="wheel", on="hub", axis="z", inertia=0.05)
    system = System(name="spinner", parts=(Part(hub, joint=Free(name="base")),), actuators=(wheel,))
    case = random_state(np.random.default_rng(0), system)
    fast = replace(case, v={**case.v, "wheel_dot": 400.0})
    eom = form_equations(system)
    stored = 0.05 * 400.0
    slow_rate, fast_rate = evaluate(eom, replace(case, v={**case.v, "wheel_dot": 0.0})), evaluate(eom, fast)
    omega = np.array([case.v["base.wx"], case.v["base.wy"], case.v["base.wz"]])
    gyroscopic = -np.cross(omega, [0.0, 0.0, stored])  # closed form: minus omega x h, about the centre of mass
    change = fast_rate.v_dot[:2] - slow_rate.v_dot[:2]
    np.testing.assert_allclose(change, gyroscopic[:2] / [2.0, 3.0], rtol=1e-10)  # rounding of 20 against 1e-16
    # the stencil's step follows the sum of all speeds, 400 rad/s here, so that it costs digits for the slow ones
    assert compare(fast) < 1e-8
