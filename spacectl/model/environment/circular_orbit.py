"""`CircularOrbit`: the turning frame of a circular orbit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_field
from spacectl.model.environment.orbit_frame import OrbitFrame
from spacectl.spatial.backend import constant

__all__ = ["CircularOrbit"]


@dataclass(frozen=True, kw_only=True)
class CircularOrbit(OrbitFrame):
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
    example: ClassVar[Mapping[str, Any]] = {"rate": 1.0}

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
    def title(self) -> str:
        period = 2.0 * np.pi / float(self.numbers()["rate"].value)
        return f"circular orbit, period {period / 60.0:.4g} min"

    def numbers(self) -> dict[str, Number]:
        rate = self.rate if self.rate is not None else 2.0 * np.pi / float(self.period or 1.0)
        return {"rate": always(rate)}

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any:
        return constant((0.0, 0.0, 1.0), n["rate"]) * n["rate"]

    def gradient(self, t: Any, n: Mapping[str, Any]) -> Any:
        return n["rate"] * n["rate"]
