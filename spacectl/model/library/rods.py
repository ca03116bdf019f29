"""Rods that several systems of the library use."""

from __future__ import annotations

import numpy as np

from spacectl.model.bodies.rigid import Frame, RigidBody

__all__ = ["rod", "slender_rod"]


def rod(name: str, length: float, mass: float, axis: str = "x") -> RigidBody:
    """Return a uniform round rod along an axis, from its origin to its frame ``"end"``; length / 20 in diameter."""
    k = "xyz".index(axis)
    along, across = mass * (length / 40.0) ** 2 / 2.0, mass * (length**2 / 12.0 + (length / 40.0) ** 2 / 4.0)
    inertia = tuple(along if i == k else across for i in range(3))
    reach = length * np.eye(3)[k]
    return RigidBody(name=name, mass=mass, inertia=inertia, com=reach / 2, frames=(Frame(name="end", at=reach),))


def slender_rod(name: str, length: float, mass: float, end: str = "tip") -> RigidBody:
    """Return a uniform slender rod along x, from its origin to its frame `end`."""
    inertia, frame = mass * length**2 / 12.0, Frame(name=end, at=(length, 0.0, 0.0))
    return RigidBody(name=name, mass=mass, inertia=(0.0, inertia, inertia), com=(length / 2, 0.0, 0.0), frames=(frame,))
