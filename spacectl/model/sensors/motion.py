"""`SensedMotion`: what a sensor has to tell its outputs from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SensedMotion"]


@dataclass(frozen=True)
class SensedMotion:
    """Motion of a sensor's point P on its body B against its observer A (`seen_from`), as CasADi expressions.

    Vectors have components in the sensor's `axes` E.

    Parameters
    ----------
    position : vector, shape (3,)
        From A's origin to P [m].
    velocity : vector, shape (3,)
        Of P, as an observer fixed in A sees it [m/s].
    angular_velocity : vector, shape (3,)
        Of B relative to A [rad/s].
    rotation : matrix, shape (3, 3)
        ``R_AB``: components in B to components in A.
    axes : matrix, shape (3, 3)
        ``R_EA``: components in A to components in E.
    acceleration : function
        Without arguments; returns the acceleration of P that the observer sees [m/s^2], shape (3,). It raises
        `ModelError` where accelerations are not known yet: in the outputs that are fed back.
    t : expression
        Time [s].
    numbers : mapping
        The sensor's run-time numbers.
    """

    position: Any
    velocity: Any
    angular_velocity: Any
    rotation: Any
    axes: Any
    acceleration: Callable[[], Any]
    t: Any
    numbers: Mapping[str, Any]
