"""`Sensor`, the base of the outputs y of the equations, and the motion that it measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, check_name, choices, set_field, unless_trivial

__all__ = ["SensedMotion", "Sensor"]


@dataclass(frozen=True)
class SensedMotion:
    """Motion of a sensor's point P on its body B relative to its observer A (`seen_from`), as CasADi expressions.

    Vectors have components in the sensor's `axes` E.

    Parameters
    ----------
    position : vector, shape (3,)
        Position of P from A's origin [m].
    velocity : vector, shape (3,)
        Velocity of P, as seen by an observer fixed in A [m/s].
    angular_velocity : vector, shape (3,)
        Angular velocity of B relative to A [rad/s].
    rotation : matrix, shape (3, 3)
        ``R_AB``: components in B to components in A.
    axes : matrix, shape (3, 3)
        ``R_EA``: components in A to components in E.
    acceleration : function
        Without arguments; returns the acceleration of P seen by the observer [m/s^2], shape (3,). It raises
        `ModelError` where accelerations are not known yet: in outputs that are fed back.
    t : expression
        Time [s].
    numbers : mapping
        The sensor's run-time parameters.
    """

    position: Any
    velocity: Any
    angular_velocity: Any
    rotation: Any
    axes: Any
    acceleration: Callable[[], Any]
    t: Any
    numbers: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """Base of the outputs. A subclass defines `value`, `suffixes` (one for each component) and `unit`.

    Parameters
    ----------
    name : str
        The output's name; its components add a suffix.
    on : str
        Body or ``"body.frame"`` whose motion is measured.
    at : vector, shape (3,)
        Point in the axes of `on` [m].
    seen_from : str
        Frame of the observer, whose own motion is subtracted: ``"world"``, a body or a frame.
    axes : str
        Frame in whose axes the components are given; default: `seen_from`.
    """

    name: str
    on: str
    at: Any = (0.0, 0.0, 0.0)
    seen_from: str = "world"
    axes: str = ""

    suffixes: ClassVar[tuple[str, ...]] = (".x", ".y", ".z")
    unit: ClassVar[str] = "m"

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        set_field(self, "at", as_array(self.at, (3,), f"sensor '{self.name}': at"))
        set_field(self, "axes", self.axes or self.seen_from)

    @property
    def structure(self) -> tuple[Any, ...]:
        """Data besides class and zeros of the parameters that determine the form of the outputs."""
        return choices(self)

    def value(self, motion: SensedMotion) -> Any:
        """Return the outputs, one per suffix, from the motion of its point."""
        raise ModelError(
            f"sensor '{self.name}': {type(self).__name__} does not define its output; define value(motion)"
        )

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {"at": unless_trivial(self.at)}
