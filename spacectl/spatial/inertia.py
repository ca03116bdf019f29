"""Inertia of a rigid body, or of several moving as one, about a frame's origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.spatial.backend import cross, dot, eye, fused, outer, skew, stack, zeros
from spacectl.spatial.motion import Placement

__all__ = ["Inertia"]


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
