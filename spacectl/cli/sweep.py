"""The command ``sweep``: a study over a grid or a list of parameter values, as a table, figures and a report."""

from __future__ import annotations

import csv
import io
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from spacectl.cli.app import FAILED, OK, Debug, Json, Quick, app, say, say_json
from spacectl.cli.lookup import LoadedStudy, find_study, load_study, match_units, package_hash
from spacectl.cli.points import PointJournal
from spacectl.cli.run import answer, collect_warnings, prepare_parameters
from spacectl.cli.settings import parse_settings
from spacectl.core.errors import ModelError, SpacectlError, unknown_name
from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.provenance import content_hash, versions
from spacectl.core.studies.plain import plain_parameters, plain_value
from spacectl.core.studies.study import StudyResult, parameter_value
from spacectl.reports.folder.atomic import check_replaceable
from spacectl.reports.folder.folder import PAGE, write_study_folder
from spacectl.reports.page.summary import StudyRecord
from spacectl.reports.units import format_value

__all__ = ["sweep_command"]

POINTS = 10_000  # of a grid, at most
SHOWN = 4  # metrics shown on the screen; sweep.csv has all
DRAWN = 6  # metrics in the figure, unless named


@app.command("sweep")
def sweep_command(
    name: Annotated[str, typer.Argument(help="A study's name, its folder, or its file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the table, figures and the report.")],
    over: Annotated[
        list[str],
        typer.Option(
            "--over", metavar="NAME=VALUES", help="Values 1,2,5 or begin:end:count; repeated: all combinations."
        ),
    ],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change another parameter for all runs.")
    ] = None,
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="Draw this metric; may be repeated.")] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Go through the lists in step instead of combining them.")
    ] = False,
    quick: Quick = False,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a study for many parameter values; if one fails, it is reported and the others run.

    Finished values are kept if the sweep is interrupted or killed; the same command continues from them.
    """
    check_replaceable(out)
    loaded = load_study(find_study(name))
    axes, fixed = _parse(loaded, over, settings or [])
    points = _points(axes, together)
    prepared = [prepare_parameters(loaded, {**fixed, **point}) for point in points]  # all of them, before the first run
    start = time.perf_counter()
    with PointJournal(out, _key(loaded, prepare_parameters(loaded, fixed), is_quick=quick)) as journal:
        rows = _run_all(loaded, points, prepared, metrics or [], journal, is_quick=quick, console=Console(stderr=True))
        found = _gather(rows, axes, metrics or [], loaded)
        record = StudyRecord(
            name=f"{loaded.name}_sweep",
            question=f"How do the results of '{loaded.name}' depend on {', '.join(axes)}? {loaded.study.question}",
            parameters=prepare_parameters(loaded, fixed),
            defaults=loaded.study.parameters,
            is_quick=quick,
            warnings=tuple(dict.fromkeys(text for row in rows for text in row["warnings"])),
            units=loaded.units,
            provenance={
                "seconds": round(time.perf_counter() - start, 3),
                "over": {key: list(dict.fromkeys(str(row["parameters"][key]) for row in rows)) for key in axes},
                "study_sha256": loaded.sha256,
                "versions": versions(),
            },
        )
        write_study_folder(found, out, record=record, tables={"sweep.csv": _table(rows)})
    failed = [row for row in rows if row["error"]]
    if as_json:
        say_json({"report": str(out / PAGE), "table": str(out / "sweep.csv"), "rows": rows})
    else:
        say(_lines(rows, list(axes), metrics or []))
        say(f"all metrics: {out / 'sweep.csv'}")
        say(f"report: {out / PAGE}")
    return FAILED if failed else OK


def _parse(loaded: LoadedStudy, over: list[str], settings: list[str]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return values of each axis, and the parameters that all runs share."""
    fixed, axes = parse_settings(settings), {}
    for key, text in parse_settings(over, option="--over").items():
        if key in fixed:
            raise ModelError(f"'{key}' is given both by --set and by --over; keep one")
        axes[key] = parse_values(key, text, is_text=isinstance(getattr(loaded.study.parameters, key, None), str))
    return axes, fixed


