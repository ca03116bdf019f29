"""A disc that rolls without slipping."""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Constraint
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Free
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["rolling_disc"]


def rolling_disc(*, radius: float = 0.3, mass: float = 2.0) -> System:
    """Return a thin disc that rolls without slip on the horizontal plane z = 0; upright at rest, its axis along y.

    Parameters
    ----------
    radius, mass : float
        Radius [m] and mass [kg] of the disc.
    """
    disc = RigidBody(name="disc", mass=mass, inertia=tuple(mass * radius**2 * np.array([0.25, 0.5, 0.25])))

    def touches(s):  # type: ignore[no-untyped-def]
        lean = s.rotation("disc")[2, 1]
        return s.position("disc")[2] - s.number("radius") * ca.sqrt(1.0 - lean**2)

    def rolls(s):  # type: ignore[no-untyped-def]
        axis = s.rotation("disc")[:, 1]
        up = ca.SX([0.0, 0.0, 1.0]) - axis[2] * axis  # in the plane of the disc, towards its highest point
        contact = -s.number("radius") * up / ca.sqrt(1.0 - axis[2] ** 2)
        slip = s.velocity("disc") + ca.cross(s.angular_velocity("disc"), contact)
        return [slip[0], slip[1]]

    values = {"radius": radius}
    return System(
        name="rolling disc",
        environment=UniformGravity(),
        parts=(Part(disc, at=(0.0, 0.0, radius), joint=Free(name="base")),),
        constraints=(
            Constraint(name="touch", rule=touches, values=values),
            Constraint(name="roll", rule=rolls, values=values),
        ),
    )
