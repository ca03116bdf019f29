"""Appearance of rigid bodies: shapes given by a study; else bars between joints, boxes of the same inertia.

A box of the same mass and inertia is often larger than the body's surroundings. It is reduced until no joint
and no neighbour is hidden inside it, so that the default drawing of a model is plausible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.shape import Shape
from spacectl.model.bodies.base.body import Solid as Mass
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.reports.scene.motion import Motion, deflection
from spacectl.reports.scene.solids import Solid, box, merge, solid_of, strut

__all__ = ["bent_points", "equal_box", "find_skeleton", "rigid_looks", "rigid_solid"]

LOOKS = 9  # times at which neighbours are examined
THIN = 0.012  # least thickness over the size of the scene
HUB = 0.06  # half the least size of a body that carries others, over the size of the scene
SLENDER = 0.16  # width of a bar over its length, at most
BENT = 0.6  # largest deflection over length that must be in view
CENTRE = 0.02  # distance from the centre of mass over the body's size up to which a joint is central
ROD = 3.0  # length over width beyond which the box of the same inertia is a rod, which hides nothing
OFF = 1.5  # widths of a bar beyond which a centre of mass gets a box of its own


def rigid_looks(motion: Motion, shapes: Mapping[str, Shape | Sequence[Shape]]) -> dict[str, Solid]:
    """Return the solids of all rigid bodies by name, in their own axes.

    Parameters
    ----------
    motion : Motion
        Placements of all bodies.
    shapes : mapping of str to Shape or several
        Shapes given by the study, by body.
    """
    skeleton = find_skeleton(motion)
    points = np.concatenate(list(skeleton.values()), axis=1)
    seen = (points, points - points[:, :1])  # from the root, and from the first body: travel does not count
    extent = min(float(np.linalg.norm(np.ptp(item, axis=(0, 1)))) for item in seen)
    boxes = [float(np.linalg.norm(equal_box(solid)[0])) for _, solid in _rigid_parts(motion.system)]
    size = extent if extent > 1e-3 * max(boxes, default=0.0) else max([extent, *boxes])
    found = {}
    for part, _ in _rigid_parts(motion.system):
        others = np.concatenate(
            [points.reshape(-1, 3) for points in _seen_by(motion, part, skeleton)] or [np.zeros((0, 3))]
        )
        found[part.name] = rigid_solid(
            part, motion.system, shapes, least=THIN * size, neighbours=others, hub=HUB * size
        )
    return found


def rigid_solid(
    part: Part,
    system: System,
    shapes: Mapping[str, Shape | Sequence[Shape]],
    *,
    least: float,
    neighbours: np.ndarray | None = None,
    hub: float = 0.0,
) -> Solid:
    """Return the solid of one rigid body in its own axes.

    Parameters
    ----------
    part : Part
        The body and its joint.
    system : System
        Its system.
    shapes : mapping of str to Shape or several
        What the study gives, by body.
    least : float
        Smallest visible thickness [m].
    neighbours : array (n, 3), optional
        Points of other bodies, in body axes [m], that the box must not hide.
    hub : float
        Half the smallest size of a box [m].
    """
    given = shapes.get(part.name)
    if given is not None:
        return merge(solid_of(item) for item in ([given] if isinstance(given, Shape) else given))
    body = part.body.solid
    if body is None:
        raise ModelError(f"body '{part.name}' is not drawn as a solid")
    com = body.com
    own, carried = _ends(part, system)
    size, R = equal_box(body)
    reach = max((float(np.linalg.norm(end - com)) for end in (own, *carried) if end is not None), default=np.inf)
    is_slender = ROD * float(np.sort(size)[1]) < float(size.max()) <= 2.4 * reach  # a rod with its joints
    if own is not None and not is_slender and np.linalg.norm(com - own) > CENTRE * float(size.max()):
        bars = _bars(own, carried, float(np.sort(size)[1]), least)
        if bars and min(_distance(com, own, end) - OFF * width for end, width in bars) <= 0.0:  # a link
            return merge(strut(own, end, width) for end, width in bars)
    ends = [end for end in (own, *carried) if end is not None]
    apart = [end for end in ends if np.linalg.norm(end - com) > CENTRE * float(size.max())]
    hidden = np.concatenate([np.zeros((0, 3)) if neighbours is None else neighbours, np.reshape(apart, (-1, 3))])
    size = size if is_slender else _smaller(size, (hidden - com) @ R, hub)
    size = np.maximum(size, max(0.03 * float(size.max()), least))
    legs = [
        strut(com, end, _width(size, com, end, least, is_slender)) for end in ends if _is_outside(size, (end - com) @ R)
    ]
    return merge([box(size).moved(R, com), *legs])


def equal_box(body: Mass) -> tuple[np.ndarray, np.ndarray]:
    """Return the size (3,) [m] and axes (3, 3) of the uniform box with the body's mass and inertia."""
    moments, R = np.linalg.eigh(np.asarray(body.inertia))
    per_mass = 6.0 / body.mass if body.mass > 0.0 else 0.0  # a body without mass is not visible
    size = np.sqrt(np.maximum(per_mass * (moments.sum() - 2.0 * moments), 0.0))
    if np.linalg.det(R) < 0.0:
        R = R * np.array([1.0, 1.0, -1.0])
    return size, R


