"""Parts of tethers: bodies whose mass depends on the deployed length, and the joint of the length.

The field `line` of a body names its tether; the equations then pass the tether's parameters, including the deployed
length, to `mass_properties`. `Tether` and `ElasticTether` add these parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from spacectl.model.bodies.base.body import Body
from spacectl.model.description import Number, set_field
from spacectl.model.joints import Prismatic
from spacectl.spatial.backend import eye, outer, zeros
from spacectl.spatial.inertia import Placement

__all__ = ["LineMass", "LineRod", "LineSpool", "LineSwivel", "Reel", "above"]


def above(value: Any, least: Any) -> Any:
    """Return the value, or NaN below `least`, so that a run stops instead of continuing with meaningless states."""
    return ca.if_else(value > least, value, ca.sqrt(value - least))  # finite derivatives for allowed values


@dataclass(frozen=True, kw_only=True)
class Reel(Prismatic):
    """The length of a straight tether along its axis: a coordinate, a prescribed motion, or a constant.

    Parameters
    ----------
    start : float
        Coordinate of the reference position [m].
    is_fixed : bool
        Whether the length is the parameter ``length`` of the tether.
    """

    start: float = 0.0
    is_fixed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_fixed:
            set_field(self, "coordinates", ())
            set_field(self, "speeds", ())

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.is_fixed,)

    def rest(self) -> Any:
        return super().rest() + self.start

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        length = n["length"] if self.is_fixed else q[0]
        return Placement(eye(3, n["axis"]), n["axis"] * above(length, n["shortest"]))


@dataclass(frozen=True, kw_only=True)
class _LineBody(Body):
    """Base: a body of a tether, without frames and parameters of its own.

    Parameters
    ----------
    name : str
        Name of the body.
    line : str
        Name of the tether.
    """

    name: str
    line: str
    drawn_as: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Accept the name, which the tether generates."""

    @property
    def structure(self) -> tuple[Any, ...]:
        return ()

    def numbers(self) -> dict[str, Number]:
        """Return no parameters: they belong to the tether."""
        return {}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return mass, centre of mass, inertia; `n`: the tether's parameters and its deployed ``length``."""
        none = zeros(3, n["length"])
        return self._mass(n), none, 0.0 * eye(3, n["length"])

    def _mass(self, n: Mapping[str, Any]) -> Any:
        return 0.0 * n["length"]


@dataclass(frozen=True, kw_only=True)
class LineSwivel(_LineBody):
    """The massless point where a straight tether leaves its drum; it rotates with the line."""


@dataclass(frozen=True, kw_only=True)
class LineRod(_LineBody):
    """The deployed part of a straight tether, of mass ``density length``; its frame is at the far end."""

    drawn_as: ClassVar[str] = "line"

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        if "density" not in n:
            return super().mass_properties(n)
        L, axis = n["length"], n["axis"]
        mass = n["density"] * L
        return mass, axis * (-0.5 * L), (mass * L * L / 12.0) * (eye(3, axis) - outer(axis, axis))


@dataclass(frozen=True, kw_only=True)
class LineSpool(_LineBody):
    """The line on the drum, of mass ``density (spool - length)``: a point mass that moves with the mother."""

    def _mass(self, n: Mapping[str, Any]) -> Any:
        return n["density"] * above(n["spool"] - n["length"], 0.0)


@dataclass(frozen=True, kw_only=True)
class LineMass(_LineBody):
    """One of the equal point masses ``density length / count`` of an elastic tether.

    Parameters
    ----------
    count : int
        Number of point masses.
    """

    count: int

    def _mass(self, n: Mapping[str, Any]) -> Any:
        return n["density"] * above(n["length"], n["shortest"]) / self.count
