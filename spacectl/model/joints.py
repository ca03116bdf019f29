"""The eight joint kinds. Each says how its child frame is placed, how it moves, and what its coordinates are called.

A joint connects frame J on the parent to frame F on the child. It gives the placement of F in J, the twist of F
relative to J in F's axes, ``S(q) v``, and the part of that twist's rate without v_dot, ``S_dot v``. To add a joint,
write a class like its neighbours and list it in `JOINTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, check_name, direction, set_field, unless_trivial
from spacectl.spatial.backend import constant, cross, eye, matrix, stack, vector, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import AXES, axis_rotation, quaternion_rate, rotation_from_quaternion

__all__ = [
    "JOINTS",
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

Names = tuple[tuple[str, str], ...]  # (suffix, unit) of each coordinate or speed

ANGLE: Names = (("", "rad"),)
QUATERNION: Names = ((".qw", "1"), (".qx", "1"), (".qy", "1"), (".qz", "1"))
RATES: Names = ((".wx", "rad/s"), (".wy", "rad/s"), (".wz", "rad/s"))


def _axis_number(axis: Any) -> Number:
    return unless_trivial(axis, 0.0, 1.0, -1.0)


def _columns(*twists: Any) -> Any:
    """Twists as the columns of a matrix (6, n)."""
    return matrix([[twist[i] for twist in twists] for i in range(6)])


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Base of all joints: no motion. Subclasses override what they need.

    Parameters
    ----------
    name : str
        Coordinates are named after it; if omitted, after the body.
    """

    name: str = ""

    coordinates: ClassVar[Names] = ()
    speeds: ClassVar[Names] = ()
    quaternion_at: ClassVar[int | None] = None  # first entry of a quaternion in q

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name, f"{type(self).__name__} joint")

    @property
    def _what(self) -> str:
        return f"joint '{self.name or '?'}'"

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers of the joint."""
        return {}

    def rest(self) -> np.ndarray:
        """Coordinates of the reference position."""
        q = np.zeros(len(self.coordinates))
        if self.quaternion_at is not None:
            q[self.quaternion_at] = 1.0
        return q

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        """Placement of F in J."""
        return Placement.identity(q)

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        """S, shape (6, n_v): twist of F relative to J, in F axes, for unit speeds."""
        raise ModelError(f"{self._what}: a fixed joint has no speeds")

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        """``S_dot v``, shape (6,)."""
        return zeros(6, q)

    def q_dot(self, q: Any, v: Any) -> Any:
        """Rates of the coordinates."""
        return v


@dataclass(frozen=True, kw_only=True)
class Fixed(Joint):
    """No relative motion."""


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """Rotation about a unit axis (the same in J and F). Coordinate: the angle [rad]."""

    axis: Any = "z"
    coordinates: ClassVar[Names] = ANGLE
    speeds: ClassVar[Names] = (("_dot", "rad/s"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))

    def numbers(self) -> dict[str, Number]:
        return {"axis": _axis_number(self.axis)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return _columns(stack(n["axis"], zeros(3, q)))


@dataclass(frozen=True, kw_only=True)
class Prismatic(Joint):
    """Translation along a unit axis. Coordinate: the displacement [m]."""

    axis: Any = "x"
    coordinates: ClassVar[Names] = (("", "m"),)
    speeds: ClassVar[Names] = (("_dot", "m/s"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))

    def numbers(self) -> dict[str, Number]:
        return {"axis": _axis_number(self.axis)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), n["axis"] * q[0])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return _columns(stack(zeros(3, q), n["axis"]))


@dataclass(frozen=True, kw_only=True)
class Cylindrical(Joint):
    """Rotation about and translation along one axis. Coordinates: angle [rad], displacement [m]."""

    axis: Any = "z"
    coordinates: ClassVar[Names] = ((".angle", "rad"), (".slide", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".slide_dot", "m/s"))

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))

    def numbers(self) -> dict[str, Number]:
        return {"axis": _axis_number(self.axis)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), n["axis"] * q[1])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return _columns(stack(n["axis"], none), stack(none, n["axis"]))


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
        return {"first": _axis_number(self.first), "second": _axis_number(self.second)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        R = axis_rotation(n["first"], q[0]) @ axis_rotation(n["second"], q[1])
        return Placement(R, zeros(3, q))

    def _first_in_F(self, q: Any, n: Mapping[str, Any]) -> Any:
        return axis_rotation(n["second"], q[1]).T @ n["first"]

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return _columns(stack(self._first_in_F(q, n), none), stack(n["second"], none))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        turning = cross(self._first_in_F(q, n), n["second"]) * (v[0] * v[1])
        return stack(turning, zeros(3, q))


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """Free rotation. Coordinates: quaternion ``q_JF``; speeds: ``omega_JF_F`` (child axes) [rad/s]."""

    coordinates: ClassVar[Names] = QUATERNION
    speeds: ClassVar[Names] = RATES
    quaternion_at: ClassVar[int | None] = 0

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return _columns(*(stack(column, zeros(3, q)) for column in _unit_vectors(q)))

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
        if self.normal not in AXES:
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
        return _columns(stack(normal, none), stack(none, R_FJ @ e1), stack(none, R_FJ @ e2))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(q)
        velocity = axis_rotation(normal, q[0]).T @ (e1 * v[1] + e2 * v[2])
        return stack(zeros(3, q), -cross(normal * v[0], velocity))


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """Free motion. Coordinates: quaternion ``q_JF``, position ``p_JF_J`` [m]; speeds: ``omega_JF_F`` [rad/s] (child
    axes) and the rate of the position [m/s] (parent axes)."""

    coordinates: ClassVar[Names] = (*QUATERNION, (".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = (*RATES, (".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))
    quaternion_at: ClassVar[int | None] = 0

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q[0:4]), q[4:7])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        R = rotation_from_quaternion(q[0:4])
        none = zeros(3, q)
        turning = (stack(column, none) for column in _unit_vectors(q))
        moving = (stack(none, vector(R[i, 0], R[i, 1], R[i, 2])) for i in range(3))
        return _columns(*turning, *moving)

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        velocity = rotation_from_quaternion(q[0:4]).T @ v[3:6]
        return stack(zeros(3, q), -cross(v[0:3], velocity))

    def q_dot(self, q: Any, v: Any) -> Any:
        return stack(quaternion_rate(q[0:4], v[0:3]), v[3:6])


def _unit_vectors(q: Any) -> tuple[Any, Any, Any]:
    unit = eye(3, q)
    return tuple(vector(unit[0, i], unit[1, i], unit[2, i]) for i in range(3))  # type: ignore[return-value]


JOINTS: dict[str, type[Joint]] = {
    kind.__name__: kind for kind in (Fixed, Revolute, Prismatic, Universal, Cylindrical, Spherical, Planar, Free)
}
