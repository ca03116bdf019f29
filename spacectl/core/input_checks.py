"""Checks of user input: sequences of one kind, files that cannot block, arrays that fit into memory."""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError, as_number

__all__ = ["as_names", "as_time", "regular_file", "require_memory", "sequence_of"]

_SUPPOSED = 64 * 2**30  # [byte] of memory, if the system does not report it


def regular_file(path: str | Path) -> Path:
    """Return `path` if reading it cannot block.

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


def sequence_of(kind: type, values: Any, what: str) -> tuple[Any, ...]:
    """Return `values` as a tuple whose entries are all of one kind; `what` names it in the error.

    Raises
    ------
    ModelError
        For a single value (text is not split into letters) and for entries of another class.

    Examples
    --------
    >>> sequence_of(str, ["a", "b"], "names")
    ('a', 'b')
    """
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping, kind)):
        entries = tuple(values)
        wrong = [entry for entry in entries if not isinstance(entry, kind)]
        if not wrong:
            return entries
        values = wrong[0]
    cure = f"; write ({values!r},)" if isinstance(values, str) and kind is str else ""
    raise ModelError(f"{what}: expected a sequence of {kind.__name__}, got {values!r}{cure}")


def as_names(given: Any, what: str) -> tuple[str, ...]:
    """Return names as a tuple; a single one may be given by itself, as in ``Artificial(by="wrist")``.

    Examples
    --------
    >>> as_names("crank_pin", "form_equations: independent")
    ('crank_pin',)
    """
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{what} is {given!r}, expected names: a tuple such as ('crank_pin',), or () for none")
    return names


def as_time(t: Any, what: str) -> float:
    """Return a finite time."""
    time = as_number(t, what)
    if not math.isfinite(time):
        raise ModelError(f"{what} is {time}, expected a finite time in seconds")
    return time
