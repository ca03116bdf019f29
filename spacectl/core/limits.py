"""Guards against inputs that would block or exhaust the machine: pipes as files, arrays larger than its memory."""

from __future__ import annotations

import errno
import os
import stat
from functools import cache
from pathlib import Path

from spacectl.core.errors import ModelError

__all__ = ["regular_file", "require_memory"]

_SUPPOSED = 64 * 2**30  # [byte] of memory, if the system does not report it


def regular_file(path: str | Path) -> Path:
    """Return `path` if reading it cannot block for ever.

    Raises
    ------
    OSError
        For a pipe, a socket or a device.
    """
    found = Path(path)
    try:
        mode = found.stat().st_mode
    except OSError:
        return found  # opening it reports what is wrong
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise OSError(errno.EINVAL, f"it is {kind}, expected a regular file", str(found))
    return found


def require_memory(n_bytes: float, what: str, cure: str) -> None:
    """Raise `ModelError` if arrays of `n_bytes` cannot fit into the memory of this machine."""
    if n_bytes > _memory():
        size, there = n_bytes / 2**30, _memory() / 2**30
        raise ModelError(f"{what} would take {size:.3g} GiB, more than the {there:.3g} GiB of this machine; {cure}")


@cache
def _memory() -> float:
    """Return the physical memory [byte]."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float(_SUPPOSED)
