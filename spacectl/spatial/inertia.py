"""Placements, twists, wrenches and inertias, rotation before translation, referred to a frame's origin and axes.

A twist is (omega, v), the velocity v being that of the point at the frame's origin; a wrench is (moment,
force) about the origin. ``move_twist`` and ``pull_wrench`` are transposes of each other, so that power is
preserved. An inertia is that of a rigid body, or of several moving as one, about the origin. An
articulated-body inertia is that of a body with outboard bodies on free joints, with symmetric blocks
``moment = A omega + B v``, ``force = B' omega + C v``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.spatial.backend import cross, dot, eye, fused, is_symbolic, matrix, outer, skew, stack, zeros

__all__ = ["ArticulatedInertia", "Inertia", "Placement", "cross_force", "cross_motion", "move_twist", "pull_wrench"]


@dataclass(frozen=True)
class Placement:
    """Placement of frame B in frame A: ``a_A = R_AB a_B`` and the origin ``p_AB_A``."""

    R: Any
    p: Any

    def __matmul__(self, other: Placement) -> Placement:
        """Return the placement of C in A, from that of B in A and of C in B."""
        return Placement(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Placement:
        """Return the placement of A in B."""
        return Placement(self.R.T, -(self.R.T @ self.p))

    def point(self, p_B: Any) -> Any:
        """Return the components in A of the point p_B of frame B."""
        return self.p + self.R @ p_B

    @staticmethod
    def identity(like: Any) -> Placement:
        """Return the identity placement."""
        return Placement(eye(3, like), zeros(3, like))


def move_twist(X_AB: Placement, twist_A: Any) -> Any:
    """Refer a twist to frame B: ``omega_B = R' omega``, ``v_B = R' (v + omega x p)``."""
    return _moved_twist(X_AB.R, X_AB.p, twist_A)


@fused
def _moved_twist(R: Any, p: Any, twist: Any) -> Any:
    omega, v = twist[0:3], twist[3:6]
    return stack(R.T @ omega, R.T @ (v + cross(omega, p)))


def pull_wrench(X_AB: Placement, wrench_B: Any) -> Any:
    """Refer a wrench to frame A: ``f_A = R f``, ``m_A = R m + p x f_A``."""
    return _pulled_wrench(X_AB.R, X_AB.p, wrench_B)


@fused
def _pulled_wrench(R: Any, p: Any, wrench: Any) -> Any:
    force = R @ wrench[3:6]
    return stack(R @ wrench[0:3] + cross(p, force), force)


@fused
def cross_motion(twist: Any, other: Any) -> Any:
    """Return the rate of a twist that is constant in a frame moving with `twist`: (w x o, w x v_o + v x o)."""
    w, v = twist[0:3], twist[3:6]
    return stack(cross(w, other[0:3]), cross(w, other[3:6]) + cross(v, other[0:3]))


@fused
def cross_force(twist: Any, wrench: Any) -> Any:
    """Return the rate of a momentum that is constant in a frame moving with `twist`: (w x m + v x f, w x f)."""
    w, v = twist[0:3], twist[3:6]
    return stack(cross(w, wrench[0:3]) + cross(v, wrench[3:6]), cross(w, wrench[3:6]))


@dataclass(frozen=True)
class Inertia:
    """Mass, first moment and inertia about the origin O of a frame, in its axes.

    Parameters
    ----------
    mass : scalar
        Mass [kg].
    first : vector, shape (3,)
        Mass times position of the centre of mass [kg m].
    I_O : matrix, shape (3, 3)
        Inertia about O [kg m^2].
    """

    mass: Any
    first: Any
    I_O: Any

    @staticmethod
    def from_centre(mass: Any, com: Any, I_C: Any) -> Inertia:
        """Build from mass, centre of mass and the inertia about it: ``I_O = I_C + m (c'c 1 - c c')``."""
        shift = dot(com, com) * eye(3, com) - outer(com, com)
        return Inertia(mass, mass * com, I_C + mass * shift)

    @staticmethod
    def none(like: Any) -> Inertia:
        """Return zero inertia of the type of `like`."""
        return Inertia(0.0 * like[0], zeros(3, like), 0.0 * eye(3, like))

    def about_centre(self) -> tuple[Any, Any, Any]:
        """Return the mass, centre of mass and the inertia about it."""
        com = self.first / self.mass
        return self.mass, com, self.I_O - self.mass * (dot(com, com) * eye(3, com) - outer(com, com))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.first + other.first, self.I_O + other.I_O)

    def __matmul__(self, twist: Any) -> Any:
        """Return the momentum (angular about O, linear) of the twist."""
        return _momentum(self.mass, self.first, self.I_O, twist)

    def bias_wrench(self, twist: Any) -> Any:
        """Return ``V x* (I V)``, the wrench at constant twist: (w x J w + h x (w x v), m w x v + w x (w x h)).

        Written without the product ``v x m v``, which is zero but whose rounding, in an orbit at 7.5 km/s, would exceed
        the gravity-gradient torque.
        """
        return _bias_wrench(self.mass, self.first, self.I_O, twist)

    def seen_from(self, X_AB: Placement) -> Inertia:
        """Return the inertia (given about B's origin) about A's origin, in A's axes.

        ``I_A = R I_B R' - (p~ h~ + h~ p~) - m p~ p~`` with h the turned first moment.
        """
        h = X_AB.R @ self.first
        p = X_AB.p
        ph = outer(p, h)
        shift = (2.0 * dot(p, h) + self.mass * dot(p, p)) * eye(3, h) - ph - ph.T - self.mass * outer(p, p)
        return Inertia(self.mass, h + self.mass * p, X_AB.R @ self.I_O @ X_AB.R.T + shift)

    def matrix(self) -> Any:
        """Return the 6 x 6 matrix, rotation before translation."""
        h = skew(self.first)
        top = stack(self.I_O.T, h.T).T
        bottom = stack(-h.T, self.mass * eye(3, self.first)).T
        return stack(top, bottom)


@fused
def _momentum(mass: Any, first: Any, I_O: Any, twist: Any) -> Any:
    omega, v = twist[0:3], twist[3:6]
    return stack(I_O @ omega + cross(first, v), mass * v - cross(first, omega))


@fused
def _bias_wrench(mass: Any, first: Any, I_O: Any, twist: Any) -> Any:
    omega, v = twist[0:3], twist[3:6]
    turning = cross(omega, v)
    moment = cross(omega, I_O @ omega) + cross(first, turning)
    return stack(moment, mass * turning + cross(omega, cross(omega, first)))


@dataclass(frozen=True)
class ArticulatedInertia:
    """Symmetric 6 x 6 inertia in 3 x 3 blocks A (rotation), B (coupling), C (translation)."""

    A: Any
    B: Any
    C: Any

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        """Convert the inertia of a rigid body."""
        return ArticulatedInertia(body.I_O, skew(body.first), body.mass * eye(3, body.first))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.C + other.C)

    def __matmul__(self, twist: Any) -> Any:
        """Return the wrench (moment, force) that causes the twist as acceleration."""
        omega, v = twist[0:3], twist[3:6]
        return stack(self.A @ omega + self.B @ v, self.B.T @ omega + self.C @ v)

    def less(self, s: Any, U: Any, D_inv: Any) -> ArticulatedInertia:
        """Return ``I - U U' / D``, the inertia with a free speed along s, where ``U = I s``, ``D = s' U``.

        The result has no inertia along s. For a coordinate direction its row and column are therefore exact
        zeros, which saves operations and rounding in later steps. A mode has no s (None), so that nothing
        cancels.
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
