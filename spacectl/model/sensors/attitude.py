"""`Attitude`: the orientation of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from spacectl.model.sensors.base import SensedMotion, Sensor

__all__ = ["Attitude"]


@dataclass(frozen=True, kw_only=True)
class Attitude(Sensor):
    """Modified Rodrigues parameters of the short rotation from `seen_from` to `on` (jump at 180 degrees)."""

    suffixes: ClassVar[tuple[str, ...]] = (".s1", ".s2", ".s3")
    unit: ClassVar[str] = "1"

    def value(self, motion: SensedMotion) -> Any:
        return _mrp(motion.rotation)


def _mrp(R: Any) -> Any:
    """Return modified Rodrigues parameters of the short rotation: ``e / (1 + w)`` with w not negative.

    The quaternion comes from the largest of its four squares, so it is exact for every angle; at 180 degrees the
    parameters have norm 1 and may change sign.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    w = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    candidates = [(1.0 + trace, ca.vertcat(1.0 + trace, w))]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        square = 1.0 + 2.0 * R[i, i] - trace
        vector = ca.SX.zeros(3)
        vector[i], vector[j], vector[k] = square, R[i, j] + R[j, i], R[i, k] + R[k, i]
        candidates.append((square, ca.vertcat(w[i], vector)))
    best, q = candidates[0]
    for square, other in candidates[1:]:
        q = ca.if_else(square > best, other, q)
        best = ca.fmax(best, square)
    # q is 2 sqrt(best) times the quaternion, which cancels in e / (1 + w)
    return q[1:] * (ca.if_else(q[0] < 0.0, -1.0, 1.0) / (2.0 * ca.sqrt(best) + ca.fabs(q[0])))
