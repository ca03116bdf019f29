"""`Cylindrical`: rotation about and translation along one axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.axis import AxisJoint, offsets, tilts
from spacectl.model.joints.base import SLIDE, TURN, Elementary, JointSequence, Names, columns
from spacectl.spatial.backend import stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation

__all__ = ["Cylindrical"]


@dataclass(frozen=True, kw_only=True)
class Cylindrical(AxisJoint):
    """Rotation about and translation along one axis. Coordinates: angle [rad], displacement [m]."""

    coordinates: ClassVar[Names] = ((".angle", "rad"), (".slide", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".slide_dot", "m/s"))
    closing_names: ClassVar[tuple[str, ...]] = ("side1", "side2", "tilt1", "tilt2")
    letter: ClassVar[str] = "C2"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(axis_rotation(n["axis"], q[0]), n["axis"] * q[1])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        none = zeros(3, q)
        return columns(stack(n["axis"], none), stack(none, n["axis"]))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(*offsets(n["axis"], X_JF.p), *tilts(n["axis"], X_JF.R))

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence((Elementary(TURN, np.eye(3)), Elementary(SLIDE, np.eye(3), 1, 1)), np.eye(3))
