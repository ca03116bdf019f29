"""Camera of a replay: points to be in view, their extent, the direction of view and the position."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spacectl.model.part import Part
from spacectl.reports.scene.loads import find_lines
from spacectl.reports.scene.looks import bent_points, find_skeleton
from spacectl.reports.scene.motion import Motion
from spacectl.reports.scene.solids import Solid

__all__ = ["WIDE", "find_camera", "find_cloud", "find_origin"]

HALF_ANGLE = np.radians(30.0)  # of k3d's camera, up and down
# width of the stage over its height: on a telephone, and beyond which a closer camera has everything in view
WIDTH, WIDE = 1.3, 2.0
# path length over size beyond which the camera follows a free system, or one that is attached or in orbit
NEAR, FAR = 1.5, 8.0
LOOKS = 121  # times at which everything must be in view
OUTLINE = 12  # points of a flexible body
THIN = 0.03  # depth over size up to which a motion counts as planar


def find_origin(motion: Motion, solids: Mapping[str, Solid]) -> tuple[np.ndarray, str]:
    """Return the positions (n, 3) of the origin, and its body: the root, or the first if all travel far."""
    still, first = np.zeros((motion.t.size, 3)), next(iter(motion.p))
    near, far = (_extent(find_cloud(motion, origin, solids)) for origin in (motion.p[first], still))
    roots = motion.system.environment.root_names
    is_held = any(part.on in roots and not part.joint.is_free for part in motion.system.tree)
    factor = FAR if is_held or "orbit" in roots else NEAR
    distance = float(np.max(np.abs(motion.p[first][0])))
    return (motion.p[first], first) if far > factor * near or distance > 1e5 * near else (still, "")


def _extent(cloud: np.ndarray) -> float:
    return max(float(np.linalg.norm(np.ptp(cloud, axis=(0, 1)))), 1e-9)


def find_cloud(motion: Motion, origin: np.ndarray, solids: Mapping[str, Solid]) -> np.ndarray:
    """Return the points to be in view, (times, k, 3): of bodies with their size, flexible bodies, lines."""
    rows = np.unique(np.linspace(0, motion.t.size - 1, LOOKS).astype(int))
    points = [line.points[rows, k] for line in find_lines(motion) for k in range(line.points.shape[1])]
    for part in motion.system.tree:
        R, p = motion.R[part.name][rows], motion.p[part.name][rows]
        local = _outline(motion, part, rows, solids)
        moved = p[:, None] + np.einsum("nij,nkj->nki", R, np.broadcast_to(local, (len(rows), *local.shape[1:])))
        points += list(np.moveaxis(moved, 1, 0))
    return np.stack(points, axis=1) - origin[rows, None]


def _outline(motion: Motion, part: Part, rows: np.ndarray, solids: Mapping[str, Solid]) -> np.ndarray:
    """Return corners of a body's box, or points along a flexible body, in body axes: (times or 1, k, 3)."""
    if part.name in solids:
        low, high = solids[part.name].vertices.min(axis=0), solids[part.name].vertices.max(axis=0)
        return np.array([[[a, b, c] for a in (low[0], high[0]) for b in (low[1], high[1]) for c in (low[2], high[2])]])
    if part.body.is_flexible:
        material = part.body.flexible.material
        kept = np.unique(np.linspace(0, len(material.X) - 1, OUTLINE).astype(int))
        return bent_points(material, kept, motion.eta[part.name][rows])
    return np.zeros((1, 1, 3))


def find_camera(motion: Motion, cloud: np.ndarray, width: float = WIDTH) -> list[float]:
    """Return position, target and up of a camera with the cloud in view, for k3d; `width` over height."""
    away, up = _direction(motion, cloud)
    right = np.cross(up, away)
    right /= np.linalg.norm(right)
    above = np.cross(away, right)
    flat = cloud.reshape(-1, 3)
    axes = np.stack([right, above, away], axis=1)
    seen = flat @ axes
    middle = axes @ (0.5 * (seen.min(axis=0) + seen.max(axis=0)))
    local = (flat - middle) @ axes
    tangent = 0.85 * np.tan(HALF_ANGLE)
    need = np.maximum(np.abs(local[:, 1]) / tangent, np.abs(local[:, 0]) / (width * tangent)) + local[:, 2]
    place = middle + max(float(need.max()), 1e-3) * away
    return [*place.tolist(), *middle.tolist(), *up.tolist()]


def _direction(motion: Motion, cloud: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit vectors towards the camera and up: across the plane of a planar motion, else from a corner."""
    extent = np.ptp(np.stack(_centres(motion), axis=1), axis=(0, 1))
    thin = int(np.argmin(extent))
    spread = float(np.max(np.ptp(cloud, axis=(0, 1))))
    # a body that only rotates has no plane
    is_planar = extent[thin] <= THIN * extent.max() and extent.max() > THIN * spread
    up = motion.system.environment.up
    if is_planar and abs(up[thin]) < 0.9:
        away = np.eye(3)[thin] * (-1.0 if thin == 1 else 1.0) + 0.5 * up
    elif is_planar:  # the plane is level: look down on it, upright as in a drawing
        second = np.eye(3)[(thin + 2) % 3]
        away, up = up - 0.6 * second, second
    else:
        away = np.array([0.75, -1.0, 0.55]) if abs(up[2]) > 0.5 else np.array([0.45, 0.6, 1.0])
    return away / np.linalg.norm(away), up


def _centres(motion: Motion) -> list[np.ndarray]:
    """Return moving points relative to the first body, without the size of bodies, to find planar motion."""
    points = [item for each in find_skeleton(motion).values() for item in np.moveaxis(each, 1, 0)]
    return [point - points[0] + points[0][0] for point in points]
