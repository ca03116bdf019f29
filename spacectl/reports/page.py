"""Writes the report: one HTML file that holds everything it shows, opens without a network and runs no script.

`write_report` takes a `Simulation` or a `StudyResult`; `folder` puts the page beside the data. All text goes through
the template's escaping, so names from files cannot inject anything.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2

from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure
from spacectl.core.provenance import versions
from spacectl.core.study import StudyResult
from spacectl.reports.figures import render_figure
from spacectl.reports.histories import simulation_figures
from spacectl.reports.summary import Row, event_rows, metric_rows, parameter_rows, simulation_rows

__all__ = ["StudyRecord", "write_report"]

LARGE_DRAWING = 1_500_000  # [byte] beyond this a vector drawing is slower to open than a picture


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """What a report says about a run besides its result.

    Parameters
    ----------
    name : str
        Title of the page, usually the study's name.
    question : str
        What was to be found out.
    parameters, defaults : dataclass instances, optional
        The numbers of this run and those of the study; differences are marked.
    is_quick : bool
        Whether the run was the short form of the study.
    warnings : tuple of str
        What a reader should know before trusting the numbers.
    units : mapping of str to str
        SI units of metrics and parameters, by name, as far as they are known.
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
    provenance: Mapping[str, Any] = field(default_factory=lambda: {"versions": versions()})

    @property
    def title(self) -> str:
        """The name in words."""
        words = self.name.replace("_", " ").strip()
        return words[:1].upper() + words[1:]


def write_report(target: Any, path: str | Path, *, record: StudyRecord | None = None) -> Path:
    """Write a self-contained page about a simulation or a study's result.

    Parameters
    ----------
    target : Simulation or StudyResult
        What to show. A simulation is drawn by itself: its states, inputs and outputs, grouped by unit.
    path : path
        The ``.html`` file to write; its folder must exist.
    record : StudyRecord, optional
        Title, question, parameters, warnings and provenance.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ModelError
        If `target` is neither, or the file cannot be written.
    """
    result = _as_result(target)
    record = record or StudyRecord(name=_title_of(target))
    figures = result.figures or _own_figures(result, has_names=target is result)
    page = _template().render(
        record=record,
        metrics=metric_rows(result.metrics, record.units),
        notes=result.notes,
        figures=[{"title": figure.title, "caption": figure.caption, "source": _inline(figure)} for figure in figures],
        simulations=simulation_rows(result.simulations),
        events=event_rows(result.simulations),
        parameters=parameter_rows(record.parameters, record.defaults, record.units),
        provenance=_provenance_rows(record.provenance),
        created=record.provenance.get("created", ""),
        version=versions()["spacectl"],
    )
    path = Path(path)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"report '{path}': cannot be written ({error.strerror}); check the folder") from error
    return path


def _as_result(target: Any) -> StudyResult:
    if isinstance(target, StudyResult):
        return target
    if hasattr(target, "dataset"):
        return StudyResult(metrics={}, simulations={"simulation": target})
    raise ModelError(f"write_report: got a {type(target).__name__}, expected a Simulation or a StudyResult")


def _own_figures(result: StudyResult, has_names: bool) -> tuple[Figure, ...]:
    """What simulations draw by themselves, for a result that brings no figures."""
    return tuple(
        dataclasses.replace(figure, title=f"{name}: {figure.title.lower()}") if has_names else figure
        for name, simulation in result.simulations.items()
        for figure in simulation_figures(simulation)
    )


def _title_of(target: Any) -> str:
    attributes = getattr(getattr(target, "dataset", None), "attrs", {})
    return str(attributes.get("system", "") or "Simulation")


def _inline(figure: Figure) -> str:
    """The drawing as a data address; inside an image no script can run."""
    drawing, kind = render_figure(figure, suffix="svg", has_title=False, is_transparent=True), "svg+xml"
    if len(drawing) > LARGE_DRAWING:
        drawing, kind = render_figure(figure, suffix="png", has_title=False, is_transparent=True), "png"
    return f"data:image/{kind};base64,{base64.b64encode(drawing).decode('ascii')}"


def _provenance_rows(provenance: Mapping[str, Any]) -> list[Row]:
    rows = []
    for key, value in provenance.items():
        if key == "versions":
            rows.append(Row("versions", ", ".join(f"{name} {number}" for name, number in value.items())))
        elif key not in ("files", "made_by", "question"):
            rows.append(Row.of(key, value))
    return rows


def _template() -> jinja2.Template:
    folder = Path(__file__).with_name("templates")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")
