"""`Planar`: motion in a plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.errors import ModelError
from spacectl.model.joints.axis import tilts
from spacectl.model.joints.base import ALONG, SLIDE, TURN, Elementary, Joint, JointSequence, Names, columns
from spacectl.spatial.backend import constant, cross, dot, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import AXES, axis_rotation

__all__ = ["Planar"]


@dataclass(frozen=True, kw_only=True)
class Planar(Joint):
    """Motion in the plane normal to a named axis of J.

    Coordinates: the angle about the normal [rad], then the two displacements [m] along the axes of J that follow
    the normal cyclically (x and y for normal z). Speeds: their rates.
    """

    normal: str = "z"
    coordinates: ClassVar[Names] = ((".angle", "rad"), (".x", "m"), (".y", "m"))
    speeds: ClassVar[Names] = ((".angle_dot", "rad/s"), (".x_dot", "m/s"), (".y_dot", "m/s"))
    closing_names: ClassVar[tuple[str, ...]] = ("height", "tilt1", "tilt2")
    letter: ClassVar[str] = "E3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.normal, str) or self.normal not in AXES:
            raise ModelError(
                f"{self._what}: normal is {self.normal!r}, expected x, y or z; rotate the joint by Part(rotation=...)"
            )

    def _axes(self, q: Any) -> tuple[Any, Any, Any]:
        k = "xyz".index(self.normal)
        return tuple(constant(AXES["xyz"[(k + 1 + i) % 3]], q) for i in range(3))

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        e1, e2, normal = self._axes(q)
        return Placement(axis_rotation(normal, q[0]), e1 * q[1] + e2 * q[2])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(q)
        R_FJ = axis_rotation(normal, q[0]).T
        none = zeros(3, q)
        return columns(stack(normal, none), stack(none, R_FJ @ e1), stack(none, R_FJ @ e2))

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(R_JF)
        none = zeros(3, R_JF)
        return columns(stack(normal, none), stack(none, R_JF.T @ e1), stack(none, R_JF.T @ e2))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        e1, e2, normal = self._axes(q)
        velocity = axis_rotation(normal, q[0]).T @ (e1 * v[1] + e2 * v[2])
        return stack(zeros(3, q), -cross(normal * v[0], velocity))

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        normal = self._axes(X_JF.p)[2]
        return vector(dot(normal, X_JF.p), *tilts(normal, X_JF.R))

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        normal = self._axes(X_JF.p)[2]
        return dot(normal, X_JF.R @ normal)

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        k = "xyz".index(self.normal)
        e1, e2, normal = (ALONG["xyz"[(k + 1 + i) % 3]] for i in range(3))
        slides = Elementary(SLIDE, e1, 1, 1), Elementary(SLIDE, e1.T @ e2, 2, 2)
        return JointSequence((*slides, Elementary(TURN, e2.T @ normal)), normal.T)

    @classmethod
    def examples(cls) -> tuple[Joint, ...]:
        return tuple(cls(normal=letter) for letter in "xyz")
