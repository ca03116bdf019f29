"""A free-flyer that holds a bar with two arms."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Loop
from spacectl.model.environment import CircularOrbit, Environment, FreeSpace
from spacectl.model.joints import Fixed, Free, Revolute, Spherical, Universal
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["two_arm_flyer"]


def _arm(side: str, y: float) -> list[Part]:
    """Return two links in front of the base, bent at the elbow."""
    shoulder = Universal(name=f"{side}_shoulder", first="z", second="y")
    upper, fore = rod(f"{side}_upper", 0.8, 6.0), rod(f"{side}_fore", 0.7, 4.0)
    elbow = Revolute(name=f"{side}_elbow", axis="y")
    return [
        Part(upper, on="bus", at=(0.5, y, 0.0), rotation=rotation_about("y", -0.5), joint=shoulder),
        Part(fore, on=f"{side}_upper.end", rotation=rotation_about("y", 1.1), joint=elbow),
    ]


def two_arm_flyer(*, rate: float = 1.1e-3) -> System:
    """Return a free-flyer that grasps a bar with two arms: rigidly with the left, by a ball joint with the right.

    Parameters
    ----------
    rate : float
        Rate of the circular orbit [rad/s]; zero for free space.
    """
    bus = RigidBody(name="bus", mass=120.0, inertia=(18.0, 22.0, 20.0, 0.5, -0.3, 0.2))
    bar = RigidBody(name="bar", mass=8.0, inertia=(0.7, 0.02, 0.7), com=(0.0, -0.5, 0.0))
    held = rotation_about("y", -0.6)
    parts = [Part(bus, joint=Free(name="base")), *_arm("left", 0.5), *_arm("right", -0.5)]
    parts.append(Part(bar, on="left_fore.end", rotation=held, joint=Fixed(name="grip")))
    joints = (("shoulder", "first_dot"), ("shoulder", "second_dot"), ("elbow", ""))
    environment: Environment = CircularOrbit(rate=rate) if rate else FreeSpace()
    return System(
        name="two-arm flyer",
        environment=environment,
        parts=tuple(parts),
        actuators=tuple(
            JointTorque(joint=f"{side}_{joint}", component=component)
            for side in ("left", "right")
            for joint, component in joints
        ),
        constraints=(Loop(name="grasp", a="right_fore.end", b="bar", at_b=(0.0, -1.0, 0.0), joint=Spherical()),),
    )
