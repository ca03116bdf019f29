"""Suggestions for wrong keywords: ``simulate(eom, gird=101)`` says that `grid` was probably meant.

Python names the wrong keyword only. `suggest_keywords` adds the nearest parameter to that message, for all public
functions and classes at one place (the end of ``spacectl/__init__.py``), so that no function repeats it.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from spacectl.core.errors import unknown_name

__all__ = ["suggest_keywords"]

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def suggest_keywords(package: str, names: Iterable[str]) -> None:
    """Make public functions and classes of a package suggest a parameter when they are called with a wrong keyword.

    A class keeps its identity: only its own ``__init__`` is wrapped. A function is replaced in every module of the
    package that holds it, its own one included, so that there is one object and it can be pickled.

    Parameters
    ----------
    package : str
        Name of the imported package.
    names : iterable of str
        Names in its namespace.
    """
    wrapped = {}
    for item in {id(item): item for item in (getattr(sys.modules[package], name) for name in names)}.values():
        if inspect.isclass(item) and inspect.isfunction(item.__dict__.get("__init__")):
            item.__init__ = _wrap(item.__init__)  # type: ignore[method-assign]
        elif inspect.isfunction(item):
            wrapped[item] = _wrap(item)
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == package]
    for module in modules:
        for name, item in vars(module).items():
            if type(item) is FunctionType and item in wrapped:
                setattr(module, name, wrapped[item])


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
