"""A chain with geared motors."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.loops.gears import DOWN, gear, rotor
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["geared_chain"]


def geared_chain(
    n: int = 3, *, ratio: float = 20.0, twist: float = 0.5 * np.pi, gravity: tuple[float, float, float] = DOWN
) -> System:
    """Return a chain of n links; each joint is driven by a motor on the link before, through a gear.

    The rotors are bodies that spin about moving axes; their momentum couples to the preceding links.

    Parameters
    ----------
    n : int
        Number of links, motors and gears.
    ratio : float
        Motor rate divided by joint rate.
    twist : float
        Angle between the axes of neighbouring joints [rad]; 0 for a planar arm.
    gravity : vector, shape (3,)
        Gravity [m/s^2].
    """
    parts, constraints, actuators, on = [], [], [], "world"
    for k in range(n):
        turn = rotation_about("x" if k % 2 else "y", twist) if k else np.eye(3)
        at = {} if k == 0 else {"at": (0.02, 0.0, -0.03)}
        motor, joint = f"motor{k}", f"joint{k}"
        wheel = Revolute(name=motor, axis="z")
        parts.append(Part(rotor(f"rotor{k}"), on=on, rotation=turn, joint=wheel, **at))
        parts.append(Part(rod(f"link{k}", 0.3, 1.2), on=on, rotation=turn, joint=Revolute(name=joint, axis="z")))
        constraints.append(gear(f"gear{k}", motor, joint, ratio))
        actuators.append(JointTorque(joint=motor))
        on = f"link{k}.end"
    return System(
        name=f"geared chain of {n}",
        environment=UniformGravity(g=gravity),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )
