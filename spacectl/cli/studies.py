"""The commands ``run`` and ``report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from spacectl.cli.app import OK, UNMET, Debug, Json, Quick, app, say, say_json, say_verdicts, verdict_data
from spacectl.cli.lookup import find_study, load_study
from spacectl.cli.run import run_study, show_progress
from spacectl.cli.settings import read_settings
from spacectl.core.studies.plain import plain_parameters
from spacectl.core.studies.requirement import parse_requirement
from spacectl.reports.folder.folder import PAGE, read_document, rebuild_report
from spacectl.reports.page.page import judge_document
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["report_command", "run_command"]

Require = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="'METRIC<=VALUE'", help="A requirement on a metric, SI; may be repeated."),
]


@app.command("run")
def run_command(
    name: Annotated[str, typer.Argument(help="A study's name, its folder, or its file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for metrics, data, figures and the report.")],
    quick: Quick = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter; may be repeated.")
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option("--parameters", "-p", help="A TOML file with [parameters] and requirements.")
    ] = None,
    require: Require = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a study and write its results and report, complete or not at all."""
    loaded = load_study(find_study(name))
    chosen = read_settings(settings or (), file=parameters, require=require or (), study=loaded.name)
    console = Console(stderr=True)
    result, record = run_study(loaded, out=out, settings=chosen, is_quick=quick, progress=show_progress(console))
    verdicts = judge_document(read_document(out))
    if as_json:
        entries = {"study": loaded.name, "folder": str(out), "report": str(out / PAGE), "is_quick": quick}
        changed = {"parameters": plain_parameters(record.parameters), "changed": record.provenance["changed"]}
        found = {"metrics": result.metrics, "requirements": verdict_data(verdicts)}
        say_json({**entries, **changed, **found, "warnings": list(record.warnings), "notes": list(result.notes)})
    else:
        for key, value in result.metrics.items():
            unit = pretty_unit(record.units.get(key, "")) if isinstance(value, float) else ""
            say(f"  {key} = {format_value(value)} {unit}".rstrip())
        say_verdicts(verdicts)
        for kind, texts in (("warning", record.warnings), ("note", result.notes)):
            for text in texts:
                console.print(Text(f"{kind}: {text}"), soft_wrap=True)
        say(f"report: {out / PAGE}")
    return OK if all(verdict.is_met for verdict in verdicts) else UNMET


@app.command("report")
def report_command(
    folder: Annotated[Path, typer.Argument(help="A folder that `spacectl run` wrote.")],
    require: Require = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Draw the report of a stored result again, with more requirements if given; nothing is computed."""
    document = rebuild_report(folder, [parse_requirement(text) for text in require or ()])
    verdicts = judge_document(document)
    if as_json:
        say_json({"report": str(folder / PAGE), "metrics": document["metrics"], "requirements": verdict_data(verdicts)})
    else:
        say_verdicts(verdicts)
        say(f"report: {folder / PAGE}")
    return OK if all(verdict.is_met for verdict in verdicts) else UNMET
