"""`Helical`: rotation about an axis with a proportional translation along it, a screw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_field
from spacectl.model.joints.axis import AxisJoint, offsets, tilts
from spacectl.model.joints.base import ANGLE, ANGLE_RATE, Joint, Names, columns
from spacectl.spatial.backend import cos, dot, sin, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation, frame_along

__all__ = ["Helical"]


@dataclass(frozen=True, kw_only=True)
class Helical(AxisJoint):
    """A screw: rotation about a unit axis, and translation ``pitch * angle`` along it. Coordinate: the angle [rad].

    If it closes a loop (as every joint in absolute coordinates does), only sine and cosine of the angle are known; its
    equation ``pitch sin(angle - displacement / pitch) = 0`` holds for any number of turns.

    Parameters
    ----------
    pitch : float
        Translation per angle [m/rad], not zero, negative for a left-handed screw: the lead per turn divided by 2 pi.

    Examples
    --------
    >>> Helical(name="screw", axis="z", pitch=0.002).speeds
    (('_dot', 'rad/s'),)
    """

    pitch: float
    coordinates: ClassVar[Names] = ANGLE
    speeds: ClassVar[Names] = ANGLE_RATE
    closing_names: ClassVar[tuple[str, ...]] = ("side1", "side2", "tilt1", "tilt2", "screw")
    letter: ClassVar[str] = "H1"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "pitch", as_scalar(self.pitch, f"{self._what}: pitch"))
        if self.pitch == 0.0:
            raise ModelError(f"{self._what}: pitch is 0, expected metres per radian; without translation use Revolute")

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "pitch": always(self.pitch)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), n["axis"] * (n["pitch"] * q[0]))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], n["axis"] * n["pitch"]))

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], zeros(3, R_JF)))  # a torque about the axis

    def _turned(self, X_JF: Placement, n: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return sine and cosine of the angle minus the angle that the translation implies."""
        axis = n["axis"]
        across = frame_along(axis)
        e1, e2 = across[:, 0], across[:, 1]
        turned, wanted = X_JF.R @ e1, dot(axis, X_JF.p) / n["pitch"]
        s, c = dot(e2, turned), dot(e1, turned)
        return s * cos(wanted) - c * sin(wanted), c * cos(wanted) + s * sin(wanted)

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        screw = n["pitch"] * self._turned(X_JF, n)[0]
        return vector(*offsets(n["axis"], X_JF.p), *tilts(n["axis"], X_JF.R), screw)

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return ca.fmin(super().closing_side(X_JF, n), self._turned(X_JF, n)[1])

    @classmethod
    def examples(cls) -> tuple[Joint, ...]:
        return (cls(pitch=1.0),)
