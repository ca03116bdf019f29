"""`Spherical`: free rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.base import QUATERNION, RATES, Joint, Names, columns, unit_vectors
from spacectl.spatial.backend import stack, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import quaternion_rate, rotation_from_quaternion

__all__ = ["Spherical"]


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """Free rotation. Coordinates: quaternion ``q_JF``; speeds: ``omega_JF_F`` (child axes) [rad/s]."""

    coordinates: ClassVar[Names] = QUATERNION
    speeds: ClassVar[Names] = RATES
    quaternion_at: ClassVar[int | None] = 0

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q), zeros(3, q))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(column, zeros(3, q)) for column in unit_vectors(q)))

    def q_dot(self, q: Any, v: Any) -> Any:
        return quaternion_rate(q, v)
