"""`Shape`: the appearance of a body in drawings and the replay, instead of one derived from its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError

__all__ = ["Shape"]

KINDS = ("box", "cone", "cylinder", "ellipsoid", "ring", "mesh")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Appearance of a rigid body.

    Parameters
    ----------
    kind : {"box", "cone", "cylinder", "ellipsoid", "ring", "mesh"}
        Cones (pointed towards +z), cylinders and rings lie about z.
    size : vector, shape (3,)
        Extent along x, y, z [m]; the thickness of a ring equals its height; for a mesh, scale factors.
    at : vector, shape (3,)
        Centre in body axes [m].
    rotation : matrix (3, 3), optional
        Axes of the shape in body axes.
    vertices, faces : arrays (n, 3) and (m, 3), for a mesh
        Corners [m], and the corners of each triangle.

    Examples
    --------
    >>> Shape(kind="cylinder", size=(4.5, 4.5, 18.0)).kind
    'cylinder'
    """

    kind: str = "box"
    size: Any = (1.0, 1.0, 1.0)
    at: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    vertices: Any = None
    faces: Any = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"shape: kind {self.kind!r}, expected one of {', '.join(KINDS)}")
        object.__setattr__(self, "size", as_array(self.size, (3,), "shape: size"))
        if not np.all(np.asarray(self.size) > 0.0):
            raise ModelError(f"shape: size is {np.asarray(self.size).tolist()} m, expected positive numbers")
        object.__setattr__(self, "at", as_array(self.at, (3,), "shape: at"))
        R = np.eye(3) if self.rotation is None else self.rotation
        object.__setattr__(self, "rotation", as_array(R, (3, 3), "shape: rotation"))
        if self.kind == "mesh":
            self._check_mesh()

    @staticmethod
    def bar(start: Any, end: Any, width: float, kind: str = "cylinder") -> Shape:
        """Return a bar between two points of the body.

        Parameters
        ----------
        start, end : vector, shape (3,)
            Its ends in body axes [m].
        width : float
            Its thickness [m].
        kind : {"cylinder", "box", "cone"}
            Round, square, or pointed at the end.

        Examples
        --------
        >>> Shape.bar((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 0.1).size.tolist()
        [0.1, 0.1, 2.0]
        """
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        length = float(np.linalg.norm(b - a))
        if not length > 0.0:
            raise ModelError(f"shape: a bar from {a.tolist()} to itself; give two points")
        along = (b - a) / length
        side = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        side /= np.linalg.norm(side)
        R = np.stack([side, np.cross(along, side), along], axis=1)
        return Shape(kind=kind, size=(width, width, length), at=0.5 * (a + b), rotation=R)

    def _check_mesh(self) -> None:
        vertices, faces = np.asarray(self.vertices, dtype=float), np.asarray(self.faces)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
            raise ShapeError(
                f"shape: mesh has vertices {vertices.shape} and faces {faces.shape}, expected (n, 3), (m, 3)"
            )
        if faces.size and not (faces.min() >= 0 and faces.max() < len(vertices)):
            raise ModelError(f"shape: mesh names corner {faces.max()}, but there are {len(vertices)}; count from 0")
        object.__setattr__(self, "vertices", as_array(vertices, vertices.shape, "shape: vertices"))
        object.__setattr__(self, "faces", tuple(tuple(int(i) for i in face) for face in faces))
