"""Constraints between frames: loops closed by any joint, and the two primitives of 000.

Each gives its rows from the placement of a frame F on one body seen from a frame J on another; the equations
differentiate them, and the slope of the rows by a displacement of F gives the reaction as a wrench.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.core.provenance import class_key
from spacectl.model.constraints import AnyConstraint, Artificial, Constraint, Natural
from spacectl.model.description import Number, direction, placement_number, rotation_matrix, set_field, unless_trivial
from spacectl.model.joint import axis_number
from spacectl.model.joints import (
    Cartesian,
    Cylindrical,
    Fixed,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from spacectl.spatial.backend import constant, cross, dot, vector
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import frame_along

__all__ = ["CONSTRAINTS", "FrameConstraint", "JointLoop", "Loop", "NoRelativeRotation", "PointOnPlane", "structure_of"]


@dataclass(frozen=True, kw_only=True)
class FrameConstraint(AnyConstraint):
    """Base of constraints between a frame J on `a` and a frame F on `b`.

    Parameters
    ----------
    a, b : str
        What the frames are on: ``"world"``, a body or ``"body.frame"``.
    at_a, at_b : vector, shape (3,)
        Their origins there [m].
    rotation_a, rotation_b : rotation, optional
        Their axes there.
    """

    a: str = "world"
    b: str
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    rotation_a: Any = None
    rotation_b: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for end in ("a", "b"):
            if not isinstance(getattr(self, end), str) or not getattr(self, end):
                raise ModelError(
                    f"{self._what}: {end} is {getattr(self, end)!r}, expected 'world', a body or 'body.frame'"
                )
            set_field(self, f"at_{end}", as_array(getattr(self, f"at_{end}"), (3,), f"{self._what}: at_{end}"))
            rotation = rotation_matrix(getattr(self, f"rotation_{end}"), f"{self._what}: rotation_{end}")
            set_field(self, f"rotation_{end}", rotation)

    def numbers(self) -> dict[str, Number]:
        ends: dict[str, Number] = {}
        for end in ("a", "b"):
            ends[f"at_{end}"] = unless_trivial(getattr(self, f"at_{end}"))
            ends[f"rotation_{end}"] = placement_number(getattr(self, f"rotation_{end}"))
        return ends

    @property
    def has_position_level(self) -> bool:
        """Whether its rows hold positions, not rates only."""
        return True

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """The conditions at position level, zero when met."""
        raise NotImplementedError

    def side(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        """Positive as meant; negative where rows of directions are met by a turn of 180 degrees, which they cannot tell."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Loop(FrameConstraint):
    """A loop closed by a joint: F on `b` moves against J on `a` as the joint allows.

    Parameters
    ----------
    joint : Joint
        Any kind but `Free`; it has no coordinates here.

    Examples
    --------
    >>> Loop(name="closure", a="world", b="rocker.end", at_a=(2, 0, 0), joint=Revolute(axis="z")).n_rows
    5
    """

    joint: Joint

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{self._what}: joint is {self.joint!r}, expected a joint such as Revolute(axis='z')")
        if not self.row_names:
            raise ModelError(f"{self._what}: a {type(self.joint).__name__} joint closes nothing; use another kind")
        if self.joint.motion is not None:
            raise ModelError(
                f"{self._what}: the motion of a joint that closes a loop cannot be prescribed; open the loop at another joint"
            )

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), **self.joint.numbers()}

    @property
    def row_names(self) -> tuple[str, ...]:
        kinds: list[tuple[type[Joint], tuple[str, ...]]] = [
            (Fixed, ("x", "y", "z", "rx", "ry", "rz")),
            (Revolute, ("x", "y", "z", "tilt1", "tilt2")),
            (Prismatic, ("side1", "side2", "rx", "ry", "rz")),
            (Cylindrical, ("side1", "side2", "tilt1", "tilt2")),
            (Universal, ("x", "y", "z", "twist")),
            (Spherical, ("x", "y", "z")),
            (Planar, ("height", "tilt1", "tilt2")),
            (Cartesian, ("rx", "ry", "rz")),
        ]
        return next((names for kind, names in kinds if isinstance(self.joint, kind)), ())

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        R, p = X_JF.R, X_JF.p
        if isinstance(self.joint, Cartesian):
            return vector(*_turn(R))
        if isinstance(self.joint, (Fixed, Spherical, Universal)):
            closed = [p[0], p[1], p[2]]
            if isinstance(self.joint, Fixed):
                return vector(*closed, *_turn(R))
            if isinstance(self.joint, Universal):
                angle = float(sum(x * y for x, y in zip(self.joint.first, self.joint.second, strict=True)))
                closed.append(dot(n["first"], R @ n["second"]) - angle)
            return vector(*closed)
        axis = constant(_normal(self.joint), p) if isinstance(self.joint, Planar) else n["axis"]
        across = frame_along(axis)
        e1, e2 = across[:, 0], across[:, 1]
        tilted = R @ axis
        tilt = [dot(e1, tilted), dot(e2, tilted)]
        if isinstance(self.joint, Planar):
            return vector(dot(axis, p), *tilt)
        if isinstance(self.joint, Revolute):
            return vector(p[0], p[1], p[2], *tilt)
        side = [dot(e1, p), dot(e2, p)]
        return vector(*side, *(_turn(R) if isinstance(self.joint, Prismatic) else tilt))

    def side(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        if isinstance(self.joint, (Fixed, Prismatic, Cartesian)):
            return _upright(R_JF)
        if isinstance(self.joint, (Revolute, Cylindrical, Planar)):
            axis = constant(_normal(self.joint), R_JF) if isinstance(self.joint, Planar) else n["axis"]
            return dot(axis, R_JF @ axis)
        return 1.0


@dataclass(frozen=True, kw_only=True)
class JointLoop(Loop):
    """The loop that stands for a joint in absolute coordinates (`as_absolute`): always active, as the joint is.

    It does not yield, as in joint coordinates, where joints of the tree have no constraint equations: redundant constraints
    share their load in the same way in both.
    """

    compliance: Any = (0.0,)


@dataclass(frozen=True, kw_only=True)
class PointOnPlane(FrameConstraint):
    """The origin of F stays on the plane through J's origin with the given normal in J (000 section 3.1).

    Parameters
    ----------
    normal : unit vector or "x", ...
        In J.
    """

    normal: Any = "z"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "normal", direction(self.normal, f"{self._what}: normal"))

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "normal": axis_number(self.normal)}

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(dot(n["normal"], X_JF.p))


