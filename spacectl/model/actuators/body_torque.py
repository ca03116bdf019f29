"""`BodyTorque`: a torque on a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.actuators.base import DirectedActuator
from spacectl.model.actuators.effort import Effort, Wrench

__all__ = ["BodyTorque"]


@dataclass(frozen=True, kw_only=True)
class BodyTorque(DirectedActuator):
    """Torque on a body about a direction fixed in body or world axes."""

    direction: Any = "z"
    unit: ClassVar[str] = "N m"

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, is_moment=True, axes=self.axes),)
