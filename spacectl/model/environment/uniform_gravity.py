"""`UniformGravity`: a uniform field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.model.description import Number, set_field, unless_trivial
from spacectl.model.environment.base import Environment, MassProperties
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import Placement

__all__ = ["UniformGravity"]


@dataclass(frozen=True, kw_only=True)
class UniformGravity(Environment):
    """A uniform field g [m/s^2], root axes."""

    g: Any = (0.0, 0.0, -9.80665)

    def __post_init__(self) -> None:
        set_field(self, "g", as_array(self.g, (3,), "UniformGravity: g"))

    @property
    def title(self) -> str:
        return "uniform gravity"

    @property
    def up(self) -> np.ndarray:
        g = np.asarray(self.g)
        return -g / np.linalg.norm(g) if np.any(g) else super().up

    def numbers(self) -> dict[str, Number]:
        return {"g": unless_trivial(self.g)}

    def root_acceleration(self, t: Any, n: Mapping[str, Any]) -> Any:
        return -n["g"]

    def potential(self, t: Any, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, _ = body
        return -mass * dot(n["g"], X_NB.point(com))
