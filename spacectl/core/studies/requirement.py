"""`Requirement`: a condition on a metric of a study, such as ``"peak_torque <= 800"``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError, unknown_name

__all__ = ["Requirement", "Verdict", "parse_requirement"]

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_FORM = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*(\S.*?)\s*")
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a requirement is met.

    Parameters
    ----------
    requirement : Requirement
        The requirement.
    is_met : bool
        Whether the metric satisfies it.
    reason : str
        Reason why it cannot be judged (no such metric, not available), or empty.
    """

    requirement: Requirement
    is_met: bool
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A bound on a metric, in SI units.

    Parameters
    ----------
    metric : str
        Key of the metric.
    relation : {"<=", ">=", "<", ">", "==", "!="}
        Relation of the metric to the bound.
    bound : float, bool or str
        The bound. A metric that is a list satisfies it if it has entries and every entry does.
    """

    metric: str
    relation: str
    bound: Any

    def __post_init__(self) -> None:
        if self.relation not in _RELATIONS:
            allowed = ", ".join(_RELATIONS)
            raise ModelError(f"requirement on '{self.metric}': relation {self.relation!r}, expected one of {allowed}")
        if isinstance(self.bound, float) and not math.isfinite(self.bound):
            raise ModelError(
                f"requirement on '{self.metric}': the bound is {self.bound}, expected a finite number, true, false or a text"
            )
        if isinstance(self.bound, (bool, str)) and self.relation not in ("==", "!="):
            raise ModelError(
                f"requirement on '{self.metric}': {self.bound!r} cannot be compared by {self.relation}; use == or !=, or a number"
            )

    def __str__(self) -> str:
        bound = str(self.bound).lower() if isinstance(self.bound, bool) else f"{self.bound}"
        return f"{self.metric} {self.relation} {bound}"

    def judge(self, metrics: Mapping[str, Any]) -> Verdict:
        """Compare with the metrics of a result; a requirement that cannot be judged is not met."""
        if self.metric not in metrics:
            return Verdict(requirement=self, is_met=False, reason=unknown_name("metric", self.metric, metrics))
        value = metrics[self.metric]
        if value is None:
            return Verdict(requirement=self, is_met=False, reason="the metric is not available in this run")
        entries = _flat(value)
        if not entries:
            return Verdict(requirement=self, is_met=False, reason="the metric is an empty list")
        if any(_kind(entry) != _kind(self.bound) for entry in entries):
            return Verdict(requirement=self, is_met=False, reason=f"metric {value!r} cannot be compared with the bound")
        return Verdict(requirement=self, is_met=all(_RELATIONS[self.relation](entry, self.bound) for entry in entries))


def parse_requirement(text: str) -> Requirement:
    """Parse a requirement such as ``"peak_torque <= 800"``; the bound is a number, true, false, or a text.

    Raises
    ------
    ModelError
        If the text has another form.

    Examples
    --------
    >>> str(parse_requirement("peak_torque<=800"))
    'peak_torque <= 800.0'
    >>> parse_requirement("is_stable == true").judge({"is_stable": True}).is_met
    True
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ModelError(f"requirement '{text}': expected metric, relation and bound, such as 'peak_torque <= 800'")
    metric, relation, bound = found.groups()
    return Requirement(metric=metric, relation=relation, bound=_bound(bound))


def _bound(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text.strip("'\"")


def _kind(value: Any) -> str:
    """Return the kind of value that a metric or bound compares with; booleans are not numbers."""
    if isinstance(value, (bool, str)) or value is None:
        return type(value).__name__
    return "number"


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [entry for item in value for entry in _flat(item)]
    return [value]
