"""A four-bar with redundant constraints."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import Loop
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.constrained.four_bar_parts import DOWN, PIVOTS, open_four_bar
from spacectl.model.system import System

__all__ = ["redundant_four_bar"]


def redundant_four_bar() -> System:
    """Return the four-bar closed by a spatial bearing: five equations, three of them implied by the other pins."""
    loop = Loop(name="bearing", b="rocker.end", at_a=(*PIVOTS[3], 0.0), joint=Revolute(axis="z"))
    return System(
        name="redundant four-bar",
        environment=UniformGravity(g=DOWN),
        parts=open_four_bar(),
        actuators=(JointTorque(joint="crank_pin"), JointTorque(name="rocker_motor", joint="bearing")),
        constraints=(loop,),
    )
