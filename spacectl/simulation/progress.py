"""Tells a person how far a run is: a bar on a terminal after two seconds, or the caller's own function."""

from __future__ import annotations

import sys
import time
from typing import Any

from spacectl.core.study import Progress

__all__ = ["RunProgress"]

_PATIENCE = 2.0  # [s] before a bar is shown


class RunProgress:
    """Progress of one run, used as a context.

    Parameters
    ----------
    report : callable or None
        ``report(fraction, message)``; None shows a bar if standard error is a terminal and the run is long.
    t_span : (float, float)
        Begin and end of the run [s].
    """

    def __init__(self, report: Progress | None, t_span: tuple[float, float]):
        self._report = report
        self._t_span = t_span
        self._begin = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, t: float) -> None:
        """Tell that time `t` of the run is reached."""
        begin, end = self._t_span
        fraction = min(max((t - begin) / (end - begin), 0.0), 1.0)
        if self._report is not None:
            self._report(fraction, f"t = {t:.4g} s of {end:.4g} s")
        elif self._bar is not None:
            self._bar.update(self._task, completed=fraction)
        elif time.perf_counter() - self._begin > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            self._show(fraction)

    def _show(self, fraction: float) -> None:
        from rich.console import Console  # a slow import that most runs do not need
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("simulating", total=1.0, completed=fraction)
        self._bar.start()
