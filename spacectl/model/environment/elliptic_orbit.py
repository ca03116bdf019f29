"""`EllipticOrbit`: the rotating frame of a Keplerian ellipse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_scalars
from spacectl.model.environment.orbit_frame import OrbitFrame
from spacectl.spatial.backend import arctan2, constant, cos, sin, sqrt

__all__ = ["EllipticOrbit"]

LARGEST = 0.9  #: eccentricity up to which Kepler's equation is solved to rounding
_STEPS = 5  # Newton steps: one more than rounding needs at 0.9, so that derivatives are exact too


@dataclass(frozen=True, kw_only=True)
class EllipticOrbit(OrbitFrame):
    """The frame of an elliptic orbit: x radial (outward), y along track (normal to x), z orbit normal.

    Coordinates and speeds are relative to it. It rotates with the true anomaly theta of the Kepler motion; gravity is
    the first-order gradient ``g = mu / r(t)^3 (3 x x' - 1) rho``, as in the Tschauner-Hempel equations. With the
    eccentric anomaly E of Kepler's equation ``E - e sin E = M(t)`` and s = 1 - e cos E:
    ``theta_dot = n sqrt(1 - e^2) / s^2``, ``mu / r^3 = n^2 / s^3``. The equations depend on time with the period of the
    orbit, so their `energy` is not conserved.

    Parameters
    ----------
    period, semi_major_axis : float
        Orbital period [s], or semi-major axis [m] together with `mu`; give one.
    eccentricity : float
        From 0 to 0.9.
    true_anomaly : float
        True anomaly at t = 0 [rad].
    mu : float
        Gravitational parameter [m^3/s^2]; used with `semi_major_axis` only.

    References
    ----------
    J. Tschauner, P. Hempel, Rendezvous zu einem in elliptischer Bahn umlaufenden Ziel, Astronautica Acta 11, 1965.

    Examples
    --------
    >>> orbit = EllipticOrbit(period=5400.0, eccentricity=0.3)
    >>> n = {key: number.value[...] for key, number in orbit.numbers().items()}
    >>> perigee, apogee = (float(orbit.root_rate(t, n)[2]) for t in (0.0, 2700.0))
    >>> round(perigee / apogee, 6), round((1.3 / 0.7) ** 2, 6)
    (3.44898, 3.44898)
    """

    period: float | None = None
    semi_major_axis: float | None = None
    eccentricity: float = 0.0
    true_anomaly: float = 0.0
    mu: float = 3.986004418e14
    example: ClassVar[Mapping[str, Any]] = {"period": 1.0}

    def __post_init__(self) -> None:
        if (self.period is None) == (self.semi_major_axis is None):
            raise ModelError("EllipticOrbit: give either period [s] or semi_major_axis [m]")
        size = "semi_major_axis" if self.period is None else "period"
        set_scalars(self, "EllipticOrbit", size, "mu", sign="positive")
        set_scalars(self, "EllipticOrbit", "eccentricity", "true_anomaly")
        if not 0.0 <= self.eccentricity <= LARGEST:
            raise ModelError(f"EllipticOrbit: eccentricity is {self.eccentricity:g}, expected 0 to {LARGEST:g}")

    @property
    def title(self) -> str:
        period = 2.0 * np.pi / float(self.numbers()["rate"].value)
        return f"elliptic orbit, period {period / 60.0:.4g} min, eccentricity {self.eccentricity:.3g}"

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters; ``rate`` is the mean motion [rad/s]."""
        a = self.semi_major_axis
        rate = 2.0 * np.pi / float(self.period or 1.0) if a is None else np.sqrt(self.mu / a**3)
        others = {key: always(getattr(self, key)) for key in ("eccentricity", "true_anomaly")}
        return {"rate": always(rate), **others}

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any:
        s, _ = self._place(t, n)
        e = n["eccentricity"]
        return constant((0.0, 0.0, 1.0), s) * (n["rate"] * sqrt(1.0 - e * e) / (s * s))

    def root_rate_dot(self, t: Any, n: Mapping[str, Any]) -> Any:
        s, e_sin = self._place(t, n)
        e = n["eccentricity"]
        rate_dot = -2.0 * n["rate"] * n["rate"] * sqrt(1.0 - e * e) * e_sin / (s * s * s * s)
        return constant((0.0, 0.0, 1.0), s) * rate_dot

    def gradient(self, t: Any, n: Mapping[str, Any]) -> Any:
        s, _ = self._place(t, n)
        return n["rate"] * n["rate"] / (s * s * s)

    def _place(self, t: Any, n: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return ``1 - e cos E`` (r over the semi-major axis) and ``e sin E``."""
        e, theta = n["eccentricity"], n["true_anomaly"]
        root = sqrt(1.0 - e * e)
        start = arctan2(root * sin(theta), e + cos(theta))  # E at t = 0
        M = start - e * sin(start) + n["rate"] * t
        E = M + e * sin(M) / sqrt(1.0 - 2.0 * e * cos(M) + e * e)
        for _ in range(_STEPS):
            E = E - (E - e * sin(E) - M) / (1.0 - e * cos(E))
        return 1.0 - e * cos(E), e * sin(E)
