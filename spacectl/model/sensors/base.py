"""The base of all sensors: outputs y of the equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, check_name, choices, set_field, unless_trivial
from spacectl.model.sensors.motion import SensedMotion

__all__ = ["Sensor"]

_XYZ = (".x", ".y", ".z")


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """Base of the outputs. A kind defines `value`, and `suffixes` (one for each component) and `unit`.

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

    @property
    def structure(self) -> tuple[Any, ...]:
        """What of it decides the form of the outputs, apart from its class and the zeros of its numbers."""
        return choices(self)

    def value(self, motion: SensedMotion) -> Any:
        """Return the outputs, one per suffix, from the motion of its point."""
        raise ModelError(
            f"sensor '{self.name}': {type(self).__name__} does not say what it measures; define value(motion)"
        )

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {"at": unless_trivial(self.at)}
