"""Placements, twists, wrenches and inertias, rotation before translation, referred to a frame's origin and axes.

A twist is (omega, v), the velocity v being that of the point at the frame's origin; a wrench is (moment, force)
about the origin. ``move_twist`` and ``pull_wrench`` are transposes of each other, so power is the same on both sides. An
inertia is that of a rigid body, or of several moving as one, about the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.spatial.backend import cross, dot, eye, outer, skew, stack, zeros

__all__ = ["Inertia", "Placement", "cross_force", "cross_motion", "move_twist", "pull_wrench"]


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
    omega, v = twist_A[0:3], twist_A[3:6]
    return stack(X_AB.R.T @ omega, X_AB.R.T @ (v + cross(omega, X_AB.p)))


def pull_wrench(X_AB: Placement, wrench_B: Any) -> Any:
    """Refer a wrench to frame A: ``f_A = R f``, ``m_A = R m + p x f_A``."""
    force = X_AB.R @ wrench_B[3:6]
    return stack(X_AB.R @ wrench_B[0:3] + cross(X_AB.p, force), force)


def cross_motion(twist: Any, other: Any) -> Any:
    """Return the rate of a twist that is constant in a frame moving with `twist`: (w x o, w x v_o + v x o)."""
    w, v = twist[0:3], twist[3:6]
    return stack(cross(w, other[0:3]), cross(w, other[3:6]) + cross(v, other[0:3]))


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
        omega, v = twist[0:3], twist[3:6]
        return stack(self.I_O @ omega + cross(self.first, v), self.mass * v - cross(self.first, omega))

    def bias_wrench(self, twist: Any) -> Any:
        """Return ``V x* (I V)``, the wrench at constant twist: (w x J w + h x (w x v), m w x v + w x (w x h)).

        Written without the product ``v x m v``, which is zero but whose rounding, in an orbit at 7.5 km/s, would exceed
        the gravity-gradient torque.
        """
        omega, v = twist[0:3], twist[3:6]
        turning = cross(omega, v)
        moment = cross(omega, self.I_O @ omega) + cross(self.first, turning)
        return stack(moment, self.mass * turning + cross(omega, cross(omega, self.first)))

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
