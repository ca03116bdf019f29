"""A plate with a knife edge."""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl.model.actuators import BodyTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Constraint
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Planar
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["skate"]


def skate(*, slope: float = 0.3) -> System:
    """Return a plate on a knife edge through its centre of mass on an inclined plane: it cannot move sideways.

    Parameters
    ----------
    slope : float
        Angle of the plane, downhill along x [rad].
    """
    plate = RigidBody(name="plate", mass=1.5, inertia=(0.02, 0.05, 0.07))
    g = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return System(
        name="skate",
        environment=UniformGravity(g=g),
        parts=(Part(plate, joint=Planar(name="ice")),),
        actuators=(BodyTorque(name="twist", on="plate", direction="z"),),
        constraints=(Constraint(name="edge", rule=lambda s: ca.dot(s.rotation("plate")[:, 1], s.velocity("plate"))),),
    )
