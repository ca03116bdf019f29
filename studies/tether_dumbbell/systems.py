"""The systems of the study: a satellite (a point) on a straight or an elastic line, in orbit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacectl import Cartesian, CircularOrbit, ElasticTether, Part, RigidBody, System, Tether


def point(name: str, mass: float) -> RigidBody:
    """Return a point mass."""
    return RigidBody(name=name, mass=mass, inertia=(0.0, 0.0, 0.0))


def on_straight_line(rate: float, mass: float, length: float | Callable[..., Any], density: float = 0.0) -> System:
    """Return a satellite on a straight line from the origin of the orbit frame (a much heavier mother)."""
    return System(
        name="satellite on a straight tether",
        environment=CircularOrbit(rate=rate),
        parts=(Part(point("satellite", mass), on="line"),),
        elements=(Tether(name="line", on="orbit", length=length, density=density),),
    )


def two_bodies(rate: float, mother: float, mass: float, length: float, density: float) -> System:
    """Return two points of similar mass and the line between them, all free to move in the orbit frame."""
    return System(
        name="dumb-bell",
        environment=CircularOrbit(rate=rate),
        parts=(
            Part(point("mother", mother), on="orbit", joint=Cartesian()),
            Part(point("satellite", mass), on="line"),
        ),
        elements=(Tether(name="line", on="mother", length=length, density=density),),
    )


def on_elastic_line(
    rate: float, mass: float, length: Any, *, density: float, masses: int, stiffness: float, damping: float
) -> System:
    """Return a free satellite and an elastic line to it from the origin of the orbit frame."""
    line = ElasticTether(
        name="line",
        on="orbit",
        to="satellite",
        length=length,
        density=density,
        masses=masses,
        stiffness=stiffness,
        damping=damping,
    )
    return System(
        name="satellite on an elastic tether",
        environment=CircularOrbit(rate=rate),
        parts=(Part(point("satellite", mass), on="orbit", joint=Cartesian()),),
        elements=(line,),
    )
