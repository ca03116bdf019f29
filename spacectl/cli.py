"""The command line: ``spacectl list | run | check``. Each error is one line that names the part and the cure.

Exit codes: 0 done; 1 a solver or something unexpected failed; 2 wrong usage, model or parameter; 130 interrupted
(Ctrl-C); 143 terminated.
"""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from spacectl import __version__
from spacectl.cli_lookup import find_study, list_studies, load_study
from spacectl.cli_run import parse_settings, run_study
from spacectl.cli_signals import terminate_as_interrupt
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.labels import Labels
from spacectl.dynamics import form_equations
from spacectl.model.files import load_system
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["app", "main", "run_command_line"]

OK, FAILED, WRONG, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Control design for space manipulators, flexible spacecraft and tethers.",
)
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Control design for space manipulators, flexible spacecraft and tethers."""
    if version:
        _say(f"spacectl {__version__}")
    elif context.invoked_subcommand is None:
        _say(context.get_help())


@app.command("list")
def list_command(debug: Debug = False) -> None:
    """List the studies that `spacectl run` finds by name."""
    studies = list_studies()
    if not studies:
        raise ModelError("no studies here; give `spacectl run` the path of a folder with a study.py")
    width = max(len(name) for name in studies)
    for name, file in studies.items():
        try:
            question = load_study(file).study.question
        except Exception as error:  # a broken study must not hide the others
            question = f"(cannot be loaded: {_one_line(error)})"
        _say(f"{name:<{width}}  {question}")


@app.command("run")
def run_command(
    name: Annotated[str, typer.Argument(help="A study's name, its folder, or its file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for metrics, data, figures and the report.")],
    quick: Annotated[bool, typer.Option("--quick", help="The short form of the study.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter; may be repeated.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run a study and write its results and report, complete or not at all."""
    changes = parse_settings(settings or [])
    loaded = load_study(find_study(name))
    console = Console(stderr=True)
    result, record = run_study(loaded, out=out, settings=changes, is_quick=quick, console=console)
    for key, value in result.metrics.items():
        unit = pretty_unit(record.units.get(key, "")) if isinstance(value, float) else ""
        _say(f"  {key} = {format_value(value)} {unit}".rstrip())
    for text in record.warnings:
        console.print(Text(f"warning: {text}"), soft_wrap=True)
    for text in result.notes:
        console.print(Text(f"note: {text}"), soft_wrap=True)
    _say(f"report: {out / 'report.html'}")


@app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(help="A system as .toml or .json.")], debug: Debug = False
) -> None:
    """Check a system file: form its equations and print names, units and sizes."""
    system = load_system(file)
    eom = form_equations(system)
    _say(
        f"{system.name}: {len(system.tree)} bodies, {type(system.environment).__name__}, formulation {eom.formulation}"
    )
    named = {
        "coordinates q": eom.labels.q,
        "speeds v": eom.labels.v,
        "inputs u": eom.labels.u,
        "outputs y": eom.labels.y,
    }
    for title, labels in named.items():
        _say(f"{title} ({len(labels)})")
        for line in _label_lines(labels, eom.limits() if title == "inputs u" else None):
            _say(line)
    _say(
        f"parameters p: {len(eom.parameters)} numbers; structure {eom.structure_hash[:12]}, content {system.content_hash()[:12]}"
    )


def run_command_line(arguments: list[str]) -> int:
    """Run one command and return its exit code; every failure is told in one line."""
    with terminate_as_interrupt() as received:
        code = _run(arguments)
    return TERMINATED if code == INTERRUPTED and received else code


def _run(arguments: list[str]) -> int:
    try:
        code = int(app(args=arguments, standalone_mode=False, prog_name="spacectl") or OK)
        return code if code != INTERRUPTED else _fail("interrupted; nothing was written", INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; nothing was written", INTERRUPTED)
    except ModelError as error:
        return _fail(_one_line(error), WRONG, "--debug" in arguments)
    except SolverError as error:
        return _fail(_one_line(error), FAILED, "--debug" in arguments)
    except Exception as error:
        if hasattr(error, "format_message"):  # wrong usage, found by the argument parser
            return _fail(f"{error.format_message()} See spacectl --help.", WRONG)
        if isinstance(error, OSError) and error.filename:
            return _fail(
                f"'{error.filename}': {error.strerror}; check the path and --out", WRONG, "--debug" in arguments
            )
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}, line {where.lineno}"
        text = f"unexpected {type(error).__name__}: {_one_line(error)} ({place}); --debug shows the traceback"
        return _fail(text, FAILED, "--debug" in arguments)


def main() -> None:
    """Entry point of the ``spacectl`` script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our signs shows ? instead of failing
    sys.exit(run_command_line(sys.argv[1:]))


def _label_lines(labels: Labels, limits: tuple[np.ndarray, np.ndarray] | None) -> list[str]:
    """Name, unit and (for inputs) the limits of each entry."""
    width = max((len(name) for name in labels), default=0)
    low, high = limits or (np.full(len(labels), -np.inf), np.full(len(labels), np.inf))
    lines = []
    for i, (name, unit) in enumerate(zip(labels.names, labels.units, strict=True)):
        is_limited = np.isfinite(low[i]) or np.isfinite(high[i])
        limit = f"from {format_value(float(low[i]))} to {format_value(float(high[i]))}" if is_limited else ""
        lines.append(f"  {name:<{width}}  {pretty_unit(unit):<6}  {limit}".rstrip())
    return lines


def _say(text: str) -> None:
    """One line (or block) on standard output, exactly as it is."""
    typer.echo(text)


def _fail(text: str, code: int, show_traceback: bool = False) -> int:
    if show_traceback:
        traceback.print_exc()
    typer.echo(f"spacectl: {text}", err=True)
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
