"""Laws of a drive: springs, friction and the dead zone of its gear.

A law maps a deflection or rate (symbol or number) to an effort, with its fields as run-time parameters. `Drive`
combines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.core.switching import switching_function
from spacectl.model.description import Number, always, set_scalars

__all__ = ["Friction", "HardeningSpring", "Stiction", "close_gap", "spring_energy", "spring_kinks", "spring_torque"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)  # exact for polynomials up to degree 47


@dataclass(frozen=True, kw_only=True)
class _Law:
    """Base of the laws: all fields are run-time parameters."""

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {key: always(value) for key, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class HardeningSpring(_Law):
    """A spring that is quadratic up to a corner and linear beyond it, continuous there (Sadigh 1995, Eq 6.18).

    ``tau = sgn(d) a d^2`` for ``|d| < c`` and ``sgn(d) (a c^2 + k (|d| - c))`` beyond. Its stiffness is zero
    at zero deflection, so linear models and modes about an unloaded drive are meaningless; it is
    discontinuous at c, from ``2 a c`` to ``k``.

    Parameters
    ----------
    quadratic : float
        a [N m/rad^2], positive.
    corner : float
        c [rad], positive.
    slope : float
        k [N m/rad], positive.

    Examples
    --------
    The law of Eq 6.18, whose constant 0.4425 is ``k c - a c^2``:

    >>> spring = HardeningSpring(quadratic=0.07, corner=1.5, slope=0.4)
    >>> float(round(spring_torque(spring, -2.0, vars(spring)), 4)) == -round(0.4 * 2.0 - 0.4425, 4)
    True
    """

    quadratic: float
    corner: float
    slope: float

    def __post_init__(self) -> None:
        set_scalars(self, "HardeningSpring", "quadratic", "corner", "slope", sign="positive")

    def torque(self, deflection: Any, n: Mapping[str, Any]) -> Any:
        """Return the torque [N m] at a deflection [rad]."""
        size = ca.fabs(deflection)
        inside, beyond = ca.fmin(size, n["corner"]), ca.fmax(size - n["corner"], 0.0)
        return ca.sign(deflection) * (n["quadratic"] * inside**2 + n["slope"] * beyond)

    def kinks(self, deflection: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return discontinuities of the torque's derivatives: first at the corners, second at zero."""
        return [deflection, deflection - n["corner"], deflection + n["corner"]]

    def energy(self, deflection: Any, n: Mapping[str, Any]) -> Any:
        """Return the stored energy [J]."""
        size = ca.fabs(deflection)
        inside, beyond = ca.fmin(size, n["corner"]), ca.fmax(size - n["corner"], 0.0)
        at_corner = n["quadratic"] * n["corner"] ** 2
        return n["quadratic"] * inside**3 / 3.0 + at_corner * beyond + 0.5 * n["slope"] * beyond**2


@dataclass(frozen=True, kw_only=True)
class Friction(_Law):
    """Coulomb and viscous friction, smooth: ``tau = -coulomb tanh(w / speed) - viscous w``.

    Parameters
    ----------
    coulomb : float
        Level of dry friction [N m], 0 or more.
    viscous : float
        Viscous friction [N m s/rad], 0 or more.
    speed : float
        Rate at which dry friction reaches 76 % of its level [rad/s], positive. Below it friction is nearly viscous, so
        that a small load creeps.
    """

    coulomb: float = 0.0
    viscous: float = 0.0
    speed: float = 0.01

    def __post_init__(self) -> None:
        set_scalars(self, "Friction", "speed", sign="positive")
        set_scalars(self, "Friction", "coulomb", "viscous", sign="not negative")

    def torque(self, rate: Any, n: Mapping[str, Any]) -> Any:
        """Return the torque [N m] against a rate [rad/s]."""
        return -n["coulomb"] * ca.tanh(rate / n["speed"]) - n["viscous"] * rate


