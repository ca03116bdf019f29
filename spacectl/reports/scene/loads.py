"""Lines and arrows of a replay: tethers, springs, thrusters, forces and torques, as tracks over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.model.actuators import Effort, JointEffort
from spacectl.reports.scene.motion import Motion

__all__ = ["Arrow", "LineTrack", "find_arrows", "find_lines"]

FAINT = 1e-6  # peak over the largest of its kind up to which an input is rounding and has no arrow


@dataclass(frozen=True)
class LineTrack:
    """A tether or spring: its points over time, shape (n, k, 3) [m]."""

    name: str
    kind: str
    points: np.ndarray


@dataclass(frozen=True)
class Arrow:
    """An input: its point of action (n, 3) [m], its direction times its value (n, 3), and its unit."""

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
    """Return all tethers, and the springs between points."""
    found = []
    for element in motion.system.point_elements:
        points = [motion.point(frame, at) for frame, at in element.drawn]
        if len(points) < 2:
            continue
        kind = "tether" if "Tether" in type(element).__name__ else "spring"
        found.append(LineTrack(element.name, kind, np.stack(points, axis=1)))
    return found


def find_arrows(motion: Motion) -> list[Arrow]:
    """Return an arrow for each effort of an input that acts and has a place: at a joint, or at a point of a body."""
    found = []
    for actuator in motion.system.actuators:
        name = actuator.input_name
        if name not in motion.u:
            continue  # it maintains an artificial constraint
        n = {key: np.asarray(number.value) for key, number in actuator.numbers().items()}
        for effort in actuator.efforts():
            where = _where(motion, effort, n)
            if where is not None:
                is_force = actuator.unit == "N" if isinstance(effort, JointEffort) else not effort.is_moment
                origin, direction = where
                vector = direction * motion.u[name][:, None]
                found.append(Arrow(name, "force" if is_force else "torque", actuator.unit, origin, vector))
    largest = {
        kind: max((arrow.peak for arrow in found if arrow.kind == kind), default=0.0) for kind in ("force", "torque")
    }
    return [arrow for arrow in found if arrow.peak > FAINT * largest[arrow.kind]]


def _where(motion: Motion, effort: Effort, n: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return place and direction of a unit effort; None for a distributed load or a joint without an axis."""
    if isinstance(effort, JointEffort):
        return _at_joint(motion, effort, n)
    if effort.is_spread:
        return None
    R, origin = motion.place(effort.on)
    along = effort.arrow(n)
    direction = np.broadcast_to(along, origin.shape) if effort.axes == "world" else R @ along
    return motion.point(effort.on, n[effort.at] if effort.at else np.zeros(3)), direction


def _at_joint(motion: Motion, effort: JointEffort, n: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    part = next((part for part in motion.system.tree if part.joint_name == effort.joint), None)
    if part is None:
        return None
    R, p = motion.R[part.name], motion.p[part.name]
    axis = getattr(part.joint, "axis", None)
    if axis is None:
        letter = effort.component[-1:]
        axis = np.eye(3)["xyz".index(letter)] if letter in ("x", "y", "z") else getattr(part.joint, "first", None)
    if axis is None:
        return None
    along = np.asarray(part.child_rotation) @ np.asarray(axis) * (n[effort.gain] if effort.gain else 1.0)
    return p + R @ np.asarray(part.child_at), R @ along
