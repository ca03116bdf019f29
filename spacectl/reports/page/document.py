"""Contents of a report as one JSON object, and the embedded scripts of a page.

`page` renders the object as HTML; `folder` stores it beside the results, so that `spacectl report` can render
the page again. The scripts come from the installed packages plotly and k3d, compressed; nothing is loaded
from a network. The font addresses in the style sheet of k3d are removed (the fonts are embedded), so that a
page makes no requests.
"""

from __future__ import annotations

import base64
import csv
import dataclasses
import gzip
import io
import json
import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SpacectlError, warn
from spacectl.core.figure import Figure
from spacectl.core.provenance import versions
from spacectl.core.studies.plain import plain_value
from spacectl.core.studies.report_panel import ReportPanel, Section
from spacectl.core.studies.requirement import Requirement
from spacectl.core.studies.study import StudyResult
from spacectl.reports.page.figure_data import figure_to_data
from spacectl.reports.page.histories import is_batch, run_columns, simulation_figures
from spacectl.reports.page.model_drawing import draw_model
from spacectl.reports.page.summaries import equation_summary, law_summary, linear_summary, plan_figures, plan_summary
from spacectl.reports.page.summary import (
    Row,
    StudyRecord,
    event_rows,
    parameter_rows,
    simulation_rows,
    simulation_warnings,
)
from spacectl.reports.scene.scene import replay_of

__all__ = [
    "FORMAT",
    "build_document",
    "compressed",
    "compressed_json",
    "k3d_source",
    "own_figures",
    "own_script",
    "plotly_source",
]

FORMAT = 3  #: of the document; a page is only rendered again from this format

REPLAYS = 6  # largest number of replays
TABLE_NUMBERS = 150_000  # values of all histories in the page; result.nc has all
_log = logging.getLogger(__name__)


def build_document(result: StudyResult, record: StudyRecord, figures: tuple[Figure, ...] = ()) -> dict[str, Any]:
    """Build the content of a page about `result`.

    Parameters
    ----------
    result : StudyResult
        Result of the study.
    record : StudyRecord
        Question, parameters, requirements, warnings, provenance.
    figures : tuple of Figure
        Figures to show; default: those of the result and of its plans.
    """
    shown = figures or result.figures
    has_plane = any("phase_plane" in figure.name for figure in shown)  # the study draws it, with its limit curves
    drawn = shown + tuple(
        figure
        for i, (name, plan) in enumerate(result.plans.items())
        for figure in plan_figures(f"plan{i + 1}", name, plan)
        if not (has_plane and "phase_plane" in figure.name)
    )
    equations = _equations(result)
    laws = {**_laws(result), **result.laws}
    systems = dict(result.systems) or {name: eom.system for name, eom in equations.items()}
    return {
        "format": FORMAT,
        "name": record.name,
        "title": record.title,
        "question": record.question,
        "is_quick": record.is_quick,
        "warnings": list(dict.fromkeys((*record.warnings, *simulation_warnings(result.simulations)))),
        "notes": list(result.notes),
        "metrics": dict(result.metrics),
        "units": dict(record.units),
        "requirements": [dataclasses.asdict(item) for item in _distinct((*result.requirements, *record.requirements))],
        "printed": [dataclasses.asdict(item) for item in result.printed],
        "models": _models(systems),
        "equations": [equation_summary(name, eom) for name, eom in equations.items()],
        "linear": [linear_summary(name, model) for name, model in result.linear.items()],
        "laws": [law_summary(name, law) for name, law in laws.items()],
        "plans": [plan_summary(name, plan) for name, plan in result.plans.items()],
        "figures": [figure_to_data(figure) for figure in drawn],
        "panels": [_panel(panel, result) for panel in result.panels],
        "replays": _replays(result),
        "simulations": [
            {**row, "stats": [dataclasses.asdict(item) for item in row["stats"]]}
            for row in simulation_rows(result.simulations)
        ],
        "events": [dataclasses.asdict(row) for row in event_rows(result.simulations)],
        "parameters": [
            dataclasses.asdict(row) for row in parameter_rows(record.parameters, record.defaults, record.units)
        ],
        "provenance": [dataclasses.asdict(row) for row in _provenance_rows(record.provenance)],
        "created": str(record.provenance.get("created", "")),
        "version": versions()["spacectl"],
        "histories": _histories(result.simulations),
    }


def own_figures(result: StudyResult, has_names: bool) -> tuple[Figure, ...]:
    """Return the default figures of simulations, for a result without figures."""
    return tuple(
        dataclasses.replace(figure, title=f"{name}: {figure.title.lower()}") if has_names else figure
        for name, simulation in result.simulations.items()
        for figure in simulation_figures(simulation)
    )


def _panel(panel: ReportPanel, result: StudyResult) -> dict[str, Any]:
    """Return the section of a panel as data; a panel that fails is replaced by its error message."""
    try:
        section = panel.show(result)
        if not isinstance(section, Section):
            raise TypeError(f"show returned a {type(section).__name__}, expected a Section")
    except Exception as error:
        warn(f"report panel {type(panel).__name__}: {type(error).__name__}: {error}")
        section = Section(title=type(panel).__name__, text=(f"This panel failed: {type(error).__name__}: {error}",))
    return {
        "title": section.title,
        "text": list(section.text),
        "columns": list(section.columns),
        "rows": [[plain_value(entry) for entry in row] for row in section.rows],
        "figures": [figure_to_data(figure) for figure in section.figures],
    }


