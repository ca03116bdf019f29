"""A rigid body in a circular orbit."""

from __future__ import annotations

from spacectl.model.actuators import BodyTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import CircularOrbit
from spacectl.model.joints import Free
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["orbiting_body"]


def orbiting_body(*, inertia: tuple[float, float, float] = (80.0, 120.0, 100.0), rate: float = 1e-3) -> System:
    """Return a rigid body free in the frame of a circular orbit, with body torques about its axes."""
    body = RigidBody(name="body", mass=100.0, inertia=inertia)
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="body", direction=axis) for axis in "xyz")
    return System(
        name="orbiting body",
        environment=CircularOrbit(rate=rate),
        parts=(Part(body, joint=Free(name="base")),),
        actuators=torques,
    )
