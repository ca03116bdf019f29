"""`JointForce`: a force along a sliding speed of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spacectl.model.actuators.joint_torque import JointTorque

__all__ = ["JointForce"]


@dataclass(frozen=True, kw_only=True)
class JointForce(JointTorque):
    """Force along a sliding speed of a joint, positive on the child."""

    unit: ClassVar[str] = "N"
