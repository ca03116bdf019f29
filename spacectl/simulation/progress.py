"""Tells a person how far long work is: a bar on a terminal after two seconds, or the caller's own function."""

from __future__ import annotations

import sys
import time
from typing import Any

from spacectl.core.studies.study import Progress

__all__ = ["RunProgress", "WorkProgress"]

_PATIENCE = 2.0  # [s] before a bar is shown


class WorkProgress:
    """Progress of some work, used as a context.

    Parameters
    ----------
    report : callable or None
        ``report(fraction, message)``; None shows a bar if standard error is a terminal and the work is long.
    task : str
        Named beside the bar.
    """

    def __init__(self, report: Progress | None, task: str):
        self._report = report
        self._task_name = task
        self._begin = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def report(self, fraction: float, message: str) -> None:
        """Tell that a fraction of the work (0 to 1) is done, and what is done now."""
        fraction = min(max(fraction, 0.0), 1.0)
        if self._report is not None:
            self._report(fraction, message)
        elif self._bar is not None:
            self._bar.update(self._task, completed=fraction, description=f"{self._task_name}: {message}")
        elif time.perf_counter() - self._begin > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            self._show(fraction)

    def _show(self, fraction: float) -> None:
        from rich.console import Console  # a slow import that most runs do not need
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._task_name, total=1.0, completed=fraction)
        self._bar.start()


class RunProgress(WorkProgress):
    """Progress of one run over time.

    Parameters
    ----------
    report : callable or None
        As in `WorkProgress`.
    t_span : (float, float)
        Begin and end of the run [s].
    """

    def __init__(self, report: Progress | None, t_span: tuple[float, float]):
        super().__init__(report, "simulating")
        self._t_span = t_span

    def update(self, t: float) -> None:
        """Tell that time `t` of the run is reached."""
        begin, end = self._t_span
        self.report((t - begin) / (end - begin), f"t = {t:.4g} s of {end:.4g} s")
