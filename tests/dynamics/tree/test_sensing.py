"""Sensors as outputs of the equations: any point, any frame, any axes; attitude near half turns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl.core.errors import ModelError
from spacectl.dynamics.form import form_equations
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.environment import CircularOrbit, UniformGravity
from spacectl.model.joints import Free, Spherical
from spacectl.model.part import Part
from spacectl.model.sensors import Acceleration, AngularVelocity, Attitude, Position, Velocity
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about
from tests.dynamics.states import random_state


def sensed_system(environment) -> System:
    bus = RigidBody(
        name="bus",
        mass=10.0,
        inertia=(2.0, 3.0, 4.0),
        frames=(Frame(name="port", at=(0.2, 0.1, 0.0), rotation=rotation_about("x", 0.4)),),
    )
    boom = RigidBody(name="boom", mass=2.0, inertia=(0.5, 0.5, 0.1), com=(0.0, 0.1, 0.4))
    common = {"on": "boom", "at": (0.1, -0.2, 0.9), "seen_from": "bus.port", "axes": "boom"}
    return System(
        name="sensed",
        environment=environment,
        parts=(Part(bus, joint=Free(name="base")), Part(boom, on="bus.port", joint=Spherical(name="ball"))),
        sensors=(
            Position(name="r", on="boom", at=(0.1, -0.2, 0.9)),
            Velocity(name="v", on="boom", at=(0.1, -0.2, 0.9)),
            Acceleration(name="a", on="boom", at=(0.1, -0.2, 0.9)),
            Position(name="rr", **common),
            Velocity(name="vv", **{**common, "axes": "bus.port"}),
            Acceleration(name="aa", **{**common, "axes": "bus.port"}),
            AngularVelocity(name="w", on="boom", seen_from="bus", axes="boom"),
            Attitude(name="s", on="boom", seen_from="bus.port"),
            Position(name="rb", **{**common, "axes": "bus.port"}),
        ),
    )


def test_frame_rotations_are_run_time_numbers() -> None:
    def system(angle: float) -> System:
        return replace(
            sensed_system(UniformGravity()),
            parts=tuple(
                replace(
                    part,
                    body=replace(
                        part.body, frames=(Frame(name="port", at=(0.2, 0.1, 0.0), rotation=rotation_about("x", angle)),)
                    ),
                )
                if part.name == "bus"
                else part
                for part in sensed_system(UniformGravity()).parts
            ),
        )

    eom, other = form_equations(system(0.4)), form_equations(system(0.7))
    x = random_state(eom)
    np.testing.assert_allclose(eom.x_dot(0.0, x, [], eom.parameters_of(other.system)), other.x_dot(0.0, x), rtol=1e-13)


@pytest.mark.parametrize("short", [1e-3, 1e-6, 1e-9, 0.0, -1e-6])
def test_attitude_sensor_is_right_near_half_turns(short: float) -> None:
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    eom = form_equations(
        System(name="s", parts=(Part(body, joint=Free(name="base")),), sensors=(Attitude(name="a", on="body"),))
    )
    angle = np.pi - short
    for axis in np.eye(3):
        q = np.concatenate([[np.cos(angle / 2)], axis * np.sin(angle / 2)])
        expected = axis * np.tan(angle / 4) if short >= 0.0 else axis * np.tan((angle - 2 * np.pi) / 4)
        y = eom.outputs(0.0, np.concatenate([q, np.zeros(9)]))
        if short == 0.0:
            expected = expected * np.sign(y @ expected)
        np.testing.assert_allclose(y, expected, atol=1e-12)


@pytest.mark.parametrize("environment", [UniformGravity(), CircularOrbit(rate=0.3)], ids=["uniform", "orbit"])
def test_outputs_at_any_point_in_any_frame(environment) -> None:
    """Velocities and accelerations are the rates of positions, in the axes of the observer."""
    eom = form_equations(sensed_system(environment))
    x, h = random_state(eom, 3), 1e-4

    def flow(dt: float) -> np.ndarray:
        """A short exact arc by the classical Runge-Kutta step."""
        k1 = eom.x_dot(0.0, x)
        k2 = eom.x_dot(0.0, x + dt / 2 * k1)
        k3 = eom.x_dot(0.0, x + dt / 2 * k2)
        k4 = eom.x_dot(0.0, x + dt * k3)
        return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    now, ahead, behind = (eom.labels.y.named(eom.outputs(0.0, state)) for state in (x, flow(h), flow(-h)))
    for position, velocity, acceleration in (("r", "v", "a"), ("rb", "vv", "aa")):
        for axis in "xyz":
            rate = (ahead[f"{position}.{axis}"] - behind[f"{position}.{axis}"]) / (2 * h)
            assert now[f"{velocity}.{axis}"] == pytest.approx(rate, abs=1e-6)  # h^2 times third derivatives
            rate = (ahead[f"{velocity}.{axis}"] - behind[f"{velocity}.{axis}"]) / (2 * h)
            assert now[f"{acceleration}.{axis}"] == pytest.approx(rate, abs=1e-6)
    ball = x[eom.labels.x.index("ball.qw") :][:4]
    omega = x[eom.n_q + 6 :][:3]
    np.testing.assert_allclose([now["w.wx"], now["w.wy"], now["w.wz"]], omega, atol=1e-12)
    ball = ball if ball[0] > 0 else -ball
    np.testing.assert_allclose([now["s.s1"], now["s.s2"], now["s.s3"]], ball[1:] / (1 + ball[0]), atol=1e-12)


def test_acceleration_cannot_be_fed_back() -> None:
    eom = form_equations(sensed_system(UniformGravity()))
    with pytest.raises(ModelError, match="'a'.*output only"):
        eom.functions["sensors"]
