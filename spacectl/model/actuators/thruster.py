"""`Thruster`: a body-fixed jet."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from spacectl.core.array import Array
from spacectl.core.errors import ModelError
from spacectl.model.actuators.body_force import BodyForce

__all__ = ["Thruster"]


@dataclass(frozen=True, kw_only=True)
class Thruster(BodyForce):
    """A body-fixed jet that pushes along `direction`.

    A single limit means 0 to that thrust; without a limit the thrust ranges from 0 to infinity. A jet cannot pull, so
    negative limits raise `ModelError`.
    """

    default_bounds: ClassVar[tuple[float, float]] = (0.0, inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes != "body":
            raise ModelError(f"{self._what}: a thruster is fixed in its body; use BodyForce for axes='world'")

    def _bounds(self, limit: Any) -> Array:
        bounds = self._finite(limit)
        pair = super()._bounds((0.0, float(bounds)) if bounds.shape == () else limit)
        if pair[0] < 0.0:
            raise ModelError(
                f"{self._what}: limit is {limit!r}, but a thruster cannot pull; "
                "give (low, high) with 0 <= low, or use BodyForce for a force of both signs"
            )
        return pair
