"""Lines and arrows of a replay: tethers, springs, thrusters, forces and torques, as tracks over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.model.actuators import BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel
from spacectl.reports.scene.motion import Motion

__all__ = ["Arrow", "LineTrack", "find_arrows", "find_lines"]

FAINT = 1e-6  # peak over the largest of its kind up to which an input is rounding, not an arrow


@dataclass(frozen=True)
class LineTrack:
    """A tether or spring: its points over time, shape (n, k, 3) [m]."""

    name: str
    kind: str
    points: np.ndarray


@dataclass(frozen=True)
class Arrow:
    """An input: where it acts (n, 3) [m], its direction times its value (n, 3), and its unit."""

    name: str
    kind: str
    unit: str
    origin: np.ndarray
    vector: np.ndarray

    @property
    def peak(self) -> float:
        """Largest size."""
        return float(np.max(np.linalg.norm(self.vector, axis=1), initial=0.0))


def find_lines(motion: Motion) -> list[LineTrack]:
    """All tethers, and the springs between points."""
    found = []
    for element in motion.system.point_elements:
        points = [motion.point(frame, at) for frame, at in element.drawn]
        if len(points) < 2:
            continue
        kind = "tether" if "Tether" in type(element).__name__ else "spring"
        found.append(LineTrack(element.name, kind, np.stack(points, axis=1)))
    return found


def find_arrows(motion: Motion) -> list[Arrow]:
    """An arrow for each input that acts and has a place: joint and body actuators, thrusters, reaction wheels."""
    found = []
    for actuator in motion.system.actuators:
        name = actuator.input_name
        if name not in motion.u:
            continue  # it keeps an artificial constraint
        where = _where(motion, actuator)
        if where is not None:
            kind = "force" if actuator.unit == "N" else "torque"
            origin, direction = where
            found.append(Arrow(name, kind, actuator.unit, origin, direction * motion.u[name][:, None]))
    largest = {
        kind: max((arrow.peak for arrow in found if arrow.kind == kind), default=0.0) for kind in ("force", "torque")
    }
    return [arrow for arrow in found if arrow.peak > FAINT * largest[arrow.kind]]


def _where(motion: Motion, actuator: Any) -> tuple[np.ndarray, np.ndarray] | None:
    if isinstance(actuator, (JointTorque, JointForce)):
        return _at_joint(motion, actuator)
    if isinstance(actuator, (BodyForce, BodyTorque)):
        R, origin = motion.place(actuator.on)
        along = np.asarray(actuator.direction)
        direction = np.broadcast_to(along, origin.shape) if actuator.axes == "world" else R @ along
        at = getattr(actuator, "at", np.zeros(3))
        return motion.point(actuator.on, at), direction
    if isinstance(actuator, ReactionWheel):
        R, origin = motion.place(actuator.on)
        return origin, R @ np.asarray(actuator.axis)
    return None


def _at_joint(motion: Motion, actuator: JointTorque) -> tuple[np.ndarray, np.ndarray] | None:
    part = next((part for part in motion.system.tree if part.joint_name == actuator.joint), None)
    if part is None:
        return None
    R, p = motion.R[part.name], motion.p[part.name]
    axis = getattr(part.joint, "axis", None)
    if axis is None:
        letter = actuator.component[-1:]
        axis = np.eye(3)["xyz".index(letter)] if letter in ("x", "y", "z") else getattr(part.joint, "first", None)
    if axis is None:
        return None
    along = np.asarray(part.child_rotation) @ np.asarray(axis)
    return p + R @ np.asarray(part.child_at), R @ along
