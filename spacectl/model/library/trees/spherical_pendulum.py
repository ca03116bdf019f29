"""A rod on a ball joint."""

from __future__ import annotations

from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Spherical
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["spherical_pendulum"]


def spherical_pendulum(*, mass: float = 1.0, length: float = 1.0) -> System:
    """Return a slender rod on a ball joint under gravity, along -z at rest, with a thin third axis."""
    inertia = mass * length**2 / 12.0
    rod = RigidBody(name="rod", mass=mass, inertia=(inertia, inertia, 0.01 * inertia), com=(0.0, 0.0, -length / 2))
    return System(
        name="spherical pendulum", environment=UniformGravity(), parts=(Part(rod, joint=Spherical(name="ball")),)
    )
