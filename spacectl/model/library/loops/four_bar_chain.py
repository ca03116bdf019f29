"""A chain of four-bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import PointOnPlane
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.constrained.four_bar_parts import DOWN
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["four_bar_chain"]

_PIVOTS = {"left": (0.0, 0.0), "crank": (0.06, 0.42), "rocker": (0.52, 0.5), "right": (0.45, -0.05)}  # [m]


def _bar(name: str, start: str, stop: str, mass: float) -> tuple[RigidBody, float]:
    """Return a rod between two pivots of a four-bar, and its direction."""
    step = np.subtract(_PIVOTS[stop], _PIVOTS[start])
    return rod(name, float(np.hypot(*step)), mass), float(np.arctan2(step[1], step[0]))


def four_bar_chain(n: int = 2, *, flexible: bool = False, gravity: tuple[float, float, float] = DOWN) -> System:
    """Return a mast of n four-bars, each on the coupler of the one before, rotated 90 degrees; driven at the cranks.

    Parameters
    ----------
    n : int
        Number of four-bars.
    flexible : bool
        Whether the couplers are beams with two bending shapes in the plane of their four-bar.
    gravity : vector, shape (3,)
        Gravity [m/s^2].
    """
    crank, along = _bar("crank", "left", "crank", 0.6)
    coupler, across = _bar("coupler", "crank", "rocker", 0.9)
    rocker, back = _bar("rocker", "right", "rocker", 0.7)
    length = float(crank.com[0]), float(coupler.frames[0].at[0]), float(rocker.com[0])
    parts: list[Part] = []
    constraints, actuators, on = [], [], "world"
    seat = rotation_about("y", 0.5 * np.pi) if n > 1 else np.eye(3)
    for k in range(n):
        turn = np.eye(3) if k == 0 else seat
        bars: list[tuple[str, str, Any, Any, float]] = [
            ("crank", on, (*_PIVOTS["left"], 0.0), rod(f"crank{k}", 2.0 * length[0], 0.6), along),
            ("coupler", f"crank{k}.end", (0.0, 0.0, 0.0), _coupler(k, length[1], flexible), across - along),
            ("rocker", on, (*_PIVOTS["right"], 0.0), rod(f"rocker{k}", 2.0 * length[2], 0.7), back),
        ]
        for name, carrier, at, body, angle in bars:
            outer = carrier == on
            rotation = (turn if outer else np.eye(3)) @ rotation_about("z", angle)
            place = turn @ np.asarray(at) if outer else np.asarray(at)
            joint = Revolute(name=f"{name}_pin{k}", axis="z")
            parts.append(Part(body, on=carrier, at=place, rotation=rotation, joint=joint))
        tip = f"coupler{k}.tip" if flexible else f"coupler{k}.end"
        for axis in "xy":
            constraints.append(PointOnPlane(name=f"pin{k}_{axis}", a=f"rocker{k}.end", b=tip, normal=axis))
        actuators.append(JointTorque(joint=f"crank_pin{k}"))
        on = tip
    return System(
        name=f"{'flexible ' if flexible else ''}four-bar chain of {n}",
        environment=UniformGravity(g=gravity),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def _coupler(k: int, length: float, flexible: bool) -> Any:
    if not flexible:
        return rod(f"coupler{k}", length, 0.9)
    return Beam(name=f"coupler{k}", length=length, mass=0.9, EI=40.0, bending=("y",), modes=2, damping=0.01)
