"""Where a result comes from: content hashes and versions."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

from spacectl.core.array import Array
from spacectl.core.expression import NamedExpression, TimeExpression

__all__ = ["content_hash", "versions"]


def content_hash(data: Any) -> str:
    """sha256 of plain data, dataclasses and arrays; equal content gives an equal hash on every machine.

    Examples
    --------
    >>> content_hash({"a": 1.0}) == content_hash({"a": 1.0})
    True
    """
    text = json.dumps(_canonical(data), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(data: Any) -> Any:
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = {item.name: _canonical(getattr(data, item.name)) for item in dataclasses.fields(data)}
        return {"type": type(data).__name__, **fields}
    if isinstance(data, Array):
        return {"array": [float(value).hex() for value in data[...].reshape(-1)], "shape": list(data.shape)}
    if isinstance(data, Mapping):
        return {str(key): _canonical(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_canonical(item) for item in data]
    if isinstance(data, bool) or data is None or isinstance(data, (int, str)):
        return data
    if isinstance(data, float):
        return data.hex()
    if isinstance(data, (NamedExpression, TimeExpression)):
        return {"expression": data.text}
    raise TypeError(f"cannot hash {type(data).__name__} by content")


@cache
def versions() -> dict[str, str]:
    """Versions of Python, spacectl and the libraries that numbers depend on."""
    found = {"python": platform.python_version()}
    for name in ("spacectl", "numpy", "scipy", "casadi", "xarray"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
