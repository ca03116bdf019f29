"""Other names of bodies and frames: what refers to them is led to the parts that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from spacectl.core.expression import NamedExpression

__all__ = ["rename_frames"]

_OTHERS = ("name", "joint", "component")  # fields that name something else than a frame


def rename_frames(item: Any, names: Mapping[str, str]) -> Any:
    """Return a part, actuator, sensor, element or constraint with the frames it refers to renamed."""
    changes: dict[str, Any] = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if isinstance(value, str) and value in names and field.name not in _OTHERS:
            changes[field.name] = names[value]
        elif isinstance(value, NamedExpression) and value.renamed(names) != value:
            changes[field.name] = value.renamed(names)
    return replace(item, **changes) if changes else item
