"""`Position` of a point."""

from __future__ import annotations

from dataclasses import dataclass

from spacectl.model.sensors.base import Sensor

__all__ = ["Position"]


@dataclass(frozen=True, kw_only=True)
class Position(Sensor):
    """Position of the point from the origin of `seen_from` [m]."""
