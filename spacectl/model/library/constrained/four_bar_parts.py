"""What the four-bars share: rods, the pivots and the open chain."""

from __future__ import annotations

import numpy as np

from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.spatial.rotation import rotation_about

__all__ = ["DOWN", "PIVOTS", "bars", "open_four_bar", "rod"]

DOWN = (0.0, -9.81, 0.0)  # [m/s^2]
PIVOTS = np.array(
    [[0.0, 0.0], [0.25, 0.65], [1.7, 1.1], [2.0, 0.0]]
)  # [m]: crank's root and end, rocker's end and root


def rod(name: str, length: float, mass: float, axis: str = "x") -> RigidBody:
    """Return a uniform round rod along an axis, from its origin to its frame ``"end"``; length / 20 in diameter."""
    k = "xyz".index(axis)
    along, across = mass * (length / 40.0) ** 2 / 2.0, mass * (length**2 / 12.0 + (length / 40.0) ** 2 / 4.0)
    inertia = tuple(along if i == k else across for i in range(3))
    reach = length * np.eye(3)[k]
    return RigidBody(name=name, mass=mass, inertia=inertia, com=reach / 2, frames=(Frame(name="end", at=reach),))


def bars() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the lengths [m] and directions [rad] of crank, coupler and rocker (towards its root)."""
    steps = np.diff(PIVOTS, axis=0)
    return tuple(np.hypot(*steps.T)), tuple(np.arctan2(steps[:, 1], steps[:, 0]))


def open_four_bar() -> tuple[Part, ...]:
    """Return the chain crank, coupler, rocker whose end lies at its fixed pivot when all angles are zero."""
    lengths, angles = bars()
    parts, on, before = [], "world", 0.0
    for name, mass, length, angle in zip(("crank", "coupler", "rocker"), (1.0, 2.5, 1.5), lengths, angles, strict=True):
        joint = Revolute(name=f"{name}_pin", axis="z")
        parts.append(Part(rod(name, length, mass), on=on, rotation=rotation_about("z", angle - before), joint=joint))
        on, before = f"{name}.end", angle
    return tuple(parts)
