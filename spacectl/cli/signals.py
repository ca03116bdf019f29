"""Treat the terminate signal as Ctrl-C, so that a stopped run removes its temporary files.

Python drops an exception that is raised while it runs a destructor or the callback of a weak reference, also a
`KeyboardInterrupt`; a run would then continue. The signal that brought such an interrupt is repeated
a moment later.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["terminate_as_interrupt"]

_AGAIN = 0.05  # [s] until a dropped interrupt is repeated


@contextmanager
def terminate_as_interrupt() -> Iterator[list[int]]:
    """Raise `KeyboardInterrupt` on SIGTERM inside this context; the list holds the signals received.

    Outside the main thread, where signals cannot be handled, it does nothing. A child process that inherits the handler
    ends at once, as it would without.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    owner = os.getpid()

    def stop(number: int, frame: Any) -> None:
        if os.getpid() != owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        received.append(number)
        raise KeyboardInterrupt

    def repeat(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            summary(dropped)
            return
        number = received[-1] if received else signal.SIGINT  # SIGINT alone may be ignored here, as under nohup
        timer = threading.Timer(_AGAIN, _interrupt, (number,))
        timer.daemon = True
        timer.start()

    before, summary = signal.signal(signal.SIGTERM, stop), sys.unraisablehook
    sys.unraisablehook = repeat
    try:
        yield received
    finally:
        sys.unraisablehook = summary
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)


def _interrupt(number: int) -> None:
    """Send a real signal where there are some, since it also ends a sleep."""
    if os.name == "posix":
        os.kill(os.getpid(), number)
    else:
        _thread.interrupt_main()
