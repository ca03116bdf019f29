"""A slider-crank."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Loop
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Prismatic, Revolute, Spherical, Universal
from spacectl.model.library.constrained.four_bar_parts import DOWN
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import frame_along, rotation_about

__all__ = ["slider_crank"]


def slider_crank(*, offset: float = 0.15) -> System:
    """Return a spatial slider-crank: pin, universal and ball joint in the tree, closed by a slide; one freedom.

    Parameters
    ----------
    offset : float
        Height of the slide above the plane of the crank [m].
    """
    B, C = np.array([0.2, 0.25, 0.0]), np.array([1.1, 0.1, offset])
    R_rod = frame_along((C - B) / np.linalg.norm(C - B))
    angle = float(np.arctan2(B[1], B[0]))
    R_crank = rotation_about("z", angle)
    block = RigidBody(name="block", mass=0.8, inertia=(2e-3, 3e-3, 4e-3), com=(0.02, 0.0, 0.01))
    return System(
        name="slider-crank",
        environment=UniformGravity(g=DOWN),
        parts=(
            Part(rod("crank", float(np.hypot(*B[:2])), 1.2), rotation=R_crank, joint=Revolute(name="motor", axis="z")),
            Part(
                rod("rod", float(np.linalg.norm(C - B)), 0.9, "z"),
                on="crank.end",
                rotation=R_crank.T @ R_rod,
                joint=Universal(name="cross", first="x", second="y"),
            ),
            Part(block, on="rod.end", rotation=R_rod.T, joint=Spherical(name="ball")),
        ),
        actuators=(JointTorque(joint="motor"),),
        constraints=(Loop(name="slide", b="block", at_a=C, joint=Prismatic(axis="x")),),
    )
