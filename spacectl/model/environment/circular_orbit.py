"""`CircularOrbit`: the turning frame of a circular orbit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_field
from spacectl.model.environment.base import Environment, MassProperties
from spacectl.spatial.backend import constant, cross, dot, stack
from spacectl.spatial.motion import Placement

__all__ = ["CircularOrbit"]


@dataclass(frozen=True, kw_only=True)
class CircularOrbit(Environment):
    """The frame of a circular orbit: x radial (outward), y along track, z orbit normal.

    Coordinates and speeds are relative to it. Gravity is its first-order gradient about the origin,
    ``g = n^2 (3 x x' - 1) rho``, exact in the sense of Hill; the neglected terms are of order (size / orbit radius).
    `energy` is then the Jacobi integral.

    Parameters
    ----------
    period, rate : float
        Give one: orbital period [s] or rate [rad/s].
    """

    period: float | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        if (self.period is None) == (self.rate is None):
            raise ModelError("CircularOrbit: give either period [s] or rate [rad/s]")
        for name in ("period", "rate"):
            value = getattr(self, name)
            if value is not None:
                set_field(self, name, as_scalar(value, f"CircularOrbit: {name}"))
                if getattr(self, name) <= 0.0:
                    raise ModelError(f"CircularOrbit: {name} is {value:g}, expected a positive number")

    @property
    def root_names(self) -> tuple[str, ...]:
        return ("world", "orbit")

    def numbers(self) -> dict[str, Number]:
        rate = self.rate if self.rate is not None else 2.0 * np.pi / float(self.period or 1.0)
        return {"rate": always(rate)}

    def root_rate(self, n: Mapping[str, Any]) -> Any:
        return constant((0.0, 0.0, 1.0), n["rate"]) * n["rate"]

    def gravity_wrench(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        radial = X_NB.R.T @ constant((1.0, 0.0, 0.0), X_NB.p)
        rho = X_NB.R.T @ X_NB.p + com
        n2 = n["rate"] * n["rate"]
        force = (mass * n2) * (3.0 * dot(radial, rho) * radial - rho)
        return stack(cross(com, force) + (3.0 * n2) * cross(radial, I_C @ radial), force)

    def potential(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        """Gravity-gradient potential (without the centrifugal part, which belongs to the turning root)."""
        mass, com, I_C = body
        radial = X_NB.R.T @ constant((1.0, 0.0, 0.0), X_NB.p)
        rho = X_NB.R.T @ X_NB.p + com
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        along = dot(radial, rho)
        second = mass * (3.0 * along * along - dot(rho, rho)) + trace - 3.0 * dot(radial, I_C @ radial)
        return -0.5 * n["rate"] * n["rate"] * second
