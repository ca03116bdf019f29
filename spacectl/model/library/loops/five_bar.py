"""A five-bar with two motors."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import PointOnPlane
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.constrained.four_bar_parts import DOWN
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["five_bar"]


def five_bar() -> System:
    """Return a planar five-bar on a turntable: two freedoms in the loop, closed by a pin between the forearms."""
    table = RigidBody(name="table", mass=6.0, inertia=(0.3, 0.3, 0.5))
    lengths, angles = (0.35, 0.5), (1.9, 0.7)
    left = np.array([-0.1, 0.0]) + lengths[0] * np.array([np.cos(angles[0]), np.sin(angles[0])])
    right = np.array([0.1, 0.0]) + lengths[0] * np.array([np.cos(np.pi - angles[0]), np.sin(np.pi - angles[0])])
    reach = 0.5 * (right - left)
    height = float(np.sqrt(lengths[1] ** 2 - reach @ reach))
    tilt = float(np.arctan2(height, reach[0]))
    parts = [Part(table, joint=Revolute(name="turntable", axis="y"))]
    for side, sign, upper, fore in (("left", -1.0, angles[0], tilt), ("right", 1.0, np.pi - angles[0], np.pi - tilt)):
        shoulder, elbow = Revolute(name=f"{side}_motor", axis="z"), Revolute(name=f"{side}_elbow", axis="z")
        upper_arm, forearm = rod(f"{side}_arm", lengths[0], 0.8), rod(f"{side}_fore", lengths[1], 0.6)
        parts.append(
            Part(upper_arm, on="table", at=(0.1 * sign, 0, 0.05), rotation=rotation_about("z", upper), joint=shoulder)
        )
        parts.append(Part(forearm, on=f"{side}_arm.end", rotation=rotation_about("z", fore - upper), joint=elbow))
    pins = tuple(PointOnPlane(name=f"pin_{axis}", a="left_fore.end", b="right_fore.end", normal=axis) for axis in "xy")
    motors = ("turntable", "left_motor", "right_motor")
    return System(
        name="five-bar",
        environment=UniformGravity(g=DOWN),
        parts=tuple(parts),
        actuators=tuple(JointTorque(joint=name) for name in motors),
        constraints=pins,
    )
