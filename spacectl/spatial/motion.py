"""Placements, twists and wrenches, rotation before translation, referred to a frame's origin and axes.

A twist is (omega, v), the velocity v being that of the point at the frame's origin; a wrench is (moment, force)
about the origin. ``move_twist`` and ``pull_wrench`` are transposes of each other, so power is the same on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.spatial.backend import cross, eye, fused, stack, zeros

__all__ = ["Placement", "cross_force", "cross_motion", "move_twist", "pull_wrench"]


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
