"""`Cartesian`: three translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.axis import turn_of, uprightness
from spacectl.model.joints.base import (
    ALONG,
    POSITION,
    VELOCITY,
    Joint,
    JointSequence,
    Names,
    columns,
    slides,
    translations,
)
from spacectl.spatial.backend import eye, vector
from spacectl.spatial.inertia import Placement

__all__ = ["Cartesian"]


@dataclass(frozen=True, kw_only=True)
class Cartesian(Joint):
    """Three translations without rotation. Coordinates: position ``p_JF_J`` [m]; speeds: its rate. For point masses."""

    coordinates: ClassVar[Names] = POSITION
    speeds: ClassVar[Names] = VELOCITY
    closing_names: ClassVar[tuple[str, ...]] = ("rx", "ry", "rz")
    letter: ClassVar[str] = "P3"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), q[0:3])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*translations(eye(3, q)))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(*turn_of(X_JF.R))

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return uprightness(X_JF.R)

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        return JointSequence(slides(), ALONG["z"].T)
