"""Parts that the docking mechanisms share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.elements import JointSpring
from spacectl.model.joints import Fixed, Free
from spacectl.model.part import Part

__all__ = ["DRIVE_LIMIT", "carrier", "circle", "leg_springs", "strut_length", "turn_z", "unit"]

DRIVE_LIMIT = 2000.0  # [N], force limit of every drive


def circle(radius: float, angles: np.ndarray, z: float) -> np.ndarray:
    """Return points on a circle about z at height z, shape (n, 3)."""
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(angles.shape, z)], axis=1)


def strut_length(A: np.ndarray, B: np.ndarray, height: float) -> float:
    """Return the distance between B on the base and A on a ring `height` above it [m]."""
    return float(np.linalg.norm(A + (0.0, 0.0, height) - B))


def carrier(mass: float | None, inertia: Any, dock: float) -> Part:
    """Return the carrier: fixed to the world, or free with its centre of mass 1.5 m behind the mechanism's base."""
    moving = 1.0 if mass is None else mass
    given = tuple(0.4 * moving * np.ones(3)) if inertia is None else inertia
    com = (0.0, 0.0, 0.0) if mass is None else (0.0, 0.0, -1.5)
    frames = (Frame(name="dock", at=(0.0, 0.0, dock)),)
    body = RigidBody(name="base", mass=moving, inertia=given, com=com, frames=frames)
    return Part(body, joint=Fixed(name="stand") if mass is None else Free(name="base"))


def turn_z(angle: float) -> np.ndarray:
    """Return the rotation about z by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def unit(vector: np.ndarray) -> np.ndarray:
    """Return the unit vector along a vector."""
    unit: np.ndarray = vector / np.linalg.norm(vector)
    return unit


def leg_springs(joints: Sequence[tuple[str, str]], stiffness: float, damping: float) -> tuple[JointSpring, ...]:
    """Return springs for joints (joint, component); none without stiffness and damping."""
    if stiffness == 0.0 and damping == 0.0:
        return ()
    return tuple(
        JointSpring(joint=joint, component=component, stiffness=stiffness, damping=damping)
        for joint, component in joints
    )
