"""`Prismatic`: translation along an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.axis import AxisJoint, offsets, turn_of, uprightness
from spacectl.model.joints.base import SLIDE, Elementary, JointSequence, Names, columns
from spacectl.spatial.backend import eye, stack, vector, zeros
from spacectl.spatial.inertia import Placement

__all__ = ["Prismatic"]


@dataclass(frozen=True, kw_only=True)
class Prismatic(AxisJoint):
    """Translation along a unit axis. Coordinate: the displacement [m]."""

    axis: Any = "x"
    coordinates: ClassVar[Names] = (("", "m"),)
    speeds: ClassVar[Names] = (("_dot", "m/s"),)
    closing_names: ClassVar[tuple[str, ...]] = ("side1", "side2", "rx", "ry", "rz")
    letter: ClassVar[str] = "P1"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), n["axis"] * q[0])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(zeros(3, q), n["axis"]))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(*offsets(n["axis"], X_JF.p), *turn_of(X_JF.R))

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return uprightness(X_JF.R)

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence((Elementary(SLIDE, np.eye(3)),), np.eye(3))
