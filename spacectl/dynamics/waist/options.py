"""Options of `form_equations` that a formulation receives besides the system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import NamedExpression
from spacectl.model.description import set_field

__all__ = ["Baumgarte", "Options", "choose_speeds"]


@dataclass(frozen=True, kw_only=True)
class Baumgarte:
    """Constraint errors decay as ``g_ddot + 2 alpha g_dot + beta^2 g = 0`` (Aslanov et al., Eq. 33, with the sign corrected).

    Parameters
    ----------
    alpha, beta : float
        [1/s]. The default 10 lets errors decay within half a second; take more for fast mechanisms, with care: the
        equations become as stiff as these rates. Equal values are critically damped.
    """

    alpha: float = 10.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        for key in ("alpha", "beta"):
            set_field(self, key, as_scalar(getattr(self, key), f"Baumgarte: {key}"))
            if getattr(self, key) < 0.0:
                raise ModelError(f"Baumgarte: {key} is {getattr(self, key):g} 1/s, expected 0 or more")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `form_equations`: parameters to vary, constraints, stabilisation, coordinates, speeds, partition, switches."""

    vary: tuple[str, ...] = ()
    active: tuple[str, ...] | None = None
    stabilization: Baumgarte | None = None
    coordinates: str = "joint"
    speeds: tuple[tuple[str, Any], ...] = ()
    independent: tuple[str, ...] = ()
    switchable: bool = False

    @property
    def key(self) -> list[Any]:
        """The options that decide the form of the equations."""
        return [
            list(self.active) if self.active is not None else None,
            self.stabilization,
            self.coordinates,
            self.speeds,
            *([list(self.independent)] if self.independent else []),
            *(["switchable"] if self.switchable else []),
        ]


def choose_speeds(rules: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    """Return the rules of chosen speeds as data: (replaced speed, (name, expression, unit))."""
    found = []
    for old, given in (rules or {}).items():
        if not isinstance(given, tuple) or len(given) not in (2, 3) or not isinstance(given[0], str):
            raise ModelError(f"speeds: '{old}' is given {given!r}, expected (name, rule) or (name, rule, unit)")
        name, rule, unit = (*given, "1")[:3]
        found.append((str(old), (name, NamedExpression(rule, f"speed '{name}'"), str(unit))))
    return tuple(found)
