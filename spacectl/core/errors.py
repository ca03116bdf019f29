"""Exceptions, warnings at the caller's line, and messages about unknown names and keywords.

A wrong argument raises `ModelError` or `ShapeError` immediately; a numerical failure raises `SolverError`,
which contains the partial result. For a wrong keyword Python reports that keyword only;
``spacectl/__init__.py`` calls `suggest_keywords` for all public functions and classes, so that
``simulate(eom, gird=101)`` suggests `grid`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

__all__ = [
    "ModelError",
    "ShapeError",
    "SolverError",
    "SpacectlError",
    "as_number",
    "suggest_keywords",
    "unknown_name",
    "warn",
]


class SpacectlError(Exception):
    """Base of all exceptions of spacectl."""


class ModelError(SpacectlError, ValueError):
    """An invalid description or argument; the message names the part and the remedy."""


class ShapeError(ModelError):
    """An array of the wrong shape."""


class SolverError(SpacectlError, RuntimeError):
    """A numerical method that could not finish.

    Parameters
    ----------
    message : str
        What failed, where, and the usual remedy.
    partial : object, optional
        Partial result (for example a `Simulation` up to the failure).
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
    """Return a message about an unknown `kind`, with a suggestion and the existing names.

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
    """Return whether a module is part of the package; the studies shipped with it count as user code."""
    return (module == "spacectl" or module.startswith("spacectl.")) and not module.startswith("spacectl._studies")


_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def suggest_keywords(module: ModuleType, name: str) -> Any:
    """Return a public object of a module, wrapped to suggest a parameter for a wrong keyword.

    For a class only its own ``__init__`` is wrapped, so that its identity does not change. A function is
    replaced in every module of the package that refers to it, its own included: there is one object, which
    can be pickled.

    Parameters
    ----------
    module : module
        The module that defines the name.
    name : str
        A function, a class or any other object.
    """
    item = getattr(module, name)
    if inspect.isclass(item) and inspect.isfunction(item.__dict__.get("__init__")):
        if not hasattr(item.__init__, "__wrapped__"):
            item.__init__ = _wrap(item.__init__)  # type: ignore[method-assign]
    elif inspect.isfunction(item) and not hasattr(item, "__wrapped__"):
        wrapped, package = _wrap(item), module.__name__.partition(".")[0]
        for other in [other for key, other in sys.modules.items() if key.partition(".")[0] == package]:
            for key, value in vars(other).items():
                if value is item:
                    setattr(other, key, wrapped)
        item = wrapped
    return item


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            # of this call itself: an error from inside the function has a longer traceback
            found = error.__traceback__ and error.__traceback__.tb_next is None and _UNEXPECTED.search(str(error))
            if found:
                allowed = [name for name in inspect.signature(function).parameters if name != "self"]
                hint = unknown_name("keyword", found[1], allowed).partition(f"'{found[1]}'")[2]
                error.args = (f"{error}{hint}",)
            raise

    return call
