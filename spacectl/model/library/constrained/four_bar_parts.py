"""Parts that the four-bars share: rods, pivots and the open chain."""

from __future__ import annotations

import numpy as np

from spacectl.model.joints import Revolute
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.spatial.rotation import rotation_about

__all__ = ["DOWN", "PIVOTS", "bars", "open_four_bar"]

DOWN = (0.0, -9.81, 0.0)  # [m/s^2]
PIVOTS = np.array(
    [[0.0, 0.0], [0.25, 0.65], [1.7, 1.1], [2.0, 0.0]]
)  # [m]: root and end of the crank, end and root of the rocker


def bars() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the lengths [m] and directions [rad] of crank, coupler and rocker (towards its root)."""
    steps = np.diff(PIVOTS, axis=0)
    return tuple(np.hypot(*steps.T)), tuple(np.arctan2(steps[:, 1], steps[:, 0]))


def open_four_bar() -> tuple[Part, ...]:
    """Return the chain crank, coupler, rocker; its end lies at the fixed pivot when all angles are zero."""
    lengths, angles = bars()
    parts, on, before = [], "world", 0.0
    for name, mass, length, angle in zip(("crank", "coupler", "rocker"), (1.0, 2.5, 1.5), lengths, angles, strict=True):
        joint = Revolute(name=f"{name}_pin", axis="z")
        parts.append(Part(rod(name, length, mass), on=on, rotation=rotation_about("z", angle - before), joint=joint))
        on, before = f"{name}.end", angle
    return tuple(parts)
