"""A free-flyer whose momentum is given by a rule."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Constraint
from spacectl.model.environment import FreeSpace
from spacectl.model.joints import Free, Revolute
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["momentum_flyer"]


def momentum_flyer() -> System:
    """Return a free-flyer with a two-joint arm and a rule of zero momentum (Sadigh 1995, chapter 1, section 6.2)."""
    bus = RigidBody(name="bus", mass=60.0, inertia=(8.0, 10.0, 9.0), com=(0.0, 0.1, 0.0))
    return System(
        name="momentum flyer",
        environment=FreeSpace(),
        parts=(
            Part(bus, joint=Free(name="base")),
            Part(rod("upper", 1.2, 8.0), on="bus", at=(0.4, 0.0, 0.2), joint=Revolute(name="shoulder", axis="z")),
            Part(rod("fore", 1.0, 5.0), on="upper.end", joint=Revolute(name="elbow", axis="y")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(Constraint(name="momentum", rule=lambda s: s.momentum()),),
    )
