"""`PointOnPlane`: a point on a plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.model.constraints.frame import FrameConstraint
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joints.base import axis_number
from spacectl.spatial.backend import dot, vector
from spacectl.spatial.inertia import Placement

__all__ = ["PLANE", "PointOnPlane"]

PLANE = "plane"  #: the joint type with which one of them closes a loop


@dataclass(frozen=True, kw_only=True)
class PointOnPlane(FrameConstraint):
    """The origin of F is on the plane through J's origin with a normal (Aslanov, Kruglov, Yuditsev, 3.1).

    Parameters
    ----------
    normal : unit vector or "x", ...
        Normal of the plane in J.
    """

    normal: Any = "z"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "normal", direction(self.normal, f"{self._what}: normal"))

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "normal": axis_number(self.normal)}

    @property
    def closes_as(self) -> str:
        return PLANE

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(dot(n["normal"], X_JF.p))
