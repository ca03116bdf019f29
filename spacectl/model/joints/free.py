"""`Free`: free motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.base import QUATERNION, RATES, Joint, Names, columns, unit_vectors
from spacectl.model.joints.elementary import ALONG, BALL, SLIDE, Elementary, Sequence
from spacectl.spatial.backend import cross, stack, vector, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import quaternion_rate, rotation_from_quaternion

__all__ = ["Free"]


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """Free motion.

    Coordinates: quaternion ``q_JF``, position ``p_JF_J`` [m]; speeds: ``omega_JF_F`` [rad/s] (child axes) and the rate
    of the position [m/s] (parent axes).
    """

    coordinates: ClassVar[Names] = (*QUATERNION, (".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = (*RATES, (".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))
    quaternion_at: ClassVar[int | None] = 0
    letter: ClassVar[str] = "F6"

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

    def elements(self, n: Mapping[str, Any]) -> Sequence:
        turns = (ALONG["x"], ALONG["x"].T @ ALONG["y"], ALONG["y"].T @ ALONG["z"])
        slides = (Elementary(SLIDE, turn, 4 + k, 3 + k) for k, turn in enumerate(turns))
        return Sequence((*slides, Elementary(BALL, ALONG["z"].T)), np.eye(3))
