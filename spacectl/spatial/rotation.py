"""Rotation matrices, quaternions and modified Rodrigues parameters.

``R_AB`` takes components in B to components in A. Quaternions are scalar first and describe the same rotation,
``R_AB = rotation_from_quaternion(q_AB)``. Attitude errors are right-multiplicative (body axes).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.spatial.backend import (
    copysign,
    cos,
    cross,
    dot,
    eye,
    fused,
    is_symbolic,
    matrix,
    outer,
    sin,
    skew,
    stack,
    vector,
)

__all__ = [
    "AXES",
    "axis_rotation",
    "frame_along",
    "mrp_from_quaternion",
    "mrp_rate",
    "quaternion_conjugate",
    "quaternion_from_mrp",
    "quaternion_from_rotation",
    "quaternion_product",
    "quaternion_rate",
    "quaternions_from_rotations",
    "rotation_about",
    "rotation_from_mrp",
    "rotation_from_quaternion",
    "rotation_vector",
]

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axis_rotation(axis: Any, angle: Any) -> Any:
    """Return the rotation by `angle` about the unit vector `axis` (Rodrigues).

    ``R = n n' + cos(a) (1 - n n') + sin(a) n~``, written so that axis-aligned entries fold to constants.

    Parameters
    ----------
    axis : vector, shape (3,)
        Unit vector, the same in both frames.
    angle : scalar
        Angle [rad].

    Returns
    -------
    R_AB : matrix, shape (3, 3)

    Examples
    --------
    >>> axis_rotation(np.array([0.0, 0.0, 1.0]), np.pi / 2).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    if is_symbolic(angle) and not is_symbolic(axis):
        return _rotation_about(tuple(float(value) for value in axis))(angle)
    return _rotation(axis, angle)


@lru_cache(maxsize=256)
def _rotation_about(axis: tuple[float, ...]) -> ca.Function:
    """Return the rotation by a symbolic angle; plain floats let structural zeros vanish from the expression."""
    angle = ca.SX.sym("angle")
    return ca.Function("rotation", [angle], [_rotation(axis, angle)])


@fused
def _rotation(n: Any, angle: Any) -> Any:
    c, s = cos(angle), sin(angle)
    k = 1.0 - c
    n0, n1, n2 = n[0] * n[0], n[1] * n[1], n[2] * n[2]
    return matrix(
        [
            [n0 + c * (1.0 - n0), k * (n[0] * n[1]) - s * n[2], k * (n[0] * n[2]) + s * n[1]],
            [k * (n[0] * n[1]) + s * n[2], n1 + c * (1.0 - n1), k * (n[1] * n[2]) - s * n[0]],
            [k * (n[0] * n[2]) - s * n[1], k * (n[1] * n[2]) + s * n[0], n2 + c * (1.0 - n2)],
        ]
    )


def frame_along(axis: Any) -> Any:
    """Return a rotation matrix whose third column is the unit vector `axis`; constant entries for coordinate axes.

    Branch-free and never singular (the construction of Duff et al., JCGT 6(1), 2017).
    """
    x, y, z = axis[0], axis[1], axis[2]
    sign = copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return matrix([[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]])


def rotation_about(axis: str | tuple[float, float, float], angle: float) -> np.ndarray:
    """Return the rotation by `angle` [rad] about ``"x"``, ``"y"``, ``"z"`` or a unit vector, for descriptions.

    Multiples of 90 degrees about a named axis are exact (entries 0 and 1).

    Examples
    --------
    >>> rotation_about("z", np.pi / 2)[0, 1]
    np.float64(-1.0)
    """
    if isinstance(axis, str):
        if axis not in AXES:
            raise ModelError(f"rotation axis '{axis}': expected x, y, z or a unit vector")
        axis = AXES[axis]
    n = np.asarray(as_array(axis, (3,), "rotation axis"))
    if abs(np.linalg.norm(n) - 1.0) > 1e-9:
        raise ModelError(f"rotation axis has norm {np.linalg.norm(n):.6g}, expected 1; pass axis / norm(axis)")
    R = axis_rotation(n, float(angle))
    quarter_turns = float(angle) / (np.pi / 2)
    return np.round(R) + 0.0 if abs(quarter_turns - round(quarter_turns)) < 1e-12 and np.max(n) == 1.0 else R


