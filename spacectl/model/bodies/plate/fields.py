"""Changes of fields of a `Plate`: its frames, and derivatives of its stiffness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.model.bodies.base.damping import Damped
from spacectl.model.bodies.plate.checks import check_stretchable, move_frames

__all__ = ["PlateFields"]


class PlateFields(Damped):
    """A plate as a function of its fields."""

    bending_stiffness: Any
    stretch_stiffness: Any
    membrane: int

    def changed(self, **changes: Any) -> Any:
        """Return the plate with other values of fields; frames named after a place move with length and width."""
        if {"length", "width"} & set(changes):
            check_stretchable(self)
            size = [
                as_scalar(changes.get(key, getattr(self, key)), f"{self._what}: {key}") for key in ("length", "width")
            ]
            changes = {"frames": move_frames(self.frames, *size), **changes}
        return replace(self, **changes)  # type: ignore[type-var]

    def stiffness_derivatives(self, key: str) -> tuple[np.ndarray, ...] | None:
        """Return derivatives by E, or by the bending stiffness without membrane shapes: shapes do not depend on it."""
        is_scale = {
            "E": self.bending_stiffness is None and self.stretch_stiffness is None,
            "bending_stiffness": self.bending_stiffness is not None and not self.membrane,
        }
        return (self.elasticity / getattr(self, key),) if is_scale.get(key, False) else None