@dataclass(frozen=True, kw_only=True)
class Stiction(_Law):
    """Friction that sticks: ``tau = -(c + (s - c) exp(-(w / stribeck)^2)) tanh(w / stick) - viscous w``.

    A load below the static level s is supported with a creep rate ``stick atanh(load / s)``, which a small `stick` makes
    negligible; above it the rotor breaks away and friction falls to the Coulomb level c within a few `stribeck`. The law
    adds no states. It is stiff: use ``method="radau"``.

    Parameters
    ----------
    static, coulomb : float
        Break-away and sliding levels [N m], ``static >= coulomb >= 0``.
    viscous : float
        Viscous friction [N m s/rad], 0 or more.
    stribeck : float
        Rate over which friction falls from static to Coulomb [rad/s].
    stick : float
        Rate of the stick zone [rad/s], at most a tenth of `stribeck`.
    """

    static: float
    coulomb: float
    viscous: float = 0.0
    stribeck: float = 0.1
    stick: float = 1e-5

    def __post_init__(self) -> None:
        set_scalars(self, "Stiction", "static", "stribeck", "stick", sign="positive")
        set_scalars(self, "Stiction", "coulomb", "viscous", sign="not negative")
        if self.coulomb > self.static:
            raise ModelError(
                f"Stiction: static is {self.static:g} N m, less than coulomb ({self.coulomb:g} N m); "
                "the break-away level must be the larger one: exchange them, or use Friction"
            )
        if self.stick > 0.1 * self.stribeck:
            raise ModelError(
                f"Stiction: stick is {self.stick:g} rad/s, expected at most a tenth of stribeck ({self.stribeck:g} rad/s)"
            )

    def torque(self, rate: Any, n: Mapping[str, Any]) -> Any:
        """Return the torque [N m] against a rate [rad/s]."""
        level = n["coulomb"] + (n["static"] - n["coulomb"]) * ca.exp(-((rate / n["stribeck"]) ** 2))
        return -level * ca.tanh(rate / n["stick"]) - n["viscous"] * rate


def spring_torque(spring: Any, deflection: Any, n: Mapping[str, Any]) -> Any:
    """Return the torque of a `HardeningSpring`, of a user's function, or of no spring."""
    if spring is None:
        return 0.0
    return spring(deflection)[0] if isinstance(spring, TimeExpression) else spring.torque(deflection, n)


def spring_kinks(spring: Any, deflection: Any, n: Mapping[str, Any]) -> list[Any]:
    """Return the kinks of the torque of a `HardeningSpring`, or those found in a user's expression."""
    if spring is None:
        return []
    if isinstance(spring, TimeExpression):
        d = ca.SX.sym("d")
        found = switching_function(ca.Function("spring", [d], [spring(d)[0]]))
        return [] if found is None else ca.vertsplit(found(deflection))
    kinks: list[Any] = spring.kinks(deflection, n)
    return kinks


def spring_energy(spring: Any, deflection: Any, n: Mapping[str, Any]) -> Any:
    """Return the stored energy; for a user's function by Gauss quadrature from zero to the deflection."""
    if spring is None:
        return 0.0
    if not isinstance(spring, TimeExpression):
        return spring.energy(deflection, n)
    places = 0.5 * (1.0 + _NODES)
    return 0.5 * deflection * sum(w * spring(deflection * s)[0] for s, w in zip(places, _WEIGHTS, strict=True))


def close_gap(deflection: Any, gap: Any, smoothing: Any) -> tuple[Any, Any]:
    """Return the deflection beyond a dead zone of total width `gap`, and its derivative; sharp if `smoothing` is None.

    Smooth: ``r(x) = (x + sqrt(x^2 + smoothing^2)) / 2`` replaces ``max(x, 0)`` in ``r(d - gap/2) - r(-d - gap/2)``.
    """
    above, below = deflection - 0.5 * gap, -deflection - 0.5 * gap
    if smoothing is None:
        is_closed = ca.fmax(above, below) > 0.0
        return ca.fmax(above, 0.0) - ca.fmax(below, 0.0), ca.if_else(is_closed, 1.0, 0.0)
    up, down = ca.sqrt(above**2 + smoothing**2), ca.sqrt(below**2 + smoothing**2)
    return 0.5 * (above + up) - 0.5 * (below + down), 1.0 + 0.5 * (above / up + below / down)
