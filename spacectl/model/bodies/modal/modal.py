"""`ModalBody`: a flexible body given as data: material points, shapes, stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.modal_integrals import ModalPoints
from spacectl.model.bodies.base.profile import SurfaceMesh
from spacectl.model.bodies.modal.sources import ModalSources
from spacectl.model.description import check_name, members, set_field

__all__ = ["ModalBody"]


@dataclass(frozen=True, kw_only=True)
class ModalBody(ModalSources, FlexibleBody):
    """A flexible body described by weighted material points and mode shapes.

    ``r = X + Phi eta - 1/2 [eta' G_k eta]_k``; the slice at X rotates by
    ``theta = Psi eta + 1/2 [eta' H_k eta]_k`` (Sadigh 1995, Eqs 5.23-5.34). Shapes are relative to the
    body's frame, so they must vanish at its joint.

    Parameters
    ----------
    name : str
        Unique in the system.
    points : array (n, 3)
        Material points X in body axes [m].
    masses : array (n,)
        Masses of the points [kg]; 0 for points that only carry frames.
    shapes : array (n, 3, m)
        Phi: displacement for unit modal coordinates.
    slopes : array (n, 3, m), optional
        Psi: rotation of the slice [rad]; required where frames carry parts. Default zero.
    second : array (n, 3, m, m), optional
        G: second-order shapes (shortening), symmetric in the last two. Default zero: no geometric stiffening.
    second_slopes : array (n, 3, m, m), optional
        H: second-order rotations, symmetric in the last two. Default zero.
    rotary : array (n, 3) or (n, 3, 3), optional
        Inertia of the slices about their points, body axes [kg m^2].
    stiffness : array (m,) or (m, m)
        Modal stiffness, symmetric and positive definite.
    damping : float, array (m,), matrix (m, m) or Proportional
        Damping ratio(s), damping matrix, or ``alpha M + beta K``.
    frames : tuple of Frame
        Frames for attachments, each at a material point; undeformed position and rotation.
    order : str
        ``"consistent"`` (default), ``"truncated"``, ``"linearised"``, ``"premature"``, ``"strain"`` or
        ``"pseudo_potential"``; see docs/flexible.md.
    triangles : array (k, 3), optional
        Triangles between points, numbered from 0, for drawing.
    interfaces : tuple of str
        Places of attachments; the system adds ``"root"`` if shapes do not vanish at the joint.

    Examples
    --------
    >>> body = ModalBody(name="boom", points=[[1, 0, 0], [2, 0, 0]], masses=[1, 1], stiffness=[100.0],
    ...                  shapes=[[[0], [0.3], [0]], [[0], [1.0], [0]]])
    >>> body.modal_names
    ('eta1',)
    """

    name: str
    points: Any
    masses: Any
    shapes: Any
    stiffness: Any
    slopes: Any = None
    second: Any = None
    second_slopes: Any = None
    rotary: Any = None
    damping: Any = 0.0
    frames: tuple[Frame, ...] = ()
    order: str = "consistent"
    triangles: Any = None
    interfaces: Any = ()

    def __post_init__(self) -> None:
        check_name(self.name, "ModalBody")
        what = self._what
        X = as_array(self.points, None, f"{what}: points")
        if len(X.shape) != 2 or X.shape[1] != 3 or not X.size:
            raise ShapeError(f"{what}: points has shape {X.shape}, expected (n, 3)")
        n = X.shape[0]
        Phi = as_array(self.shapes, None, f"{what}: shapes")
        if len(Phi.shape) != 3 or Phi.shape[:2] != (n, 3) or not Phi.shape[2]:
            raise ShapeError(f"{what}: shapes has shape {Phi.shape}, expected ({n}, 3, m) for {n} points and m modes")
        m = Phi.shape[2]
        set_field(self, "points", X)
        set_field(self, "shapes", Phi)
        set_field(self, "masses", as_array(self.masses, (n,), f"{what}: masses"))
        if np.any(np.asarray(self.masses) < 0.0) or not np.sum(self.masses) > 0.0:
            raise ModelError(
                f"{what}: masses are {np.min(self.masses):g} kg and more; expected 0 or more, sum positive"
            )
        for key, shape in (("slopes", (n, 3, m)), ("second", (n, 3, m, m)), ("second_slopes", (n, 3, m, m))):
            if getattr(self, key) is not None:
                set_field(self, key, as_array(getattr(self, key), shape, f"{what}: {key}"))
        for key in ("second", "second_slopes"):
            value = getattr(self, key)
            if value is not None and not np.allclose(
                value, np.swapaxes(value, 2, 3), rtol=0.0, atol=1e-9 * _size(value)
            ):
                raise ModelError(
                    f"{what}: {key} is not symmetric in its last two axes; pass the mean of it and its transpose"
                )
        set_field(self, "rotary", self._rotary(n))
        set_field(self, "stiffness", self._stiffness(m))
        self.convert_damping()
        set_field(self, "frames", members(self.frames, Frame, what, "frames"))
        if self.triangles is not None:
            set_field(self, "triangles", self._triangles(n))
        self.check_interfaces()
        self.check_flexible()

    def _triangles(self, n: int) -> Any:
        given = as_array(self.triangles, None, f"{self._what}: triangles")
        corners = np.asarray(given)
        if corners.ndim != 2 or corners.shape[1] != 3 or np.any(corners != corners.round()):
            raise ShapeError(f"{self._what}: triangles has shape {given.shape}, expected (k, 3) numbers of points")
        if corners.size and (corners.min() < 0 or corners.max() >= n):
            raise ModelError(f"{self._what}: triangles names point {corners.max():.0f}, expected 0 to {n - 1}")
        return given

    def _rotary(self, n: int) -> Any:
        if self.rotary is None:
            return None
        given = as_array(self.rotary, None, f"{self._what}: rotary")
        if given.shape == (n, 3):
            given = as_array(np.asarray(given)[:, :, None] * np.eye(3), (n, 3, 3), "rotary")
        J = np.asarray(as_array(given, (n, 3, 3), f"{self._what}: rotary"))
        is_symmetric = np.max(np.abs(J - J.transpose(0, 2, 1))) <= 1e-9 * _size(J)
        if not is_symmetric or np.min(np.linalg.eigvalsh(J)) < -1e-9 * _size(J):
            raise ModelError(
                f"{self._what}: rotary has a slice whose inertia is not symmetric or is negative; expected (n, 3) moments of "
                "0 or more, or (n, 3, 3) symmetric matrices"
            )
        return given

    def _stiffness(self, m: int) -> Any:
        given = as_array(self.stiffness, None, f"{self._what}: stiffness")
        if given.shape == (m,):
            return as_array(np.diag(np.asarray(given)), (m, m), "stiffness")
        return as_array(self.stiffness, (m, m), f"{self._what}: stiffness")

    def own_material(self) -> ModalPoints:
        """Return the points with their shapes, as plain arrays."""
        optional = (self.slopes, self.second, self.second_slopes, self.rotary)
        plain = [None if item is None else np.asarray(item) for item in optional]
        return ModalPoints(np.asarray(self.points), np.asarray(self.masses), np.asarray(self.shapes), *plain)

    @property
    def elasticity(self) -> np.ndarray:
        """Stiffness matrix (m, m)."""
        return np.asarray(self.stiffness)

    def stiffness_derivatives(self, key: str) -> tuple[np.ndarray, ...] | None:
        """Return derivatives by the entries of the stiffness matrix, each together with its mirror image."""
        units = np.eye(self.n_modes**2).reshape(-1, self.n_modes, self.n_modes)
        return tuple(0.5 * (unit + unit.T) for unit in units) if key == "stiffness" else None

    def surface_mesh(self) -> SurfaceMesh:
        """Return the points of its triangles with their shapes; without triangles, all material points."""
        if self.triangles is None:
            return super().surface_mesh()
        used, triangles = np.unique(np.asarray(self.triangles).astype(int), return_inverse=True)
        points, none = self.material, np.zeros((0, 2), dtype=int)
        return SurfaceMesh(points.X[used], triangles.reshape(-1, 3), none, points.Phi[used], points.G[used])


def _size(value: Any) -> float:
    return max(float(np.max(np.abs(value))), 1e-300)
