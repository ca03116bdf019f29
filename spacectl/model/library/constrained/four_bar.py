"""A planar four-bar linkage."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import PointOnPlane
from spacectl.model.environment import UniformGravity
from spacectl.model.library.constrained.four_bar_parts import DOWN, PIVOTS, open_four_bar
from spacectl.model.system import System

__all__ = ["four_bar"]


def four_bar() -> System:
    """Return a planar four-bar linkage under gravity, driven at the crank; independent equations for its last pin."""
    pivot = (*PIVOTS[3], 0.0)
    return System(
        name="four-bar",
        environment=UniformGravity(g=DOWN),
        parts=open_four_bar(),
        actuators=(JointTorque(joint="crank_pin"),),
        constraints=tuple(PointOnPlane(name=f"pin_{axis}", b="rocker.end", at_a=pivot, normal=axis) for axis in "xy"),
    )
