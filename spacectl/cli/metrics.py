"""The command ``metrics``: collect all metrics of all studies in one file, and compare it with another one."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spacectl.cli.app import FAILED, OK, Debug, Json, app, say, say_json
from spacectl.cli.gallery import chosen_studies
from spacectl.cli.lookup import LoadedStudy, load_study, package_hash
from spacectl.cli.run import answer, collect_warnings, show_progress
from spacectl.core.provenance import versions
from spacectl.reports.folder.metric_files import FORMS, compare_metrics, read_metrics, write_metrics

__all__ = ["metrics_command"]


@app.command("metrics")
def metrics_command(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="JSON file to write; studies that it already contains are reused.")
    ],
    form: Annotated[str, typer.Option("--form", help="quick, full or both.")] = "both",
    only: Annotated[list[str] | None, typer.Option("--only", help="Only this study; may be repeated.")] = None,
    against: Annotated[Path | None, typer.Option("--against", help="Another such file to compare with.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run all studies in their quick and full forms and collect their metrics in one file.

    The file is written after every study, and a study whose code, and that of spacectl, has not changed is not run
    again; a study that fails is recorded with its error and the others run.
    """
    forms = FORMS if form == "both" else (form,)
    if not set(forms) <= set(FORMS):
        raise typer.BadParameter(f"'{form}' is not one of quick, full, both", param_hint="--form")
    earlier = read_metrics(against) if against else {}
    found = read_metrics(out) if out.exists() else {}
    package = package_hash()
    console = Console(stderr=True)
    files = chosen_studies(only or [])
    for which in forms:
        for i, (name, file) in enumerate(files.items()):
            prefix = f"[{which} {i + 1}/{len(files)}] {name}: "
            loaded, key = _load(name, file, package)
            kept = found.get(name, {}).get(which, {}).get("key") == key
            if not kept:
                found.setdefault(name, {})[which] = _measure(loaded, which == "quick", key, console, prefix)
                write_metrics(out, found)
            if not as_json:
                entry = found[name][which]
                did = "kept" if kept else f"{entry['seconds']:.0f} s"
                say(prefix + (f"FAILED: {entry['error']}" if "error" in entry else did))
    entries = [found[name][which] for name in files for which in forms]
    changes = compare_metrics(earlier, found)
    details = [change for change in changes if change.kind != "noise"]
    if as_json:
        say_json({"metrics": str(out), "changes": [str(change) for change in details]})
    else:
        if against:
            noise = len(changes) - len(details)
            say(f"{len(details)} metrics differ from {against}, and {noise} of rounding size:")
            say("\n".join(f"  {change}" for change in details))
        say(f"metrics: {out}")
    return FAILED if any("error" in entry for entry in entries) else OK


def _load(name: str, file: Path, package: str) -> tuple[LoadedStudy | Exception, str]:
    """Return a study and the key under which its metrics are kept, or the error that loading it raised."""
    try:
        loaded = load_study(file)
    except Exception as error:  # recorded with the study; the others go on
        return error, ""
    return loaded, hashlib.sha256(f"{package}{loaded.sha256}{sorted(versions().items())}".encode()).hexdigest()


def _measure(
    loaded: LoadedStudy | Exception, is_quick: bool, key: str, console: Console, prefix: str
) -> dict[str, Any]:
    """Return the metrics of one study, its time and its warnings; or its error."""
    start = time.perf_counter()
    try:
        if isinstance(loaded, Exception):
            raise loaded
        progress = show_progress(console, prefix)
        with collect_warnings() as caught:
            result = answer(loaded, loaded.study.parameters, is_quick=is_quick, progress=progress)
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return {"error": text, "seconds": round(time.perf_counter() - start, 1)}
    seconds = round(time.perf_counter() - start, 1)
    return {"key": key, "seconds": seconds, "warnings": list(caught), "metrics": dict(result.metrics)}
