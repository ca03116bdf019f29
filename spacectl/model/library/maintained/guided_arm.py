"""An arm with natural and artificial constraints."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import Artificial, NoRelativeRotation, PointOnPlane
from spacectl.model.library.maintained.links import slender_links
from spacectl.model.system import System

__all__ = ["guided_arm"]


def guided_arm() -> System:
    """Return an arm with its tip on a rail (natural) and the last link's direction maintained by the wrist."""
    parts = slender_links((1.0, 0.8, 0.5), (1.0, 0.9, 0.4), ("shoulder", "elbow", "wrist"))
    return System(
        name="guided arm",
        parts=parts,
        actuators=tuple(JointTorque(joint=part.joint_name) for part in parts),
        constraints=(
            PointOnPlane(name="rail", b="link3.tip", normal="y"),
            NoRelativeRotation(name="level", b="link3", axis="z", free="none", kind=Artificial(by=("wrist",))),
        ),
    )
