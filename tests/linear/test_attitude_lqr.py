"""LQR on quaternions without further care: gains from A and B as they come, 60 degrees of error, and another attitude model.

The peer is written with modified Rodrigues parameters and numpy alone (`tests.oracles.mechanics.mrp_attitude`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_continuous_are

from spacectl import (
    BodyForce,
    BodyTorque,
    Free,
    FreeSpace,
    Part,
    RigidBody,
    System,
    displace_state,
    find_operating_point,
    form_equations,
    library,
    linearize,
    make_law,
    simulate,
    subtract_states,
)
from tests.oracles.mechanics import mrp_attitude

INERTIA = np.array([[80.0, 3.0, -2.0], [3.0, 100.0, 4.0], [-2.0, 4.0, 120.0]])  # [kg m^2]
AXIS = np.array([1.0, -2.0, 2.0]) / 3.0


def gains(A, B, Q, R) -> np.ndarray:
    S = solve_continuous_are(np.asarray(A), np.asarray(B), Q, R)
    return np.linalg.solve(R, np.asarray(B).T @ S)


def body() -> System:
    bus = RigidBody(name="bus", mass=200.0, inertia=INERTIA)
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="bus", direction=axis) for axis in "xyz")
    forces = tuple(BodyForce(name=f"force_{axis}", on="bus", direction=axis, axes="world") for axis in "xyz")
    return System(
        name="free flyer",
        environment=FreeSpace(),
        parts=(Part(bus, joint=Free(name="base")),),
        actuators=(*torques, *forces),
    )


def driven_arm() -> System:
    """The seven-joint free flyer with torques and forces on its base: 26 error states, 13 inputs, no limits."""
    arm = library.free_flyer_arm()
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="bus", direction=axis) for axis in "xyz")
    forces = tuple(BodyForce(name=f"force_{axis}", on="bus", direction=axis) for axis in "xyz")
    joints = tuple(type(item)(joint=item.joint) for item in arm.actuators)
    return System(name="driven arm", environment=FreeSpace(), parts=arm.parts, actuators=(*joints, *torques, *forces))


def test_a_free_flyer_with_arm_returns_from_sixty_degrees() -> None:
    """A and B go into the Riccati equation as they are; the law acts on the error state, compiled."""
    eom = form_equations(driven_arm())
    point = find_operating_point(eom, q={"joint2": 0.7, "joint4": -1.2, "joint6": 0.7})
    model = linearize(eom, point)
    assert model.A.shape == (26, 26)  # three attitude errors, not four quaternion entries: nothing uncontrollable
    K = gains(model.A, model.B, np.diag([4.0] * 13 + [40.0] * 13), 1e-3 * np.eye(13))
    loop = np.asarray(model.A) - np.asarray(model.B) @ K
    assert np.max(np.linalg.eigvals(loop).real) < -0.05
    law = make_law(
        lambda s: ca.DM(-K) @ subtract_states(eom, s.x, ca.DM(np.asarray(point.x))),
        name="LQR",
        states=eom.labels.x,
        inputs=eom.labels.u,
    )
    error = np.zeros(26)
    error[:3] = np.radians(60.0) * AXIS
    error[6:13] = 0.3
    span = {"t_span": (0.0, 120.0), "grid": 121, "rtol": 1e-9, "atol": 1e-13}
    sim = simulate(eom, law, x0=displace_state(eom, point.x, error), **span)
    left = np.linalg.norm(subtract_states(eom, sim.x, point.x), axis=1)
    assert left[0] > 1.0 and left[-1] < 1e-4 * left[0]
    # a thousandth of that error goes as the linear closed loop says, to second order (1e-3 of it)
    small = simulate(eom, law, x0=displace_state(eom, point.x, 1e-3 * error), **span)
    response = np.array([expm(t * loop) @ (1e-3 * error) for t in small.t])
    np.testing.assert_allclose(subtract_states(eom, small.x, point.x), response, atol=3e-3 * np.max(np.abs(response)))


def attitude_model() -> tuple:
    eom = form_equations(body())
    model = linearize(eom, find_operating_point(eom))
    states = [model.x.index(f"base.{name}") for name in ("rx", "ry", "rz", "wx", "wy", "wz")]
    A = np.asarray(model.A)[np.ix_(states, states)]
    B = np.asarray(model.B)[np.ix_(states, [0, 1, 2])]
    return eom, A, B


def test_gains_and_poles_equal_those_of_an_mrp_model() -> None:
    """sigma = theta / 4 to first order: with weights changed accordingly, K acts alike and the poles are the same."""
    _, A, B = attitude_model()
    A_mrp, B_mrp = mrp_attitude.linear(INERTIA)
    Q, R = np.diag([9.0, 8.0, 7.0, 300.0, 200.0, 100.0]), np.diag([0.02, 0.03, 0.01])
    T = np.diag([4.0] * 3 + [1.0] * 3)  # theta = 4 sigma
    K = gains(A, B, Q, R)
    K_mrp = gains(A_mrp, B_mrp, T @ Q @ T, R)
    np.testing.assert_allclose(K @ T, K_mrp, atol=1e-9 * np.max(np.abs(K_mrp)))  # two Riccati solutions
    poles, poles_mrp = (np.sort_complex(np.linalg.eigvals(M)) for M in (A - B @ K, A_mrp - B_mrp @ K_mrp))
    np.testing.assert_allclose(poles, poles_mrp, atol=1e-9 * np.max(np.abs(poles)))


def test_closed_loop_responses_differ_from_the_mrp_ones_by_the_third_order() -> None:
    """Both laws steer the same body; 4 sigma = theta + theta^3 / 48 + ..., so responses part by the angle cubed."""
    eom, A, B = attitude_model()
    Q, R = np.diag([1.0] * 3 + [20.0] * 3), 1e-3 * np.eye(3)
    K = gains(A, B, Q, R)
    wide = np.zeros((6, 12))
    wide[:3, :3], wide[:3, 6:9] = K[:, :3], K[:, 3:]
    wide[3:, 3:6], wide[3:, 9:] = 20.0 * np.eye(3), 200.0 * np.eye(3)
    home = eom.state()
    times = np.linspace(0.0, 30.0, 61)
    gaps = []
    for degrees in (60.0, 30.0, 15.0):
        theta = np.radians(degrees) * AXIS
        start = displace_state(eom, home, np.concatenate([theta, np.zeros(9)]))
        sim = simulate(
            eom, lambda t, x: -wide @ subtract_states(eom, x, home), x0=start, t_span=(0.0, 30.0), grid=times, rtol=1e-9
        )
        ours = subtract_states(eom, sim.x, home)[:, :3]
        sigma = AXIS * np.tan(np.radians(degrees) / 4.0)

        def rate(_: float, s: np.ndarray) -> np.ndarray:
            return mrp_attitude.rate(s, -K @ np.concatenate([4.0 * s[:3], s[3:]]), INERTIA)

        other = solve_ivp(
            rate, (0.0, 30.0), np.concatenate([sigma, np.zeros(3)]), "DOP853", times, rtol=1e-10, atol=1e-12
        )
        theirs = mrp_attitude.angle_and_axis(other.y[:3].T)
        assert np.linalg.norm(ours[-1]) < 0.05 * np.linalg.norm(ours[0])
        gaps.append(np.max(np.abs(ours - theirs)))
        if degrees == 60.0:  # the same plant under the same torque: attitudes agree to the integrators' tolerance
            again = simulate(
                eom,
                lambda t, x: -wide @ np.concatenate([4.0 * np.sign(x[0]) * x[1:4] / (1.0 + abs(x[0])), x[4:]]),
                x0=start, t_span=(0.0, 30.0), grid=times, rtol=1e-9,
            )  # fmt: skip
            np.testing.assert_allclose(subtract_states(eom, again.x, home)[:, :3], theirs, atol=1e-6)
    # halving the angle leaves an eighth of the gap (third order); 60 degrees also has fifth-order terms
    assert gaps[0] < 0.05 * np.radians(60.0)
    assert 6.5 < gaps[0] / gaps[1] < 10.0 and 7.0 < gaps[1] / gaps[2] < 9.0