def _key(loaded: LoadedStudy, parameters: Any, *, is_quick: bool) -> str:
    """Return the data that must be equal for a finished point to be reused."""
    entries = [loaded.name, loaded.sha256, package_hash(), versions(), plain_parameters(parameters), is_quick]
    return content_hash(entries)


def parse_values(key: str, text: str, *, is_text: bool = False) -> list[Any]:
    """Return ``"1,2,5"`` as texts, which get the type of the parameter later, or ``"1:5:9"`` (begin, end, count) as numbers.

    Parameters
    ----------
    key, text : str
        As given.
    is_text : bool
        Whether the parameter is a text: then nothing is a range.

    Raises
    ------
    ModelError
        If there are none or too many, or a range has another form.
    """
    if text.count(":") == 2 and "," not in text and not is_text:
        try:
            begin, end, count = (kind(part) for kind, part in zip((float, float, int), text.split(":"), strict=True))
        except ValueError as error:
            raise ModelError(f"--over '{key}={text}': expected begin:end:count, such as {key}=1:5:9") from error
        if not np.isfinite([begin, end]).all() or not 1 <= count <= POINTS:
            raise ModelError(f"--over '{key}={text}': expected finite numbers, and a count from 1 to {POINTS}")
        return [float(value) for value in np.linspace(begin, end, count)]
    values = [item.strip() for item in text.split(",") if item.strip()]
    if not values:
        raise ModelError(f"--over '{key}={text}': no values; expected {key}=1,2,5 or {key}=1:5:9")
    return list(values)


def _points(axes: Mapping[str, list[Any]], together: bool) -> list[dict[str, Any]]:
    if together and len({len(values) for values in axes.values()}) > 1:
        sizes = ", ".join(f"{key}: {len(values)}" for key, values in axes.items())
        raise ModelError(f"--together: the lists have different lengths ({sizes}); give as many values to each")
    count = max(map(len, axes.values())) if together else math.prod(map(len, axes.values()))
    if count > POINTS:
        raise ModelError(f"sweep: {count} runs; expected up to {POINTS}: take fewer values")
    combined = zip(*axes.values(), strict=True) if together else itertools.product(*axes.values())
    return [dict(zip(axes, values, strict=True)) for values in combined]


def _run_all(
    loaded: LoadedStudy,
    points: Sequence[dict[str, Any]],
    prepared: Sequence[Any],
    wanted: Sequence[str],
    journal: PointJournal,
    *,
    is_quick: bool,
    console: Console,
) -> list[dict[str, Any]]:
    """Return a row for each point: from the journal, or by a run; whatever a run raises is part of its row."""
    rows: list[dict[str, Any]] = []
    unseen = set(wanted)  # a metric that another point has may be missing in this one
    for i, (point, parameters) in enumerate(zip(points, prepared, strict=True)):
        shown = {key: plain_value(parameter_value(parameters, key)) for key in point}
        kept = journal.find(shown)
        if console.is_terminal:
            state = " (finished before)" if kept else ""
            console.print(Text(f"[{i + 1}/{len(points)}] {_point_text(shown)}{state}", style="dim"))
        row = kept or _run_one(loaded, shown, parameters, is_quick=is_quick)
        if kept is None:
            journal.add(row)
        rows.append(row)
        if row["error"]:
            continue
        for key in sorted(unseen - set(row["metrics"])):
            raise ModelError(f"--metric: {unknown_name('metric', key, row['metrics'])}; finished points are kept")
        unseen.clear()
    return rows


def _run_one(loaded: LoadedStudy, shown: dict[str, Any], parameters: Any, *, is_quick: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"parameters": shown, "metrics": {}, "error": "", "warnings": []}
    try:
        with collect_warnings() as caught:
            row["metrics"] = dict(answer(loaded, parameters, is_quick=is_quick, progress=lambda *_: None).metrics)
        row["warnings"] = list(caught)
    except Exception as error:  # any: the other points go on
        kind = "" if isinstance(error, SpacectlError) else f"{type(error).__name__}: "
        row["error"] = kind + (" ".join(str(error).split()) or "no message")
    return row


