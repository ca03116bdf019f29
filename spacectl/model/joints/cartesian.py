"""`Cartesian`: three translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.base import Joint, Names, columns, unit_vectors
from spacectl.model.joints.closing import turn_of, uprightness
from spacectl.model.joints.elementary import ALONG, SLIDE, Elementary, Sequence
from spacectl.spatial.backend import eye, stack, vector, zeros
from spacectl.spatial.motion import Placement

__all__ = ["Cartesian"]


@dataclass(frozen=True, kw_only=True)
class Cartesian(Joint):
    """Three translations without rotation. Coordinates: position ``p_JF_J`` [m]; speeds: its rate. For point masses."""

    coordinates: ClassVar[Names] = ((".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = ((".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))
    closing_names: ClassVar[tuple[str, ...]] = ("rx", "ry", "rz")
    letter: ClassVar[str] = "P3"

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(eye(3, q), q[0:3])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(*(stack(zeros(3, q), axis) for axis in unit_vectors(q)))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(*turn_of(X_JF.R))

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return uprightness(X_JF.R)

    def elements(self, n: Mapping[str, Any]) -> Sequence:
        turns = (ALONG["x"], ALONG["x"].T @ ALONG["y"], ALONG["y"].T @ ALONG["z"])
        return Sequence(tuple(Elementary(SLIDE, turn, k, k) for k, turn in enumerate(turns)), ALONG["z"].T)
