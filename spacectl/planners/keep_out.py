"""Keep-out regions as path conditions: spheres and boxes that points of the system must not enter."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.planners.problem import Condition

__all__ = ["keep_out_box", "keep_out_sphere"]

_POWER = 8  # exponent of the smooth body around a box


def keep_out_sphere(name: str, frame: str, *, center: Any, radius: float, seen_from: str = "world") -> Condition:
    """Keep the origin of a frame outside of a sphere: ``|p - c|^2 / r^2 >= 1``.

    Parameters
    ----------
    name : str
        Shown in messages and arcs.
    frame : str
        Body or ``"body.frame"`` to keep outside; use one condition for each point that could collide.
    center : vector, shape (3,)
        Center of the sphere, in axes of `seen_from` [m].
    radius : float
        Radius of the sphere [m], including clearance.
    seen_from : str
        Frame to which the sphere is fixed: the root, a body or a frame.
    """
    c = np.asarray(as_array(center, (3,), f"keep-out '{name}': center"))
    r = as_scalar(radius, f"keep-out '{name}': radius")
    if not r > 0.0:
        raise ModelError(f"keep-out '{name}': radius is {r:g} m, expected a positive one")
    return Condition(
        name=name, rule=lambda s: ca.sumsqr(_relative(s, frame, seen_from) - c) / r**2, low=1.0, high=np.inf
    )


def keep_out_box(name: str, frame: str, *, center: Any, half_lengths: Any, seen_from: str = "world") -> Condition:
    """Keep the origin of a frame outside of a smooth body around a box: ``sum ((p - c)_i / h_i)^8 >= 3``.

    The body touches the corners of the box, and its distance from the faces is 15 per cent of the half
    length.

    Parameters
    ----------
    name : str
        Shown in messages and arcs.
    frame : str
        Body or ``"body.frame"`` to keep outside.
    center, half_lengths : vectors, shape (3,)
        Center and half lengths of the box, in axes of `seen_from` [m].
    seen_from : str
        Frame to which the box is fixed.
    """
    c = np.asarray(as_array(center, (3,), f"keep-out '{name}': center"))
    h = np.asarray(as_array(half_lengths, (3,), f"keep-out '{name}': half_lengths"))
    if not np.all(h > 0.0):
        raise ModelError(f"keep-out '{name}': half_lengths are {h}, expected positive ones")

    def rule(s: Any) -> Any:  # the root of the sum, whose gradient stays bounded far away
        return ca.sum1(((_relative(s, frame, seen_from) - c) / h) ** _POWER) ** (1.0 / _POWER)

    return Condition(name=name, rule=rule, low=3.0 ** (1.0 / _POWER), high=np.inf)


def _relative(s: Any, frame: str, seen_from: str) -> Any:
    """Return the position of a frame relative to `seen_from`, in axes of `seen_from`."""
    if seen_from == "world":
        return s.position(frame)
    return s.rotation(seen_from).T @ (s.position(frame) - s.position(seen_from))
