"""`Printed`: a result printed in a source document, next to ours, with a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError

__all__ = ["VERDICTS", "Printed"]

#: ``corrected``: the printed result is in error, and the remark says where
VERDICTS = ("agrees", "differs", "corrected")


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One printed result.

    Parameters
    ----------
    what : str
        The quantity, in words.
    source : str
        Document and place: ``"003 Table 5.2"``.
    printed, ours : float, str or None
        The printed value and ours, SI; texts for a statement. None where ours is not available (then there is no verdict).
    unit : str
        SI unit of both.
    within : float, optional
        How far ours may lie from the printed value, relative to it: what its digits, or reading a curve, can tell. The
        verdict then follows from the numbers.
    verdict : {"", "agrees", "differs", "corrected"}
        For statements, and where the printed result is in error (`corrected`); otherwise left out.
    remark : str
        Why they differ, or how the printed value was read.

    Examples
    --------
    >>> Printed(what="period", source="001 p. 12", printed=32.0, ours=32.4, unit="s", within=0.02).verdict
    'agrees'
    """

    what: str
    source: str
    printed: Any
    ours: Any
    unit: str = ""
    within: float | None = None
    verdict: str = ""
    remark: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in ("", *VERDICTS):
            raise ModelError(f"printed '{self.what}': verdict {self.verdict!r}, expected one of {', '.join(VERDICTS)}")
        if self.verdict == "corrected" and not self.remark:
            raise ModelError(f"printed '{self.what}': a corrected result needs a remark that says what is in error")
        for name in ("printed", "ours"):
            value = getattr(self, name)
            object.__setattr__(self, name, value.item() if hasattr(value, "item") else value)
        if self.within is not None and not self.verdict and self.ours is not None:
            is_near = abs(self.ours - self.printed) <= self.within * abs(self.printed)
            object.__setattr__(self, "verdict", "agrees" if is_near else "differs")
        if not self.verdict and self.ours is not None:
            raise ModelError(f"printed '{self.what}': give `within`, or a verdict")
