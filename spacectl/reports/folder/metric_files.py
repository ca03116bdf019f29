"""Metrics of many studies in one JSON file, and the comparison of two such files.

`spacectl metrics` writes them. The comparison shows whether a change of the code changes results: values
count as equal if they are displayed with the same digits, and values of rounding size (below `NOISE`) are
compared by magnitude.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.core.input_checks import regular_file
from spacectl.reports.units import NOISE, format_value

__all__ = ["FORMS", "MetricChange", "compare_metrics", "read_metrics", "write_metrics"]

FORMS = ("quick", "full")  #: short and full form of a study
KIND = "spacectl metrics 1"


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """A metric that differs between two files.

    Parameters
    ----------
    study, form, name : str
        Its study, form and name; `name` is ``"error"`` for a study that failed in one of the files.
    before, after : Any
        Its values; None if the file does not have it.
    kind : {"changed", "noise", "new", "gone"}
        ``"noise"``: both values are of rounding size.
    """

    study: str
    form: str
    name: str
    before: Any
    after: Any
    kind: str

    def __str__(self) -> str:
        place = f"{self.study} [{self.form}] {self.name}"
        if self.kind in ("new", "gone"):
            return f"{place}: {self.kind} ({_shown(self.after if self.kind == 'new' else self.before)})"
        return f"{place}: {_shown(self.before)} -> {_shown(self.after)}{self._relative()}"

    def _relative(self) -> str:
        if not (_is_number(self.before) and _is_number(self.after)) or not self.before:
            return ""
        return f" ({(self.after - self.before) / abs(self.before):+.2g} of it)"


def write_metrics(file: Path, studies: Mapping[str, Any]) -> None:
    """Write the metrics of `studies`, replacing the file atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    text = json.dumps({"kind": KIND, "studies": studies}, indent=1, ensure_ascii=False, allow_nan=False)
    aside.write_text(text + "\n", encoding="utf-8")
    aside.replace(file)


def read_metrics(file: Path) -> dict[str, Any]:
    """Read a file of `write_metrics`: ``{study: {form: {"metrics": ..., ...}}}``.

    Raises
    ------
    ModelError
        If the file is missing or not a file of metrics.
    """
    try:
        data = json.loads(regular_file(file).read_text(encoding="utf-8"))
        if data["kind"] != KIND or not all(set(forms) <= set(FORMS) for forms in data["studies"].values()):
            raise ValueError
    except OSError as error:
        raise ModelError(f"metrics file '{file}': {error.strerror}; write it with `spacectl metrics`") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"metrics file '{file}' is not one that `spacectl metrics` wrote") from error
    return dict(data["studies"])


def compare_metrics(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[MetricChange, ...]:
    """List the differences of two sets of metrics, in the form that `read_metrics` returns.

    Studies and forms that one of the sets lacks are ignored, so that a subset can be compared with the full
    set.
    """
    return tuple(_changes(before, after))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[MetricChange]:
    for study in sorted(set(before) & set(after)):
        for form in FORMS:
            if form not in before[study] or form not in after[study]:
                continue
            old, new = _values(before[study][form]), _values(after[study][form])
            for name in dict.fromkeys((*old, *new)):
                kind = _kind(old, new, name)
                if kind:
                    yield MetricChange(
                        study=study, form=form, name=name, before=old.get(name), after=new.get(name), kind=kind
                    )


def _values(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"error": entry["error"]} if "error" in entry else dict(entry["metrics"])


def _kind(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> str:
    """Return the kind of difference of a metric; "" if there is none."""
    if name not in old or name not in new:
        return "new" if name in new else "gone"
    pair = (old[name], new[name])
    if _shown(pair[0]) == _shown(pair[1]):
        return ""
    is_noise = all(_is_number(value) and abs(value) < NOISE for value in pair)
    return "noise" if is_noise else "changed"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return str(format_value(value))
