"""The base of all actuators: each is one named input u of the equations, with limits as part of the plant.

A subclass defines `efforts`, from which every formulation, the native code and the reports follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.actuators.effort import Effort, JointEffort, Wrench
from spacectl.model.description import Number, always, check_name, direction, set_field, unless_trivial

__all__ = ["Actuator", "DirectedActuator"]


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """Base: a name and limits. A subclass must define `efforts` and may override other members.

    Parameters
    ----------
    name : str
        Name of the input.
    limit : float or (low, high), optional
        Finite bounds of the input in `unit`; a single number means plus and minus that. None: `default_bounds`, which
        are infinite (for a `Thruster`, 0 and infinity).
    """

    name: str = ""
    limit: Any = None
    unit: ClassVar[str] = "N"
    default_bounds: ClassVar[tuple[float, float]] = (-inf, inf)  # of the input without a limit

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
        """Convert the limit to numbers; raise `ModelError` unless they are finite, as run-time parameters must be."""
        entries = limit if isinstance(limit, (list, tuple)) else [limit]
        if any(isinstance(entry, (float, np.ndarray)) and np.any(np.isinf(entry)) for entry in entries):
            low, high = self.default_bounds
            raise ModelError(
                f"{self._what}: limit is {limit!r}, expected finite numbers; for an infinite bound omit the "
                f"limit: a {type(self).__name__} without one ranges from {low:g} to {high:g}"
            )
        for entry in entries:
            if np.ndim(entry) == 0:
                as_scalar(entry, f"{self._what}: limit")
        return as_array(limit, None, f"{self._what}: limit")

    @property
    def title(self) -> str:
        """Name of its kind in reports: the words of the class name without ``Body`` or ``Joint``."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__)
        return words.removeprefix("Joint ").removeprefix("Body ").lower()

    def efforts(self) -> tuple[Effort, ...]:
        """Return the efforts per unit input; their sum, times the input, acts on the system."""
        raise ModelError(
            f"{self._what}: {type(self).__name__} does not define efforts(), which must return a tuple of JointEffort "
            "and Wrench"
        )

    @property
    def joint_efforts(self) -> tuple[JointEffort, ...]:
        """Its efforts in joints."""
        return tuple(item for item in self.efforts() if isinstance(item, JointEffort))

    @property
    def wrenches(self) -> tuple[Wrench, ...]:
        """Its efforts on bodies."""
        return tuple(item for item in self.efforts() if isinstance(item, Wrench))

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Return the bodies that it adds to the system (wheels, gimbals), each with the fields of its `Part`."""
        return ()

    def with_joints(self, names: Mapping[str, str]) -> Actuator:
        """Return the actuator for renamed joints; fields that begin with ``joint`` contain joint names."""
        own = {effort.joint for effort in self.joint_efforts} & set(names)
        found = {item.name: getattr(self, item.name) for item in fields(self) if item.name.startswith("joint")}
        changes = {key: names[name] for key, name in found.items() if name in own}
        return replace(self, name=self.input_name.replace(".", "_"), **changes) if changes else self

    def body_numbers(self, body: Any) -> dict[str, Number]:
        """Return the run-time parameters of a distributed load that depend on the body: ``load`` and its moments."""
        return {}

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {} if self.limit is None else {"limit": always(self.limit)}


@dataclass(frozen=True, kw_only=True)
class DirectedActuator(Actuator):
    """Base of loads on a body along a unit direction that is fixed in body or world axes.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    direction : vector or "x", "-y", ...
        Unit direction.
    axes : {"body", "world"}
        Axes in which the direction is fixed.
    """

    on: str
    direction: Any = "x"
    axes: str = "body"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "direction", direction(self.direction, f"{self._what}: direction"))
        if self.axes not in ("body", "world"):
            raise ModelError(f"{self._what}: axes is {self.axes!r}, expected 'body' or 'world'")

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "direction": unless_trivial(self.direction, 0.0, 1.0, -1.0)}
