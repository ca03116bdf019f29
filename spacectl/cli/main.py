"""The command line: ``spacectl list | run | report | gallery | sweep | metrics | new | check | bench | tune``.

Each error is one line that names the part and a remedy. Exit codes: 0 done; 1 a solver or something unexpected failed;
2 wrong usage, model or parameter; 3 a requirement is not met; 130 interrupted (Ctrl-C); 143 terminated.
"""

from __future__ import annotations

import io
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from spacectl import __version__
from spacectl.cli.app import FAILED, INTERRUPTED, OK, TERMINATED, WRONG, app, say
from spacectl.cli.signals import terminate_as_interrupt
from spacectl.core.errors import ModelError, SolverError

__all__ = ["app", "main", "run_command_line"]

#: Commands and the modules that bring them, which are imported when they are needed
COMMANDS = {
    "list": "listing",
    "run": "studies",
    "report": "studies",
    "gallery": "gallery",
    "sweep": "sweep",
    "metrics": "metrics",
    "new": "new",
    "check": "check",
    "bench": "bench",
    "tune": "tune",
}

#: What an interrupted command leaves; others leave nothing
KEPT = {
    "gallery": "finished studies are kept, run it again to continue",
    "sweep": "finished points are kept, run it again to continue",
    "metrics": "finished studies are kept, run it again to continue",
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


def run_command_line(arguments: list[str]) -> int:
    """Run one command and return its exit code; every failure is reported in one line."""
    with terminate_as_interrupt() as received:
        code = _run(arguments)
    return TERMINATED if code == INTERRUPTED and received else code


def _bring(arguments: list[str]) -> None:
    """Import the module of the command that is asked for; of all commands where the help may list them."""
    asked = arguments[0] if arguments else ""
    for module in dict.fromkeys([COMMANDS[asked]] if asked in COMMANDS else COMMANDS.values()):
        import_module(f"spacectl.cli.{module}")


def _run(arguments: list[str]) -> int:
    kept = KEPT.get(arguments[0] if arguments else "", "nothing was written")
    try:
        _bring(arguments)
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
    """Run the ``spacectl`` script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our signs shows ? instead of failing
    sys.exit(run_command_line(sys.argv[1:]))


def _fail(text: str, code: int, show_traceback: bool = False) -> int:
    if show_traceback:
        traceback.print_exc()
    typer.echo(f"spacectl: {text}", err=True)
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
