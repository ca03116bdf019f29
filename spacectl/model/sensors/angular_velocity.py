"""`AngularVelocity` of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spacectl.model.sensors.base import Sensor

__all__ = ["AngularVelocity"]


@dataclass(frozen=True, kw_only=True)
class AngularVelocity(Sensor):
    """Angular velocity of `on` relative to `seen_from` [rad/s]."""

    suffixes: ClassVar[tuple[str, ...]] = (".wx", ".wy", ".wz")
    unit: ClassVar[str] = "rad/s"
