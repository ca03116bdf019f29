"""`Loop`: a kinematic loop closed by a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.model.constraints.frame import FrameConstraint, turn_of, uprightness
from spacectl.model.description import Number
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
from spacectl.spatial.backend import constant, dot, vector
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import frame_along

__all__ = ["JointLoop", "Loop"]


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
            return vector(*turn_of(R))
        if isinstance(self.joint, (Fixed, Spherical, Universal)):
            closed = [p[0], p[1], p[2]]
            if isinstance(self.joint, Fixed):
                return vector(*closed, *turn_of(R))
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
        return vector(*side, *(turn_of(R) if isinstance(self.joint, Prismatic) else tilt))

    def side(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        if isinstance(self.joint, (Fixed, Prismatic, Cartesian)):
            return uprightness(R_JF)
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


def _normal(joint: Planar) -> tuple[float, float, float]:
    return tuple(1.0 if letter == joint.normal else 0.0 for letter in "xyz")  # type: ignore[return-value]
