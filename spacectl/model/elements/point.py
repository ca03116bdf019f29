"""The base of elements between points of bodies: from the motion of the points to the forces on them."""

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
    """Base of elements that push and pull at points of bodies.

    All vectors are in root axes; positions and velocities are relative to the root frame.
    """

    @property
    def only_pushes(self) -> bool:
        """Whether it acts by its forces alone: it brings no bodies, and its points are material."""
        return not self.parts() and type(self).drift is PointElement.drift

    @property
    def is_objective(self) -> bool:
        """Whether it asks only how its points move against each other, so that any frame with its rate serves as root."""
        return False

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        """(frame, key): the frame that carries each point, and the number with its place there (empty: the origin)."""
        return ()

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return self.points

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Bodies that it brings along, each with the fields of its `Part`."""
        return ()

    def brings(self, parts: tuple[Any, ...]) -> tuple[tuple[Any, dict[str, Any]], ...]:
        return self.parts()

    def forces(self, p: Sequence[Any], v: Sequence[Any], rate: Any | None, t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Force on each point [N] from positions, velocities, the root's inertial rate (None: it does not turn), time."""
        raise NotImplementedError

    @property
    def has_kinks(self) -> bool:
        p, v = ([ca.SX.sym("s", 3) for _ in self.points] for _ in range(2))
        return bool(p) and bool(self.kinks(p, v, ca.SX.sym("t"), self._symbols()))

    def kinks(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Expressions that pass through zero where its forces, or their derivatives, jump: steps end there."""
        return []

    def potential(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> Any:
        """Stored energy [J]."""
        return 0.0

    def drift(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> dict[str, Any]:
        """By joint: what to subtract from the speeds to get the rates of the coordinates, where a point is not material."""
        return {}

    @property
    def length_joint(self) -> str:
        """The joint whose coordinate is the deployed length; empty if there is none."""
        return ""

    def deployed(self, t: Any, coordinate: Any | None, n: Mapping[str, Any]) -> Any | None:
        """Deployed length [m] of a line at a time, from its coordinate if it has one; None for what is no line."""
        return None

    def fault(self, t: float, coordinate: float | None) -> str:
        """What stops a run at a time, as a sentence with the cure; empty if nothing does."""
        return ""

    @property
    def tension_axis(self) -> Any | None:
        """Direction, in its joint's axes, of a straight line whose tension the joint of its body passes.

        None where `tensions` gives the tension.
        """
        return None

    @property
    def drawn(self) -> tuple[tuple[str, Any], ...]:
        """Points between which it is drawn: frames, and places in them."""
        return tuple((frame, getattr(self, key) if key else (0.0, 0.0, 0.0)) for frame, key in self.points)

    def tensions(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Pull [N] of each of its segments."""
        return []

    def strains(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Stretch of each of its segments over its natural length; negative where it hangs loose."""
        return []


def length_over_time(length: Any, what: str, *, may_vanish: bool = False) -> Any:
    """A length as a number or as an expression of time, after checking that it is positive (at time 0)."""
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
