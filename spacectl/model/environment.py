"""Environments: the root frame's motion and the gravity in it.

The root frame is ``"world"``. In `CircularOrbit` it turns with the orbit and is also called ``"orbit"``. Each
environment gives the root's angular velocity, a uniform acceleration of the root that stands for uniform gravity,
the gravity wrench on a body and its potential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, set_field, unless_trivial
from spacectl.spatial.backend import constant, cross, dot, sqrt, stack
from spacectl.spatial.flexible import ModalInertia, symmetric_six
from spacectl.spatial.inertia import Inertia
from spacectl.spatial.motion import Placement

__all__ = [
    "ENVIRONMENTS",
    "CentralGravity",
    "CircularOrbit",
    "Environment",
    "FreeSpace",
    "UniformGravity",
    "has_field_of",
]

MassProperties = tuple[Any, Any, Any]  # mass, centre of mass, inertia about it (body axes)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Base: an inertial root frame without gravity."""

    @property
    def root_names(self) -> tuple[str, ...]:
        """Names under which the root frame can be addressed."""
        return ("world",)

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {}

    def root_rate(self, n: Mapping[str, Any]) -> Any | None:
        """Inertial angular velocity of the root frame, root axes [rad/s]; None if it does not turn."""
        return None

    def root_acceleration(self, n: Mapping[str, Any]) -> Any | None:
        """Acceleration of the root that is equivalent to a uniform field [m/s^2], or None."""
        return None

    def gravity_wrench(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any | None:
        """Gravity on a body: (moment about the body origin, force) in body axes, or None."""
        return None

    def modal_gravity(self, X_NB: Placement, body: ModalInertia, n: Mapping[str, Any]) -> Any | None:
        """Generalised gravity forces on the modes of a body at X_NB, shape (m,): minus the slope of its potential.

        None where there is none beyond a uniform field, which is an acceleration of the root.
        """
        identity = Placement.identity(X_NB.p)
        if self.gravity_wrench(identity, body.rigid.about_centre(), n) is None:
            return None
        R, p, mass, first, six = (ca.SX.sym(*item) for item in (("R", 3, 3), ("p", 3), ("m",), ("c", 3), ("I", 6)))
        values = list(n.values())
        symbols = [ca.SX.sym(key, value.shape[0]) for key, value in n.items()]
        properties = Inertia(mass, first, symmetric_six(six)).about_centre()
        U = self.potential(Placement(R, p), properties, dict(zip(n, symbols, strict=True)))
        slope = ca.Function("slope", [R, p, mass, first, six, *symbols], [ca.gradient(U, first), ca.gradient(U, six)])
        I = body.rigid.I_O
        entries = ca.vertcat(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        U_c, U_I = slope(X_NB.R, X_NB.p, body.rigid.mass, body.rigid.first, entries, *values)
        rows = [ca.vertcat(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]) for J in body.I_eta]
        return -body.c_eta.T @ U_c - ca.horzcat(*rows).T @ U_I

    def potential(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        """Potential energy of a body [J]."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class FreeSpace(Environment):
    """No gravity."""


@dataclass(frozen=True, kw_only=True)
class UniformGravity(Environment):
    """A uniform field g [m/s^2], root axes."""

    g: Any = (0.0, 0.0, -9.80665)

    def __post_init__(self) -> None:
        set_field(self, "g", as_array(self.g, (3,), "UniformGravity: g"))

    def numbers(self) -> dict[str, Number]:
        return {"g": unless_trivial(self.g)}

    def root_acceleration(self, n: Mapping[str, Any]) -> Any:
        return -n["g"]

    def potential(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, _ = body
        return -mass * dot(n["g"], X_NB.point(com))


@dataclass(frozen=True, kw_only=True)
class CentralGravity(Environment):
    """Inverse-square attraction by a centre at the origin of the (inertial) root frame.

    Each body is attracted with its finite size to second order (MacCullagh):
    ``V = -mu m / r - mu / (2 r^3) (tr I - 3 n'I n)``; force and gravity-gradient torque follow from V, so energy is
    conserved exactly. The error relative to the point-wise law is of order (size / r)^3.

    Parameters
    ----------
    mu : float
        Gravitational parameter [m^3/s^2].
    """

    mu: float = 3.986004418e14

    def __post_init__(self) -> None:
        set_field(self, "mu", as_scalar(self.mu, "CentralGravity: mu"))
        if self.mu <= 0.0:
            raise ModelError(f"CentralGravity: mu is {self.mu:g} m^3/s^2, expected a positive number")

    def numbers(self) -> dict[str, Number]:
        return {"mu": always(self.mu)}

    def gravity_wrench(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        r2 = dot(r, r)
        k = n["mu"] / (r2 * sqrt(r2))  # mu / r^3
        Ir = I_C @ r
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        stretch = (1.5 * k / r2) * ((5.0 * dot(r, Ir) / r2 - trace) * r - 2.0 * Ir)
        force = -(mass * k) * r + stretch
        return stack(cross(com, force) + (3.0 * k / r2) * cross(r, Ir), force)

    def potential(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        r2 = dot(r, r)
        distance = sqrt(r2)
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        return -n["mu"] * (mass / distance + 0.5 * (trace - 3.0 * dot(r, I_C @ r) / r2) / (distance * r2))


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


#: Methods that decide the motion of the root frame and the gravity in it
_FIELD = ("numbers", "root_rate", "root_acceleration", "gravity_wrench", "modal_gravity", "potential")


def has_field_of(environment: Environment, *kinds: type[Environment]) -> bool:
    """Whether an environment has exactly the field of one of `kinds`: the same methods, none of them overridden.

    Code that knows the formulas of a kind must ask this rather than for a name or by `isinstance`: a subclass may
    have another field.

    Examples
    --------
    >>> class Outbound(CentralGravity): "The same field under another name."
    >>> class Oblate(CentralGravity):
    ...     def gravity_wrench(self, X_NB, body, n): ...
    >>> has_field_of(Outbound(), CentralGravity), has_field_of(Oblate(), CentralGravity)
    (True, False)
    """
    return any(all(getattr(type(environment), key) is getattr(kind, key) for key in _FIELD) for kind in kinds)


ENVIRONMENTS: dict[str, type[Environment]] = {
    kind.__name__: kind for kind in (FreeSpace, UniformGravity, CentralGravity, CircularOrbit)
}
