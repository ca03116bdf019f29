"""`CentralGravity`: inverse-square attraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.model.description import Number, always, set_scalars
from spacectl.model.environment.base import Environment, MassProperties
from spacectl.spatial.backend import cross, dot, sqrt, stack
from spacectl.spatial.inertia import Placement

__all__ = ["CentralGravity"]


@dataclass(frozen=True, kw_only=True)
class CentralGravity(Environment):
    """Inverse-square attraction by a centre at the origin of the (inertial) root frame.

    Each body is attracted with its finite size to second order (MacCullagh):
    ``V = -mu m / r - mu / (2 r^3) (tr I - 3 n'I n)``; force and gravity-gradient torque follow from V, so energy is
    conserved exactly. The error relative to the law for mass points is of order (size / r)^3.

    Parameters
    ----------
    mu : float
        Gravitational parameter [m^3/s^2].
    """

    mu: float = 3.986004418e14

    def __post_init__(self) -> None:
        set_scalars(self, "CentralGravity", "mu", sign="positive", unit=" m^3/s^2")

    @property
    def title(self) -> str:
        return "central gravity"

    def numbers(self) -> dict[str, Number]:
        return {"mu": always(self.mu)}

    def gravity_wrench(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        r2 = dot(r, r)
        k = n["mu"] / (r2 * sqrt(r2))  # mu / r^3
        Ir = I_C @ r
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        stretch = (1.5 * k / r2) * ((5.0 * dot(r, Ir) / r2 - trace) * r - 2.0 * Ir)
        force = -(mass * k) * r + stretch
        return stack(cross(com, force) + (3.0 * k / r2) * cross(r, Ir), force)

    def potential(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        r2 = dot(r, r)
        distance = sqrt(r2)
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        return -n["mu"] * (mass / distance + 0.5 * (trace - 3.0 * dot(r, I_C @ r) / r2) / (distance * r2))
