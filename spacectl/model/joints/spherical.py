"""`Spherical`: free rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.base import (
    BALL,
    QUATERNION,
    RATES,
    Elementary,
    Joint,
    JointSequence,
    Names,
    columns,
    unit_vectors,
)
from spacectl.spatial.backend import stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import quaternion_rate, rotation_from_quaternion

__all__ = ["Spherical"]


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """Free rotation. Coordinates: quaternion ``q_JF``; speeds: ``omega_JF_F`` (child axes) [rad/s]."""

    coordinates: ClassVar[Names] = QUATERNION
    speeds: ClassVar[Names] = RATES
    quaternion_at: ClassVar[int | None] = 0
    closing_names: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    letter: ClassVar[str] = "R3"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(column, zeros(3, q)) for column in unit_vectors(q)))

    def q_dot(self, q: Any, v: Any) -> Any:
        return quaternion_rate(q, v)

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(X_JF.p[0], X_JF.p[1], X_JF.p[2])

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence((Elementary(BALL, np.eye(3)),), np.eye(3))
