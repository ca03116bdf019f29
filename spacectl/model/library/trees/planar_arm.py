"""A planar arm with any number of links."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["planar_arm"]


def planar_arm(*, lengths: tuple[float, ...] = (1.0, 1.0), mass: float = 1.0) -> System:
    """Return a planar arm of uniform slender links in the x-y plane, all joints about z, in free space."""
    parts, on, at = [], "world", 0.0
    for i, length in enumerate(lengths):
        inertia = mass * length**2 / 12.0
        body = RigidBody(name=f"link{i + 1}", mass=mass, inertia=(0.0, inertia, inertia), com=(length / 2, 0.0, 0.0))
        parts.append(Part(body, on=on, at=(at, 0.0, 0.0), joint=Revolute(name=f"joint{i + 1}", axis="z")))
        on, at = body.name, length
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return System(name=f"planar arm of {len(parts)}", parts=tuple(parts), actuators=actuators)
