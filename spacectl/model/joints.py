"""The joint kinds. To add one, write a class like its neighbours and list it in `JOINTS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, direction, set_field
from spacectl.model.joint import ANGLE, QUATERNION, RATES, Joint, Names, axis_number, columns, unit_vectors
from spacectl.spatial.backend import constant, cross, dot, eye, stack, vector, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import AXES, axis_rotation, quaternion_rate, rotation_from_quaternion

__all__ = [
    "JOINTS",
    "AxisJoint",
    "Cartesian",
    "Cylindrical",
    "Fixed",
    "Free",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]


@dataclass(frozen=True, kw_only=True)
class Fixed(Joint):
    """No relative motion."""


@dataclass(frozen=True, kw_only=True)
class AxisJoint(Joint):
    """Base of the joints with one axis, a unit vector that is the same in J and F.

    Parameters
    ----------
    axis : vector or "x", "-y", ...
        Unit axis.
    prescribed : function, optional
        Motion as a function of time, ``lambda s: 0.1 * casadi.sin(s.t)``, for a joint with one coordinate: the joint then
        has no coordinate of its own, and what moves it does whatever it takes.
    """

    axis: Any = "z"
    prescribed: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        if self.prescribed is not None:
            if len(type(self).coordinates) != 1:
                raise ModelError(f"{self._what}: only joints with one coordinate can be prescribed; use two in a row")
            set_field(self, "prescribed", TimeExpression(self.prescribed, f"{self._what}: prescribed motion"))
            set_field(self, "coordinates", ())
            set_field(self, "speeds", ())

    @property
    def motion(self) -> TimeExpression | None:
        return self.prescribed  # type: ignore[no-any-return]

    def numbers(self) -> dict[str, Number]:
        return {"axis": axis_number(self.axis)}


@dataclass(frozen=True, kw_only=True)
class Revolute(AxisJoint):
    """Rotation about a unit axis (the same in J and F). Coordinate: the angle [rad]."""

    coordinates: ClassVar[Names] = ANGLE
    speeds: ClassVar[Names] = (("_dot", "rad/s"),)

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], zeros(3, q)))


@dataclass(frozen=True, kw_only=True)
class Prismatic(AxisJoint):
    """Translation along a unit axis. Coordinate: the displacement [m]."""

    axis: Any = "x"
    coordinates: ClassVar[Names] = (("", "m"),)
    speeds: ClassVar[Names] = (("_dot", "m/s"),)

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), n["axis"] * q[0])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(zeros(3, q), n["axis"]))


@dataclass(frozen=True, kw_only=True)
class Cylindrical(AxisJoint):
    """Rotation about and translation along one axis. Coordinates: angle [rad], displacement [m]."""

    coordinates: ClassVar[Names] = ((".angle", "rad"), (".slide", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".slide_dot", "m/s"))

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), n["axis"] * q[1])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return columns(stack(n["axis"], none), stack(none, n["axis"]))


@dataclass(frozen=True, kw_only=True)
class Universal(Joint):
    """Two successive rotations: about `first` (fixed in J), then about `second` (fixed in F).

    The axes may not be parallel. Coordinates: the two angles [rad].
    """

    first: Any = "x"
    second: Any = "y"
    coordinates: ClassVar[Names] = ((".first", "rad"), (".second", "rad"))
    speeds: ClassVar[Names] = ((".first_dot", "rad/s"), (".second_dot", "rad/s"))

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "first", direction(self.first, f"{self._what}: first axis"))
        set_field(self, "second", direction(self.second, f"{self._what}: second axis"))
        sine = float(np.linalg.norm(np.cross(np.asarray(self.first), np.asarray(self.second))))
        if sine < 1e-6:
            raise ModelError(f"{self._what}: its two axes are parallel; a universal joint needs crossing axes")

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


@dataclass(frozen=True, kw_only=True)
class Cartesian(Joint):
    """Three translations without rotation. Coordinates: position ``p_JF_J`` [m]; speeds: its rate. For point masses."""

    coordinates: ClassVar[Names] = ((".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = ((".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), q[0:3])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(zeros(3, q), axis) for axis in unit_vectors(q)))


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """Free rotation. Coordinates: quaternion ``q_JF``; speeds: ``omega_JF_F`` (child axes) [rad/s]."""

    coordinates: ClassVar[Names] = QUATERNION
    speeds: ClassVar[Names] = RATES
    quaternion_at: ClassVar[int | None] = 0

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(column, zeros(3, q)) for column in unit_vectors(q)))

    def q_dot(self, q: Any, v: Any) -> Any:
        return quaternion_rate(q, v)


@dataclass(frozen=True, kw_only=True)
class Planar(Joint):
    """Motion in the plane normal to a named axis of J.

    Coordinates: the angle about the normal [rad], then the two displacements [m] along the axes of J that follow
    the normal cyclically (x and y for normal z). Speeds: their rates.
    """

    normal: str = "z"
    coordinates: ClassVar[Names] = ((".angle", "rad"), (".x", "m"), (".y", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".x_dot", "m/s"), (".y_dot", "m/s"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.normal, str) or self.normal not in AXES:
            raise ModelError(
                f"{self._what}: normal is {self.normal!r}, expected x, y or z; turn the joint by Part(rotation=...)"
            )

    def _axes(self, q: Any) -> tuple[Any, Any, Any]:
        k = "xyz".index(self.normal)
        return tuple(constant(AXES["xyz"[(k + 1 + i) % 3]], q) for i in range(3))  # type: ignore[return-value]

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        e1, e2, normal = self._axes(q)
        return Placement(axis_rotation(normal, q[0]), e1 * q[1] + e2 * q[2])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(q)
        R_FJ = axis_rotation(normal, q[0]).T
        none = zeros(3, q)
        return columns(stack(normal, none), stack(none, R_FJ @ e1), stack(none, R_FJ @ e2))

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(R_JF)
        none = zeros(3, R_JF)
        return columns(stack(normal, none), stack(none, R_JF.T @ e1), stack(none, R_JF.T @ e2))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(q)
        velocity = axis_rotation(normal, q[0]).T @ (e1 * v[1] + e2 * v[2])
        return stack(zeros(3, q), -cross(normal * v[0], velocity))


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """Free motion.

    Coordinates: quaternion ``q_JF``, position ``p_JF_J`` [m]; speeds: ``omega_JF_F`` [rad/s] (child axes) and the rate
    of the position [m/s] (parent axes).
    """

    coordinates: ClassVar[Names] = (*QUATERNION, (".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = (*RATES, (".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))
    quaternion_at: ClassVar[int | None] = 0

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q[0:4]), q[4:7])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        R = rotation_from_quaternion(q[0:4])
        none = zeros(3, q)
        turning = (stack(column, none) for column in unit_vectors(q))
        moving = (stack(none, vector(R[i, 0], R[i, 1], R[i, 2])) for i in range(3))
        return columns(*turning, *moving)

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        velocity = rotation_from_quaternion(q[0:4]).T @ v[3:6]
        return stack(zeros(3, q), -cross(v[0:3], velocity))

    def q_dot(self, q: Any, v: Any) -> Any:
        return stack(quaternion_rate(q[0:4], v[0:3]), v[3:6])


JOINTS: dict[str, type[Joint]] = {
    kind.__name__: kind
    for kind in (Fixed, Revolute, Prismatic, Universal, Cylindrical, Cartesian, Spherical, Planar, Free)
}
