"""How flexible bodies look: tubes and surfaces that bend with their modes. `looks` draws the rigid ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, Delaunay

from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.reports.scene.solids import tube_faces

__all__ = ["Skin", "skin_of"]

SIDES = 6  # of a tube
STATIONS = 32  # along a tube, at most
SURFACE = 400  # points of a surface, at most


@dataclass(frozen=True)
class Skin:
    """A surface that bends: points with their shapes, and corners fixed to the slices at these points.

    Parameters
    ----------
    X, Phi, Psi, G : arrays (k, 3), (k, 3, m), (k, 3, m), (k, 3, m, m)
        Points, shapes, slopes and second-order shapes (see `ModalPoints`).
    owner : array (n,)
        Point that each corner belongs to.
    offset : array (n, 3)
        From the point to the corner, undeformed body axes [m].
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
    """Return the body's own surface where it has one; else a tube along a line of points, or a hull around them."""
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
    """Return the material points and those of the frames (the tip of a beam), and the root, which does not move."""
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
    """Two layers, half a thickness to either side of the surface and turned away from each other, so that both are lit."""
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
