"""Articulated-body inertia: inertia of a body with outboard bodies on free joints (symmetric, but not that of a rigid body).

Blocks act as ``moment = A omega + B v``, ``force = B' omega + C v``, about a frame's origin in its axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.spatial.backend import cross, eye, is_symbolic, matrix, skew, stack
from spacectl.spatial.inertia import Inertia, Placement

__all__ = ["ArticulatedInertia"]


@dataclass(frozen=True)
class ArticulatedInertia:
    """Symmetric 6 x 6 inertia in 3 x 3 blocks A (rotation), B (coupling), C (translation)."""

    A: Any
    B: Any
    C: Any

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        """Return a rigid body's inertia in this form."""
        return ArticulatedInertia(body.I_O, skew(body.first), body.mass * eye(3, body.first))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.C + other.C)

    def __matmul__(self, twist: Any) -> Any:
        """Return the wrench (moment, force) that gives the twist as acceleration."""
        omega, v = twist[0:3], twist[3:6]
        return stack(self.A @ omega + self.B @ v, self.B.T @ omega + self.C @ v)

    def less(self, s: Any, U: Any, D_inv: Any) -> ArticulatedInertia:
        """Return ``I - U U' / D``, the inertia with a free speed along s, where ``U = I s``, ``D = s' U``.

        The result does not resist s. For a coordinate direction its row and column are therefore exact zeros, which
        saves work and rounding in later steps. A mode has no s (None), so nothing cancels.
        """
        scaled = [U[i] * D_inv for i in range(6)]
        gone = _coordinate_direction(s)

        def rest(i: int, j: int, old: Any) -> Any:
            return 0.0 * old if gone in (i, j) else old - scaled[i] * U[j]

        A = _symmetric(lambda i, j: rest(i, j, self.A[i, j]))
        B = matrix([[rest(i, j + 3, self.B[i, j]) for j in range(3)] for i in range(3)])
        C = _symmetric(lambda i, j: rest(i + 3, j + 3, self.C[i, j]))
        return ArticulatedInertia(A, B, C)

    def seen_from(self, X_AB: Placement) -> ArticulatedInertia:
        """Refer it to A's origin and axes: ``C``, ``B + p~ C``, ``A - B p~ + p~ (B + p~ C)'`` (rotated blocks)."""
        R, p = X_AB.R, X_AB.p
        A, B, C = _turned(R, self.A), R @ self.B @ R.T, _turned(R, self.C)
        p_columns = [cross(p, C[:, j]) for j in range(3)]
        B_new = matrix([[B[i, j] + p_columns[j][i] for j in range(3)] for i in range(3)])
        # rows of B p~ are -(p x row), and columns of p~ B_new' are p x (row of B_new)
        left = [cross(p, B[i, :].T) for i in range(3)]
        right = [cross(p, B_new[i, :].T) for i in range(3)]
        A_new = _symmetric(lambda i, j: A[i, j] + left[i][j] + right[j][i])
        return ArticulatedInertia(A_new, B_new, C)


def _coordinate_direction(s: Any) -> int | None:
    """Return i if s is the constant unit vector e_i, else None."""
    if s is None:
        return None
    if is_symbolic(s):
        if not s.is_constant():
            return None
        s = ca.DM(s).full()[:, 0]
    places = np.flatnonzero(np.asarray(s))
    return int(places[0]) if places.size == 1 and s[places[0]] == 1.0 else None


def _symmetric(entry: Any) -> Any:
    """Return a symmetric matrix from its upper entries, each computed once."""
    upper = {(i, j): entry(i, j) for i in range(3) for j in range(i, 3)}
    return matrix([[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)])


def _turned(R: Any, S: Any) -> Any:
    """Return ``R S R'`` for symmetric S."""
    T = R @ S
    return _symmetric(lambda i, j: T[i, 0] * R[j, 0] + T[i, 1] * R[j, 1] + T[i, 2] * R[j, 2])
