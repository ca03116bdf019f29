"""Suggestions for wrong keywords: ``simulate(eom, gird=101)`` suggests `grid`.

Python reports the wrong keyword only. ``spacectl/__init__.py`` calls `suggest_keywords` for all public functions and
classes, which adds the nearest parameter to that message.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from spacectl.core.errors import unknown_name

__all__ = ["suggest_keywords"]

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def suggest_keywords(module: ModuleType, name: str) -> Any:
    """Return a public object of a module, wrapped to suggest a parameter for a wrong keyword.

    A class keeps its identity: only its own ``__init__`` is wrapped. A function is replaced in every module of the
    package that holds it, its own one included, so that there is one object and it can be pickled.

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
