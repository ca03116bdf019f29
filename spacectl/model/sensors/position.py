"""`Position` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.model.sensors.base import Sensor
from spacectl.model.sensors.motion import SensedMotion

__all__ = ["Position"]


@dataclass(frozen=True, kw_only=True)
class Position(Sensor):
    """Position of the point from the origin of `seen_from` [m]."""

    def value(self, motion: SensedMotion) -> Any:
        return motion.position
