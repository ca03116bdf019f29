"""A spatial four-bar."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import Loop
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute, Spherical, Universal
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import frame_along, rotation_about

__all__ = ["spatial_four_bar"]


def spatial_four_bar() -> System:
    """Return a spatial four-bar: crank about z, rocker about x, coupler on universal and ball joint; one freedom."""
    B, D = np.array([0.4, 0.0, 0.0]), np.array([1.0, 0.3, -0.2])
    R_rocker = rotation_about("x", -0.4)
    C = D + 0.9 * R_rocker[:, 2]
    R_coupler = frame_along((C - B) / np.linalg.norm(C - B))
    return System(
        name="spatial four-bar",
        environment=UniformGravity(),
        parts=(
            Part(rod("crank", 0.4, 1.0), joint=Revolute(name="motor", axis="z")),
            Part(
                rod("coupler", float(np.linalg.norm(C - B)), 1.4, "z"),
                on="crank.end",
                rotation=R_coupler,
                joint=Universal(name="cross", first="x", second="y"),
            ),
            Part(rod("rocker", 0.9, 1.1, "z"), at=D, rotation=R_rocker, joint=Revolute(name="swing", axis="x")),
        ),
        actuators=(JointTorque(joint="motor"),),
        constraints=(Loop(name="ball", a="rocker.end", b="coupler.end", joint=Spherical()),),
    )
