"""`PublishedResult`: a published result beside ours, with a verdict computed from both and a tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from spacectl.core.errors import ModelError, warn

__all__ = ["VERDICTS", "Printed", "PublishedResult"]  # noqa: F822

#: ``corrected``: ours and an independent value agree with each other and not with the published one;
#: ``not comparable``: the parameters of the study were changed, so that the published result does not apply
VERDICTS = ("agrees", "differs", "corrected", "not comparable")


@dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """A published result beside ours, with a verdict computed from the other fields.

    A number is compared by `within`, a statement (text) by `holds`. A result that does not agree is ``corrected`` if
    an independent computation confirms ours and not the publication, otherwise it ``differs``.

    Parameters
    ----------
    what : str
        The quantity, in words.
    source : str
        Document and place: ``"Sadigh 1995, Table 5.2"``.
    printed, ours : float, str or None
        The published value and ours, SI; texts for a statement. If ours is None (not available), there is no verdict.
    unit : str
        SI unit of both.
    within : float, optional
        Tolerance of a number, relative to the published value: the precision of its digits or of reading a curve.
    holds : bool, optional
        Whether our results support a published statement: an expression that the study evaluates.
    criterion : str
        Criterion by which `holds` is decided, in words and with its tolerance.
    independent : float or bool, optional
        Our result by an independent method: a number, or whether a statement is confirmed.
    independent_by : str
        The independent method, in words.
    remark : str
        Reason for a difference, or how the published value was read. A corrected result needs a remark that
        states the error; without one it ``differs``.
    changed : tuple of str
        Parameters of the study that differ from its defaults; if there are any, the verdict is ``not comparable``.

    Attributes
    ----------
    verdict : {"", "agrees", "differs", "corrected", "not comparable"}
        Computed; empty where ours is None.

    Raises
    ------
    ModelError
        If a field that the verdict needs is missing, or is not valid for a number or a statement.

    Examples
    --------
    >>> PublishedResult(what="period", source="handbook p. 12", printed=32.0, ours=32.4, unit="s", within=0.02).verdict
    'agrees'
    >>> wrong = dict(what="period", source="handbook p. 12", printed=23.0, unit="s", within=0.02, remark="digits exchanged")
    >>> PublishedResult(**wrong, ours=32.4, independent=32.3, independent_by="closed form").verdict
    'corrected'
    """

    what: str
    source: str
    printed: Any
    ours: Any
    unit: str = ""
    within: float | None = None
    holds: bool | None = None
    criterion: str = ""
    independent: Any = None
    independent_by: str = ""
    remark: str = ""
    changed: tuple[str, ...] = ()
    verdict: str = field(init=False, default="")

    def __post_init__(self) -> None:
        for name in ("printed", "ours", "within", "holds", "independent"):
            value = getattr(self, name)
            object.__setattr__(self, name, value.item() if hasattr(value, "item") else value)
        object.__setattr__(self, "changed", tuple(self.changed))
        if _is_not_finite(self.ours):  # not available in this run
            object.__setattr__(self, "ours", None)
        if _is_not_finite(self.independent):
            object.__setattr__(self, "independent", None)
            object.__setattr__(self, "independent_by", "")
        if self.ours is None:
            return
        self._check()
        object.__setattr__(self, "verdict", self._judge())

    def _check(self) -> None:
        if isinstance(self.printed, str) != isinstance(self.ours, str):
            raise self._error(f"published {self.printed!r}, ours {self.ours!r}; give two numbers or two texts")
        if isinstance(self.printed, str) and (
            self.within is not None or not isinstance(self.holds, bool) or not self.criterion
        ):
            raise self._error(
                "a statement needs `holds` (a computed bool) and `criterion` (its criterion), not `within`"
            )
        if not isinstance(self.printed, str) and (self.within is None or self.holds is not None):
            raise self._error("a number needs `within`, its relative tolerance, not `holds`")
        for name in ("printed", "ours", "independent", "within"):
            self._check_number(name, getattr(self, name))
        if (self.independent is None) != (not self.independent_by):
            raise self._error("give `independent` and `independent_by` (its method, in words) together")
        if self.independent is not None and isinstance(self.independent, bool) != isinstance(self.printed, str):
            raise self._error(f"independent {self.independent!r}; give a bool for a statement, a number for a number")

    def _judge(self) -> str:
        if self.changed:
            return "not comparable"
        if self.holds if self.within is None else self._is_near(self.printed):
            return "agrees"
        if self.independent is None:
            return "differs"
        if self.within is None:
            return "corrected" if not self.independent and self.remark else "differs"
        is_confirmed = self._is_near(self.independent) and not self._is_near(self.printed, self.independent)
        return "corrected" if is_confirmed and self.remark else "differs"

    def _is_near(self, value: float, other: float | None = None) -> bool:
        """Return whether our result (or `other`) agrees with `value` within the tolerance of the published value."""
        given = self.ours if other is None else other
        return bool(abs(given - value) <= (self.within or 0.0) * abs(self.printed))

    def _check_number(self, name: str, value: Any) -> None:
        if value is None or isinstance(value, (str, bool)):
            return
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self._error(f"{name} is {value!r}, expected a finite number or a text")
        if name == "within" and value < 0.0:
            raise self._error(f"within is {value:g}, expected a relative tolerance of 0 or more")

    def _error(self, text: str) -> ModelError:
        return ModelError(f"published result '{self.what}': {text}")


def __getattr__(name: str) -> Any:
    """Return `PublishedResult` for its former name `Printed`."""
    if name != "Printed":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    warn("spacectl.Printed is now called PublishedResult", DeprecationWarning)
    return PublishedResult


def _is_not_finite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
