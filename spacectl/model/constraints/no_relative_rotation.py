"""`NoRelativeRotation`: no relative rotation about an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.model.constraints.frame import FrameConstraint
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joints.axis import turn_of, uprightness
from spacectl.model.joints.base import axis_number
from spacectl.spatial.backend import constant, cross, dot, vector
from spacectl.spatial.inertia import Placement

__all__ = ["NoRelativeRotation"]


@dataclass(frozen=True, kw_only=True)
class NoRelativeRotation(FrameConstraint):
    """F does not rotate relative to J about an axis of J (Aslanov, Kruglov, Yuditsev, section 3.2).

    Parameters
    ----------
    axis : unit vector or "x", ...
        Constrained axis in J.
    free : unit vector, "x", ... or "none"
        Axis about which all rotation constraints together leave F free (as in a revolute joint), or ``"none"``; it defines
        the equation at position level. If omitted, only the angular rate is constrained, which alone is nonholonomic.
    """

    axis: Any = "z"
    free: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        if self.free is not None and self.free != "none":
            set_field(self, "free", direction(self.free, f"{self._what}: free"))
            if abs(float(sum(x * y for x, y in zip(self.axis, self.free, strict=True)))) > 1e-9:
                raise ModelError(f"{self._what}: the free axis must be normal to the constrained axis")

    @property
    def has_position_level(self) -> bool:
        return self.free is not None

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "axis": axis_number(self.axis)}

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        if isinstance(self.free, str):
            return vector(dot(n["axis"], vector(*turn_of(X_JF.R))))
        free = constant(tuple(self.free), X_JF.p)
        return vector(dot(n["axis"], cross(free, X_JF.R @ free)))

    def rates(self, X_JF: Placement, V_JF_J: Any, n: Mapping[str, Any]) -> Any:
        return vector(dot(n["axis"], V_JF_J[0:3]))

    def side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        if self.free is None:
            return 1.0
        if isinstance(self.free, str):
            return uprightness(X_JF.R)
        free = constant(tuple(self.free), X_JF.R)
        return dot(free, X_JF.R @ free)
