"""`Universal`: rotations about two intersecting axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joints.base import TURN, Elementary, Joint, JointSequence, Names, axis_number, columns
from spacectl.spatial.backend import cross, dot, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation, frame_along

__all__ = ["Universal"]


@dataclass(frozen=True, kw_only=True)
class Universal(Joint):
    """Two successive rotations: about `first` (fixed in J), then about `second` (fixed in F).

    The axes must not be parallel. Coordinates: the two angles [rad].
    """

    first: Any = "x"
    second: Any = "y"
    coordinates: ClassVar[Names] = ((".first", "rad"), (".second", "rad"))
    speeds: ClassVar[Names] = ((".first_dot", "rad/s"), (".second_dot", "rad/s"))
    closing_names: ClassVar[tuple[str, ...]] = ("x", "y", "z", "twist")
    letter: ClassVar[str] = "R2"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "first", direction(self.first, f"{self._what}: first axis"))
        set_field(self, "second", direction(self.second, f"{self._what}: second axis"))
        sine = float(np.linalg.norm(np.cross(np.asarray(self.first), np.asarray(self.second))))
        if sine < 1e-6:
            raise ModelError(f"{self._what}: its two axes are parallel; a universal joint needs two different axes")

    def numbers(self) -> dict[str, Number]:
        return {"first": axis_number(self.first), "second": axis_number(self.second)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        R = axis_rotation(n["first"], q[0]) @ axis_rotation(n["second"], q[1])
        return Placement(R, zeros(3, q))

    def _first_in_F(self, q: Any, n: Mapping[str, Any]) -> Any:
        return axis_rotation(n["second"], q[1]).T @ n["first"]

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return columns(stack(self._first_in_F(q, n), none), stack(n["second"], none))

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        first, second, none = R_JF.T @ n["first"], n["second"], zeros(3, R_JF)
        c = dot(first, second)  # constant while the joint is closed
        W = (first - c * second) / (1.0 - c * c), (second - c * first) / (1.0 - c * c)
        return columns(*(stack(axis, none) for axis in W))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        turning = cross(self._first_in_F(q, n), n["second"]) * (v[0] * v[1])
        return stack(turning, zeros(3, q))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        rest = float(sum(x * y for x, y in zip(self.first, self.second, strict=True)))
        twist = dot(n["first"], X_JF.R @ n["second"]) - rest
        return vector(X_JF.p[0], X_JF.p[1], X_JF.p[2], twist)

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        first, second = (frame_along(np.asarray(n[key])) for key in ("first", "second"))
        return JointSequence((Elementary(TURN, first), Elementary(TURN, first.T @ second, 1, 1)), second.T)
