"""`Quantities`: the quantities of a system in which equations of constraints are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from spacectl.core.expression import Recorder
from spacectl.spatial.inertia import Placement

__all__ = ["Quantities", "trace"]

_SIZES = {"position": 3, "velocity": 3, "angular_velocity": 3, "rotation": 9, "momentum": 6}


class Quantities(Recorder):
    """Named quantities of a system as expressions, and those of the constraint.

    Parameters
    ----------
    quantity : function of kind and name
        Returns a quantity such as ``("position", "arm.tip")``.
    numbers : mapping
        The constraint's run-time parameters.
    relative : function, optional
        Returns the placement of F in J, for a constraint between frames.
    relative_twist : function, optional
        Returns the twist of F relative to J about F's origin, in J axes.
    """

    def __init__(
        self,
        quantity: Callable[[str, str], Any],
        numbers: Mapping[str, Any],
        relative: Callable[[], Placement] | None = None,
        relative_twist: Callable[[], Any] | None = None,
    ):
        super().__init__()
        self.quantity, self.numbers, self._relative, self._twist = quantity, numbers, relative, relative_twist

    def _symbol(self, kind: str, name: str, size: int = 1) -> Any:
        return self.quantity(kind, name)

    def number(self, name: str) -> Any:
        """Return one of the constraint's own run-time parameters."""
        return self.numbers[name]

    @property
    def relative(self) -> Placement:
        """Placement of F in J."""
        return self._relative()  # type: ignore[misc]

    @property
    def relative_twist(self) -> Any:
        """Twist of F relative to J about F's origin, in J axes, shape (6,)."""
        return self._twist()  # type: ignore[misc]


def trace(
    equations: Callable[[Quantities], Any], numbers: Mapping[str, Any]
) -> tuple[tuple[tuple[str, str], ...], Any]:
    """Trace equations: return the quantities they ask for, as pairs (kind, name), and their symbolic values."""
    found: dict[tuple[str, str], Any] = {}

    def quantity(kind: str, name: str) -> Any:
        return found.setdefault((kind, name), ca.SX.sym(f"{kind}:{name}", _SIZES.get(kind, 1)))

    value = equations(Quantities(quantity, numbers))
    return tuple(found), value
