"""`Revolute`: rotation about an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.axis import AxisJoint
from spacectl.model.joints.base import ANGLE, Names, columns
from spacectl.spatial.backend import stack, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import axis_rotation

__all__ = ["Revolute"]


@dataclass(frozen=True, kw_only=True)
class Revolute(AxisJoint):
    """Rotation about a unit axis (the same in J and F). Coordinate: the angle [rad]."""

    coordinates: ClassVar[Names] = ANGLE
    speeds: ClassVar[Names] = (("_dot", "rad/s"),)

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], zeros(3, q)))
