"""A uniform rod that swings about one axis."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["pendulum"]


def pendulum(*, mass: float = 1.0, length: float = 1.0) -> System:
    """Return a uniform rod under gravity on a driven hinge about y, pointing along -z at rest."""
    inertia = mass * length**2 / 12.0
    rod = RigidBody(name="rod", mass=mass, inertia=(inertia, inertia, 0.0), com=(0.0, 0.0, -length / 2))
    return System(
        name="pendulum",
        environment=UniformGravity(),
        parts=(Part(rod, joint=Revolute(name="hinge", axis="y")),),
        actuators=(JointTorque(joint="hinge"),),
    )