@fused
def rotation_from_quaternion(quaternion: Any) -> Any:
    """Return the rotation matrix of a scalar-first quaternion of any nonzero norm (the formula divides by it).

    ``R = 1 + 2 (w e~ + e~ e~) / |q|^2``
    """
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    s = 2.0 / dot(quaternion, quaternion)
    sx, sy, sz = s * x, s * y, s * z
    return matrix(
        [
            [1.0 - (sy * y + sz * z), sx * y - sz * w, sx * z + sy * w],
            [sx * y + sz * w, 1.0 - (sx * x + sz * z), sy * z - sx * w],
            [sx * z - sy * w, sy * z + sx * w, 1.0 - (sx * x + sy * y)],
        ]
    )


def quaternion_product(a: Any, b: Any) -> Any:
    """Return the quaternion of ``R(a) R(b)``."""
    return stack(
        vector(a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]),
        a[0] * b[1:4] + b[0] * a[1:4] + cross(a[1:4], b[1:4]),
    )


def quaternion_conjugate(a: Any) -> Any:
    """Return the quaternion of the inverse rotation (for unit norm)."""
    return vector(a[0], -a[1], -a[2], -a[3])


def quaternion_rate(quaternion: Any, omega: Any) -> Any:
    """Return the rate of ``q_AB`` for ``omega_AB_B``: ``q_dot = 1/2 q (0, omega)``, which preserves the norm."""
    w, e = quaternion[0], quaternion[1:4]
    return 0.5 * stack(vector(-dot(e, omega)), w * omega + cross(e, omega))


def quaternion_from_rotation(R: Any) -> np.ndarray:
    """Return the unit quaternion (scalar part not negative) of a numeric rotation matrix; stable for every angle."""
    R = np.asarray(R, dtype=float)
    squares = np.array([1.0 + np.trace(R), *(1.0 + 2.0 * R[i, i] - np.trace(R) for i in range(3))])
    k = int(np.argmax(squares))
    q = np.empty(4)
    if k == 0:
        q[0] = squares[0]
        q[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q[0] = R[m, j] - R[j, m]
        q[1 + i], q[1 + j], q[1 + m] = squares[k], R[i, j] + R[j, i], R[i, m] + R[m, i]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0.0 else -q


def quaternions_from_rotations(R: Any) -> np.ndarray:
    """Return quaternions (n, 4) of matrices (n, 3, 3), a hundred times faster than `quaternion_from_rotation`."""
    R = np.asarray(R, dtype=float)
    x, y, z = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    trace = x + y + z
    # 4 q q', of which the row with the largest diagonal entry is taken
    rows = np.empty((len(R), 4, 4))
    for i, entry in enumerate((trace, 2.0 * x - trace, 2.0 * y - trace, 2.0 * z - trace)):
        rows[:, i, i] = 1.0 + entry
    for i, (j, k) in enumerate(((2, 1), (0, 2), (1, 0)), start=1):
        rows[:, 0, i] = rows[:, i, 0] = R[:, j, k] - R[:, k, j]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows[:, i + 1, j + 1] = rows[:, j + 1, i + 1] = R[:, i, j] + R[:, j, i]
    q = rows[np.arange(len(R)), np.argmax(np.einsum("nii->ni", rows), axis=1)]
    q /= np.linalg.norm(q, axis=1)[:, None]
    return np.where(q[:, :1] >= 0.0, q, -q)


def rotation_vector(R: Any) -> np.ndarray:
    """Return the rotation vector (axis times angle, angle in [0, pi]) of a numeric rotation matrix."""
    q = quaternion_from_rotation(R)
    s = np.linalg.norm(q[1:])
    if s < 1e-300:
        return np.zeros(3)
    return q[1:] / s * (2.0 * np.arctan2(s, q[0]))


def mrp_from_quaternion(q: Any) -> Any:
    """Return the modified Rodrigues parameters ``e / (1 + w)`` of a unit quaternion."""
    return q[1:4] / (1.0 + q[0])


def quaternion_from_mrp(sigma: Any) -> Any:
    """Return the unit quaternion of modified Rodrigues parameters."""
    s2 = dot(sigma, sigma)
    return stack(vector(1.0 - s2), 2.0 * sigma) / (1.0 + s2)


def rotation_from_mrp(sigma: Any) -> Any:
    """Return the rotation matrix ``R_AB`` of modified Rodrigues parameters."""
    return rotation_from_quaternion(quaternion_from_mrp(sigma))


def mrp_rate(sigma: Any, omega: Any) -> Any:
    """Return the rate of the parameters for ``omega_AB_B``: ``1/4 ((1 - s's) 1 + 2 s~ + 2 s s') omega``."""
    B = (1.0 - dot(sigma, sigma)) * eye(3, sigma) + 2.0 * skew(sigma) + 2.0 * outer(sigma, sigma)
    return 0.25 * (B @ omega)
