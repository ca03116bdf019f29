"""The base of all constraints: a name, what maintains it, and how much it yields."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, check_name, set_field

__all__ = ["AnyConstraint", "Artificial", "Natural"]


_OWN = ("name", "kind", "compliance")  # fields of every constraint


@dataclass(frozen=True, kw_only=True)
class Natural:
    """The constraint is kept by ideal forces along its own gradient: a bearing, a rail, a rigid link."""


@dataclass(frozen=True, kw_only=True)
class Artificial:
    """The constraint is kept by actuators, whose inputs the equations find (003 chapter 3).

    Parameters
    ----------
    by : tuple of str
        Names of as many inputs as the constraint has rows.
    """

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        names = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        if not names or any(not isinstance(name, str) for name in names):
            raise ModelError(f"Artificial: by is {self.by!r}, expected names of actuators: by=('wrist',)")
        set_field(self, "by", names)


@dataclass(frozen=True, kw_only=True)
class AnyConstraint:
    """Base: a name, who keeps it, and how much it yields.

    Parameters
    ----------
    name : str
        Unique; residuals and multipliers are named after it.
    kind : Natural or Artificial
        Default: `Natural`.
    compliance : float or sequence of float, optional
        How much each constraint equation yields per unit of its reaction [m/N, rad/(N m)], one value for all or one for each.
        It decides how redundant constraints share a load that the equations of motion leave open (least work,
        ``min sum(compliance * lam**2)``) and changes nothing else: the constraint stays rigid. Only ratios matter. If omitted,
        all equations count equally, and no split is claimed to be physical.
    """

    name: str
    kind: Natural | Artificial = field(default_factory=Natural)
    compliance: Any = None

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        if not isinstance(self.kind, (Natural, Artificial)):
            raise ModelError(f"{self._what}: kind is {self.kind!r}, expected Natural() or Artificial(by=('wrist',))")
        if self.compliance is not None:
            set_field(self, "compliance", self._checked_compliance())

    def _checked_compliance(self) -> tuple[float, ...]:
        try:
            values = np.atleast_1d(np.asarray(self.compliance, dtype=float))
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if values.ndim != 1 or not values.size or not np.all(np.isfinite(values) & (values >= 0.0)):
            raise ModelError(
                f"{self._what}: compliance is {self.compliance!r}, expected numbers [m/N or rad/(N m)] that are not negative"
            )
        if not self.is_natural:
            raise ModelError(
                f"{self._what}: compliance is for natural constraints; this one is kept by actuators, omit it"
            )
        return tuple(values.tolist())

    @property
    def row_compliance(self) -> tuple[float, ...]:
        """Compliance of each constraint equation; 1 if none was given, which makes all count equally in SI units."""
        given = (1.0,) if self.compliance is None else self.compliance
        return given * self.n_rows if len(given) == 1 else given

    @property
    def _what(self) -> str:
        return f"constraint '{self.name}'"

    @property
    def is_natural(self) -> bool:
        """Whether ideal forces keep it."""
        return isinstance(self.kind, Natural)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Name of each scalar condition within the constraint; empty for a single one."""
        return ("",)

    @property
    def n_rows(self) -> int:
        """Number of scalar conditions."""
        return len(self.row_names)

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {}

    @property
    def structure(self) -> tuple[Any, ...]:
        """What besides its kind, name, compliance and numbers decides the form of its equations: here all other fields."""
        known = {*_OWN, *self.numbers()}
        return tuple(getattr(self, item.name) for item in fields(self) if item.name not in known)
