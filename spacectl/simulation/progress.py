"""Report the progress of long computations by a bar on a terminal after two seconds, or by a function of the caller."""

from __future__ import annotations

import sys
import time
from typing import Any

from spacectl.core.studies.study import Progress

__all__ = ["RunProgress", "WorkProgress"]

_PATIENCE = 2.0  # [s] after which a bar is shown


class WorkProgress:
    """Report the progress of a computation; use it as a context manager.

    Parameters
    ----------
    report : callable or None
        Called as ``report(fraction, message)``; None shows a bar if standard error is a terminal and the work is long.
    task : str
        Label of the bar.
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
        """Report the completed fraction of the work (0 to 1) and a message."""
        fraction = min(max(fraction, 0.0), 1.0)
        if self._report is not None:
            self._report(fraction, message)
        elif self._bar is not None:
            self._bar.update(self._task, completed=fraction, description=f"{self._task_name}: {message}")
        elif time.perf_counter() - self._begin > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            self._show(fraction)

    def _show(self, fraction: float) -> None:
        from rich.console import Console  # slow to import, and rarely needed
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._task_name, total=1.0, completed=fraction)
        self._bar.start()


class RunProgress(WorkProgress):
    """Report the progress of one run over time.

    Parameters
    ----------
    report : callable or None
        As in `WorkProgress`.
    t_span : (float, float)
        Start and end time of the run [s].
    """

    def __init__(self, report: Progress | None, t_span: tuple[float, float]):
        super().__init__(report, "simulating")
        self._t_span = t_span

    def update(self, t: float) -> None:
        """Report that the run has reached time `t`."""
        begin, end = self._t_span
        self.report((t - begin) / (end - begin), f"t = {t:.4g} s of {end:.4g} s")
