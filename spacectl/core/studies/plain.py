"""Parameters of studies as plain JSON data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

__all__ = ["plain_parameters", "plain_value"]


def plain_parameters(parameters: Any) -> dict[str, Any]:
    """Convert the fields of a dataclass to JSON data."""
    if parameters is None:
        return {}
    return {item.name: plain_value(getattr(parameters, item.name)) for item in dataclasses.fields(parameters)}


def plain_value(value: Any) -> Any:
    """Convert the value of a parameter to JSON data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain_parameters(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