@dataclass(frozen=True, kw_only=True)
class NoRelativeRotation(FrameConstraint):
    """F does not turn against J about an axis of J (000 section 3.2).

    Parameters
    ----------
    axis : unit vector or "x", ...
        In J.
    free : unit vector, "x", ... or "none"
        What the rotation constraints together leave free, which gives each its position level: one axis (a revolute), or
        ``"none"`` (all three are held). If omitted, only the rate of turning is held, which alone is nonholonomic.
    """

    axis: Any = "z"
    free: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        if self.free is not None and self.free != "none":
            set_field(self, "free", direction(self.free, f"{self._what}: free"))
            if abs(float(sum(x * y for x, y in zip(self.axis, self.free, strict=True)))) > 1e-9:
                raise ModelError(f"{self._what}: the free axis is not normal to the held one; give one that is")

    @property
    def has_position_level(self) -> bool:
        return self.free is not None

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "axis": axis_number(self.axis)}

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        if isinstance(self.free, str):
            return vector(dot(n["axis"], vector(*_turn(X_JF.R))))
        free = constant(tuple(self.free), X_JF.p)
        return vector(dot(n["axis"], cross(free, X_JF.R @ free)))

    def side(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        if self.free is None:
            return 1.0
        if isinstance(self.free, str):
            return _upright(R_JF)
        free = constant(tuple(self.free), R_JF)
        return dot(free, R_JF @ free)


def _turn(R: Any) -> list[Any]:
    """Half the axial vector of R - R': the rotation vector for small turns."""
    return [0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])]


def _upright(R: Any) -> Any:
    """Cosine of the angle of a rotation."""
    return 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)


def _normal(joint: Planar) -> tuple[float, float, float]:
    return tuple(1.0 if letter == joint.normal else 0.0 for letter in "xyz")  # type: ignore[return-value]


def structure_of(constraint: AnyConstraint) -> list[Any]:
    """What of a constraint decides the form of the equations."""
    own = [getattr(constraint, key, "") for key in ("rule", "a", "b", "free")]
    joint = getattr(constraint, "joint", None)
    return [
        class_key(type(constraint)),
        constraint.name,
        constraint.kind,
        constraint.compliance,
        *own,
        class_key(type(joint)),
        getattr(joint, "normal", ""),
    ]


CONSTRAINTS: dict[str, type] = {
    kind.__name__: kind for kind in (Constraint, Loop, JointLoop, PointOnPlane, NoRelativeRotation, Natural, Artificial)
}
