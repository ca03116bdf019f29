"""Joints in redundant coordinates, for formulations that support a singular mass matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.base import POSITION, QUATERNION, VELOCITY, Joint, Names, columns, translations
from spacectl.spatial.backend import cross, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import rotation_from_quaternion

__all__ = ["QuaternionFree"]


@dataclass(frozen=True, kw_only=True)
class QuaternionFree(Joint):
    """Unconstrained motion with the four quaternion rates as speeds: redundant, with a singular mass matrix.

    ``omega = 2 G(q) q_dot / q'q``. The system must include the unit norm of the quaternion as a constraint; use it with
    ``formulation="udwadia_phohomsiri"``. In all other cases prefer `Free`.

    References
    ----------
    A. Schutte, F. Udwadia, New Approach to the Modeling of Complex Multibody Dynamical Systems, 2010, Eqs 4-10.
    """

    coordinates: ClassVar[Names] = (*QUATERNION, *POSITION)
    speeds: ClassVar[Names] = (*((f"{suffix}_dot", "1/s") for suffix, _ in QUATERNION), *VELOCITY)

    def rest(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q[0:4]), q[4:7])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        R = rotation_from_quaternion(q[0:4])
        w, x, y, z = (q[k] for k in range(4))
        factor = 2.0 / (w * w + x * x + y * y + z * z)
        rates = (vector(-x, -y, -z), vector(w, -z, y), vector(z, w, -x), vector(-y, x, w))
        return columns(*(stack(factor * column, zeros(3, q)) for column in rates), *translations(R))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        S = self.subspace(q, n)
        omega = (S @ v)[0:3]
        length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
        stretch = (q[0] * v[0] + q[1] * v[1] + q[2] * v[2] + q[3] * v[3]) / length
        velocity = rotation_from_quaternion(q[0:4]).T @ v[4:7]
        return stack(-2.0 * stretch * omega, -cross(omega, velocity))

    def redundancies(self, q: np.ndarray, name: str) -> tuple[tuple[np.ndarray, str], ...]:
        square = " + ".join(f"s['{name}{suffix}']**2" for suffix, _ in QUATERNION)
        missing = (
            f"the unit-norm equation of quaternion '{name}' (Constraint(name='norm', rule=lambda s: {square} - 1))"
        )
        return ((np.concatenate([q[:4], np.zeros(3)]), missing),)
