"""`Fixed`: no relative motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.joints.axis import turn_of, uprightness
from spacectl.model.joints.base import Joint
from spacectl.spatial.backend import vector
from spacectl.spatial.inertia import Placement

__all__ = ["Fixed"]


@dataclass(frozen=True, kw_only=True)
class Fixed(Joint):
    """No relative motion."""

    closing_names: ClassVar[tuple[str, ...]] = ("x", "y", "z", "rx", "ry", "rz")
    letter: ClassVar[str] = "0"

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(X_JF.p[0], X_JF.p[1], X_JF.p[2], *turn_of(X_JF.R))

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return uprightness(X_JF.R)
