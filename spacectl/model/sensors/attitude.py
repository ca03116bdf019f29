"""`Attitude` of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spacectl.model.sensors.base import Sensor

__all__ = ["Attitude"]


@dataclass(frozen=True, kw_only=True)
class Attitude(Sensor):
    """Modified Rodrigues parameters of the short rotation from `seen_from` to `on`; they change sign at 180 degrees."""

    suffixes: ClassVar[tuple[str, ...]] = (".s1", ".s2", ".s3")
    unit: ClassVar[str] = "1"