def find_skeleton(motion: Motion) -> dict[str, np.ndarray]:
    """Return joints, centres of mass and ends of flexible bodies, (times, k, 3) by body, at a few times."""
    rows = np.unique(np.linspace(0, motion.t.size - 1, LOOKS).astype(int))
    found = {}
    for part in motion.system.tree:
        R, p, body = motion.R[part.name][rows], motion.p[part.name][rows], part.body
        points = np.zeros((len(rows), 1, 3))
        solid = body.solid
        if body.is_flexible:
            bent = bent_points(body.flexible.material, [0, -1], motion.eta[part.name][rows])
            points = np.concatenate([points, bent], axis=1)
        elif solid is not None:
            points = np.concatenate([points, np.broadcast_to(solid.com, points.shape)], axis=1)
        found[part.name] = p[:, None] + np.einsum("nij,nkj->nki", R, points)
    return found


def bent_points(material: Any, kept: Any, eta: np.ndarray) -> np.ndarray:
    """Return chosen points of a flexible body, (times, k, 3); limit deflections beyond the theory."""
    most = BENT * float(np.max(np.ptp(material.X, axis=0)))
    moved: np.ndarray = material.X[kept] + np.clip(deflection(material.Phi[kept], material.G[kept], eta), -most, most)
    return moved


def _rigid_parts(system: System) -> list[tuple[Part, Mass]]:
    """Return the parts that are drawn as solids."""
    solids = ((part, part.body.solid) for part in system.tree)
    return [(part, solid) for part, solid in solids if solid is not None]


def _seen_by(motion: Motion, part: Part, skeleton: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return the points of other bodies in the axes of a body."""
    rows = np.unique(np.linspace(0, motion.t.size - 1, LOOKS).astype(int))
    R, p = motion.R[part.name][rows], motion.p[part.name][rows]
    return [np.einsum("nji,nkj->nki", R, points - p[:, None]) for name, points in skeleton.items() if name != part.name]


def _ends(part: Part, system: System) -> tuple[np.ndarray | None, list[np.ndarray]]:
    """Return the point of the body's joint (None for a free body), and of the joints that it carries."""
    own = None if part.joint.is_free else np.asarray(part.child_at)
    carried = []
    for child in system.parts:
        if child.on == part.name and not child.joint.is_free:
            carried.append(np.asarray(child.at))
        elif child.on.startswith(f"{part.name}."):
            carried.append(_frame_at(part, child.on))
    for loop in system.constraints:
        if loop.closing_joint is not None:
            n = loop.numbers()
            ends = zip(loop.ends or (), (n["at_a"], n["at_b"]), strict=True)
            carried += [_frame_at(part, on) + np.asarray(at.value) for on, at in ends if on.split(".")[0] == part.name]
    return own, carried


def _frame_at(part: Part, frame: str) -> np.ndarray:
    """Return the origin of a frame on a body, in body axes; the rotation of the frame is ignored."""
    found = [np.asarray(item.at) for item in part.body.frames if frame == f"{part.name}.{item.name}"]
    return found[0] if found else np.zeros(3)


def _bars(own: np.ndarray, carried: list[np.ndarray], width: float, least: float) -> list[tuple[np.ndarray, float]]:
    """Return ends and widths of bars from the body's joint to those it carries."""
    found = []
    for end in carried:
        length = float(np.linalg.norm(end - own))
        if length > 1e-9:
            found.append((end, max(min(width, SLENDER * length), least)))
    return found


def _distance(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance from a point to the line between two others."""
    along = np.clip((point - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return float(np.linalg.norm(point - a - along * (b - a)))


def _smaller(size: np.ndarray, points: np.ndarray, hub: float) -> np.ndarray:
    """Return the box, reduced until no point is inside, but not below twice `hub`."""
    if not len(points) or not size.max() > 0.0:
        return size
    half = np.maximum(0.5 * size, 1e-9)
    factor = float(np.min(np.max(np.abs(points) / half, axis=1)))
    return size * min(1.0, max(factor, hub / float(half.max())))


def _is_outside(size: np.ndarray, point: np.ndarray) -> bool:
    return bool(np.any(np.abs(point) > 0.5001 * size))


def _width(size: np.ndarray, a: np.ndarray, b: np.ndarray, least: float, is_slender: bool) -> float:
    """Return the width of a strut from the box to a joint: that of a rod, else less than the box."""
    middle = float(np.sort(size)[1])
    return middle if is_slender else max(min(0.35 * middle, SLENDER * float(np.linalg.norm(b - a))), 0.5 * least)
