"""`AxisJoint`, the base of the joints with one axis, and terms of the equations that close a loop at a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joints.base import Joint, axis_number
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import frame_along

__all__ = ["AxisJoint", "offsets", "tilts", "turn_of", "uprightness"]


@dataclass(frozen=True, kw_only=True)
class AxisJoint(Joint):
    """Base of the joints with one axis, a unit vector that is the same in J and F.

    The motion of a subclass depends on no other direction: the order-N recursion rotates J and F so that the axis is their
    third one. A subclass with another direction sets ``is_axial = False``.

    Parameters
    ----------
    axis : vector or "x", "-y", ...
        Unit axis.
    prescribed : function, optional
        Motion as a function of time, ``lambda s: 0.1 * casadi.sin(s.t)``, for a joint with one coordinate: the joint then
        has no coordinate, and an ideal drive imposes the motion.
    """

    axis: Any = "z"
    prescribed: Any = None
    is_axial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        if self.prescribed is not None:
            if len(type(self).coordinates) != 1:
                raise ModelError(f"{self._what}: only joints with one coordinate can be prescribed; use two in series")
            set_field(self, "prescribed", TimeExpression(self.prescribed, f"{self._what}: prescribed motion"))
            set_field(self, "coordinates", ())
            set_field(self, "speeds", ())

    @property
    def motion(self) -> TimeExpression | None:
        return self.prescribed

    def numbers(self) -> dict[str, Number]:
        return {"axis": axis_number(self.axis)}

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return dot(n["axis"], X_JF.R @ n["axis"])


def turn_of(R: Any) -> list[Any]:
    """Return half the axial vector of R - R': the rotation vector for small rotations."""
    return [0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])]


def uprightness(R: Any) -> Any:
    """Return the cosine of the angle of a rotation."""
    return 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)


def offsets(axis: Any, p: Any) -> list[Any]:
    """Return the two components of a vector normal to an axis."""
    across = frame_along(axis)
    return [dot(across[:, 0], p), dot(across[:, 1], p)]


def tilts(axis: Any, R: Any) -> list[Any]:
    """Return the two components, normal to an axis, of the rotated axis."""
    return offsets(axis, R @ axis)
