"""The base of elements at points of bodies: forces on the points from their motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.elements.base import Element

__all__ = ["PointElement", "length_over_time"]


@dataclass(frozen=True, kw_only=True)
class PointElement(Element):
    """Base of elements that act at points of bodies.

    All vectors are in root axes; positions and velocities are relative to the root frame.
    """

    @property
    def only_pushes(self) -> bool:
        """Whether it acts by forces only: it adds no bodies, and its points are material."""
        return not self.parts() and type(self).drift is PointElement.drift

    @property
    def is_objective(self) -> bool:
        """Whether it depends only on relative motion of its points, so that any frame with its rate can be the root."""
        return False

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        """(frame, key): the frame of each point, and the key of its place there (empty: the origin)."""
        return ()

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return self.points

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Return the bodies that it adds to the system, each with the fields of its `Part`."""
        return ()

    def brings(self, parts: tuple[Any, ...]) -> tuple[tuple[Any, dict[str, Any]], ...]:
        return self.parts()

    def forces(self, p: Sequence[Any], v: Sequence[Any], rate: Any | None, t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the force on each point [N] from positions, velocities, inertial rate of the root (or None) and time."""
        raise NotImplementedError

    @property
    def has_kinks(self) -> bool:
        p, v = ([ca.SX.sym("s", 3) for _ in self.points] for _ in range(2))
        return bool(p) and bool(self.kinks(p, v, ca.SX.sym("t"), self._symbols()))

    def kinks(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return expressions that cross zero at discontinuities of forces or their derivatives."""
        return []

    def potential(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> Any:
        """Return the stored energy [J]."""
        return 0.0

    def drift(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> dict[str, Any]:
        """Return, by joint, the speeds minus the coordinate rates, where a point is not material."""
        return {}

    @property
    def length_joint(self) -> str:
        """The joint whose coordinate is the deployed length; empty if there is none."""
        return ""

    def deployed(self, t: Any, coordinate: Any | None, n: Mapping[str, Any]) -> Any | None:
        """Return the deployed length [m] at time t, from its coordinate if it has one; None if it is no line."""
        return None

    def fault(self, t: float, coordinate: float | None) -> str:
        """Return a message with a remedy if a run must stop at time t; empty if it may continue."""
        return ""

    @property
    def tension_axis(self) -> Any | None:
        """Direction, in its joint's axes, of a straight line whose tension acts in the joint of its body.

        None where `tensions` returns the tension.
        """
        return None

    @property
    def drawn(self) -> tuple[tuple[str, Any], ...]:
        """Points between which it is drawn: frames and places in them."""
        return tuple((frame, getattr(self, key) if key else (0.0, 0.0, 0.0)) for frame, key in self.points)

    def tensions(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the tension [N] of each segment."""
        return []

    def strains(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the strain of each segment; negative where it is slack."""
        return []


def length_over_time(length: Any, what: str, *, may_vanish: bool = False) -> Any:
    """Return a length as a number or expression of time; raise `ModelError` unless it is positive (at time 0)."""
    if callable(length) or isinstance(length, TimeExpression):
        profile = TimeExpression(length, f"{what}: length")
        start = profile(0.0)[0]
        if not start > 0.0:
            raise ModelError(f"{what}: length is {start:g} m at t = 0, expected a positive length")
        return profile
    value = as_scalar(length, f"{what}: length")
    if value < 0.0 or (value == 0.0 and not may_vanish):
        raise ModelError(
            f"{what}: length is {value:g} m, expected {'0 or more' if may_vanish else 'a positive length'}"
        )
    return value
