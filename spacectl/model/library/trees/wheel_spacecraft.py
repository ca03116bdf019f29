"""A spacecraft with reaction wheels."""

from __future__ import annotations

from spacectl.model.actuators import ReactionWheel, Thruster
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.environment import CentralGravity
from spacectl.model.joints import Fixed, Free
from spacectl.model.part import Part
from spacectl.model.sensors import AngularVelocity, Attitude
from spacectl.model.system import System

__all__ = ["wheel_spacecraft"]


def wheel_spacecraft() -> System:
    """Return a spacecraft on its own orbit about the Earth with three wheels, two jets and an offset payload."""
    bus = RigidBody(
        name="bus",
        mass=400.0,
        inertia=(180.0, 220.0, 160.0, 4.0, -3.0, 2.0),
        frames=(Frame(name="deck", at=(0.0, 0.0, 0.8)),),
    )
    payload = RigidBody(name="payload", mass=30.0, inertia=(3.0, 3.0, 1.0), com=(0.0, 0.0, 0.3))
    wheels = tuple(ReactionWheel(name=f"wheel_{axis}", on="bus", axis=axis, inertia=0.05, limit=0.2) for axis in "xyz")
    jets = tuple(
        Thruster(name=name, on="bus", at=(-0.9, y, 0.0), direction="x", limit=5.0)
        for name, y in (("jet_left", 0.5), ("jet_right", -0.5))
    )
    return System(
        name="wheel spacecraft",
        environment=CentralGravity(),
        parts=(Part(bus, joint=Free(name="base")), Part(payload, on="bus.deck", joint=Fixed())),
        actuators=(*wheels, *jets),
        sensors=(AngularVelocity(name="gyro", on="bus", axes="bus"), Attitude(name="attitude", on="bus")),
    )
