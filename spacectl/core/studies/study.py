"""`Study`: a question, its parameters and the function that answers it.

`studies/<name>/study.py` defines ``STUDY = Study(...)``. The command line finds it, overrides parameters,
runs it, and writes metrics, data, figures and a page.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.figure import Figure
from spacectl.core.input_checks import sequence_of
from spacectl.core.shape import Shape
from spacectl.core.studies.published import PublishedResult
from spacectl.core.studies.report_panel import ReportPanel
from spacectl.core.studies.requirement import Requirement

__all__ = ["Progress", "Study", "StudyResult", "override_parameters", "parameter_value", "withhold_verdicts"]

Progress = Callable[[float, str], None]  #: (fraction done, description of the current step)


@dataclass(frozen=True, kw_only=True)
class StudyResult:
    """Results of a study.

    Parameters
    ----------
    metrics : mapping
        One flat object: numbers, texts, booleans, None (a peer that is not installed) or lists of those; SI.
    simulations : mapping of str to Simulation
        Histories to store, by name; any object with a ``dataset`` attribute.
    figures : tuple of Figure
        Figures.
    notes : tuple of str
        Sentences for the report: findings, and warnings such as a peer that is not installed.
    systems : mapping of str to System
        Models to draw; default: those of the simulations.
    equations : mapping of str to EquationsOfMotion
        Equations to summarise; default: those of the simulations.
    linear : mapping of str to LinearModel
        Linear models to summarise.
    laws : mapping of str to ControlLaw
        Laws to summarise, with their gains; default: those of the simulations.
    plans : mapping of str to Plan
        Planned maneuvers, with their arcs and phase plane.
    printed : tuple of PublishedResult
        Published results beside ours.
    requirements : tuple of Requirement
        Requirements of the study on its metrics; a user may add others.
    shapes : mapping of str to Shape, or to several
        Appearance of bodies in the replay, by name; others are drawn from their joints, mass and inertia.
    panels : tuple of ReportPanel
        Additional sections after the figures.
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
    printed: tuple[PublishedResult, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    shapes: Mapping[str, Shape | Sequence[Shape]] = field(default_factory=dict)
    panels: tuple[ReportPanel, ...] = ()

    def __post_init__(self) -> None:
        kinds = {
            "figures": Figure,
            "notes": str,
            "printed": PublishedResult,
            "requirements": Requirement,
            "panels": ReportPanel,
        }
        for name, kind in kinds.items():
            object.__setattr__(self, name, sequence_of(kind, getattr(self, name), f"study result: {name}"))
        if not isinstance(self.metrics, Mapping):
            raise ModelError(f"study result: metrics is {self.metrics!r}, expected a mapping of names to values")
        for key in self.metrics:
            if not isinstance(key, str):
                raise ModelError(f"metrics: the name {key!r} is not text; expected text such as 'peak_torque'")
        object.__setattr__(self, "metrics", {key: _plain(key, value) for key, value in self.metrics.items()})


@dataclass(frozen=True, kw_only=True)
class Study:
    """A reproducible question.

    Parameters
    ----------
    question : str
        The question, in one line.
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
    """Return a copy of the dataclass `parameters` with fields replaced, converted to the type of their default.

    A name with a dot is a field of a component of a system among the parameters: ``"boom.EI"``.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class P:
    ...     mass: float = 1.0
    >>> override_parameters(P(), {"mass": "2.5"})
    P(mass=2.5)
    """
    fields = {item.name: getattr(parameters, item.name) for item in dataclasses.fields(parameters)}
    types = {item.name: item.type for item in dataclasses.fields(parameters)}
    changes: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for key, value in overrides.items():
        holder = _holder(parameters, key)
        if holder == key:
            changes[key] = _convert(key, value, fields[key])
            _check_length(key, value, changes[key], fields[key], types[key])
        else:
            inner.setdefault(holder, {})[key] = _numbers(key, value)
    for holder, own in inner.items():
        changes[holder] = fields[holder].changed(own)
    return dataclasses.replace(parameters, **changes)


def parameter_value(parameters: Any, key: str) -> Any:
    """Return the value of a parameter of a study, or of a field within a system among them."""
    holder = _holder(parameters, key)
    value = getattr(parameters, holder)
    return value if holder == key else value.field_value(key)


def _holder(parameters: Any, key: str) -> str:
    """Return the field that contains a name: the field of that name, or the system with such a field."""
    fields = {item.name: getattr(parameters, item.name) for item in dataclasses.fields(parameters)}
    if key in fields:
        return key
    inner = {name: value.field_names() for name, value in fields.items() if hasattr(value, "field_names")}
    found = [name for name, names in inner.items() if key in names]
    if len(found) != 1:
        known = [*fields, *(name for names in inner.values() for name in names)]
        several = f"parameter '{key}': {', '.join(found)} all have it; rename a part in one of them"
        raise ModelError(several if found else unknown_name("parameter", key, known))
    return found[0]


def _numbers(key: str, value: Any) -> Any:
    """Convert one number, or several separated by commas."""
    if not isinstance(value, str):
        return value
    numbers = _convert(key, value, (0.0,))
    return numbers if "," in value else numbers[0]


def _check_length(key: str, given: Any, value: Any, default: Any, annotation: Any) -> None:
    if isinstance(default, tuple) and len(value) != len(default) and not _may_vary(annotation):
        raise ModelError(
            f"parameter '{key}': {given!r} has {len(value)} entries, expected {len(default)} (default {default!r})"
        )


def _may_vary(annotation: Any) -> bool:
    """Return whether a field admits tuples of any length: ``tuple[float, ...]``, or entries not annotated."""
    text = str(annotation)
    return "..." in text or "[" not in text


def withhold_verdicts(result: StudyResult, parameters: Any, defaults: Any) -> StudyResult:
    """Mark published results as not comparable if `parameters` differ from the study's own, for which they were computed.

    Parameters
    ----------
    result : StudyResult
        Result of the study with `parameters`.
    parameters, defaults : dataclass instances
        Parameters of the run, and defaults of the study.
    """
    names = [item.name for item in dataclasses.fields(defaults)]
    changed = tuple(name for name in names if getattr(parameters, name) != getattr(defaults, name))
    printed = tuple(dataclasses.replace(item, changed=changed) for item in result.printed)
    return dataclasses.replace(result, printed=printed) if changed else result


def _convert(key: str, value: Any, default: Any) -> Any:
    """Convert `value` (possibly text from the command line) to the type of `default`."""
    kind = type(default)
    try:
        if kind is bool:
            words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            return value if isinstance(value, bool) else words[str(value).strip().lower()]
        if kind is int:
            return _whole(value)
        if kind is float:
            if isinstance(value, bool):
                raise ValueError
            number = float(value)
            if not math.isfinite(number):
                raise ValueError
            return number
        if kind is tuple:
            items = value.strip("()[] ").removesuffix(",").split(",") if isinstance(value, str) else list(value)
            items = [] if items == [""] else items
            samples = default if len(default) == len(items) else [default[0] if default else 0.0] * len(items)
            return tuple(_convert(key, item, sample) for item, sample in zip(items, samples, strict=True))
        if kind is str:
            return str(value)
    except (ValueError, KeyError, TypeError, OverflowError):
        pass
    shown = repr(default)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    raise ModelError(f"parameter '{key}': cannot read {value!r} as {kind.__name__} (default {shown})")


def _whole(value: Any) -> int:
    """Convert to an integer exactly: a text of many digits is not converted through a float."""
    if isinstance(value, bool):
        raise ValueError
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass  # perhaps 1e3
    number = float(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _plain(key: str, value: Any) -> Any:
    """Convert a metric to plain JSON data; raise `ModelError` for NaN and infinity, which JSON lacks."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(key, item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ModelError(f"metric '{key}': {value!r} is not a finite number, text, boolean, None or a list of those")
