"""Gravity in orbit: libration frequencies from textbooks, and the order of the neglected terms.

`CircularOrbit` keeps the first-order gradient about the origin of the orbit frame, `CentralGravity` the second moments
of every body; against the inverse-square law on every point, both errors must fall at the stated order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spacectl.dynamics.form import form_equations
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import CentralGravity, CircularOrbit
from spacectl.model.joints import Free, Joint, Spherical
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.oracles.mechanics import point_cloud
from tests.oracles.mechanics.cloud_positions import cloud
from tests.oracles.mechanics.gravity_gradient import pitch_frequency, roll_yaw_frequencies
from tests.peers.layout import read_links
from tests.peers.point_cloud_peer import read_bodies
from tests.strategies import Case, random_tree

RATE = 1.1e-3  # [rad/s]
TURN = Rotation.from_rotvec([0.4, -0.9, 0.7]).as_matrix()


def librating_eigenvalues(moments: Any, joint: Joint, R_BF: np.ndarray) -> np.ndarray:
    """Eigenvalues of the attitude about the equilibrium, from the exact Jacobian on the tangent of the quaternion.

    ``delta q = 1/2 q (0, delta theta)``: at the unit quaternion, theta_dot is twice the rate of the vector part.
    Principal axes lie along the radius, the track and the normal when the frame F is level.
    """
    inertia = R_BF @ np.diag(moments) @ R_BF.T
    body = RigidBody(name="body", mass=500.0, inertia=inertia)
    part = Part(body, on="orbit", joint=joint, child_rotation=R_BF)
    eom = form_equations(System(name="satellite", parts=(part,), environment=CircularOrbit(rate=RATE)))
    x = eom.state()
    assert np.max(np.abs(eom.x_dot(0.0, x, ()))) < 1e-18  # an equilibrium; rounding of n^2 = 1e-6 times 1e-16
    J = eom.jacobian("x_dot", "x_dot", "x", 0.0, x, ())
    k, w = eom.quaternions[0], eom.n_q
    rows = np.array([k + 1, k + 2, k + 3, w, w + 1, w + 2])
    scale = np.diag([2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    others = np.delete(np.arange(eom.n_x), [k, *rows])
    assert not np.any(J[np.ix_(rows[3:], others)])  # the attitude does not feel the position to first order
    return np.linalg.eigvals(scale @ J[np.ix_(rows, rows)] @ np.linalg.inv(scale))


@pytest.mark.parametrize("R_BF", [np.eye(3), TURN], ids=["level", "turned axes"])
@pytest.mark.parametrize("joint", [Spherical(name="joint"), Free(name="joint")], ids=lambda joint: type(joint).__name__)
@pytest.mark.parametrize("moments", [(400.0, 700.0, 900.0), (90.0, 1000.0, 1050.0)])
def test_libration_frequencies_are_those_of_the_textbook(moments: Any, joint: Joint, R_BF: np.ndarray) -> None:
    yaw, roll, pitch = moments
    expected = np.sort([pitch_frequency(yaw, roll, pitch, RATE), *roll_yaw_frequencies(yaw, roll, pitch, RATE)])
    found = librating_eigenvalues(moments, joint, R_BF)
    # rounding: LAPACK balances theta_dot = omega against omega_dot ~ RATE^2 theta, which leaves a few units of 1e-16
    assert np.max(np.abs(found.real)) < 1e-12 * RATE
    np.testing.assert_allclose(np.sort(found.imag[found.imag > 0.0]), expected, rtol=1e-12)


def test_a_body_with_its_long_axis_along_the_track_is_unstable() -> None:
    found = librating_eigenvalues((700.0, 400.0, 900.0), Spherical(name="joint"), np.eye(3))
    growth = RATE * np.sqrt(3.0 * (700.0 - 400.0) / 900.0)  # of pitch: n sqrt(3 (I_yaw - I_roll) / I_pitch)
    assert np.max(found.real) == pytest.approx(growth, rel=1e-12)  # as above


def orbit_difference(case: Case, radius: float) -> float:
    """Largest difference of v_dot between `CircularOrbit` and point-wise gravity at that orbit radius, n = 1."""
    eom = form_equations(case.system)
    q, v, u = case.vectors(eom)
    links = read_links(case.system, rings=True)
    bodies = read_bodies(links)
    for body in bodies:
        if body["parent"] < 0:
            body["p_PJ"] = body["p_PJ"] + np.array([radius, 0.0, 0.0])  # the root of the reference is the centre
    coordinates = [np.array([case.q[name] for name in link.coordinates]) for link in links]
    speeds = [case.v[name] for link in links for name in link.speeds]
    gravity = {"kind": "central", "mu": radius**3, "rate": 1.0}
    exact = point_cloud.accelerations(bodies, coordinates, speeds, gravity)
    return float(np.max(np.abs(eom.v_dot(0.0, q, v, 0.0 * u) - exact)))


def slope(sizes: Any, errors: Any) -> float:
    """Exponent k of errors ~ sizes^k by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


