"""`BodyForce`: a force at a point of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_array
from spacectl.model.actuators.base import DirectedActuator
from spacectl.model.actuators.effort import Effort, Wrench
from spacectl.model.description import Number, set_field, unless_trivial

__all__ = ["BodyForce"]


@dataclass(frozen=True, kw_only=True)
class BodyForce(DirectedActuator):
    """Force at a point of a body.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    at : vector, shape (3,)
        Point in the axes of that frame [m].
    direction : vector or "x", "-y", ...
        Unit direction.
    axes : {"body", "world"}
        Axes in which the direction is fixed.
    """

    at: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "at", as_array(self.at, (3,), f"{self._what}: at"))

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, at="at", axes=self.axes),)

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "at": unless_trivial(self.at)}
