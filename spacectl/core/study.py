"""`Study`: a question, its parameters and the run that answers it.

`studies/<name>/study.py` holds ``STUDY = Study(...)``; the command line finds it, overrides parameters, runs it
and writes metrics, data, figures and a page.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.figure import Figure
from spacectl.core.printed import Printed
from spacectl.core.requirement import Requirement
from spacectl.core.shape import Shape

__all__ = ["Progress", "Study", "StudyResult", "override_parameters", "withhold_verdicts"]

Progress = Callable[[float, str], None]  #: (fraction done, what is being done)


@dataclass(frozen=True, kw_only=True)
class StudyResult:
    """What a study found.

    Parameters
    ----------
    metrics : mapping
        One flat object: numbers, texts, booleans, None (a peer that is not installed) or lists of those; SI.
    simulations : mapping of str to Simulation
        Histories to keep, by name; anything with a ``dataset`` attribute.
    figures : tuple of Figure
        To be drawn.
    notes : tuple of str
        Sentences for the report: findings, and warnings such as a peer that is not installed.
    systems : mapping of str to System
        Models to draw; default: those of the simulations.
    equations : mapping of str to EquationsOfMotion
        Equations to summarise; default: those of the simulations.
    linear : mapping of str to LinearModel
        Linear models to summarise.
    laws : mapping of str to ControlLaw
        Laws whose gains are shown; default: those of the simulations.
    plans : mapping of str to Plan
        Planned maneuvers, with their arcs and phase plane.
    printed : tuple of Printed
        Results printed in the documents, next to ours.
    requirements : tuple of Requirement
        What the study itself asks of its metrics; a user may add others.
    shapes : mapping of str to Shape, or to several
        Looks of bodies in the replay, by name; others are drawn from their joints, mass and inertia.
    """

    metrics: Mapping[str, Any]
    simulations: Mapping[str, Any] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    systems: Mapping[str, Any] = field(default_factory=dict)
    equations: Mapping[str, Any] = field(default_factory=dict)
    linear: Mapping[str, Any] = field(default_factory=dict)
    laws: Mapping[str, Any] = field(default_factory=dict)
    plans: Mapping[str, Any] = field(default_factory=dict)
    printed: tuple[Printed, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    shapes: Mapping[str, Shape | Sequence[Shape]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("figures", "notes", "printed", "requirements"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "metrics", {key: _plain(key, value) for key, value in self.metrics.items()})


@dataclass(frozen=True, kw_only=True)
class Study:
    """A reproducible question.

    Parameters
    ----------
    question : str
        One line.
    parameters : frozen dataclass instance
        Defaults; every field can be overridden by name.
    run : callable
        ``run(parameters, *, quick, progress) -> StudyResult``.
    """

    question: str
    parameters: Any
    run: Callable[..., StudyResult]

    def __post_init__(self) -> None:
        if not dataclasses.is_dataclass(self.parameters) or isinstance(self.parameters, type):
            raise ModelError(f"study: parameters must be an instance of a frozen dataclass, got {self.parameters!r}")


def override_parameters(parameters: Any, overrides: Mapping[str, Any]) -> Any:
    """A copy of the dataclass `parameters` with fields replaced, converted to the type of their default.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class P:
    ...     mass: float = 1.0
    >>> override_parameters(P(), {"mass": "2.5"})
    P(mass=2.5)
    """
    fields = {item.name: getattr(parameters, item.name) for item in dataclasses.fields(parameters)}
    changes = {}
    for key, value in overrides.items():
        if key not in fields:
            raise ModelError(unknown_name("parameter", key, fields))
        changes[key] = _convert(key, value, fields[key])
    return dataclasses.replace(parameters, **changes)


def withhold_verdicts(result: StudyResult, parameters: Any, defaults: Any) -> StudyResult:
    """Mark published results as not comparable if `parameters` differ from the study's own, for which they were computed.

    Parameters
    ----------
    result : StudyResult
        What the study found with `parameters`.
    parameters, defaults : dataclass instances
        The numbers of the run, and those of the study.
    """
    names = [item.name for item in dataclasses.fields(defaults)]
    changed = tuple(name for name in names if getattr(parameters, name) != getattr(defaults, name))
    printed = tuple(dataclasses.replace(item, changed=changed) for item in result.printed)
    return dataclasses.replace(result, printed=printed) if changed else result


def _convert(key: str, value: Any, default: Any) -> Any:
    """`value` (perhaps text from the command line) as the type of `default`."""
    kind = type(default)
    try:
        if kind is bool:
            words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            return value if isinstance(value, bool) else words[str(value).strip().lower()]
        if kind is int:
            if isinstance(value, bool) or float(value) != int(float(value)):
                raise ValueError
            return int(float(value))
        if kind is float:
            number = float(value)
            if not math.isfinite(number):
                raise ValueError
            return number
        if kind is tuple:
            items = value.strip("()[] ").split(",") if isinstance(value, str) else list(value)
            sample = default[0] if default else 0.0
            return tuple(_convert(key, item, sample) for item in items if str(item).strip())
        if kind is str:
            return str(value)
    except (ValueError, KeyError, TypeError):
        pass
    raise ModelError(f"parameter '{key}': cannot read {value!r} as {kind.__name__} (default {default!r})")


def _plain(key: str, value: Any) -> Any:
    """A metric as plain JSON data; NaN and infinity are refused, since JSON has neither."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(key, item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ModelError(f"metric '{key}': {value!r} is not a finite number, text, boolean, None or a list of those")
