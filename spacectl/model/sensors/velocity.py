"""`Velocity` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.sensors.base import Sensor
from spacectl.model.sensors.motion import SensedMotion

__all__ = ["Velocity"]


@dataclass(frozen=True, kw_only=True)
class Velocity(Sensor):
    """Velocity of the point, as an observer fixed in `seen_from` sees it [m/s]."""

    unit: ClassVar[str] = "m/s"

    def value(self, motion: SensedMotion) -> Any:
        return motion.velocity
