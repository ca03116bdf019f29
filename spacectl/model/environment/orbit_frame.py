"""`OrbitFrame`: the base of environments whose root frame moves along an orbit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.model.environment.base import Environment, MassProperties
from spacectl.spatial.backend import constant, cross, dot, stack
from spacectl.spatial.inertia import Placement

__all__ = ["OrbitFrame"]


@dataclass(frozen=True, kw_only=True)
class OrbitFrame(Environment):
    """Base: a root in free fall along an orbit, with x radial (outward), y along track, z orbit normal.

    Coordinates and speeds are relative to it. Gravity is its first-order gradient about the origin,
    ``g = mu / r^3 (3 x x' - 1) rho``, as in Hill's equations; the neglected terms are of order (size / orbit radius).
    A subclass defines ``mu / r^3`` and the rate of the frame.
    """

    axis_names: ClassVar[tuple[str, str, str]] = ("radial, outward", "along track", "orbit normal")

    @property
    def root_names(self) -> tuple[str, ...]:
        return ("world", "orbit")

    @property
    def up(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0])

    def gradient(self, t: Any, n: Mapping[str, Any]) -> Any:
        """Return ``mu / r^3`` [1/s^2]."""
        raise NotImplementedError

    def gravity_wrench(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        radial = X_NB.R.T @ constant((1.0, 0.0, 0.0), X_NB.p)
        rho = X_NB.R.T @ X_NB.p + com
        k = self.gradient(t, n)
        force = (mass * k) * (3.0 * dot(radial, rho) * radial - rho)
        return stack(cross(com, force) + (3.0 * k) * cross(radial, I_C @ radial), force)

    def potential(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        """Return the gravity-gradient potential (without the centrifugal part, due to the rotating root)."""
        mass, com, I_C = body
        radial = X_NB.R.T @ constant((1.0, 0.0, 0.0), X_NB.p)
        rho = X_NB.R.T @ X_NB.p + com
        trace = I_C[0, 0] + I_C[1, 1] + I_C[2, 2]
        along = dot(radial, rho)
        second = mass * (3.0 * along * along - dot(rho, rho)) + trace - 3.0 * dot(radial, I_C @ radial)
        return -0.5 * self.gradient(t, n) * second
