"""The command ``gallery``: run all studies, reuse finished ones, continue after failures, and write one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from spacectl.cli.app import FAILED, OK, Debug, Json, Quick, app, say, say_json
from spacectl.cli.lookup import LoadedStudy, list_studies, load_study
from spacectl.cli.run import run_study, show_progress
from spacectl.cli.settings import Settings
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.input_checks import regular_file
from spacectl.core.provenance import versions
from spacectl.reports.folder.atomic import RECORD, file_hashes
from spacectl.reports.folder.folder import read_document
from spacectl.reports.folder.gallery import INDEX, GalleryEntry, check_index, write_gallery

__all__ = ["chosen_studies", "gallery_command"]


@app.command("gallery")
def gallery_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the page and a result folder of each study.")],
    quick: Quick = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only this study; may be repeated.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run finished studies again.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run all studies and write one page: published results beside ours, verdicts, figures.

    A finished study is not run again unless it or spacectl has changed. If one fails, it is reported and the others run.
    """
    console = Console(stderr=True)
    files = chosen_studies(only or [])
    check_index(out)
    out.mkdir(parents=True, exist_ok=True)
    entries = [GalleryEntry(name=name, question=_question(file), state="waiting") for name, file in files.items()]
    for i, (name, file) in enumerate(files.items()):
        prefix = f"[{i + 1}/{len(files)}] {name}: "
        entries[i] = _visit(name, file, out / name, is_quick=quick, is_fresh=fresh, console=console, prefix=prefix)
        write_gallery(out, entries, is_quick=quick)
        if not as_json:
            details = {"kept": "kept (finished before)", "failed": f"FAILED: {entries[i].error}"}
            say(prefix + details.get(entries[i].state, "done"))
    is_whole = all(entry.state in ("done", "kept") for entry in entries)
    if as_json:
        rows = [{"name": entry.name, "state": entry.state, "error": entry.error} for entry in entries]
        say_json({"page": str(out / INDEX), "studies": rows})
    else:
        say(f"gallery: {out / INDEX}")
    return OK if is_whole else FAILED


def chosen_studies(only: list[str]) -> dict[str, Path]:
    """Return names and files of the studies called `only`, or of all studies if there is no name."""
    studies = list_studies()
    if not studies:
        raise ModelError("no studies here; run `spacectl gallery` beside a folder `studies`")
    for name in only:
        if name not in studies:
            raise ModelError(unknown_name("study", name, studies))
    return {name: file for name, file in studies.items() if not only or name in only}


def _question(file: Path) -> str:
    try:
        return load_study(file).study.question
    except Exception:  # reported when it is run
        return ""


def _visit(
    name: str, file: Path, folder: Path, *, is_quick: bool, is_fresh: bool, console: Console, prefix: str
) -> GalleryEntry:
    """Run one study, or reuse its result; record any failure."""
    question = ""
    try:
        loaded = load_study(file)
        question = loaded.study.question
        if not is_fresh and _is_finished(loaded, folder, is_quick):
            return GalleryEntry(name=name, question=question, state="kept")
        if console.is_terminal:
            console.print(Text(f"{prefix}{question}"))
        progress = show_progress(console, prefix)
        run_study(loaded, out=folder, settings=Settings(), is_quick=is_quick, progress=progress)
    except Exception as error:
        summary = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return GalleryEntry(name=name, question=question, state="failed", error=summary)
    return GalleryEntry(name=name, question=question, state="done")


def _is_finished(loaded: LoadedStudy, folder: Path, is_quick: bool) -> bool:
    """Return whether the folder holds the result of this study, form and version of spacectl, with every file as
    it was written."""
    try:
        record = json.loads(regular_file(folder / RECORD).read_text(encoding="utf-8"))
        same = (record["study_sha256"], record["is_quick"], record["changed"]) == (loaded.sha256, is_quick, {})
        if not same or record["versions"] != versions():
            return False
        return record["files"] == file_hashes(folder) and bool(read_document(folder))
    except (OSError, ValueError, KeyError, TypeError):  # also a document of an older form
        return False
