"""Turns the terminate signal into the clean-up of Ctrl-C, so that a stopped run leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["terminate_as_interrupt"]


@contextmanager
def terminate_as_interrupt() -> Iterator[list[int]]:
    """While this lasts, SIGTERM raises `KeyboardInterrupt`; the list given tells which signals came.

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

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
