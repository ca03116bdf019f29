"""Descriptions of limits along a path: torques, speeds, accelerations, joint loads.

`limit_rows` converts each to bounds on ``a s_ddot + b s_dot^2 + c s_dot + d``, the form that every planner
along a path uses. The term linear in s_dot (orbital Coriolis forces, viscous friction, torque-speed curves)
is included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import NamedExpression

__all__ = ["AccelerationLimits", "FlexibleJointLimit", "GraspLimit", "Limit", "SpeedLimits", "TorqueLimits"]

Bound = tuple[float, float] | NamedExpression


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Base of the limits."""


def _bound(value: Any, what: str) -> Bound:
    """Convert a number (symmetric bounds), a pair (low, high), or a rule ``lambda s: (low, high)`` of named states."""
    if callable(value) and not isinstance(value, NamedExpression):
        value = NamedExpression(value, what)
    if isinstance(value, NamedExpression):
        if value.size != 2:
            raise ModelError(f"{what}: the rule gives {value.size} values, expected two: lambda s: (low, high)")
        return value
    if np.ndim(value) == 0:
        value = (-as_scalar(value, what), as_scalar(value, what))
    low, high = (float(item) for item in np.asarray(value, dtype=float).reshape(-1))
    if not low < high:
        raise ModelError(
            f"{what}: low {low:g} and high {high:g}; expected a positive number, or (low, high) with low < high"
        )
    return low, high


def _bounds(values: Mapping[str, Any], kind: str) -> dict[str, Bound]:
    if not isinstance(values, Mapping):
        raise ModelError(f"{kind}: limits are {values!r}, expected names and numbers: {{'elbow': 0.5}}")
    return {str(name): _bound(value, f"{kind}: '{name}'") for name, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class TorqueLimits(Limit):
    """Limits of the inputs: by default, those of the actuators.

    Parameters
    ----------
    limits : mapping, optional
        Replacements for actuator limits by input name: a number (symmetric), (low, high), or a rule of
        coordinates and speeds, ``lambda s: (-80.0 - 5.0 * s["elbow_dot"], 80.0 - 5.0 * s["elbow_dot"])``, at
        most quadratic in the speeds. Numbers must be finite.
    fraction : float
        Fraction of every limit that the plan may use, above 0 and up to 1; the rest is reserved for feedback
        (Sadigh 1995, section 8.2.3.1).

    Examples
    --------
    >>> TorqueLimits(limits={"elbow": 20.0}).limits
    {'elbow': (-20.0, 20.0)}
    """

    limits: Mapping[str, Any] = field(default_factory=dict)
    fraction: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", _bounds(self.limits, "TorqueLimits"))
        object.__setattr__(self, "fraction", as_scalar(self.fraction, "TorqueLimits: fraction"))
        if not 0.0 < self.fraction <= 1.0:
            raise ModelError(f"TorqueLimits: fraction is {self.fraction:g}, expected above 0 and up to 1")


@dataclass(frozen=True, kw_only=True)
class SpeedLimits(Limit):
    """Limits of speeds, by the name of the speed or of its coordinate: ``{"elbow": 0.1}`` [rad/s or m/s].

    Parameters
    ----------
    limits : mapping
        A number (symmetric), (low, high) or a rule of coordinates.
    """

    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", _bounds(self.limits, "SpeedLimits"))


@dataclass(frozen=True, kw_only=True)
class AccelerationLimits(Limit):
    """Limits of the rates of speeds, by the name of the speed or of its coordinate [rad/s^2 or m/s^2].

    Parameters
    ----------
    limits : mapping
        A number (symmetric), (low, high) or a rule of coordinates and speeds.
    """

    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", _bounds(self.limits, "AccelerationLimits"))


@dataclass(frozen=True, kw_only=True)
class GraspLimit(Limit):
    """Limits of the load transmitted by a joint (a grapple, a weld, a bearing), by component.

    The load is that of `EquationsOfMotion.reactions`, about the joint in the joint's axes, actuator included.

    Parameters
    ----------
    joint : str
        Name of the joint, which may be `Fixed`.
    force, moment : float or vector of 3, optional
        Largest magnitude of each component [N], [N m]; infinite entries are unlimited.
    """

    joint: str
    force: Any = None
    moment: Any = None

    def __post_init__(self) -> None:
        if self.force is None and self.moment is None:
            raise ModelError(f"GraspLimit of '{self.joint}': give force=, moment= or both")
        for name in ("force", "moment"):
            value = getattr(self, name)
            if value is not None:
                sizes = np.broadcast_to(np.asarray(value, dtype=float), (3,))
                if np.any(np.isnan(sizes)) or not np.all(sizes > 0.0):
                    raise ModelError(f"GraspLimit of '{self.joint}': {name} is {value!r}, expected positive sizes")
                object.__setattr__(self, name, tuple(float(size) for size in sizes))


@dataclass(frozen=True, kw_only=True)
class FlexibleJointLimit(Limit):
    """Quasi-static limit of the torque or deflection of a joint's elastic transmission.

    The torque transmitted to the link about the joint's axis stays within `torque`, or within ``stiffness
    deflection``. The plan is for the rigid system; the elastic system follows it with at most this
    deflection.

    Parameters
    ----------
    joint : str
        A revolute or prismatic joint.
    torque : float, optional
        Largest torque or force [N m or N].
    stiffness, deflection : float, optional
        Stiffness of the transmission [N m/rad], and its largest deflection [rad].
    """

    joint: str
    torque: float | None = None
    stiffness: float | None = None
    deflection: float | None = None

    def __post_init__(self) -> None:
        pair = (self.stiffness, self.deflection)
        if (self.torque is None) == (None in pair):
            raise ModelError(f"FlexibleJointLimit of '{self.joint}': give torque=, or stiffness= and deflection=")
        size = self.torque if self.torque is not None else float(pair[0] or 0.0) * float(pair[1] or 0.0)
        size = as_scalar(size, f"FlexibleJointLimit of '{self.joint}'")
        if not size > 0.0:
            raise ModelError(
                f"FlexibleJointLimit of '{self.joint}': the torque is {size:g} N m, expected a positive number"
            )
        object.__setattr__(self, "torque", size)


def as_limits(limits: Any) -> tuple[Limit, ...]:
    """Return limits as a tuple; None means the limits of the actuators."""
    given = (TorqueLimits(),) if limits is None else ((limits,) if isinstance(limits, Limit) else tuple(limits))
    for item in given:
        if not isinstance(item, Limit):
            raise ModelError(f"limits: {item!r} is not a limit; expected TorqueLimits(...), SpeedLimits(...) and so on")
    return given
