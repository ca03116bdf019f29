"""`Free`: unconstrained motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.base import (
    ALONG,
    BALL,
    POSITION,
    QUATERNION,
    RATES,
    VELOCITY,
    Elementary,
    Joint,
    JointSequence,
    Names,
    columns,
    slides,
    translations,
    unit_vectors,
)
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import quaternion_rate, rotation_from_quaternion

__all__ = ["Free"]


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """Unconstrained motion.

    Coordinates: quaternion ``q_JF``, position ``p_JF_J`` [m]; speeds: ``omega_JF_F`` [rad/s] (child axes) and the rate
    of the position [m/s] (parent axes).
    """

    coordinates: ClassVar[Names] = (*QUATERNION, *POSITION)
    speeds: ClassVar[Names] = (*RATES, *VELOCITY)
    quaternion_at: ClassVar[int | None] = 0
    letter: ClassVar[str] = "F6"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q[0:4]), q[4:7])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        turning = (stack(column, zeros(3, q)) for column in unit_vectors(q))
        return columns(*turning, *translations(rotation_from_quaternion(q[0:4])))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        velocity = rotation_from_quaternion(q[0:4]).T @ v[3:6]
        return stack(zeros(3, q), -cross(v[0:3], velocity))

    def q_dot(self, q: Any, v: Any) -> Any:
        return stack(quaternion_rate(q[0:4], v[0:3]), v[3:6])

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence((*slides(4, 3), Elementary(BALL, ALONG["z"].T)), np.eye(3))
