"""Runs a study for the command line: parameters, progress, warnings, and the folder of results."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from spacectl.cli_lookup import LoadedStudy
from spacectl.core.errors import ModelError
from spacectl.core.provenance import versions
from spacectl.core.study import Progress as Report
from spacectl.core.study import StudyResult, override_parameters
from spacectl.reports.atomic import check_replaceable
from spacectl.reports.folder import plain_parameters, write_study_folder
from spacectl.reports.record import StudyRecord

__all__ = ["parse_settings", "run_study"]


def parse_settings(settings: list[str]) -> dict[str, str]:
    """``["mass=2", "name=a"]`` as a dictionary.

    Raises
    ------
    ModelError
        For a text without ``=``, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in settings:
        key, separator, value = text.partition("=")
        key = key.strip()
        if not separator or not key:
            raise ModelError(f"--set '{text}': expected name=value, such as --set payload_mass=80")
        if key in found:
            raise ModelError(f"--set '{text}': '{key}' is given twice; keep one")
        found[key] = value.strip()
    return found


def run_study(
    loaded: LoadedStudy, *, out: Path, settings: dict[str, str], is_quick: bool, console: Console
) -> tuple[StudyResult, StudyRecord]:
    """Run a study and write its folder; nothing appears at `out` unless all of it succeeds.

    Parameters
    ----------
    loaded : LoadedStudy
        The study.
    out : path
        Folder to write.
    settings : dict
        Parameters to change, as text.
    is_quick : bool
        Passed on to the study.
    console : Console
        Where progress is shown, if it is a terminal.
    """
    study = loaded.study
    check_replaceable(out)
    try:
        parameters = override_parameters(study.parameters, settings)
    except ModelError as error:
        raise ModelError(f"study '{loaded.name}': {error}") from error
    start = time.perf_counter()
    with collect_warnings() as heard:
        try:
            result = study.run(parameters, quick=is_quick, progress=show_progress(console))
        except SystemExit as error:
            raise ModelError(
                f"study '{loaded.name}': run ended the program (SystemExit: {error}); raise an error instead"
            ) from error
    if not isinstance(result, StudyResult):
        raise ModelError(f"study '{loaded.name}': run returned a {type(result).__name__}, expected a StudyResult")
    provenance = {
        "seconds": round(time.perf_counter() - start, 3),
        "changed": {key: plain_parameters(parameters)[key] for key in settings},
        "study_sha256": loaded.sha256,
        "versions": versions(),
    }
    record = StudyRecord(
        name=loaded.name,
        question=study.question,
        parameters=parameters,
        defaults=study.parameters,
        is_quick=is_quick,
        warnings=tuple(heard),
        units=loaded.units,
        provenance=provenance,
    )
    write_study_folder(result, out, record=record)
    return result, record


def show_progress(console: Console) -> Report:
    """A function that prints each new step of a study on a terminal, and nothing elsewhere.

    Lines instead of a bar, because a long simulation within the study shows a bar of its own.
    """
    told: list[str] = []

    def report(fraction: float, text: str) -> None:
        if console.is_terminal and text not in told:
            told.append(text)
            console.print(Text(f"{100 * min(max(fraction, 0.0), 1.0):3.0f} %  {text}", style="dim"))

    return report


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Sentences that Python warnings and spacectl's log bring during a run, each once."""
    heard: list[str] = []

    def hear(text: str) -> None:
        if text not in heard:
            heard.append(text)

    class Listener(logging.Handler):
        def emit(self, item: logging.LogRecord) -> None:
            hear(item.getMessage())

    def show(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)):
            hear(str(message))

    listener = Listener(level=logging.WARNING)
    logger = logging.getLogger("spacectl")
    logger.addHandler(listener)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = show
            yield heard
    finally:
        logger.removeHandler(listener)
