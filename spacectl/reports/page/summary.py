"""Tables of a report about a study: metrics, parameters, simulations, and the `StudyRecord` of a run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacectl.core.provenance import versions
from spacectl.core.studies.requirement import Requirement, Verdict
from spacectl.reports.units import format_value, metric_unit, pretty_unit, shown_unit
from spacectl.simulation.results.doubts import SATURATED

__all__ = [
    "Row",
    "StudyRecord",
    "event_rows",
    "metric_rows",
    "parameter_rows",
    "printed_rows",
    "simulation_rows",
    "simulation_warnings",
]

EVENTS_SHOWN = 40  # of each simulation; result files have all
#: Attributes of a simulation's dataset about its computation, in the order of the table.
SETTINGS = ("system", "formulation", "law", "law_period", "method", "rtol", "atol", "content_hash")


@dataclass(frozen=True)
class Row:
    """One row: a name, the value as shown, its unit, and a remark."""

    name: str
    value: str
    unit: str = ""
    remark: str = ""
    key: str = ""

    @staticmethod
    def of(key: str, value: Any) -> Row:
        """Return a row named after `key`, in words; a hash is shortened."""
        shown = str(value)[:12] if key.endswith("_hash") else format_value(value)
        return Row(key.replace("_", " "), shown, key=key)


def metric_rows(
    metrics: Mapping[str, Any], units: Mapping[str, str], verdicts: Sequence[Verdict] = ()
) -> list[dict[str, Any]]:
    """Return a row for each metric with its unit from `units` or the name, radians also in degrees; and verdicts."""
    rows = []
    for key, value in metrics.items():
        unit = units.get(key) or metric_unit(key)
        remark = ""
        shown, factor = ("Hz", 0.5 / math.pi) if unit == "rad/s" and "frequency" in key else shown_unit(unit)
        if factor != 1.0 and isinstance(value, float):
            remark = f"{format_value(float(f'{factor * value:.4g}'))} {shown}"
        is_number = isinstance(value, (int, float, list)) and not isinstance(value, bool)
        row = Row(key.replace("_", " "), format_value(value), pretty_unit(unit) if is_number else "", remark, key)
        judged = [item for item in verdicts if item.requirement.metric == key]
        rows.append({"row": row, "verdicts": judged})
    return rows


def printed_rows(printed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return published results beside ours, with their difference, the tolerance, and the independent value."""
    rows = []
    for item in printed:
        shown = {key: format_value(item[key]) for key in ("printed", "ours")}
        numbers = [item[key] for key in ("printed", "ours")]
        difference = ""
        if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in numbers) and numbers[0]:
            difference = _difference(*numbers)
        judged = {"apart": difference, "tolerance": _tolerance(item), "second": _second(item)}
        rows.append({**item, **shown, "unit": pretty_unit(item["unit"]), **judged})
    return rows


def _tolerance(item: Mapping[str, Any]) -> str:
    """Return the criterion of the verdict: the tolerance of a number, the criterion of a statement."""
    if item["within"] is None:
        return str(item["criterion"])
    percent = float(f"{100.0 * item['within']:.2g}")
    return f"\N{PLUS-MINUS SIGN} {format_value(percent)} %" if percent else "exact"


def _second(item: Mapping[str, Any]) -> str:
    """Return the independent value with its method."""
    value = item["independent"]
    if value is None:
        return ""
    shown = ("holds" if value else "does not hold") if isinstance(value, bool) else format_value(value)
    return f"{shown} ({item['independent_by']})"


def _difference(printed: float, ours: float) -> str:
    """Return the difference of ours from the published value in per cent, or as a factor if it is large."""
    if ours == printed:
        return "0 %"
    percent = 100.0 * (ours - printed) / abs(printed)
    if percent > 100.5 or -100.0 < percent < -90.0:
        return f"\N{MULTIPLICATION SIGN} {format_value(float(f'{ours / printed:.2g}'))}"
    return (f"{percent:+.2g} %" if abs(percent) < 10.0 else f"{percent:+.0f} %").replace("-", "\N{MINUS SIGN}")


def parameter_rows(parameters: Any, defaults: Any, units: Mapping[str, str]) -> list[Row]:
    """Return one row for each field of the parameters, with the study's own value if it was changed."""
    if parameters is None:
        return []
    rows = []
    for item in dataclasses.fields(parameters):
        value = getattr(parameters, item.name)
        original = getattr(defaults, item.name, value)
        if hasattr(value, "field_names"):  # a system: its name, and the fields that differ
            rows += [Row(item.name.replace("_", " "), value.name, "", "", item.name), *_field_rows(value, original)]
            continue
        remark = "" if value == original else f"changed from {format_value(original)}"
        is_number = isinstance(value, (int, float, tuple)) and not isinstance(value, bool)
        unit = pretty_unit(units.get(item.name) or metric_unit(item.name)) if is_number else ""
        rows.append(Row(item.name.replace("_", " "), format_value(value), unit, remark, item.name))
    return rows


