"""The visible surface of a flexible body: points, triangles and lines with their shapes, for drawing and replay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["SurfaceMesh", "grid_triangles", "line_through"]


@dataclass(frozen=True)
class SurfaceMesh:
    """Points of a flexible body with their shapes, joined by triangles or lines.

    Parameters
    ----------
    points : array (n, 3)
        Places on the undeformed body, body axes [m].
    triangles : array of int (k, 3)
        Triangles between the points; none for a line.
    lines : array of int (l, 2)
        Lines between the points; none for a surface.
    shapes : array (n, 3, m)
        Displacement of the points for unit modal coordinates.
    second : array (n, 3, m, m)
        Second-order shapes G of the points.
    """

    points: np.ndarray
    triangles: np.ndarray
    lines: np.ndarray
    shapes: np.ndarray
    second: np.ndarray

    def displaced(self, eta: np.ndarray) -> np.ndarray:
        """Return the points (n, 3) for modal coordinates eta (m,): ``X + Phi eta - 1/2 [eta' G_k eta]_k`` [m]."""
        eta = np.asarray(eta, dtype=float)
        return self.points + self.shapes @ eta - 0.5 * np.einsum("nxjk,j,k->nx", self.second, eta, eta)


def grid_triangles(rows: int, columns: int, *, closed: tuple[bool, bool] = (False, False)) -> np.ndarray:
    """Return two triangles per cell of a grid numbered by rows; a closed direction joins its end to its start."""
    number = np.arange(rows * columns).reshape(rows, columns)
    number = np.vstack([number, number[:1]]) if closed[0] else number
    number = np.hstack([number, number[:, :1]]) if closed[1] else number
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def line_through(X: np.ndarray) -> np.ndarray:
    """Return the lines that join points lying on one straight line, in order; none if they do not (l, 2)."""
    if len(X) < 2:
        return np.zeros((0, 2), dtype=int)
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    if len(sizes) > 1 and sizes[1] > 1e-9 * sizes[0]:
        return np.zeros((0, 2), dtype=int)
    order = np.argsort((X - X.mean(axis=0)) @ axes[0], kind="stable")
    return np.stack([order[:-1], order[1:]], axis=1)
