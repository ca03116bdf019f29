"""The command ``tune``: compile the kernels of the package for exactly this processor."""

from __future__ import annotations

from spacectl.cli.app import Debug, Json, app, say, say_json
from spacectl.codegen.kernels import tune

__all__ = ["tune_command"]


@app.command("tune")
def tune_command(as_json: Json = False, debug: Debug = False) -> None:
    """Compile the kernels that wheels carry for any processor once more for this one; later processes use them.

    Results change by rounding: every simulation states in its attributes which kernels it used.
    """
    found = tune()
    if as_json:
        say_json({"kernels": found})
        return
    for name, outcome in found.items():
        say(f"  {name:<12} {outcome}")