def _field_rows(system: Any, original: Any) -> list[Row]:
    names = set(original.field_names()) if hasattr(original, "field_names") else set()
    pairs = [
        (name, system.field_value(name), original.field_value(name)) for name in system.field_names() if name in names
    ]
    return [
        Row(name, format_value(value), "", f"changed from {format_value(own)}", name)
        for name, value, own in pairs
        if not np.array_equal(value, own)
    ]


def simulation_rows(simulations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return status, message, time span, settings and counts of each simulation."""
    rows = []
    for name, simulation in simulations.items():
        data = simulation.dataset
        outcome = getattr(simulation, "outcome", None)
        time = data["time"].values
        span = f"{format_value(float(time[0]))} … {format_value(float(time[-1]))} s" if len(time) else "empty"
        stats = {str(key).removeprefix("n_"): value for key, value in (getattr(outcome, "stats", None) or {}).items()}
        stats = {
            key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in stats.items() if value
        }
        settings = {key: data.attrs[key] for key in SETTINGS if data.attrs.get(key)}
        if "run" in data.dims:
            settings["runs"] = int(data.sizes["run"])
        rows.append(
            {
                "name": name,
                "status": str(getattr(outcome, "status", "")),
                "is_success": bool(getattr(outcome, "is_success", True)),
                "message": str(getattr(outcome, "message", "")),
                "span": span,
                "samples": len(time),
                "stats": [Row.of(key, value) for key, value in {**settings, **stats}.items()],
            }
        )
    return rows


def simulation_warnings(simulations: Mapping[str, Any]) -> list[str]:
    """Return warnings about simulations without success, and about inputs saturated during much of a run."""
    entries = []
    for name, simulation in simulations.items():
        outcome = getattr(simulation, "outcome", None)
        if outcome is not None and not outcome.is_success:
            entries.append(f"simulation '{name}' {outcome.status}: {outcome.message}")
        for key, share in (getattr(outcome, "stats", None) or {}).items():
            if str(key).startswith(SATURATED):
                entries.append(
                    f"simulation '{name}': input '{key.removeprefix(SATURATED)}' is saturated during {100.0 * share:.0f} % of "
                    "the run: the commands of the law exceed the limits"
                )
    return entries


def event_rows(simulations: Mapping[str, Any]) -> list[Row]:
    """Return the events of guards: the simulation as name, the time as value, the guard as remark."""
    rows = []
    for name, simulation in simulations.items():
        data = simulation.dataset
        if "event_time" not in data or "event_name" not in data:
            continue
        together = _same_times(data["event_time"].values, data["event_name"].values)
        for time, guards in together[:EVENTS_SHOWN]:
            rows.append(Row(name, format_value(time), "s", "; ".join(guards)))
        if len(together) > EVENTS_SHOWN:
            rows.append(Row(name, "", "", f"and {len(together) - EVENTS_SHOWN} more"))
    return rows


def _same_times(times: Any, guards: Any) -> list[tuple[float, list[str]]]:
    """Return the times of events, each once as shown, with all events at that time."""
    found: list[tuple[float, list[str]]] = []
    for time, guard in zip(times, guards, strict=True):
        if found and format_value(found[-1][0]) == format_value(float(time)):
            found[-1][1].extend([str(guard)] if str(guard) not in found[-1][1] else [])
        else:
            found.append((float(time), [str(guard)]))
    return found


ACRONYMS = {"fem": "FEM", "iftomm": "IFToMM", "lqg": "LQG", "lqr": "LQR", "pd": "PD", "rae": "RAE", "ssrms": "SSRMS"}


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """Information about a run for its report, besides the result.

    Parameters
    ----------
    name : str
        Title of the page, usually the study's name.
    question : str
        Question of the study.
    parameters, defaults : dataclass instances, optional
        Parameters of this run and those of the study; differences are marked.
    is_quick : bool
        Whether the run was the short form of the study.
    warnings : tuple of str
        Warnings that qualify the results.
    units : mapping of str to str
        SI units of metrics and parameters, by name, if known.
    requirements : tuple of Requirement
        Requirements of the user on the metrics.
    provenance : mapping
        Versions and hashes; default: the versions of this installation.
    """

    name: str
    question: str = ""
    parameters: Any = None
    defaults: Any = None
    is_quick: bool = False
    warnings: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=lambda: {"versions": versions()})

    @property
    def title(self) -> str:
        """The name in words."""
        words = " ".join(ACRONYMS.get(word, word) for word in self.name.replace("_", " ").split())
        return words[:1].upper() + words[1:]
