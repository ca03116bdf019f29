"""`Acceleration` of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.sensors.base import SensedMotion, Sensor

__all__ = ["Acceleration"]


@dataclass(frozen=True, kw_only=True)
class Acceleration(Sensor):
    """Acceleration of the point, as seen by an observer fixed in `seen_from` [m/s^2].

    It depends on the inputs, so it is available as an output but not for feedback by a continuous law.
    """

    unit: ClassVar[str] = "m/s^2"

    def value(self, motion: SensedMotion) -> Any:
        return motion.acceleration()
