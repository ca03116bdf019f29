"""The base of constraints between two frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.constraints.base import AnyConstraint, Quantities
from spacectl.model.description import Number, placement_number, rotation_matrix, set_field, unless_trivial
from spacectl.spatial.inertia import Placement

__all__ = ["FrameConstraint"]


@dataclass(frozen=True, kw_only=True)
class FrameConstraint(AnyConstraint):
    """Base of constraints between a frame J on `a` and a frame F on `b`.

    A subclass defines `rows`, or `rates` with ``has_position_level = False``, and where needed `row_names`, `numbers`
    (including those of this base) and `side`.

    Parameters
    ----------
    a, b : str
        Carriers of the frames: ``"world"``, a body or ``"body.frame"``.
    at_a, at_b : vector, shape (3,)
        Origins of the frames in their carriers [m].
    rotation_a, rotation_b : rotation, optional
        Axes of the frames in their carriers.
    """

    a: str = "world"
    b: str
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    rotation_a: Any = None
    rotation_b: Any = None
    has_side: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for end in ("a", "b"):
            if not isinstance(getattr(self, end), str) or not getattr(self, end):
                raise ModelError(
                    f"{self._what}: {end} is {getattr(self, end)!r}, expected 'world', a body or 'body.frame'"
                )
            set_field(self, f"at_{end}", as_array(getattr(self, f"at_{end}"), (3,), f"{self._what}: at_{end}"))
            rotation = rotation_matrix(getattr(self, f"rotation_{end}"), f"{self._what}: rotation_{end}")
            set_field(self, f"rotation_{end}", rotation)

    def numbers(self) -> dict[str, Number]:
        ends: dict[str, Number] = {}
        for end in ("a", "b"):
            ends[f"at_{end}"] = unless_trivial(getattr(self, f"at_{end}"))
            ends[f"rotation_{end}"] = placement_number(getattr(self, f"rotation_{end}"))
        return ends

    @property
    def has_position_level(self) -> bool:
        return True

    @property
    def ends(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def needs(self) -> tuple[tuple[str, str], ...]:
        return ()

    def equations(self, s: Quantities) -> Any:
        if self.has_position_level:
            return self.rows(s.relative, s.numbers)
        return self.rates(s.relative, s.relative_twist, s.numbers)

    def side_of(self, s: Quantities) -> Any:
        return self.side(s.relative, s.numbers)

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """Return the residuals of the equations at position level."""
        raise NotImplementedError

    def rates(self, X_JF: Placement, V_JF_J: Any, n: Mapping[str, Any]) -> Any:
        """Return equations without position level, linear in the twist of F relative to J, about F in J axes."""
        raise NotImplementedError

    def side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """Return a positive value on the intended branch, a negative one on that turned by 180 degrees."""
        return 1.0
