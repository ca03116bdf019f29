"""Remove leftovers of killed runs beside an output: ``.NAME.<machine>-<process>.<random>.part``.

Only such names are removed, and only if their process no longer exists on this machine or they are a day old.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import time
from pathlib import Path

__all__ = ["is_leftover", "process_mark", "remove_leftovers"]

OLD = 86400.0  # [s] age of abandoned files: writing a result takes seconds


def process_mark() -> str:
    """Return the mark of this process in file names: a hash of the host name (folders may be shared) and its number."""
    return f"{_machine()}-{os.getpid()}"


def is_leftover(name: str, target: str) -> bool:
    """Return whether a folder of this name is the temporary folder of a run that writes `target`."""
    return _shape(target).fullmatch(name) is not None


def _shape(target: str) -> re.Pattern[str]:
    return re.compile(rf"\.{re.escape(target)}\.(?:([0-9a-f]{{8}})-(\d{{1,9}})\.)?[a-z0-9_]{{8}}\.part")


def remove_leftovers(target: Path, place: Path | None = None) -> None:
    """Remove leftovers of runs that wrote to `target` in `place` (default: beside it), as far as possible."""
    shape = _shape(target.name)
    try:
        neighbours = list((place or target.parent).iterdir())
    except OSError:
        return  # a folder that may be written but not listed
    for path in neighbours:
        mark = shape.fullmatch(path.name)
        if mark is None or path.is_symlink():
            continue
        try:
            is_old = time.time() - path.stat().st_mtime > OLD
            if not is_old and not (mark[1] == _machine() and _has_ended(int(mark[2]))):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        except OSError:
            continue


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _has_ended(process: int) -> bool:
    if os.name != "posix":
        return False  # signal 0 is harmless on POSIX only; elsewhere age decides
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # it exists, but belongs to another user
    return False
