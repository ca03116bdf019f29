"""Gears and rotors."""

from __future__ import annotations

from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Constraint

__all__ = ["DOWN", "gear", "rotor"]

DOWN = (0.0, -9.81, 0.0)  # [m/s^2]


def gear(name: str, motor: str, joint: str, ratio: float) -> Constraint:
    """Return a gear without play: the motor angle is `ratio` times the joint angle."""
    return Constraint(name=name, rule=lambda s: s[motor] - s.number("ratio") * s[joint], values={"ratio": ratio})


def rotor(name: str, mass: float = 0.4, radius: float = 0.04) -> RigidBody:
    """Return a motor's rotor: a disc about z, half as long as its radius."""
    across = mass * (radius**2 / 4.0 + (radius / 2.0) ** 2 / 12.0)
    return RigidBody(name=name, mass=mass, inertia=(across, across, mass * radius**2 / 2.0))
