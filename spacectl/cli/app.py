"""The application behind ``spacectl``: what all commands share."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from spacectl.core.studies.requirement import Verdict

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "OK",
    "TERMINATED",
    "UNMET",
    "WRONG",
    "Debug",
    "Json",
    "Quick",
    "app",
    "say",
    "say_json",
    "say_verdicts",
    "verdict_data",
]

#: Exit codes: done; a solver or something unexpected failed; wrong usage, model or parameter; a requirement is not met
OK, FAILED, WRONG, UNMET, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Control design for space manipulators, flexible spacecraft and tethers.",
)
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Quick = Annotated[bool, typer.Option("--quick", help="The short form of the study.")]


def say(text: str) -> None:
    """Print one line (or block) on standard output, exactly as it is."""
    typer.echo(text)


def say_json(data: Any) -> None:
    """Print one JSON object on standard output."""
    say(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def say_verdicts(verdicts: list[Verdict]) -> None:
    """Return a line for each requirement."""
    for verdict in verdicts:
        reason = f" ({verdict.reason})" if verdict.reason else ""
        say(f"  {'pass' if verdict.is_met else 'FAIL'}: {verdict.requirement}{reason}")


def verdict_data(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    """Return verdicts as JSON data."""
    return [{"requirement": str(item.requirement), "is_met": item.is_met, "reason": item.reason} for item in verdicts]
