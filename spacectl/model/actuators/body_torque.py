"""`BodyTorque`: a torque on a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.errors import ModelError
from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.effort import Effort, Wrench
from spacectl.model.description import Number, direction, set_field, unless_trivial

__all__ = ["BodyTorque"]


@dataclass(frozen=True, kw_only=True)
class BodyTorque(Actuator):
    """Torque on a body about a direction fixed in body or world axes."""

    on: str
    direction: Any = "z"
    axes: str = "body"
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "direction", direction(self.direction, f"{self._what}: direction"))
        if self.axes not in ("body", "world"):
            raise ModelError(f"{self._what}: axes is {self.axes!r}, expected 'body' or 'world'")

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, is_moment=True, axes=self.axes),)

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "direction": unless_trivial(self.direction, 0.0, 1.0, -1.0)}
