"""Provenance of results: content hashes and versions."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.expression import NamedExpression, TimeExpression

__all__ = ["class_key", "content_hash", "versions"]


def content_hash(data: Any) -> str:
    """Return the sha256 hash of plain data, dataclasses and arrays; equal content gives equal hashes on every machine.

    Examples
    --------
    >>> content_hash({"a": 1.0}) == content_hash({"a": 1.0})
    True
    """
    text = json.dumps(_canonical(data), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def class_key(kind: type) -> str:
    """Return a key of a class for hashes: its name, and for classes from outside also a hash of their code.

    Two classes of a user with one name (redefined in a notebook, say) have different keys if their methods differ, or
    the functions and plain values that these use.

    Examples
    --------
    >>> class Orbit:
    ...     def rate(self): return 1.0
    >>> Orbit.__module__ = "my_notebook"
    >>> class_key(Orbit).startswith("Orbit "), class_key(int)
    (True, 'int')
    """
    if _is_ours(kind):
        return kind.__name__
    own = [[base.__name__, _described(dict(vars(base)), set())] for base in kind.__mro__ if not _is_ours(base)]
    ours = [base.__name__ for base in kind.__mro__ if _is_ours(base)]
    return f"{kind.__name__} {hashlib.sha256(repr([own, ours]).encode()).hexdigest()[:16]}"


def _is_ours(item: Any) -> bool:
    """Return whether a class or function belongs to spacectl or its dependencies."""
    return str(getattr(item, "__module__", "")).split(".")[0] in ("spacectl", "builtins", "abc", "casadi", "numpy")


#: Members of every class that define no behaviour, or that differ in every process
_IDLE = {"__module__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__", "__qualname__"}


def _described(value: Any, seen: set[int]) -> Any:
    """Describe plain data by content, functions by their code and values they use, other objects by type."""
    value = next((found for key in ("__func__", "fget", "func") if (found := getattr(value, key, None))), value)
    if id(value) in seen:
        return "seen"
    if isinstance(value, Mapping):
        return sorted((str(key), repr(_described(item, seen))) for key, item in value.items() if key not in _IDLE)
    if isinstance(value, (tuple, list)):
        return [_described(item, seen) for item in value]
    if hasattr(value, "co_code"):
        return [value.co_code.hex(), _described(value.co_consts, seen), value.co_names, value.co_varnames]
    if hasattr(value, "__code__") and not _is_ours(value):
        seen.add(id(value))
        used = {name: value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__}
        cells = [_contents(cell) for cell in value.__closure__ or ()]
        return [_described(item, seen) for item in (value.__code__, value.__defaults__, cells, used)]
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return value
    return repr(value.tolist()) if isinstance(value, np.ndarray) else type(value).__name__


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name without a value so far
        return None


_PLAIN = frozenset((str, int, bool, type(None)))  # written as they are


def _canonical(data: Any) -> Any:
    kind = type(data)
    if kind in _PLAIN:  # nearly all data; derived types, such as numpy's numbers, are handled below
        return data
    if kind is float:
        return data.hex()
    if kind is list or kind is tuple:
        return [_canonical(item) for item in data]
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = {item.name: _canonical(getattr(data, item.name)) for item in dataclasses.fields(data)}
        return {"type": class_key(type(data)), **fields}
    if isinstance(data, Array):
        return {"array": [float(value).hex() for value in data[...].reshape(-1)], "shape": list(data.shape)}
    if isinstance(data, Mapping):
        return {str(key): _canonical(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_canonical(item) for item in data]
    if isinstance(data, (np.ndarray, np.generic)):
        return _canonical(data.tolist())
    if isinstance(data, bool) or data is None or isinstance(data, (int, str)):
        return data
    if isinstance(data, float):
        return data.hex()
    if isinstance(data, (NamedExpression, TimeExpression)):
        return {"expression": data.text}
    raise TypeError(f"cannot hash {type(data).__name__} by content")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, spacectl and the libraries that affect results."""
    found = {"python": platform.python_version()}
    for name in ("spacectl", "numpy", "scipy", "casadi", "xarray"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
