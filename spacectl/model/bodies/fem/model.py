"""`FemModel`: mass and stiffness matrices of a free finite-element model with its nodes, checked for wrong units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.fem.checks import check_matrices, check_rigid

__all__ = ["FemModel"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FemModel:
    """A linear finite-element model without supports.

    Parameters
    ----------
    mass, stiffness : array or scipy sparse matrix (N, N)
        Symmetric; mass [kg, kg m, kg m^2], stiffness [N/m, N, N m].
    nodes : array (n, 3)
        Positions of the nodes [m].
    dofs : array of int (N, 2), optional
        Node (from 0) and component (0 to 2 displacement, 3 to 5 rotation about x, y, z) of each row. Default: six for
        each node if N = 6 n, three if N = 3 n.
    triangles : array of int (k, 3), optional
        Triangles between nodes, for drawing.
    ids : array of int (n,), optional
        Numbers by which nodes are named (of a Nastran model, say). Default 0 to n - 1.
    total_mass : float, optional
        Expected mass [kg]; a mass matrix that differs by more than 1 % raises `ModelError`: wrong units.

    Examples
    --------
    >>> bar = FemModel(mass=np.eye(6), stiffness=np.kron([[1, -1], [-1, 1]], np.diag([9.0, 0, 0])), nodes=[[0, 0, 0], [1, 0, 0]])
    >>> round(float(bar.rigid_mass[0, 0]), 6)
    2.0
    """

    mass: Any
    stiffness: Any
    nodes: Any
    dofs: Any = None
    triangles: Any = None
    ids: Any = None
    total_mass: float | None = None

    def __post_init__(self) -> None:
        nodes = np.asarray(self.nodes, dtype=float)
        if nodes.ndim != 2 or nodes.shape[1] != 3 or not len(nodes) or not np.all(np.isfinite(nodes)):
            raise ShapeError(f"FemModel: nodes has shape {nodes.shape}, expected (n, 3) finite positions [m]")
        for key, value in (("nodes", nodes), ("mass", self._matrix("mass")), ("stiffness", self._matrix("stiffness"))):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "dofs", self._dofs())
        ids = np.arange(len(nodes)) if self.ids is None else np.asarray(self.ids, dtype=int)
        if ids.shape != (len(nodes),) or len(set(ids.tolist())) != len(ids):
            raise ShapeError(
                f"FemModel: ids has shape {ids.shape}, expected one number for each of {len(nodes)} nodes, all different"
            )
        object.__setattr__(self, "ids", ids)
        if self.triangles is not None:
            triangles = np.asarray(self.triangles, dtype=int)
            if (
                triangles.ndim != 2
                or triangles.shape[1] != 3
                or np.any(triangles < 0)
                or np.any(triangles >= len(nodes))
            ):
                raise ShapeError(
                    f"FemModel: triangles has shape {triangles.shape}, expected (k, 3) numbers of nodes from 0"
                )
            object.__setattr__(self, "triangles", triangles)
        check_matrices(self.mass, self.stiffness)
        check_rigid(self)

    def _matrix(self, key: str) -> sparse.csr_array:
        try:
            A = sparse.csr_array(getattr(self, key), dtype=float)
        except (TypeError, ValueError) as error:
            raise ModelError(f"FemModel: {key} is not a matrix of numbers ({error})") from error
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ShapeError(f"FemModel: {key} has shape {A.shape}, expected a square matrix")
        if not np.all(np.isfinite(A.data)):
            raise ModelError(f"FemModel: {key} has entries that are not finite")
        A.sum_duplicates()
        return A

    def _dofs(self) -> np.ndarray:
        n, N = len(self.nodes), self.mass.shape[0]
        if self.stiffness.shape[0] != N:
            raise ShapeError(f"FemModel: mass has {N} rows, stiffness {self.stiffness.shape[0]}; expected the same")
        if self.dofs is None:
            if N not in (3 * n, 6 * n):
                raise ShapeError(
                    f"FemModel: {N} rows for {n} nodes are neither three nor six each; pass dofs=, (node, component) of each row"
                )
            return np.stack([np.repeat(np.arange(n), N // n), np.tile(np.arange(N // n), n)], axis=1)
        dofs = np.asarray(self.dofs, dtype=int)
        if dofs.shape != (N, 2) or np.any(dofs < 0) or np.any(dofs[:, 0] >= n) or np.any(dofs[:, 1] > 5):
            raise ShapeError(
                f"FemModel: dofs has shape {dofs.shape}, expected ({N}, 2) with nodes 0 to {n - 1} and components 0 to 5"
            )
        if len(np.unique(dofs, axis=0)) != N:
            raise ModelError("FemModel: dofs names a component of a node twice; each row has its own")
        return dofs

    @cached_property
    def index(self) -> np.ndarray:
        """Row of each component of each node, -1 where there is none: (n, 6)."""
        found = np.full((len(self.nodes), 6), -1)
        found[self.dofs[:, 0], self.dofs[:, 1]] = np.arange(len(self.dofs))
        return found

    def rigid(self, about: np.ndarray) -> np.ndarray:
        """Return displacement vectors (N, 6) of rigid motions: three translations, three rotations about a point."""
        node, component = self.dofs.T
        arms = self.nodes[node] - about
        R = np.zeros((len(node), 6))
        for k in range(3):
            R[component == k, k] = 1.0
            R[component == 3 + k, 3 + k] = 1.0
            turned = np.cross(np.eye(3)[k], arms)
            for a in range(3):
                rows = component == a
                R[rows, 3 + k] = turned[rows, a]
        return R

    @cached_property
    def rigid_mass(self) -> np.ndarray:
        """Mass matrix of the rigid motions about the origin of the nodes' axes, translations first: (6, 6)."""
        R = self.rigid(np.zeros(3))
        return np.asarray(R.T @ (self.mass @ R))

    def rows_of(self, node: Any, what: str) -> int:
        """Return the index, from 0, of the node that is named `node`."""
        place: Any = np.flatnonzero(self.ids == node) if isinstance(node, (int, np.integer)) else []
        if not len(place):
            raise ModelError(
                f"{what}: node {node!r} is not in the model, which has {len(self.ids)} nodes from {self.ids.min()} to "
                f"{self.ids.max()}"
            )
        return int(place[0])

    def field(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return displacement and rotation of the nodes, (n, 3, k) each, from vectors (N, k); zero where there is none."""
        full = np.zeros((len(self.nodes), 6, vectors.shape[1]))
        full[self.dofs[:, 0], self.dofs[:, 1]] = vectors
        return full[:, :3], full[:, 3:]
