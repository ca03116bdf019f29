"""Triangles for the replay: boxes, cylinders, ellipsoids, tubes and arrows, each as corners and faces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacectl.core.shape import Shape

__all__ = ["Solid", "arrow", "box", "cone", "cylinder", "ellipsoid", "merge", "ring", "solid_of", "strut", "tube_faces"]

ROUND = 20  # sides of what is round


@dataclass(frozen=True)
class Solid:
    """Corners (n, 3) [m] and triangles (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray

    def moved(self, R: np.ndarray, p: np.ndarray) -> Solid:
        """Return the same solid, rotated and translated."""
        return Solid(self.vertices @ np.asarray(R).T + np.asarray(p), self.faces)


def merge(solids: Iterable[Solid]) -> Solid:
    """Combine several solids into one."""
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=int)], 0
    for solid in solids:
        vertices.append(solid.vertices)
        faces.append(solid.faces + count)
        count += len(solid.vertices)
    return Solid(np.concatenate(vertices), np.concatenate(faces))


def box(size: np.ndarray) -> Solid:
    """Return a box about the origin; each side has corners of its own, so that edges stay sharp."""
    corners: list[np.ndarray] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            middle, k = sign * np.eye(3)[axis], len(corners)
            corners += [middle + a * u + sign * b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces += [[k, k + 1, k + 2], [k, k + 2, k + 3]]
    return Solid(0.5 * np.array(corners) * np.asarray(size), np.array(faces))


def cone(size: np.ndarray) -> Solid:
    """Along z, pointed at the top."""
    return _lathe(np.array([[0.0, -0.5], [0.5, -0.5], [0.5, -0.5], [0.0, 0.5]]), size)


def cylinder(size: np.ndarray) -> Solid:
    """Along z, with elliptic section."""
    return _lathe(np.array([[0.0, -0.5], [0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [0.5, 0.5], [0.0, 0.5]]), size)


def ellipsoid(size: np.ndarray) -> Solid:
    """With the given diameters."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    return _lathe(0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1), size)


def ring(size: np.ndarray) -> Solid:
    """About z, with the given outer diameters; as thick as it is high."""
    outer, sides = np.asarray(size, dtype=float), 8
    around, across = 2.0 * np.pi * np.arange(2 * ROUND) / (2 * ROUND), 2.0 * np.pi * np.arange(sides) / sides
    thick = 0.5 * outer[2]
    radius = 0.5 * outer[:2] - thick
    corners = [
        [*((radius + thick * np.cos(b)) * np.array([np.cos(a), np.sin(a)])), thick * np.sin(b)]
        for a in around
        for b in across
    ]
    faces = []
    for i in range(len(around)):
        for k in range(sides):
            a, b = i * sides + k, i * sides + (k + 1) % sides
            c, d = (((i + 1) % len(around)) * sides + x % sides for x in (a, b))
            faces += [[a, c, d], [a, d, b]]
    return Solid(np.array(corners), np.array(faces))


def arrow(heads: int = 1) -> Solid:
    """Along x from 0 to 1: one head for a force, two for a torque."""
    tip = [[0.0, 0.0], [0.022, 0.0], [0.022, 0.72 if heads == 1 else 0.6]]
    for k in range(heads):
        start = 1.0 - 0.28 * (1 if heads == 1 else 1.4 - 0.7 * k)
        tip += [[0.07, start], [0.0 if k + 1 == heads else 0.022, start + 0.28]]
    turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # z to x
    return _lathe(np.array(tip), np.ones(3)).moved(turned, np.zeros(3))


def strut(a: np.ndarray, b: np.ndarray, width: float) -> Solid:
    """Return a thin bar between two points."""
    length = float(np.linalg.norm(b - a))
    if length < 1e-9:
        return merge(())
    e = (b - a) / length
    side = np.cross(e, np.eye(3)[int(np.argmin(np.abs(e)))])
    side /= np.linalg.norm(side)
    R = np.stack([e, side, np.cross(e, side)], axis=1)
    return box(np.array([length, width, width])).moved(R, 0.5 * (a + b))


def solid_of(shape: Shape) -> Solid:
    """What a `Shape` describes, in body axes."""
    size = np.asarray(shape.size)
    if shape.kind == "mesh":
        plain = Solid(np.asarray(shape.vertices) * size, np.asarray(shape.faces, dtype=int))
    else:
        plain = {"box": box, "cone": cone, "cylinder": cylinder, "ellipsoid": ellipsoid, "ring": ring}[shape.kind](size)
    return plain.moved(np.asarray(shape.rotation), np.asarray(shape.at))


def tube_faces(stations: int, sides: int) -> np.ndarray:
    """Return triangles of a tube whose corners are listed station by station, with both ends closed."""
    faces = []
    for i in range(stations - 1):
        for k in range(sides):
            a, b = i * sides + k, i * sides + (k + 1) % sides
            faces += [[a, b, b + sides], [a, b + sides, a + sides]]
    last = (stations - 1) * sides
    for k in range(1, sides - 1):
        faces += [[0, k + 1, k], [last, last + k, last + k + 1]]
    return np.array(faces)


def _lathe(profile: np.ndarray, size: np.ndarray) -> Solid:
    """Return a profile of (radius, height), turned about z."""
    angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
    rings = [np.stack([r * np.cos(angles), r * np.sin(angles), np.full(ROUND, z)], axis=1) for r, z in profile]
    return Solid(np.concatenate(rings) * np.asarray(size), tube_faces(len(profile), ROUND))
