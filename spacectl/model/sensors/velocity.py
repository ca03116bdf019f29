"""`Velocity` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.sensors.base import SensedMotion, Sensor

__all__ = ["Velocity"]


@dataclass(frozen=True, kw_only=True)
class Velocity(Sensor):
    """Velocity of the point, as seen by an observer fixed in `seen_from` [m/s]."""

    unit: ClassVar[str] = "m/s"

    def value(self, motion: SensedMotion) -> Any:
        return motion.velocity
