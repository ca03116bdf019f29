"""`Cartesian`: three translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.base import Joint, Names, columns, unit_vectors
from spacectl.spatial.backend import eye, stack, zeros
from spacectl.spatial.motion import Placement

__all__ = ["Cartesian"]


@dataclass(frozen=True, kw_only=True)
class Cartesian(Joint):
    """Three translations without rotation. Coordinates: position ``p_JF_J`` [m]; speeds: its rate. For point masses."""

    coordinates: ClassVar[Names] = ((".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = ((".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), q[0:3])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(zeros(3, q), axis) for axis in unit_vectors(q)))
