"""The command ``list``: the studies that can be found by name, with their questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacectl.cli.app import Debug, Json, app, say, say_json
from spacectl.cli.lookup import list_studies, load_study, read_question
from spacectl.core.errors import ModelError
from spacectl.core.studies.plain import plain_parameters

__all__ = ["list_command"]


@app.command("list")
def list_command(as_json: Json = False, debug: Debug = False) -> None:
    """List the studies that `spacectl run` finds by name, with their questions."""
    studies = list_studies()
    if not studies:
        raise ModelError("no studies here; give `spacectl run` the path of a folder with a study.py")
    if as_json:
        say_json([{"name": name, **_describe(file)} for name, file in studies.items()])
        return
    width = max(len(name) for name in studies)
    for name, file in studies.items():
        say(f"{name:<{width}}  {read_question(file) or _describe(file)['question']}")


def _describe(file: Path) -> dict[str, Any]:
    """Return question and parameters of a study by loading it; a failure does not affect the others."""
    try:
        study = load_study(file).study
    except Exception as error:
        return {"question": f"(cannot be loaded: {' '.join(str(error).split())})", "parameters": None}
    return {"question": study.question, "parameters": plain_parameters(study.parameters)}
