"""Craig-Bampton reduction of a finite-element model: constraint modes of the interfaces, normal modes between them.

Interfaces are single nodes with rotations, or groups of nodes joined rigidly to their centre. The root is
fixed; without one the body floats and its rigid motions are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh, splu

from spacectl.core.errors import ModelError

__all__ = ["Attached", "Group", "find_groups"]

_DENSE = 700  # rows up to which normal modes come from a dense solver


@dataclass(frozen=True)
class Group:
    """Nodes joined rigidly to a point: name, nodes from 0, the point [m]."""

    name: str
    nodes: tuple[int, ...]
    at: np.ndarray


def find_groups(model: Any, given: Mapping[str, Any], what: str) -> list[Group]:
    """Make `Group`s of named nodes or node lists; raise `ModelError` if they cannot define a frame."""
    found = []
    for name, nodes in given.items():
        place = f"{what}: interface '{name}'"
        listed = nodes if isinstance(nodes, Sequence | np.ndarray) and not isinstance(nodes, str) else [nodes]
        numbers = tuple(model.rows_of(node, place) for node in listed)
        if not numbers:
            raise ModelError(f"{place}: it has no nodes; name one with rotations, or at least three")
        X = model.nodes[list(numbers)]
        has_rotation = np.any(np.all(model.index[list(numbers), 3:] >= 0, axis=1))
        spread = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) if len(X) > 2 else np.zeros(3)
        if not has_rotation and not spread[1] > 1e-9 * max(spread[0], 1e-300):
            raise ModelError(
                f"{place}: {len(numbers)} node(s) without rotations do not fix a frame; name at least three that are "
                f"not on one line"
            )
        found.append(Group(name, numbers, X.mean(axis=0)))
    taken: dict[int, str] = {}
    for group in found:
        for node in group.nodes:
            if node in taken:
                raise ModelError(
                    f"{what}: node {model.ids[node]} belongs to '{taken[node]}' and to '{group.name}'; give it to one"
                )
            taken[node] = group.name
    return found


@dataclass(frozen=True)
class Attached:
    """A model with its root fixed (or floating, without one) and its interfaces joined."""

    model: Any
    root: Group | None
    interfaces: tuple[Group, ...]

    @cached_property
    def _columns(self) -> tuple[sparse.csc_array, sparse.csc_array]:
        """All rows as sums of interface motions (six each) and of the free rows."""
        model = self.model
        joined = [*self.interfaces, *([self.root] if self.root else [])]
        taken = np.isin(model.dofs[:, 0], [node for group in joined for node in group.nodes])
        blocks = []
        for group in self.interfaces:
            R = model.rigid(group.at)
            R[~np.isin(model.dofs[:, 0], group.nodes)] = 0.0
            blocks.append(R)
        B = sparse.csc_array(np.hstack(blocks) if blocks else np.zeros((len(taken), 0)))
        free = np.flatnonzero(~taken)
        F = sparse.csc_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(len(taken), len(free)))
        return B, F

    def _factor(self, K: sparse.csc_array) -> Any:
        """Factorise a stiffness; raise `ModelError` if it is singular."""
        try:
            factor = splu(sparse.csc_matrix(K))
        except RuntimeError as error:
            raise ModelError(
                "from_fem: the stiffness between root and interfaces is singular; the root does not support "
                "the model, a part is loose, or a rotation has no stiffness (remove such rows from the "
                "matrices)"
            ) from error
        pivots = np.abs(factor.U.diagonal())
        if np.min(pivots) < 1e-14 * np.max(pivots):
            raise ModelError(
                "from_fem: the stiffness between root and interfaces is singular to rounding; the root does "
                "not support the model, a part is loose, or a rotation has no stiffness (remove such rows "
                "from the matrices)"
            )
        return factor

    def normal_modes(self, n: int) -> np.ndarray:
        """Return the `n` lowest modes with root and interfaces fixed, as displacement vectors (N, n)."""
        _, F = self._columns
        K, M = (sparse.csc_array(F.T @ A @ F) for A in (self.model.stiffness, self.model.mass))
        is_free = self.root is None and not self.interfaces
        wanted = n + (6 if is_free else 0)
        if wanted > K.shape[0]:
            raise ModelError(
                f"from_fem: {n} modes are requested, but the model between root and interfaces has {K.shape[0]} rows"
            )
        if not n:
            return np.zeros((F.shape[0], 0))
        shift = -1e-4 * K.trace() / M.trace() if is_free else 0.0
        if K.shape[0] <= _DENSE or wanted > K.shape[0] // 3:
            vectors = self._dense(K, M, wanted, shift)
        else:
            if not is_free:
                self._factor(K)
            try:
                start = np.sin(np.arange(K.shape[0]) + 1.0)
                squares, vectors = eigsh(sparse.csc_matrix(K), wanted, sparse.csc_matrix(M), sigma=shift, v0=start)
            except (ArpackError, RuntimeError) as error:
                raise ModelError(f"from_fem: no normal modes were found ({error}); request fewer") from error
            vectors = vectors[:, np.argsort(squares)]
        return np.asarray(F @ vectors[:, wanted - n :])

    @staticmethod
    def _dense(K: Any, M: Any, n: int, shift: float) -> np.ndarray:
        """Solve for 1 / (omega^2 - shift), which allows rows without mass."""
        try:
            _, vectors = eigh(
                M.toarray(), K.toarray() - shift * M.toarray(), subset_by_index=[K.shape[0] - n, K.shape[0] - 1]
            )
        except np.linalg.LinAlgError as error:
            raise ModelError(
                "from_fem: the stiffness between root and interfaces is not positive; the root does not "
                "support the model, a part is loose, or a rotation has no stiffness (remove such rows from "
                "the matrices)"
            ) from error
        return np.asarray(vectors[:, ::-1])

    def constraint_modes(self) -> np.ndarray:
        """Return the displacement vectors for unit motions of each interface, all others fixed: (N, 6 g)."""
        B, F = self._columns
        if not B.shape[1]:
            return np.zeros((F.shape[0], 0))
        K = self.model.stiffness
        inner = self._factor(F.T @ K @ F).solve((F.T @ (K @ B)).toarray())
        return np.asarray(B.toarray() - F @ inner)

    def reduce(self, n: int, frequency: float | None) -> tuple[np.ndarray, np.ndarray]:
        """Return squared frequencies and displacement vectors (N, m) of the reduced model, without rigid motions."""
        T = np.hstack([self.constraint_modes(), self.normal_modes(n)])
        size = np.max(np.abs(T), axis=0, initial=1e-300)
        T = T / size
        M, K = (T.T @ (A @ T) for A in (self.model.mass, self.model.stiffness))
        keep = 6 if self.root is None and self.interfaces else 0
        shift = 1e-6 * np.trace(K) / np.trace(M)
        inverse, vectors = eigh(0.5 * (M + M.T), 0.5 * (K + K.T) + shift * M)
        squares = (1.0 / np.maximum(inverse, 1e-300) - shift)[::-1][keep:]
        vectors = vectors[:, ::-1][:, keep:]
        if frequency is not None:
            vectors, squares = vectors[:, squares <= frequency**2], squares[squares <= frequency**2]
        if not len(squares):
            raise ModelError("from_fem: no modes remain; increase modes or frequency, or use RigidBody")
        return squares, T @ vectors

    def solve(self, forces: np.ndarray) -> np.ndarray:
        """Return static displacements under forces (N, p); a floating body is neither translated nor rotated as a whole."""
        B, F = self._columns
        every = sparse.hstack([B, F], format="csc")
        K, right = every.T @ self.model.stiffness @ every, every.T @ forces
        if self.root is not None:
            return np.asarray(every @ self._factor(K).solve(np.asarray(right)))
        R = every.T @ (self.model.mass @ self.model.rigid(self.model.nodes.mean(axis=0)))
        scale = np.sqrt(K.trace() / np.einsum("nk,nk->k", R, R))
        border = sparse.csc_array(R * scale)
        full = sparse.block_array([[K, border], [border.T, None]], format="csc")
        solved = self._factor(full).solve(np.vstack([right, np.zeros((6, right.shape[1]))]))
        return np.asarray(every @ solved[: K.shape[0]])
