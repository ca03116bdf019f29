"""`Prismatic`: translation along an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.axis import AxisJoint
from spacectl.model.joints.base import Names, columns
from spacectl.spatial.backend import eye, stack, zeros
from spacectl.spatial.motion import Placement

__all__ = ["Prismatic"]


@dataclass(frozen=True, kw_only=True)
class Prismatic(AxisJoint):
    """Translation along a unit axis. Coordinate: the displacement [m]."""

    axis: Any = "x"
    coordinates: ClassVar[Names] = (("", "m"),)
    speeds: ClassVar[Names] = (("_dot", "m/s"),)

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), n["axis"] * q[0])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(zeros(3, q), n["axis"]))
