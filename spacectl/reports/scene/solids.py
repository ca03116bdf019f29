"""Triangles for the replay: primitives as vertices and faces, and deforming skins of flexible bodies.

`looks` makes the solids of rigid bodies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, Delaunay

from spacectl.core.shape import Shape
from spacectl.model.bodies.base.flexible import FlexibleBody

__all__ = [
    "Skin",
    "Solid",
    "arrow",
    "box",
    "cone",
    "cylinder",
    "ellipsoid",
    "merge",
    "ring",
    "skin_of",
    "solid_of",
    "strut",
    "tube_faces",
]

ROUND = 20  # sides of round solids


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
    """Return a cone along z, pointed at the top."""
    return _lathe(np.array([[0.0, -0.5], [0.5, -0.5], [0.5, -0.5], [0.0, 0.5]]), size)


def cylinder(size: np.ndarray) -> Solid:
    """Return a cylinder along z, with elliptic section."""
    return _lathe(np.array([[0.0, -0.5], [0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [0.5, 0.5], [0.0, 0.5]]), size)


def ellipsoid(size: np.ndarray) -> Solid:
    """Return an ellipsoid with the given diameters."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    return _lathe(0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1), size)


def ring(size: np.ndarray) -> Solid:
    """Return a ring about z with the given outer diameters; its thickness equals its height."""
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
    """Return an arrow along x from 0 to 1: one head for a force, two for a torque."""
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
    """Return the solid that a `Shape` describes, in body axes."""
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
    """Return the solid of revolution about z of a profile of (radius, height)."""
    angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
    rings = [np.stack([r * np.cos(angles), r * np.sin(angles), np.full(ROUND, z)], axis=1) for r, z in profile]
    return Solid(np.concatenate(rings) * np.asarray(size), tube_faces(len(profile), ROUND))


SIDES = 6  # of a tube
STATIONS = 32  # along a tube, at most
SURFACE = 400  # points of a surface, at most


@dataclass(frozen=True)
class Skin:
    """A deforming surface: points with their shapes, and vertices fixed to the slices at these points.

    Parameters
    ----------
    X, Phi, Psi, G : arrays (k, 3), (k, 3, m), (k, 3, m), (k, 3, m, m)
        Points, shapes, rotations and second-order shapes (see `ModalPoints`).
    owner : array (n,)
        Point of each vertex.
    offset : array (n, 3)
        From the point to the vertex, undeformed body axes [m].
    faces : array (f, 3)
        Triangles.
    """

    X: np.ndarray
    Phi: np.ndarray
    Psi: np.ndarray
    G: np.ndarray
    owner: np.ndarray
    offset: np.ndarray
    faces: np.ndarray


def skin_of(body: FlexibleBody, thickness: float) -> Skin:
    """Return the body's own surface if there is one, else a tube along a line of points, or their hull."""
    mesh = body.surface_mesh()
    if len(mesh.triangles):
        none = np.zeros_like(mesh.shapes)
        return _sheet(mesh.points, mesh.shapes, none, mesh.second, np.asarray(mesh.triangles), 0.1 * thickness)
    X, Phi, Psi, G = _with_ends(body, body.material)
    if len(X) == 1:  # a mass on its own: a bar from the body's frame to it
        X, Phi, Psi, G = (np.concatenate([np.zeros_like(item), item]) for item in (X, Phi, Psi, G))
    middle = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - middle, full_matrices=False)
    extent = np.r_[np.ptp((X - middle) @ axes.T, axis=0), 0.0, 0.0]
    if extent[1] <= 1e-6 * extent[0] or len(X) < 4:
        return _tube(X, Phi, Psi, G, axes[0], thickness)
    kept = np.unique(np.linspace(0, len(X) - 1, min(len(X), SURFACE)).astype(int))
    X, Phi, Psi, G = X[kept], Phi[kept], Psi[kept], G[kept]
    if extent[2] <= 1e-6 * extent[0]:
        return _sheet(X, Phi, Psi, G, Delaunay((X - middle) @ axes[:2].T).simplices, 0.1 * thickness)
    return Skin(X, Phi, Psi, G, np.arange(len(X)), np.zeros((len(X), 3)), ConvexHull(X).simplices)


def _with_ends(body: FlexibleBody, points: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the material points, the points of the frames (the tip of a beam), and the fixed root."""
    lists: list[list[np.ndarray]] = [list(points.X), list(points.Phi), list(points.Psi), list(points.G)]
    places = [np.asarray(frame.at) for frame in body.frames]
    places += [np.zeros(3)] if getattr(body, "length", None) else []
    for at in places:
        found = body.shapes_at(at)
        if found is not None and np.min(np.linalg.norm(points.X - at, axis=1)) > 1e-9:
            on_axis = getattr(body, "length", None) is None or not np.any(at[1:])
            if on_axis:
                for store, item in zip(lists, (at, found.Phi, found.Psi, found.G), strict=True):
                    store.append(item)
    X, Phi, Psi, G = (np.array(item) for item in lists)
    return X, Phi, Psi, G


def _tube(X: np.ndarray, Phi: np.ndarray, Psi: np.ndarray, G: np.ndarray, axis: np.ndarray, thickness: float) -> Skin:
    order = np.argsort(X @ axis)
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), STATIONS)).astype(int))]
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    angles = 2.0 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
    ring = 0.5 * thickness * (np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(axis, side)))
    n = len(order)
    owner = np.repeat(np.arange(n), SIDES)
    return Skin(X[order], Phi[order], Psi[order], G[order], owner, np.tile(ring, (n, 1)), tube_faces(n, SIDES))


def _sheet(X: np.ndarray, Phi: np.ndarray, Psi: np.ndarray, G: np.ndarray, faces: np.ndarray, half: float) -> Skin:
    """Return two layers, half a thickness to either side of the surface, with normals pointing outwards."""
    n = len(X)
    across = np.cross(X[faces[:, 1]] - X[faces[:, 0]], X[faces[:, 2]] - X[faces[:, 0]])
    across *= np.where(across @ across[0] < 0.0, -1.0, 1.0)[:, None] if _is_flat(across) else 1.0
    turned = (
        np.einsum("ij,ij->i", across, np.cross(X[faces[:, 1]] - X[faces[:, 0]], X[faces[:, 2]] - X[faces[:, 0]])) < 0.0
    )
    faces = np.where(turned[:, None], faces[:, ::-1], faces)
    normal = np.zeros((n, 3))
    for k in range(3):
        np.add.at(normal, faces[:, k], across)
    up = half * normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    both = np.concatenate([faces, faces[:, ::-1] + n])
    return Skin(X, Phi, Psi, G, np.tile(np.arange(n), 2), np.concatenate([up, -up]), both)


def _is_flat(across: np.ndarray) -> bool:
    """Return whether all triangles lie in parallel planes."""
    unit = across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    return bool(np.all(np.abs(np.abs(unit @ unit[0]) - 1.0) < 1e-6))
