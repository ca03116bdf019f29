"""`Velocity` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spacectl.model.sensors.base import Sensor

__all__ = ["Velocity"]


@dataclass(frozen=True, kw_only=True)
class Velocity(Sensor):
    """Velocity of the point, as an observer fixed in `seen_from` sees it [m/s]."""

    unit: ClassVar[str] = "m/s"
