"""Outputs y of the equations: motion of any point, seen from any frame, in the axes of any frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.array import as_array
from spacectl.model.description import Number, check_name, set_field, unless_trivial

__all__ = ["SENSORS", "Acceleration", "AngularVelocity", "Attitude", "Position", "Sensor", "Velocity"]

_XYZ = (".x", ".y", ".z")


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """Base of the outputs.

    Parameters
    ----------
    name : str
        The output's name; its components add a suffix.
    on : str
        Body or ``"body.frame"`` whose motion is meant.
    at : vector, shape (3,)
        Point in the axes of `on` [m].
    seen_from : str
        The frame from which the motion is seen (its own motion is subtracted): ``"world"``, a body or a frame.
    axes : str
        The frame in whose axes the components are given; default: that of `seen_from`.
    """

    name: str
    on: str
    at: Any = (0.0, 0.0, 0.0)
    seen_from: str = "world"
    axes: str = ""

    suffixes: ClassVar[tuple[str, ...]] = _XYZ
    unit: ClassVar[str] = "m"

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        set_field(self, "at", as_array(self.at, (3,), f"sensor '{self.name}': at"))
        set_field(self, "axes", self.axes or self.seen_from)

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {"at": unless_trivial(self.at)}


@dataclass(frozen=True, kw_only=True)
class Position(Sensor):
    """Position of the point from the origin of `seen_from` [m]."""


@dataclass(frozen=True, kw_only=True)
class Velocity(Sensor):
    """Velocity of the point, as an observer fixed in `seen_from` sees it [m/s]."""

    unit: ClassVar[str] = "m/s"


@dataclass(frozen=True, kw_only=True)
class Acceleration(Sensor):
    """Acceleration of the point, as an observer fixed in `seen_from` sees it [m/s^2].

    It depends on the inputs, so it is available as an output but not for feedback by a continuous law.
    """

    unit: ClassVar[str] = "m/s^2"


@dataclass(frozen=True, kw_only=True)
class AngularVelocity(Sensor):
    """Angular velocity of `on` relative to `seen_from` [rad/s]."""

    suffixes: ClassVar[tuple[str, ...]] = (".wx", ".wy", ".wz")
    unit: ClassVar[str] = "rad/s"


@dataclass(frozen=True, kw_only=True)
class Attitude(Sensor):
    """Modified Rodrigues parameters of the short rotation from `seen_from` to `on`; they change sign at 180 degrees."""

    suffixes: ClassVar[tuple[str, ...]] = (".s1", ".s2", ".s3")
    unit: ClassVar[str] = "1"


SENSORS: dict[str, type[Sensor]] = {
    kind.__name__: kind for kind in (Position, Velocity, Acceleration, AngularVelocity, Attitude)
}
