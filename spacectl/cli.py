"""The command line: ``spacectl list | run | report | gallery | sweep | metrics | new | check | bench``.

Each error is one line that names the part and the cure. Exit codes: 0 done; 1 a solver or something unexpected failed;
2 wrong usage, model or parameter; 3 a requirement is not met; 130 interrupted (Ctrl-C); 143 terminated.
"""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from spacectl import __version__, cli_bench, cli_gallery, cli_metrics, cli_new, cli_studies, cli_sweep
from spacectl.cli_app import FAILED, INTERRUPTED, OK, TERMINATED, WRONG, Debug, Json, app, say, say_json
from spacectl.cli_signals import terminate_as_interrupt
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.labels import Labels
from spacectl.dynamics import EquationsOfMotion, form_equations
from spacectl.model.files import load_system
from spacectl.model.system import System
from spacectl.reports.summaries import describe_shapes
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["app", "main", "run_command_line"]

COMMANDS = (
    cli_studies,
    cli_gallery,
    cli_sweep,
    cli_metrics,
    cli_new,
    cli_bench,
)  #: modules whose commands `app` knows by import

#: What an interrupted command leaves; others leave nothing
KEPT = {
    "gallery": "finished studies are kept, run it again to go on",
    "sweep": "finished points are kept, run it again to go on",
    "metrics": "finished studies are kept, run it again to go on",
}


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Control design for space manipulators, flexible spacecraft and tethers."""
    if version:
        say(f"spacectl {__version__}")
    elif context.invoked_subcommand is None:
        say(context.get_help())


@app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(help="A system as .toml or .json.")],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a system file: form its equations and print names, units and sizes."""
    system = load_system(file)
    eom = form_equations(system)
    if as_json:
        return say_json(_equations_data(system, eom))
    say(f"{system.name}: {len(system.tree)} bodies, {type(system.environment).__name__}, formulation {eom.formulation}")
    named = {
        "coordinates q": eom.labels.q,
        "speeds v": eom.labels.v,
        "inputs u": eom.labels.u,
        "outputs y": eom.labels.y,
    }
    for title, labels in named.items():
        say(f"{title} ({len(labels)})")
        for line in _label_lines(labels, eom.limits() if title == "inputs u" else None):
            say(line)
    for name, text in describe_shapes(eom.system).items():
        say(f"shapes of {name}: {text}")
    say(
        f"parameters p: {len(eom.parameters)} numbers; structure {eom.structure_hash[:12]}, content {system.content_hash()[:12]}"
    )


def _equations_data(system: System, eom: EquationsOfMotion) -> dict[str, Any]:
    """What `check` tells, for machines."""
    groups = {"coordinates": eom.labels.q, "speeds": eom.labels.v, "inputs": eom.labels.u, "outputs": eom.labels.y}
    named: dict[str, list[dict[str, Any]]] = {
        group: [{"name": name, "unit": unit} for name, unit in zip(labels.names, labels.units, strict=True)]
        for group, labels in groups.items()
    }
    for item, *limit in zip(named["inputs"], *eom.limits(), strict=True):
        item["limit"] = [float(value) if np.isfinite(value) else None for value in limit]
    return {
        "name": system.name,
        "environment": type(system.environment).__name__,
        "bodies": len(system.tree),
        "formulation": eom.formulation,
        **named,
        "shapes": describe_shapes(eom.system),
        "parameters": len(eom.parameters),
        "structure_hash": eom.structure_hash,
        "content_hash": system.content_hash(),
    }


def run_command_line(arguments: list[str]) -> int:
    """Run one command and return its exit code; every failure is told in one line."""
    with terminate_as_interrupt() as received:
        code = _run(arguments)
    return TERMINATED if code == INTERRUPTED and received else code


def _run(arguments: list[str]) -> int:
    kept = KEPT.get(arguments[0] if arguments else "", "nothing was written")
    try:
        code = int(app(args=arguments, standalone_mode=False, prog_name="spacectl") or OK)
        return code if code != INTERRUPTED else _fail(f"interrupted; {kept}", INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort) as stop:
        if isinstance(stop.__cause__, EOFError):  # the parser takes it for an interrupt
            return _unexpected(stop.__cause__, "--debug" in arguments)
        return _fail(f"interrupted; {kept}", INTERRUPTED)
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
        return _unexpected(error, "--debug" in arguments)
    except BaseException as error:  # what a study raises to get past every handler
        if isinstance(error, (SystemExit, GeneratorExit)):
            raise
        return _unexpected(error, "--debug" in arguments)


def _unexpected(error: BaseException, show_traceback: bool) -> int:
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}, line {where.lineno}"
    text = f"unexpected {type(error).__name__}: {_one_line(error)} ({place}); --debug shows the traceback"
    return _fail(text, FAILED, show_traceback)


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


def _fail(text: str, code: int, show_traceback: bool = False) -> int:
    if show_traceback:
        traceback.print_exc()
    typer.echo(f"spacectl: {text}", err=True)
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":  # python -m spacectl.cli
    main()
