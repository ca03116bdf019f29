"""Write the report: one self-contained HTML file that opens without a network.

`write_report` takes a `Simulation`, a `SimulationBatch` or a `StudyResult`; `folder` puts the page beside the
data. All text is escaped by the template, data are encoded as base64, and the page's policy allows its own
scripts only, so that names from files cannot inject anything. Without scripts, and in print, figures are
drawings.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure
from spacectl.core.provenance import versions
from spacectl.core.studies.report_panel import ReportPanel
from spacectl.core.studies.requirement import Requirement, Verdict
from spacectl.core.studies.study import StudyResult
from spacectl.reports.page.document import (
    build_document,
    compressed,
    compressed_json,
    k3d_source,
    own_figures,
    own_script,
    plotly_source,
)
from spacectl.reports.page.figure_data import figure_from_data
from spacectl.reports.page.figures import render_figure
from spacectl.reports.page.summary import StudyRecord, metric_rows, printed_rows
from spacectl.reports.scene.scene import page_replay
from spacectl.reports.units import format_value, pretty_powers

__all__ = ["StudyRecord", "judge_document", "render_page", "template", "write_report", "write_text"]

LARGE_DRAWING = 600_000  # [byte] larger vector drawings are slower to open than bitmaps


def write_report(
    target: Any, path: str | Path, *, record: StudyRecord | None = None, panels: tuple[ReportPanel, ...] = ()
) -> Path:
    """Write a self-contained page about a simulation, a batch of them or a study's result.

    Parameters
    ----------
    target : Simulation, SimulationBatch or StudyResult
        Content of the page. A simulation is drawn with its states, inputs and outputs, grouped by unit; a batch by the range
        and the median of each signal over its runs.
    path : path
        The ``.html`` file to write; its folder must exist.
    record : StudyRecord, optional
        Title, question, parameters, requirements, warnings and provenance.
    panels : tuple of ReportPanel
        User-defined sections after the figures; a `StudyResult` may have more.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ModelError
        If `target` is of another type, or the file cannot be written.
    """
    result = _as_result(target)
    result = dataclasses.replace(result, panels=(*result.panels, *panels)) if panels else result
    record = record or StudyRecord(name=_title_of(target))
    figures = result.figures or own_figures(result, has_names=target is result)
    return write_text(Path(path), render_page(build_document(result, record, figures)))


def render_page(document: Mapping[str, Any]) -> str:
    """Return the page about a document that `build_document` made."""
    document = {"panels": [], **document}  # documents written before there were panels
    figures, replays = document["figures"], [page_replay(item) for item in document["replays"]]
    script = own_script()
    blocks = {"metrics-data": compressed_json(document["metrics"])}
    if figures:
        blocks |= {"plotly-source": plotly_source(), "figures-data": compressed_json(figures)}
    if replays:
        blocks |= {"k3d-source": k3d_source(), "replays-data": compressed_json(replays)}
    for i, table in enumerate(document["histories"]):
        blocks[f"history-{i}"] = compressed(table["csv"].encode("utf-8"))
    verdicts = judge_document(document)
    rows = metric_rows(document["metrics"], document["units"], verdicts)
    return template(
        "page.html"
    ).render(
        document=document,
        metrics=sorted(rows, key=lambda row: not row["verdicts"]),  # metrics with requirements come first
        printed=printed_rows(document["printed"]),
        verdicts=verdicts,
        unjudged=[verdict for verdict in verdicts if verdict.reason],
        drawings=[_inline(figure_from_data(figure)) for figure in figures],
        panel_drawings=[[_inline(figure_from_data(item)) for item in panel["figures"]] for panel in document["panels"]],
        has_replay=bool(replays),
        blocks=blocks,
        script=script,
        nonce=hashlib.sha256(f"{script}{sorted(blocks.items())}".encode()).hexdigest()[:24],
    )


def judge_document(document: Mapping[str, Any]) -> list[Verdict]:
    """Return the verdicts on a document's metrics by its requirements."""
    return [Requirement(**item).judge(document["metrics"]) for item in document["requirements"]]


def write_text(path: Path, text: str | bytes) -> Path:
    """Write a file atomically: readers see either the old or the new file, never a part.

    Raises
    ------
    ModelError
        If it cannot be written.
    """
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(aside, 0o666 & ~mask)
            os.replace(aside, path)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"report '{path}': cannot be written ({error.strerror}); check the folder") from error
    return path


def template(name: str) -> jinja2.Template:
    """Return one of the templates, with escaping enabled."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["powers"] = pretty_powers
    environment.filters["shown"] = _shown
    environment.globals["version"] = versions()["spacectl"]
    return environment.get_template(name)


def _shown(entry: Any) -> str:
    """Format an entry of a panel's table, numbers as elsewhere on the page."""
    is_number = isinstance(entry, (int, float)) and not isinstance(entry, bool)
    return format_value(entry) if is_number else "" if entry is None else str(entry)


def _as_result(target: Any) -> StudyResult:
    if isinstance(target, StudyResult):
        return target
    if hasattr(target, "dataset"):
        return StudyResult(metrics={}, simulations={"simulation": target})
    raise ModelError(
        f"write_report: got a {type(target).__name__}, expected a Simulation, a SimulationBatch or a StudyResult"
    )


def _title_of(target: Any) -> str:
    attributes = getattr(getattr(target, "dataset", None), "attrs", {})
    return str(attributes.get("system", "") or "Simulation")


def _inline(figure: Figure) -> str:
    """Return the drawing as a data URL; no script can run inside an image."""
    drawing, kind = render_figure(figure, suffix="svg", has_title=False, is_transparent=True), "svg+xml"
    if len(drawing) > LARGE_DRAWING:
        drawing, kind = render_figure(figure, suffix="png", has_title=False, is_transparent=True, dpi=130), "png"
    return f"data:image/{kind};base64,{base64.b64encode(drawing).decode('ascii')}"
