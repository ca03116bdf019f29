"""The base of all environments: the motion of the root frame and the gravity in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.model.description import Number
from spacectl.spatial.flexible import ModalInertia, symmetric_six
from spacectl.spatial.inertia import Inertia
from spacectl.spatial.motion import Placement

__all__ = ["Environment", "MassProperties", "has_field_of"]

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


#: Methods that decide the motion of the root frame and the gravity in it
_FIELD = ("numbers", "root_rate", "root_acceleration", "gravity_wrench", "modal_gravity", "potential")


def has_field_of(environment: Environment, *kinds: type[Environment]) -> bool:
    """Whether an environment has exactly the field of one of `kinds`: the same methods, none of them overridden.

    Code that knows the formulas of a kind must ask this rather than for a name or by `isinstance`: a subclass may
    have another field.

    Examples
    --------
    >>> from spacectl import CentralGravity
    >>> class Outbound(CentralGravity): "The same field under another name."
    >>> class Oblate(CentralGravity):
    ...     def gravity_wrench(self, X_NB, body, n): ...
    >>> has_field_of(Outbound(), CentralGravity), has_field_of(Oblate(), CentralGravity)
    (True, False)
    """
    return any(all(getattr(type(environment), key) is getattr(kind, key) for key in _FIELD) for kind in kinds)
