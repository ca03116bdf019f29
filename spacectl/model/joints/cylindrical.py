"""`Cylindrical`: rotation about and translation along one axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.axis import AxisJoint
from spacectl.model.joints.base import Names, columns
from spacectl.spatial.backend import stack, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import axis_rotation

__all__ = ["Cylindrical"]


@dataclass(frozen=True, kw_only=True)
class Cylindrical(AxisJoint):
    """Rotation about and translation along one axis. Coordinates: angle [rad], displacement [m]."""

    coordinates: ClassVar[Names] = ((".angle", "rad"), (".slide", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".slide_dot", "m/s"))

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), n["axis"] * q[1])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return columns(stack(n["axis"], none), stack(none, n["axis"]))
