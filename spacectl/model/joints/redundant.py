"""Joints in redundant coordinates, for formulations that can bear a singular mass matrix (001)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.joints.base import QUATERNION, Joint, Names, columns
from spacectl.spatial.backend import cross, stack, vector, zeros
from spacectl.spatial.motion import Placement
from spacectl.spatial.rotation import rotation_from_quaternion

__all__ = ["QuaternionFree"]


@dataclass(frozen=True, kw_only=True)
class QuaternionFree(Joint):
    """Free motion with the four quaternion rates as speeds: redundant coordinates, singular mass matrix (001 Eqs 4-10).

    ``omega = 2 G(q) q_dot / q'q``. The unit length of the quaternion is a constraint that the system must state; use it with
    ``formulation="udwadia_phohomsiri"``. For everything else `Free` is the better choice.
    """

    coordinates: ClassVar[Names] = (*QUATERNION, (".x", "m"), (".y", "m"), (".z", "m"))
    speeds: ClassVar[Names] = (
        *((f"{suffix}_dot", "1/s") for suffix, _ in QUATERNION),
        (".x_dot", "m/s"),
        (".y_dot", "m/s"),
        (".z_dot", "m/s"),
    )

    def rest(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        return Placement(rotation_from_quaternion(q[0:4]), q[4:7])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        R = rotation_from_quaternion(q[0:4])
        w, x, y, z = (q[k] for k in range(4))
        factor = 2.0 / (w * w + x * x + y * y + z * z)
        rates = (vector(-x, -y, -z), vector(w, -z, y), vector(z, w, -x), vector(-y, x, w))
        none = zeros(3, q)
        moving = (stack(none, vector(R[i, 0], R[i, 1], R[i, 2])) for i in range(3))
        return columns(*(stack(factor * column, none) for column in rates), *moving)

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
