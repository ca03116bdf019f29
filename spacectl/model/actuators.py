"""Actuators: each is one named input u of the equations, with limits that belong to the plant.

A joint actuator acts on a speed of a joint; a body actuator applies a force or a torque along a direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, check_name, direction, set_field, unless_trivial

__all__ = ["ACTUATORS", "Actuator", "BodyForce", "BodyTorque", "JointForce", "JointTorque", "ReactionWheel", "Thruster"]


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """Base: a name and limits.

    Parameters
    ----------
    name : str
        Name of the input.
    limit : float or (low, high), optional
        Bound of the input in `unit`, finite; a single number means plus and minus that. None: `default_bounds`, which
        are infinite (a `Thruster`'s are 0 and infinity).
    """

    name: str = ""
    limit: Any = None
    unit: ClassVar[str] = "N"
    default_bounds: ClassVar[tuple[float, float]] = (-inf, inf)  # of the input, where there is no limit

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name, type(self).__name__)
        if self.limit is not None:
            set_field(self, "limit", self._bounds(self.limit))

    @property
    def _what(self) -> str:
        return f"actuator '{self.input_name}'"

    @property
    def input_name(self) -> str:
        """Name of the input u."""
        if not self.name:
            raise ModelError(f"{type(self).__name__}: give it a name, such as name='jet'")
        return self.name

    def _bounds(self, limit: Any) -> Array:
        bounds = self._finite(limit)
        pair = np.array([-float(bounds), float(bounds)]) if bounds.shape == () else np.asarray(bounds)
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise ModelError(
                f"{self._what}: limit is {limit!r}, expected a positive number or (low, high) with low < high"
            )
        return Array(pair)

    def _finite(self, limit: Any) -> Array:
        """The limit as numbers. They are run-time numbers and so finite: an infinite side can only be left out."""
        entries = limit if isinstance(limit, (list, tuple)) else [limit]
        if any(isinstance(entry, (float, np.ndarray)) and np.any(np.isinf(entry)) for entry in entries):
            low, high = self.default_bounds
            raise ModelError(
                f"{self._what}: limit is {limit!r}, expected finite numbers; for an infinite side leave the limit out: "
                f"a {type(self).__name__} without one ranges from {low:g} to {high:g}"
            )
        for entry in entries:
            if np.ndim(entry) == 0:
                as_scalar(entry, f"{self._what}: limit")
        return as_array(limit, None, f"{self._what}: limit")

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {} if self.limit is None else {"limit": always(self.limit)}


@dataclass(frozen=True, kw_only=True)
class JointTorque(Actuator):
    """Torque between the two sides of a joint, positive on the child.

    Parameters
    ----------
    joint : str
        The joint's name.
    component : str
        For a joint with several speeds, which one: ``"wx"``, ``"angle_dot"``, ... as in the speed's name.
    """

    joint: str
    component: str = ""
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        for key in ("joint", "component"):
            if not isinstance(getattr(self, key), str):
                raise ModelError(f"{type(self).__name__}: {key} is {getattr(self, key)!r}, expected a name")
        super().__post_init__()

    @property
    def input_name(self) -> str:
        """The actuator's own name, or the joint's (with the component)."""
        return self.name or (f"{self.joint}.{self.component}" if self.component else self.joint)


@dataclass(frozen=True, kw_only=True)
class JointForce(JointTorque):
    """Force along a sliding speed of a joint, positive on the child."""

    unit: ClassVar[str] = "N"


@dataclass(frozen=True, kw_only=True)
class BodyForce(Actuator):
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

    on: str
    direction: Any = "x"
    at: Any = (0.0, 0.0, 0.0)
    axes: str = "body"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "direction", direction(self.direction, f"{self._what}: direction"))
        set_field(self, "at", as_array(self.at, (3,), f"{self._what}: at"))
        if self.axes not in ("body", "world"):
            raise ModelError(f"{self._what}: axes is {self.axes!r}, expected 'body' or 'world'")

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        own = {"direction": unless_trivial(self.direction, 0.0, 1.0, -1.0), "at": unless_trivial(self.at)}
        return {**super().numbers(), **own}


@dataclass(frozen=True, kw_only=True)
class BodyTorque(Actuator):
    """Torque on a body about a direction fixed in body or world axes."""

    on: str
    direction: Any = "z"
    axes: str = "body"
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "direction", direction(self.direction, f"{self._what}: direction"))
        if self.axes not in ("body", "world"):
            raise ModelError(f"{self._what}: axes is {self.axes!r}, expected 'body' or 'world'")

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {**super().numbers(), "direction": unless_trivial(self.direction, 0.0, 1.0, -1.0)}


@dataclass(frozen=True, kw_only=True)
class Thruster(BodyForce):
    """A body-fixed jet that pushes along `direction`.

    A single limit means 0 to that thrust; without a limit the thrust ranges from 0 to infinity. A jet cannot pull, so a
    negative limit is refused.
    """

    default_bounds: ClassVar[tuple[float, float]] = (0.0, inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes != "body":
            raise ModelError(f"{self._what}: a thruster is fixed in its body; use BodyForce for axes='world'")

    def _bounds(self, limit: Any) -> Array:
        bounds = self._finite(limit)
        pair = super()._bounds((0.0, float(bounds)) if bounds.shape == () else limit)
        if pair[0] < 0.0:
            raise ModelError(
                f"{self._what}: limit is {limit!r}, but a thruster cannot pull; "
                "give (low, high) with 0 <= low, or use BodyForce for a force of both signs"
            )
        return pair


@dataclass(frozen=True, kw_only=True)
class ReactionWheel(Actuator):
    """A wheel on a body. Input: motor torque on the wheel (the body feels the opposite) [N m].

    It adds a coordinate (the wheel's angle relative to its body, named after the wheel) and its rate, so that stored
    momentum and gyroscopic torques are exact.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    axis : unit vector or "x", ...
        Spin axis in that frame.
    inertia : float
        About the spin axis [kg m^2]. The body's own inertia includes the wheel's mass and transverse inertia.
    """

    on: str
    axis: Any = "z"
    inertia: float
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        set_field(self, "inertia", as_scalar(self.inertia, f"{self._what}: inertia"))
        if self.inertia <= 0.0:
            raise ModelError(f"{self._what}: inertia is {self.inertia:g} kg m^2, expected a positive number")


ACTUATORS: dict[str, type[Actuator]] = {
    kind.__name__: kind for kind in (JointTorque, JointForce, BodyForce, BodyTorque, Thruster, ReactionWheel)
}