def _gather(rows: list[dict[str, Any]], axes: Mapping[str, Any], wanted: list[str], loaded: LoadedStudy) -> StudyResult:
    """Return the whole sweep as a result: lists of metrics, figures over the first parameter, failures as notes."""
    good = [row for row in rows if not row["error"]]
    numeric = _numeric(good)
    columns = {key: [row["parameters"][key] for row in good] for key in axes}
    names = dict.fromkeys(key for row in good for key in row["metrics"])
    collected = {key: [row["metrics"].get(key) for row in good] for key in names}
    notes = tuple(f"{_point_text(row['parameters'])}: {row['error']}" for row in rows if row["error"])
    figures = tuple(_draw(good, list(axes), key, loaded) for key in (wanted or numeric[:DRAWN]))
    return StudyResult(
        metrics={**columns, **collected}, figures=tuple(figure for figure in figures if figure), notes=notes
    )


def _numeric(good: list[dict[str, Any]]) -> list[str]:
    """Return names of the metrics of the first run that are numbers."""
    first = good[0]["metrics"] if good else {}
    return [key for key, value in first.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]


def _point_text(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in point.items())


def _draw(rows: list[dict[str, Any]], keys: list[str], metric: str, loaded: LoadedStudy) -> Figure | None:
    """Return a metric over the first parameter, a curve for each combination of the others."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for i, row in enumerate(rows):
        x, y = row["parameters"][keys[0]], row["metrics"].get(metric)
        x = x if isinstance(x, (int, float)) else float(i)
        if isinstance(y, (int, float)):
            label = ", ".join(f"{key} = {row['parameters'][key]:g}" if isinstance(row["parameters"][key], float)
                              else f"{key} = {row['parameters'][key]}" for key in keys[1:])  # fmt: skip
            curves.setdefault(label, []).append((float(x), float(y)))
    lines = []
    for label, pairs in curves.items():
        x, y = np.array(sorted(pairs)).T
        lines += [Line(x=x, y=y, label=label or metric), Line(x=x, y=y, style="markers")]
    if not lines:
        return None
    unit, x_unit = match_units(loaded.units, [metric]).get(metric, ""), loaded.units.get(keys[0], "")
    panel = Panel(
        lines=tuple(lines),
        y_label=metric.replace("_", " "),
        unit=unit,
        x_label=keys[0].replace("_", " "),
        x_unit=x_unit,
    )
    return Figure(name=metric, title=f"{metric.replace('_', ' ')} over {keys[0].replace('_', ' ')}", panels=(panel,))


def _lines(rows: list[dict[str, Any]], keys: list[str], wanted: list[str]) -> str:
    """Return the parameters and a few metrics, one run a line, in columns: the wanted ones, or the first numbers."""
    chosen = wanted or _numeric([row for row in rows if not row["error"]])[:SHOWN]
    table = [[*keys, *chosen]]
    for row in rows:
        values = (
            [f"failed: {row['error']}"] if row["error"] else [format_value(row["metrics"].get(key)) for key in chosen]
        )
        table.append([*(format_value(row["parameters"][key]) for key in keys), *values])
    whole = [line for line in table if not line[-1].startswith("failed")]
    widths = [max(len(line[i]) for line in whole) for i in range(len(table[0]))]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(line, [*widths, 0], strict=False)).rstrip() for line in table
    )


def _table(rows: list[dict[str, Any]]) -> str:
    """Return all runs as CSV: parameters, metrics, and the error of those that failed."""
    keys = list(rows[0]["parameters"])
    metrics = list(dict.fromkeys(key for row in rows for key in row["metrics"]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, *metrics, "error"])
    for row in rows:
        writer.writerow(
            [*(row["parameters"][key] for key in keys), *(row["metrics"].get(key, "") for key in metrics), row["error"]]
        )
    return text.getvalue()