@pytest.mark.parametrize("seed", range(3))
def test_error_of_the_orbit_gradient_is_of_first_order_in_size_over_radius(seed: int) -> None:
    case = random_tree(np.random.default_rng(seed), bodies=3, free_bases=1, environment="CircularOrbit")
    orbit = System(name="orbit", parts=case.system.parts, environment=CircularOrbit(rate=1.0))
    v = {name: value for name, value in case.v.items() if not name.startswith("wheel")}
    case = Case(orbit, case.q, v, {})
    radii = np.array([1e2, 3e2, 1e3, 3e3])
    errors = [orbit_difference(case, radius) for radius in radii]
    # next-order terms bend the line by size / radius, a few per cent at the smallest radius
    assert slope(1.0 / radii, errors) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(("corners", "order"), [("tetrahedron", 3), ("octahedron", 4)])
def test_error_of_central_gravity_is_of_third_order_or_better(corners: str, order: int) -> None:
    """With third moments the neglected force is of order 3; a symmetric cloud has none, and the order is 4."""
    inertia = TURN @ np.diag([1.0, 2.0, 2.6]) @ TURN.T
    system = System(
        name="satellite",
        parts=(Part(RigidBody(name="body", mass=2.0, inertia=inertia), joint=Free(name="base")),),
        environment=CentralGravity(mu=1.0),
    )
    eom = form_equations(system)
    points, weights = cloud(2.0, np.zeros(3), inertia, corners)
    body = {**read_bodies(read_links(system, rings=True))[0], "points": points, "weights": weights}
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    distances = np.array([20.0, 40.0, 80.0, 160.0])
    force_errors, turn_errors = [], []
    for distance in distances:
        x = eom.state(**dict(zip(("base.x", "base.y", "base.z"), distance * direction, strict=True)))
        p = eom.parameters.vector({"environment.mu": distance**3})  # so that mu / r^3 = 1
        ours = eom.v_dot(0.0, x[:7], x[7:], (), p)
        exact = point_cloud.accelerations([body], [x[:7]], np.zeros(6), {"kind": "central", "mu": distance**3})
        force_errors.append(np.max(np.abs(ours - exact)[3:]) / distance)  # relative to the attraction mu / r^2 = r
        turn_errors.append(np.max(np.abs(ours - exact)[:3]))  # the gradient torque itself is of order 1
    # the next order bends the lines by size / distance, below 5 per cent
    assert slope(1.0 / distances, force_errors) == pytest.approx(order, abs=0.1)
    assert slope(1.0 / distances, turn_errors) == pytest.approx(order - 2, abs=0.1)


def test_central_gravity_seen_from_the_orbit_frame_is_the_circular_orbit() -> None:
    """Two environments, one motion: their difference falls with the first power of size over radius."""
    body = RigidBody(name="body", mass=3.0, inertia=(1.0, 2.0, 2.5), com=(0.2, -0.1, 0.3))
    parts = (Part(body, joint=Free(name="base")),)
    orbit = form_equations(System(name="orbit", parts=parts, environment=CircularOrbit(rate=1.0)))
    central = form_equations(System(name="central", parts=parts, environment=CentralGravity(mu=1.0)))
    rng = np.random.default_rng(4)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    R = Rotation.from_quat(np.roll(quaternion, -1)).as_matrix()
    position, omega, velocity = rng.normal(size=(3, 3))
    n = np.array([0.0, 0.0, 1.0])  # orbit rate, root axes
    relative = orbit.v_dot(0.0, np.concatenate([quaternion, position]), np.concatenate([omega, velocity]), ())
    errors = []
    radii = np.array([1e2, 3e2, 1e3, 3e3])
    for radius in radii:
        r = position + [radius, 0.0, 0.0]  # at this instant the orbit frame's axes are the inertial ones
        v = np.concatenate([omega + R.T @ n, velocity + np.cross(n, r)])
        p = central.parameters.vector({"environment.mu": radius**3})
        inertial = central.v_dot(0.0, np.concatenate([quaternion, r]), v, (), p)
        turning = inertial[:3] + np.cross(omega, R.T @ n)  # omega_rel = omega - R' n
        moving = inertial[3:] - 2.0 * np.cross(n, velocity) - np.cross(n, np.cross(n, r))
        errors.append(np.max(np.abs(np.concatenate([turning, moving]) - relative)))
    assert slope(1.0 / radii, errors) == pytest.approx(1.0, abs=0.05)  # as above


def test_central_gravity_is_the_gradient_of_its_potential() -> None:
    """A large body near a light centre, where the second moments are a tenth of the potential."""
    inertia = TURN @ np.diag([0.4, 0.9, 1.1]) @ TURN.T
    body = RigidBody(name="body", mass=1.0, inertia=inertia, com=(0.2, -0.1, 0.3))
    part = Part(body, joint=Free(name="joint"))
    eom = form_equations(System(name="near", parts=(part,), environment=CentralGravity(mu=2.0)))
    q = eom.state()[: eom.n_q]
    q[[eom.states.index(f"joint.{axis}") for axis in "xyz"]] = (1.5, 1.0, -0.8)
    slope = eom.jacobian("energy", eom.functions["energy"].name_out()[1], "q", 0.0, q, np.zeros(eom.n_v))[0]
    work = -eom.bias(0.0, q, np.zeros(eom.n_v))  # of gravity alone, at rest
    rate = eom.jacobian("q_dot", "q_dot", "v", 0.0, q, np.zeros(eom.n_v))
    np.testing.assert_allclose(work, -slope @ rate, rtol=1e-12, atol=1e-14)