def _equations(result: StudyResult) -> dict[str, Any]:
    """Return the equations of the result, or those of the simulations, each once."""
    if result.equations:
        return dict(result.equations)
    found: dict[str, Any] = {}
    seen = set()
    for name, simulation in result.simulations.items():
        eom = getattr(simulation, "equations", None)
        if eom is not None and (key := (eom.structure_hash, eom.formulation)) not in seen:
            seen.add(key)
            found[name] = eom
    return found


def _laws(result: StudyResult) -> dict[str, Any]:
    """Return the laws of the simulations, each once."""
    found: dict[str, Any] = {}
    seen = set()
    for simulation in result.simulations.values():
        law = getattr(simulation, "law", None)
        if law is not None and law.content_hash not in seen:
            seen.add(law.content_hash)
            found[law.name if law.name not in found else f"{law.name} ({len(found) + 1})"] = law
    return found


def _models(systems: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the distinct drawings; studies often simulate variants of one system."""
    found: dict[str, dict[str, Any]] = {}
    for system in systems.values():
        drawing = draw_model(system)
        found.setdefault(repr((drawing["rows"], drawing["notes"])), drawing)
    return list(found.values())


def _distinct(requirements: tuple[Requirement, ...]) -> list[Requirement]:
    return list(dict.fromkeys(requirements))


def _replays(result: StudyResult) -> list[dict[str, Any]]:
    replays: list[dict[str, Any]] = []
    for name, simulation in result.simulations.items():
        if len(replays) == REPLAYS or getattr(simulation, "equations", None) is None:
            continue
        try:
            replays.append(replay_of(name, simulation, result.shapes))
        except SpacectlError as error:
            _log.info("no replay of '%s': %s", name, error)
    return replays


def _histories(simulations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each simulation as the text of a table (CSV), thinned out if the page would become too large.

    A batch has two tables: its histories, run by run, and one row per run.
    """
    sizes = [sum(int(item.size) for item in _tables(simulation)) for simulation in simulations.values()]
    step = max(1, int(np.ceil(sum(sizes) / TABLE_NUMBERS)))
    found = []
    for name, simulation in simulations.items():
        data = simulation.dataset
        size = data["time"].size
        rows = np.unique(np.r_[np.arange(0, size, step), max(size - 1, 0)]) if size else np.arange(0)
        n_runs = data.sizes["run"] if is_batch(data) else 1
        found.append(_table(name, *_history_columns(data, rows), n_runs * size))
        if is_batch(data):
            found.append(_table(f"{name}_runs", *run_columns(data), n_runs))
    return found


def _history_columns(data: Any, rows: np.ndarray) -> tuple[list[str], list[np.ndarray]]:
    """Return titles and columns of the histories at these time rows; the runs of a batch are concatenated."""
    t = np.asarray(data["time"].values, dtype=float)[rows]
    runs = data["run"].values if is_batch(data) else None
    titles, columns = ["time [s]"], [t if runs is None else np.tile(t, len(runs))]
    if runs is not None:
        titles, columns = ["run", *titles], [np.repeat(runs, len(t)), *columns]
    for letter in ("x", "u", "y"):
        if letter not in data or not data[letter].size:
            continue
        values = data[letter].isel(time=rows).transpose(*(["run"] if runs is not None else []), "time", ...)
        dimension, count = str(values.dims[-1]), values.shape[-1]
        units = data[f"{dimension}_unit"].values if f"{dimension}_unit" in data.coords else [""] * count
        titles += [f"{letter}: {key} [{unit}]" for key, unit in zip(data[dimension].values, units, strict=True)]
        columns += list(values.values.reshape(-1, count).T)
    return titles, columns


def _table(name: str, titles: list[str], columns: list[Any], size: int) -> dict[str, Any]:
    """Return a table of `size` rows, or of some of them, as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(title) for title in titles])
    writer.writerows([[_cell(value) for value in row] for row in zip(*columns, strict=True)])
    return {"name": name, "csv": text.getvalue(), "rows": len(columns[0]), "all": int(size)}


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _tables(simulation: Any) -> list[Any]:
    return [simulation.dataset[letter] for letter in ("x", "u", "y") if letter in simulation.dataset]


def _harmless(title: str) -> str:
    """Escape a name so that a spreadsheet does not read it as a formula."""
    return f"'{title}" if title[:1] in "=+-@\t" else title


def _provenance_rows(provenance: Mapping[str, Any]) -> list[Row]:
    rows = []
    for key, value in provenance.items():
        if key == "versions":
            rows.append(Row("versions", ", ".join(f"{name} {number}" for name, number in value.items())))
        elif key not in ("files", "made_by", "question") and value != {}:
            rows.append(Row.of(key, value))
    return rows


_FONT_FILES = re.compile(r',url\(fonts/[^)]*\) format\("[a-z0-9]+"\)')
OWN = ("decode.js", "plots.js", "replay.js", "page.js")


def compressed(data: bytes) -> str:
    """Compress with gzip and encode as base64, for decode.js; equal data gives equal text."""
    return base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")


def compressed_json(data: Any) -> str:
    """Return JSON data, compressed in the same way."""
    return compressed(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8"))


@cache
def plotly_source() -> str:
    """Return plotly.js of the installed plotly, compressed."""
    return compressed((_package("plotly") / "package_data" / "plotly.min.js").read_bytes())


@cache
def k3d_source() -> str:
    """Return k3d's stand-alone script of the installed k3d, compressed."""
    text = (_package("k3d") / "static" / "standalone.js").read_text(encoding="utf-8")
    return compressed(_FONT_FILES.sub("", text).encode("utf-8"))


def own_script() -> str:
    """Return the concatenated scripts of the page."""
    folder = Path(__file__).with_name("templates")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in OWN)


def _package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ModelError(f"report: the package '{name}' is not installed; pip install {name}")
    return Path(found.origin).parent
