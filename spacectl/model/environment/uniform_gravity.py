"""`UniformGravity`: a uniform field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_array
from spacectl.model.description import Number, set_field, unless_trivial
from spacectl.model.environment.base import Environment, MassProperties
from spacectl.spatial.backend import dot
from spacectl.spatial.motion import Placement

__all__ = ["UniformGravity"]


@dataclass(frozen=True, kw_only=True)
class UniformGravity(Environment):
    """A uniform field g [m/s^2], root axes."""

    g: Any = (0.0, 0.0, -9.80665)

    def __post_init__(self) -> None:
        set_field(self, "g", as_array(self.g, (3,), "UniformGravity: g"))

    def numbers(self) -> dict[str, Number]:
        return {"g": unless_trivial(self.g)}

    def root_acceleration(self, n: Mapping[str, Any]) -> Any:
        return -n["g"]

    def potential(self, X_NB: Placement, body: MassProperties, n: Mapping[str, Any]) -> Any:
        mass, com, _ = body
        return -mass * dot(n["g"], X_NB.point(com))
