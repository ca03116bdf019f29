"""Exceptions, the message about an unknown name, and warnings at the caller's line.

A wrong argument raises `ModelError` or `ShapeError` at once; a numerical failure raises `SolverError`,
which holds the partial result.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["ModelError", "ShapeError", "SolverError", "SpacectlError", "as_number", "unknown_name", "warn"]


class SpacectlError(Exception):
    """Base of everything that spacectl raises on purpose."""


class ModelError(SpacectlError, ValueError):
    """An invalid description or argument; the message names the part and the cure."""


class ShapeError(ModelError):
    """An array whose shape does not fit what it describes."""


class SolverError(SpacectlError, RuntimeError):
    """A numerical method that could not finish.

    Parameters
    ----------
    message : str
        What failed, where, and the usual cure.
    partial : object, optional
        What was finished before the failure (for example a `Simulation` up to that time).
    """

    def __init__(self, message: str, partial: Any = None):
        super().__init__(message)
        self.partial = partial


def as_number(value: Any, what: str) -> float:
    """Return `value` as a float (NaN and infinity included); raise `ModelError` for text and booleans."""
    if isinstance(value, (str, bytes, bool)):
        raise ModelError(f"{what}: expected a number, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected a number, got {value!r}") from error


def unknown_name(kind: str, name: str, allowed: Iterable[str]) -> str:
    """Compose a message: `name` is no `kind`, which names exist, and which one was probably meant.

    Examples
    --------
    >>> unknown_name("joint", "elbw", ("elbow", "wrist"))
    "unknown joint 'elbw'; did you mean 'elbow'? There are: elbow, wrist"
    """
    names = [str(item) for item in allowed]
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "none"
    return f"unknown {kind} '{name}'{hint} There are: {listed}"


def list_names(names: Sequence[str], most: int = 6) -> str:
    """Return names for a message, quoted, and the number of those beyond the first `most`.

    >>> list_names(("elbow", "wrist", "hinge"), 2)
    "'elbow', 'wrist' and 1 more"
    """
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line of the user's code that led here: the first frame outside the package.

    Python shows a warning once per place, so the place must not be inside the package.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    """Return whether a module belongs to the package; studies that are shipped with it are users of it."""
    return (module == "spacectl" or module.startswith("spacectl.")) and not module.startswith("spacectl._studies")
