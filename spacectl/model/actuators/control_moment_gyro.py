"""`ControlMomentGyro`: a rotor at constant speed in a gimbal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.effort import Effort, JointEffort
from spacectl.model.bodies.rigid import Rotor
from spacectl.model.description import Number, always, direction, set_field, set_scalars
from spacectl.model.joints import Revolute
from spacectl.spatial.backend import eye, outer
from spacectl.spatial.inertia import Placement

__all__ = ["ControlMomentGyro"]


@dataclass(frozen=True, kw_only=True)
class ControlMomentGyro(Actuator):
    """A single-gimbal control moment gyro on a body. Input: torque of the gimbal motor on the gimbal [N m].

    The reaction acts on the body. It adds a coordinate, the gimbal angle, named after the gyro, and its rate. The rotor
    has a constant rate relative to the gimbal, maintained by its motor, so that power is not conserved. With the
    angular momentum h = J rate s along the spin axis s, the torque on the body is ``-gimbal_rate x h`` plus the terms
    of the inertia of rotor and gimbal, all exact.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    gimbal_axis, spin_axis : unit vector or "x", ...
        Axes in that frame, normal to each other; the spin axis at zero gimbal angle.
    inertia : (float, float)
        Inertia of the rotor about its spin axis and transverse to it [kg m^2].
    gimbal_inertia : float
        Inertia of the gimbal about its axis [kg m^2]. The body's inertia includes the masses of rotor and gimbal, at the
        origin of the frame, and the transverse inertia of the gimbal.
    rate : float
        Rate of the rotor relative to the gimbal [rad/s].

    Examples
    --------
    >>> ControlMomentGyro(name="cmg", on="hub", inertia=(0.1, 0.06), gimbal_inertia=0.02, rate=600.0).input_name
    'cmg'
    """

    on: str
    gimbal_axis: Any = "z"
    spin_axis: Any = "x"
    inertia: Any
    gimbal_inertia: float
    rate: float
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("gimbal_axis", "spin_axis"):
            set_field(self, key, direction(getattr(self, key), f"{self._what}: {key}"))
        set_field(self, "inertia", as_array(self.inertia, (2,), f"{self._what}: inertia"))
        set_scalars(self, self._what, "gimbal_inertia", "rate")
        along = float(np.asarray(self.gimbal_axis) @ np.asarray(self.spin_axis))
        if abs(along) > 1e-9:
            raise ModelError(
                f"{self._what}: the spin axis has the component {along:.3g} along the gimbal axis, expected 0; make them "
                "normal to each other"
            )
        spin, across = self.inertia
        if not (spin > 0.0 and self.gimbal_inertia > 0.0):
            raise ModelError(f"{self._what}: inertia and gimbal_inertia must be positive")
        if spin > 2.0 * across * (1.0 + 1e-9):
            raise ModelError(
                f"{self._what}: inertia is ({spin:g}, {across:g}) kg m^2, but the inertia about the spin axis is at most "
                "twice the transverse one"
            )

    def efforts(self) -> tuple[Effort, ...]:
        return (JointEffort(joint=self.input_name),)

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Return the gimbal and the rotor in it."""
        name, (spin, across) = self.input_name, self.inertia
        gimbal = Rotor(name=name, axis=self.gimbal_axis, spin_inertia=self.gimbal_inertia)
        rotor = _GyroRotor(
            name=f"{name}_rotor", axis=self.spin_axis, spin_inertia=float(spin), across_inertia=float(across)
        )
        return (
            (gimbal, {"on": self.on, "joint": Revolute(name=name, axis=self.gimbal_axis)}),
            (rotor, {"on": name, "joint": _Spin(axis=self.spin_axis, rate=self.rate)}),
        )


@dataclass(frozen=True, kw_only=True)
class _GyroRotor(Rotor):
    """A rotor with transverse inertia."""

    across_inertia: float

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "across_inertia": always(self.across_inertia)}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        mass, com, about = super().mass_properties(n)
        axis = n["axis"]
        return mass, com, about + n["across_inertia"] * (eye(3, axis) - outer(axis, axis))


@dataclass(frozen=True, kw_only=True)
class _Spin(Revolute):
    """A prescribed rotation at a constant rate, which is a run-time parameter.

    Its body is symmetric about the axis, so the angle is omitted and the equations do not depend on time.
    """

    rate: float
    prescribed: Any = lambda s: s.t  # at unit rate; the subspace scales it

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement.identity(n["axis"])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return super().subspace(n["axis"], n) * n["rate"]

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "rate": always(self.rate)}
