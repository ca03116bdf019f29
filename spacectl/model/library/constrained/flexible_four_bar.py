"""A four-bar with a flexible coupler."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.constraints import PointOnPlane
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.constrained.four_bar_parts import DOWN, PIVOTS, bars, open_four_bar
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["flexible_four_bar"]


def flexible_four_bar() -> System:
    """Return the four-bar with a flexible coupler (two bending shapes in its plane)."""
    lengths, angles = bars()
    coupler = Beam(name="coupler", length=lengths[1], mass=2.5, EI=150.0, bending=("y",), modes=2, damping=0.01)
    crank, _, rocker = open_four_bar()
    root, back = (*PIVOTS[3], 0.0), rotation_about("z", angles[2] + np.pi)
    return System(
        name="flexible four-bar",
        environment=UniformGravity(g=DOWN),
        parts=(
            crank,
            Part(
                coupler,
                on="crank.end",
                rotation=rotation_about("z", angles[1] - angles[0]),
                joint=Revolute(name="coupler_pin", axis="z"),
            ),
            Part(rocker.body, at=root, rotation=back, joint=Revolute(name="rocker_pin", axis="z")),
        ),
        actuators=(JointTorque(joint="crank_pin"),),
        constraints=tuple(
            PointOnPlane(name=f"pin_{axis}", a="rocker.end", b="coupler.tip", normal=axis) for axis in "xy"
        ),
    )
