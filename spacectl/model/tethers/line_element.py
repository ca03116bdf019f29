"""The base of the tethers: a line that leaves a drum on its mother body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, always, check_name, set_field, set_scalars
from spacectl.model.elements import PointElement, length_over_time
from spacectl.model.tethers.line import LineSpool

__all__ = ["ROOTS", "LineElement"]

ROOTS = ("world", "orbit")
_SHORTEST = 1e-3  # default of `shortest`, relative to the initial length


@dataclass(frozen=True, kw_only=True)
class LineElement(PointElement):
    """Base of the tethers: a line that leaves a drum on its mother body.

    The stored line moves with the mother as a point mass at the drum; an element of line acquires its velocity where it
    leaves the drum (or loses it there). With the deployed length L and the tension T(0) just outside the drum, the force
    on the mother is ``T(0) - density L_dot^2`` along the line for either sign of L_dot, which conserves total momentum.

    Parameters
    ----------
    on : str
        The mother, which carries the drum: ``"world"``, a body or ``"body.frame"``.
    at : vector, shape (3,)
        Point where the line leaves it, in the axes of that frame [m].
    length : float or function of time
        Deployed (unstretched) length L [m], positive; a function is written ``lambda s: 100.0 - 0.5 * s.t``.
    density : float
        Mass per unstretched length [kg/m]; 0 for a massless line.
    spool : float, optional
        Total length of line, deployed and stored [m]. Required for a line with mass whose length changes (unless on the
        root). If omitted for a constant length, no line is stored.
    shortest : float, optional
        Deployed length at which a run stops with an error, because the equations become singular at zero [m]; default: a
        thousandth of the initial length.
    """

    on: str
    at: Any = (0.0, 0.0, 0.0)
    length: Any
    density: float = 0.0
    spool: float | None = None
    shortest: float | None = None

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        set_field(self, "at", as_array(self.at, (3,), f"{self._what}: at"))
        set_field(self, "length", length_over_time(self.length, self._what))
        set_scalars(self, self._what, "density", sign="not negative", unit=" kg/m")
        least = _SHORTEST * self.start if self.shortest is None else as_scalar(self.shortest, f"{self._what}: shortest")
        if not 0.0 < least < self.start:
            raise ModelError(
                f"{self._what}: shortest is {least:g} m, expected a positive length below the initial {self.start:g} m"
            )
        set_field(self, "shortest", least)
        if self.spool is not None:
            set_field(self, "spool", as_scalar(self.spool, f"{self._what}: spool"))
            if not self.spool > self.start:
                raise ModelError(
                    f"{self._what}: spool is {self.spool:g} m, less than the deployed {self.start:g} m; it is the total "
                    "length of line, deployed and stored"
                )
        elif self.density > 0.0 and self.changes and self.on not in ROOTS:
            raise ModelError(
                f"{self._what}: its length changes and it has mass, so the line on the drum matters; give spool, the "
                "total length of line [m]"
            )

    def derived_numbers(self, key: str) -> tuple[str, ...]:
        """Return the parameters that follow from a field: ``length`` also determines the default ``shortest``."""
        is_default = key == "length" and not self.changes and self.shortest == _SHORTEST * self.start
        return ("length", "shortest") if is_default else ()

    def changed(self, **changes: Any) -> LineElement:
        """Return the tether with other values of fields."""
        return replace(
            self, **({"shortest": None, **changes} if set(changes) & set(self.derived_numbers("length")) else changes)
        )

    def number_derivatives(self, key: str) -> dict[str, np.ndarray] | None:
        """Return the derivatives of the parameters that follow from a field."""
        columns = {"length": np.ones((1, 1)), "shortest": np.full((1, 1), _SHORTEST)}
        return columns if self.derived_numbers(key) else None

    @property
    def only_pushes(self) -> bool:
        return not (self.density or self.parts())

    @property
    def _what(self) -> str:
        return f"tether '{self.name}'"

    @property
    def profile(self) -> TimeExpression | None:
        """The length as a function of time, if it is one."""
        return self.length if isinstance(self.length, TimeExpression) else None

    @property
    def start(self) -> float:
        """Deployed length at time 0, or at the reference position [m]."""
        return float(self.length) if self.profile is None else float(self.profile(0.0)[0])

    @property
    def changes(self) -> bool:
        """Whether the deployed length can change."""
        return self.profile is not None

    @property
    def _spool_part(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        if self.spool is None or not self.density or self.on in ROOTS:
            return ()
        return ((LineSpool(name=f"{self.name}_spool", line=self.name), {"on": self.on, "at": self.at}),)

    def numbers(self) -> dict[str, Number]:
        numbers = {"shortest": always(self.shortest)}
        if not self.changes:
            numbers["length"] = always(self.length)
        if self.density:
            numbers["density"] = always(self.density)
            if self._spool_part:
                numbers["spool"] = always(self.spool)
        return numbers

    def deployed(self, t: Any, coordinate: Any | None, n: Mapping[str, Any]) -> Any:
        if self.profile is not None:
            return self.profile(t)[0]
        return n["length"] if coordinate is None else coordinate

    def fault(self, t: float, coordinate: float | None) -> str:
        length = self.deployed(t, coordinate, {"length": self.length})
        margin = 1e-6 * self.start  # a run stops within its last step, just before that length
        if self.shortest is not None and length <= self.shortest + margin:
            return (
                f"{self._what} is reeled in to {length:.3g} m, its shortest length; end the run earlier by a Guard on its "
                "length, or reel in more slowly towards the end"
            )
        if self._spool_part and self.spool is not None and length >= self.spool - margin:
            return f"{self._what} is fully deployed: {length:.6g} m of {self.spool:g} m; give a longer spool"
        return ""
