"""`AxisJoint`: the base of the joints with one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joints.base import Joint, axis_number

__all__ = ["AxisJoint"]


@dataclass(frozen=True, kw_only=True)
class AxisJoint(Joint):
    """Base of the joints with one axis, a unit vector that is the same in J and F.

    The axis is the only direction that the motion of a subclass depends on: the order-N recursion turns J and F until it is
    their third one. A subclass with another direction sets ``is_axial = False``.

    Parameters
    ----------
    axis : vector or "x", "-y", ...
        Unit axis.
    prescribed : function, optional
        Motion as a function of time, ``lambda s: 0.1 * casadi.sin(s.t)``, for a joint with one coordinate: the joint then
        has no coordinate of its own, and what moves it does whatever it takes.
    """

    axis: Any = "z"
    prescribed: Any = None
    is_axial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        if self.prescribed is not None:
            if len(type(self).coordinates) != 1:
                raise ModelError(f"{self._what}: only joints with one coordinate can be prescribed; use two in a row")
            set_field(self, "prescribed", TimeExpression(self.prescribed, f"{self._what}: prescribed motion"))
            set_field(self, "coordinates", ())
            set_field(self, "speeds", ())

    @property
    def motion(self) -> TimeExpression | None:
        return self.prescribed

    def numbers(self) -> dict[str, Number]:
        return {"axis": axis_number(self.axis)}
