"""A long spatial chain."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["chain"]


def chain(n: int = 20) -> System:
    """Return a chain of n revolute joints about x, y, z in turn, all driven, in free space: for long recursions."""
    parts, on = [], "world"
    for i in range(n):
        link = RigidBody(name=f"link{i + 1}", mass=1.0 + 0.01 * i, inertia=(0.10, 0.12, 0.05), com=(0.1, 0.0, 0.25))
        joint = Revolute(name=f"joint{i + 1}", axis="xyz"[i % 3])
        parts.append(Part(link, on=on, at=(0.0, 0.0, 0.5 if i else 0.0), joint=joint))
        on = link.name
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return System(name=f"chain of {n}", parts=tuple(parts), actuators=actuators)
