"""A free-flying base with an arm."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import FreeSpace
from spacectl.model.joints import Free, Revolute
from spacectl.model.part import Part
from spacectl.model.sensors import Position, Velocity
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["free_flyer_arm"]


def free_flyer_arm(
    *,
    base_mass: float = 500.0,
    link_mass: float = 20.0,
    payload_mass: float = 50.0,
    reach: float = 4.0,
    torque_limit: float = 200.0,
) -> System:
    """Return a free-flying base with a seven-joint arm (roll-pitch-roll-pitch-roll-pitch-roll) and a payload at its end.

    Parameters
    ----------
    base_mass, link_mass, payload_mass : float
        Masses [kg]: base, each of the seven links, payload.
    reach : float
        Length of the stretched arm [m].
    torque_limit : float
        Torque limit of every joint [N m].
    """
    if not reach > 0.0:
        raise ModelError(f"free_flyer_arm: reach is {reach:g} m, expected a positive number")
    base = RigidBody(name="bus", mass=base_mass, inertia=tuple(base_mass * np.array([0.5, 0.6, 0.55])))
    parts = [Part(base, joint=Free(name="base"))]
    on, at = "bus", (0.0, 0.0, 0.9)
    length = reach / 7.0
    for i in range(7):
        across, along = link_mass * (length**2 / 12.0 + 0.5 * 0.15**2), link_mass * 0.15**2  # joint housings 0.3 m wide
        link = RigidBody(
            name=f"link{i + 1}", mass=link_mass, inertia=(across, across, along), com=(0.0, 0.0, length / 2)
        )
        parts.append(Part(link, on=on, at=at, joint=Revolute(name=f"joint{i + 1}", axis="z" if i % 2 == 0 else "y")))
        on, at = link.name, (0.0, 0.0, length)
    block = RigidBody(
        name="payload",
        mass=payload_mass,
        inertia=tuple(payload_mass * np.array([0.08, 0.1, 0.06])),
        com=(0.1, 0.0, 0.2),
    )
    parts.append(Part(block, on="link7", at=at, rotation=rotation_about("z", np.pi / 2)))
    return System(
        name="free-flyer arm",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(JointTorque(joint=f"joint{i + 1}", limit=torque_limit) for i in range(7)),
        sensors=(Position(name="hand", on="payload"), Velocity(name="hand_velocity", on="payload", seen_from="bus")),
    )
