"""The base of all environments: motion of the root frame and gravity in it, as functions of time.

Methods of the field take the time t first and the run-time parameters n last, as symbols or floats. A class
without native kernels is evaluated by expressions in every formulation, which is slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, choices
from spacectl.spatial.backend import constant, is_symbolic, zeros
from spacectl.spatial.flexible import ModalInertia, symmetric_six
from spacectl.spatial.inertia import Inertia, Placement

__all__ = ["Environment", "MassProperties", "has_field_of"]

MassProperties = tuple[Any, Any, Any]  # mass, centre of mass, inertia about it (body axes)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Base: an inertial root frame without gravity."""

    #: Fields of an example, for classes with required fields
    example: ClassVar[Mapping[str, Any]] = {}
    #: Descriptions of the root axes, for figures
    axis_names: ClassVar[tuple[str, str, str]] = ("x", "y", "z")

    # -- description

    @property
    def root_names(self) -> tuple[str, ...]:
        """Names of the root frame; ``"orbit"`` is among them if it moves along an orbit."""
        return ("world",)

    @property
    def title(self) -> str:
        """Its name in reports."""
        return type(self).__name__

    @property
    def up(self) -> np.ndarray:
        """Unit vector that points up in figures, root axes."""
        return np.array([0.0, 0.0, 1.0])

    @property
    def structure(self) -> tuple[Any, ...]:
        """Data besides class and zeros of the parameters that determine the form of the equations."""
        return choices(self)

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {}

    # -- field

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any | None:
        """Return the inertial angular velocity of the root frame, root axes [rad/s]; None if it does not rotate."""
        return None

    def root_rate_dot(self, t: Any, n: Mapping[str, Any]) -> Any | None:
        """Return the time derivative of `root_rate` [rad/s^2], or None if it is constant."""
        rate = self.root_rate(time := ca.SX.sym("t"), numbers := _symbols(n))
        if rate is None or not ca.depends_on(rate := ca.SX(rate), time):
            return None
        derivative = ca.Function("rate", [time, *numbers.values()], [ca.densify(ca.jacobian(rate, time))])
        value = derivative(t, *n.values())
        return value if is_symbolic(t, *n.values()) else value.full().reshape(-1)

    def root_acceleration(self, t: Any, n: Mapping[str, Any]) -> Any | None:
        """Return the acceleration of the root's origin, root axes [m/s^2], or None; uniform gravity g enters as -g."""
        return None

    def gravity_wrench(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any | None:
        """Return the gravity wrench on a body (moment about its origin, force) in body axes, or None."""
        return None

    def modal_gravity(self, t: Any, X_NB: Placement, body: ModalInertia, n: Mapping[str, Any]) -> Any | None:
        """Return the generalised gravity forces on the modes of a body, shape (m,): minus the gradient of its potential.

        None without a field, or for a uniform field, which enters as an acceleration of the root.

        Raises
        ------
        ModelError
            If a class defines `gravity_wrench` but no potential.
        """
        identity = Placement.identity(X_NB.p)
        if self.gravity_wrench(t, identity, body.rigid.about_centre(), n) is None:
            return None
        if type(self).potential is Environment.potential:
            raise ModelError(
                f"environment {type(self).__name__}: gravity on flexible bodies follows from its potential, which is not "
                "defined; add potential(t, X_NB, body, n), or modal_gravity"
            )
        R, p, mass, first, six = (ca.SX.sym(*item) for item in (("R", 3, 3), ("p", 3), ("m",), ("c", 3), ("I", 6)))
        time, numbers = ca.SX.sym("t"), _symbols(n)
        properties = Inertia(mass, first, symmetric_six(six)).about_centre()
        U = self.potential(time, Placement(R, p), properties, numbers)
        symbols = [time, R, p, mass, first, six, *numbers.values()]
        gradient = ca.Function("gradient", symbols, [ca.gradient(U, first), ca.gradient(U, six)])
        I = body.rigid.I_O
        entries = ca.vertcat(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        U_c, U_I = gradient(t, X_NB.R, X_NB.p, body.rigid.mass, body.rigid.first, entries, *n.values())
        rows = [ca.vertcat(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]) for J in body.I_eta]
        return -body.c_eta.T @ U_c - ca.horzcat(*rows).T @ U_I

    def potential(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        """Return the potential energy of a body [J]."""
        return 0.0

    # -- derived quantities

    def attraction(self, t: Any, r: Any, n: Mapping[str, Any]) -> Any:
        """Return gravity per unit mass at r, root axes [m/s^2], without that of a uniform field."""
        point = (1.0, zeros(3, r), constant(np.zeros((3, 3)), r))
        wrench = self.gravity_wrench(t, Placement(constant(np.eye(3), r), r), point, n)
        return zeros(3, r) if wrench is None else wrench[3:6]

    @cached_property
    def is_steady(self) -> bool:
        """Whether the motion of the root and the field do not depend on time."""
        t, n = ca.SX.sym("t"), _symbols({key: item.value for key, item in self.numbers().items()})
        X = Placement(ca.SX.sym("R", 3, 3), ca.SX.sym("p", 3))
        body = (ca.SX.sym("m"), ca.SX.sym("c", 3), ca.SX.sym("I", 3, 3))
        found = [self.root_rate(t, n), self.root_acceleration(t, n), self.gravity_wrench(t, X, body, n)]
        return not any(item is not None and ca.depends_on(ca.SX(item), t) for item in found)


def _symbols(n: Mapping[str, Any]) -> dict[str, Any]:
    """Return symbols in place of parameters."""
    return {key: ca.SX.sym(key, *(getattr(value, "shape", ()) or (1,))) for key, value in n.items()}


def has_field_of(environment: Environment, *kinds: type[Environment]) -> bool:
    """Return whether an environment has exactly the field of one of `kinds`: no method is overridden.

    Code that contains the formulas of a class must call this instead of checking a name or `isinstance`: a subclass
    may have another field.

    Examples
    --------
    >>> from spacectl import CentralGravity
    >>> class Outbound(CentralGravity): "The same field under another name."
    >>> class Oblate(CentralGravity):
    ...     def gravity_wrench(self, t, X_NB, body, n): ...
    >>> has_field_of(Outbound(), CentralGravity), has_field_of(Oblate(), CentralGravity)
    (True, False)
    """
    return any(
        all(getattr(type(environment), key, None) is getattr(kind, key) for key in _methods(kind)) for kind in kinds
    )


def _methods(kind: type[Environment]) -> set[str]:
    """Return the names of the methods of a kind and its bases, which determine its field."""
    bases = [base for base in kind.__mro__ if base is not object]
    return {key for base in bases for key, item in vars(base).items() if callable(item) and not key.startswith("__")}
