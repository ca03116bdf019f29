"""Where a replay is seen from: what must be in the picture, its size, the direction of view and the camera's place."""

from __future__ import annotations

import numpy as np

from spacectl.model.environment import CircularOrbit, UniformGravity
from spacectl.model.flexible import FlexibleBody
from spacectl.model.rigid import RigidBody
from spacectl.reports.loads import find_lines
from spacectl.reports.motion import Motion

__all__ = ["find_camera", "find_cloud", "find_origin"]

HALF_ANGLE = np.radians(30.0)  # of k3d's camera, up and down
WIDTH = 1.3  # least width of the stage over its height
FAR = 20.0  # travel over width of the system beyond which it is seen from one of its bodies
THIN = 0.03  # depth over size up to which a motion counts as planar


def find_origin(motion: Motion) -> tuple[np.ndarray, str]:
    """Positions (n, 3) to be taken off, and the body they belong to: the root's, or those of a body that travels far."""
    stacked = np.stack(list(motion.p.values()), axis=1)
    width = max(float(np.max(np.ptp(stacked, axis=1), initial=0.0)), 1.0)
    travel = float(np.max(np.ptp(stacked.mean(axis=1), axis=0), initial=0.0))
    if travel <= FAR * width and float(np.max(np.abs(stacked[0]))) <= 1e5 * width:
        return np.zeros((motion.t.size, 3)), ""
    first = next(iter(motion.p))
    return motion.p[first], first


def find_cloud(motion: Motion, origin: np.ndarray) -> np.ndarray:
    """Points that must be in the picture, (n, k, 3): bodies with their size, ends of what is flexible, lines."""
    points = [line.points[:, k] for line in find_lines(motion) for k in range(line.points.shape[1])]
    for part in motion.system.tree:
        R, p, body = motion.R[part.name], motion.p[part.name], part.body
        places = [np.zeros(3)]
        if isinstance(body, FlexibleBody):
            places += [*body.material.X[[0, -1]]]
        elif isinstance(body, RigidBody):
            reach = np.sqrt(1.5 * np.trace(np.asarray(body.inertia)) / body.mass)  # half the diagonal of an equal box
            places += [np.asarray(body.com) + 0.58 * reach * sign * e for e in np.eye(3) for sign in (-1.0, 1.0)]
        points += [p + R @ X for X in places]
    return np.stack(points, axis=1) - origin[:, None]


def find_camera(motion: Motion, cloud: np.ndarray) -> list[float]:
    """Place, target and up of a camera that sees all of the cloud: nine numbers, as k3d takes them."""
    away, up = _direction(motion)
    right = np.cross(up, away)
    right /= np.linalg.norm(right)
    above = np.cross(away, right)
    flat = cloud.reshape(-1, 3)
    axes = np.stack([right, above, away], axis=1)
    seen = flat @ axes
    middle = axes @ (0.5 * (seen.min(axis=0) + seen.max(axis=0)))
    local = (flat - middle) @ axes
    tangent = 0.85 * np.tan(HALF_ANGLE)
    need = np.maximum(np.abs(local[:, 1]) / tangent, np.abs(local[:, 0]) / (WIDTH * tangent)) + local[:, 2]
    place = middle + max(float(need.max()), 1e-3) * away
    return [*place.tolist(), *middle.tolist(), *up.tolist()]


def _direction(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors towards the camera and up: across the plane of a planar motion, else from a corner."""
    extent = np.ptp(np.stack(_centres(motion), axis=1), axis=(0, 1))
    thin = int(np.argmin(extent))
    is_planar = extent[thin] <= THIN * extent.max()
    up = _up(motion)
    if is_planar and abs(up[thin]) < 0.9:
        away = np.eye(3)[thin] * (-1.0 if thin == 1 else 1.0) + 0.35 * up
    elif is_planar:  # the plane is level: look down on it, upright as in a drawing
        second = np.eye(3)[(thin + 2) % 3]
        away, up = up - 0.45 * second, second
    else:
        away = np.array([0.75, -1.0, 0.55]) if abs(up[2]) > 0.5 else np.array([0.45, 0.6, 1.0])
    return away / np.linalg.norm(away), up


def _centres(motion: Motion) -> list[np.ndarray]:
    """What moves, without the size of bodies, seen from the first body: it tells whether the motion is planar."""
    points = list(motion.p.values())
    for part in motion.system.tree:
        if isinstance(part.body, (FlexibleBody, RigidBody)):
            end = part.body.material.X[-1] if isinstance(part.body, FlexibleBody) else np.asarray(part.body.com)
            points.append(motion.p[part.name] + motion.R[part.name] @ end)
    return [point - points[0] + points[0][0] for point in points]


def _up(motion: Motion) -> np.ndarray:
    environment = motion.system.environment
    if isinstance(environment, UniformGravity):
        g = np.asarray(environment.g)
        if np.linalg.norm(g) > 0.0:
            return -g / np.linalg.norm(g)
    return np.array([1.0, 0.0, 0.0]) if isinstance(environment, CircularOrbit) else np.array([0.0, 0.0, 1.0])
