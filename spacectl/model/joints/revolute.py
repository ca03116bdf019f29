"""`Revolute`: rotation about an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.axis import AxisJoint, tilts
from spacectl.model.joints.base import ANGLE, ANGLE_RATE, TURN, Elementary, JointSequence, Names, columns
from spacectl.spatial.backend import stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation

__all__ = ["Revolute"]


@dataclass(frozen=True, kw_only=True)
class Revolute(AxisJoint):
    """Rotation about a unit axis (the same in J and F). Coordinate: the angle [rad]."""

    coordinates: ClassVar[Names] = ANGLE
    speeds: ClassVar[Names] = ANGLE_RATE
    closing_names: ClassVar[tuple[str, ...]] = ("x", "y", "z", "tilt1", "tilt2")
    letter: ClassVar[str] = "R1"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], zeros(3, q)))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(X_JF.p[0], X_JF.p[1], X_JF.p[2], *tilts(n["axis"], X_JF.R))

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence((Elementary(TURN, np.eye(3)),), np.eye(3))
