"""`CircularOrbit`: the rotating frame of a circular orbit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_scalars
from spacectl.model.environment.orbit_frame import OrbitFrame
from spacectl.spatial.backend import constant

__all__ = ["CircularOrbit"]


@dataclass(frozen=True, kw_only=True)
class CircularOrbit(OrbitFrame):
    """The frame of a circular orbit: an `OrbitFrame` with constant rate n and ``mu / r^3 = n^2``.

    x is radial (outward), y along track, z orbit normal. The `energy` is the Jacobi integral.

    Parameters
    ----------
    period, rate : float
        Orbital period [s] or rate [rad/s]; give one.
    """

    period: float | None = None
    rate: float | None = None
    example: ClassVar[Mapping[str, Any]] = {"rate": 1.0}

    def __post_init__(self) -> None:
        if (self.period is None) == (self.rate is None):
            raise ModelError("CircularOrbit: give either period [s] or rate [rad/s]")
        set_scalars(self, "CircularOrbit", "rate" if self.period is None else "period", sign="positive")

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
