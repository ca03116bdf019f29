"""`Position` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.model.sensors.base import SensedMotion, Sensor

__all__ = ["Position"]


@dataclass(frozen=True, kw_only=True)
class Position(Sensor):
    """Position of the point relative to the origin of `seen_from` [m]."""

    def value(self, motion: SensedMotion) -> Any:
        return motion.position
