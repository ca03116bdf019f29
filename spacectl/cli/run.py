"""Run a study for the command line: parameters, progress, warnings, and the folder of results."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from spacectl.cli.lookup import LoadedStudy, match_units
from spacectl.cli.settings import Settings
from spacectl.core.errors import ModelError
from spacectl.core.provenance import versions
from spacectl.core.studies.plain import plain_value
from spacectl.core.studies.study import Progress as Report
from spacectl.core.studies.study import StudyResult, override_parameters, parameter_value, withhold_verdicts
from spacectl.reports.folder.atomic import check_replaceable
from spacectl.reports.folder.folder import write_study_folder
from spacectl.reports.page.summary import StudyRecord, simulation_warnings

__all__ = ["answer", "collect_warnings", "prepare_parameters", "run_study", "show_progress"]


def prepare_parameters(loaded: LoadedStudy, changes: Mapping[str, Any]) -> Any:
    """Return a study's parameters with some changed.

    Raises
    ------
    ModelError
        If a name is unknown or a value cannot be read; the message names the study.
    """
    try:
        return override_parameters(loaded.study.parameters, changes)
    except ModelError as error:
        raise ModelError(f"study '{loaded.name}': {error}") from error


def run_study(
    loaded: LoadedStudy, *, out: Path, settings: Settings, is_quick: bool, progress: Report
) -> tuple[StudyResult, StudyRecord]:
    """Run a study and write its folder; nothing appears at `out` unless all of it succeeds.

    Parameters
    ----------
    loaded : LoadedStudy
        The study.
    out : path
        Folder to write.
    settings : Settings
        Parameters to change, and requirements.
    is_quick : bool
        Passed on to the study.
    progress : callable
        Called with ``(fraction, text)`` as the study advances.
    """
    check_replaceable(out)
    parameters = prepare_parameters(loaded, settings.changes)
    start = time.perf_counter()
    with collect_warnings() as caught:
        result = answer(loaded, parameters, is_quick=is_quick, progress=progress)
    provenance = {
        "seconds": round(time.perf_counter() - start, 3),
        "changed": {key: plain_value(parameter_value(parameters, key)) for key in settings.changes},
        **({"parameter_file": settings.origin} if settings.origin else {}),
        "study_sha256": loaded.sha256,
        "versions": versions(),
    }
    record = StudyRecord(
        name=loaded.name,
        question=loaded.study.question,
        parameters=parameters,
        defaults=loaded.study.parameters,
        is_quick=is_quick,
        warnings=(*caught, *simulation_warnings(result.simulations)),
        units=match_units(loaded.units, result.metrics),
        requirements=settings.requirements,
        provenance=provenance,
    )
    progress(1.0, "writing the report")
    write_study_folder(result, out, record=record)
    return result, record


def answer(loaded: LoadedStudy, parameters: Any, *, is_quick: bool, progress: Report) -> StudyResult:
    """Return the result of a study, without verdicts on published results if `parameters` differ from the defaults.

    Raises
    ------
    ModelError
        If the study ends the program or returns something else than a `StudyResult`.
    """
    try:
        result = loaded.study.run(parameters, quick=is_quick, progress=progress)
    except SystemExit as error:
        raise ModelError(
            f"study '{loaded.name}': run ended the program (SystemExit: {error}); raise an error instead"
        ) from error
    if not isinstance(result, StudyResult):
        raise ModelError(f"study '{loaded.name}': run returned a {type(result).__name__}, expected a StudyResult")
    return withhold_verdicts(result, parameters, loaded.study.parameters)


def show_progress(console: Console, prefix: str = "") -> Report:
    """Return a function that prints each new step of a study on a terminal, and nothing elsewhere.

    Lines instead of a bar, because a long simulation within the study shows a bar of its own. Each line says how long
    the study has been running, and from a tenth on about how long it will take.
    """
    summary: list[str] = []
    begin = time.perf_counter()

    def report(fraction: float, text: str) -> None:
        if console.is_terminal and text not in summary:
            summary.append(text)
            done, seconds = min(max(fraction, 0.0), 1.0), time.perf_counter() - begin
            left = f", about {seconds / done - seconds:.0f} s left" if 0.1 <= done < 1.0 and seconds > 5.0 else ""
            console.print(Text(f"{prefix}{100 * done:3.0f} %  {text} ({seconds:.0f} s{left})", style="dim"))

    return report


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Return sentences that Python warnings and spacectl's log bring during a run, each once."""
    caught: list[str] = []

    def hear(text: str) -> None:
        if text not in caught:
            caught.append(text)

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
            yield caught
    finally:
        logger.removeHandler(listener)
