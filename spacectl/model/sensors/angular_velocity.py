"""`AngularVelocity` of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.sensors.base import SensedMotion, Sensor

__all__ = ["AngularVelocity"]


@dataclass(frozen=True, kw_only=True)
class AngularVelocity(Sensor):
    """Angular velocity of `on` relative to `seen_from` [rad/s]."""

    suffixes: ClassVar[tuple[str, ...]] = (".wx", ".wy", ".wz")
    unit: ClassVar[str] = "rad/s"

    def value(self, motion: SensedMotion) -> Any:
        return motion.angular_velocity
