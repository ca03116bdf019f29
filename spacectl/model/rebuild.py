"""Systems with other values of fields: ``rebuild_system(system, {"boom.EI": 2e3})``.

Components are frozen dataclasses, so that a changed value gives a new object, which is checked and computes
its parameters again. A class implements ``changed(**changes)`` if other fields follow (the tip of a beam
moves with its length).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.expression import NamedExpression

if TYPE_CHECKING:
    from spacectl.model.system import System

__all__ = [
    *("field_names", "field_value", "find_field", "flatten", "is_number"),
    *("rebuild_system", "rename_frames", "unflatten"),
]

_SERIES = ("parts", "actuators", "sensors", "elements", "constraints")
_OTHERS = ("name", "joint", "component")  # fields whose text is not the name of a frame
_INNER = ("body", "joint")  # components whose parameters carry the name of their owner


def rebuild_system(system: System, changes: Mapping[str, Any]) -> System:
    """Return the system with other values of fields, named after their owners; the original does not change.

    Raises
    ------
    ModelError
        For an unknown name, a field that is not numeric (a count, a text, a function of time), or an invalid value.
    """
    if not isinstance(changes, Mapping):
        raise ModelError(f"parameters: expected a mapping such as {{'boom.EI': 2e3}}, got {changes!r}")
    for name, value in changes.items():
        owner, inner, key = find_field(system, name)
        if not is_number(getattr(_inside(owner, inner), key)):
            raise ModelError(
                f"parameter '{name}': {key} is {getattr(_inside(owner, inner), key)!r}, not a number that can change at run "
                "time; change the description and form its equations again"
            )
        if isinstance(value, (str, bool)) or value is None or (callable(value) and not is_number(value)):
            raise ModelError(f"parameter '{name}': expected a number (or Profile), got {value!r}")
    new = _new_owners(system, changes)
    series: dict[str, Any] = {key: tuple(new.get(id(item), item) for item in getattr(system, key)) for key in _SERIES}
    return replace(system, environment=new.get(id(system.environment), system.environment), **series)


def find_field(system: System, name: str) -> tuple[Any, str, str]:
    """Find the owner of ``"boom.EI"``, the place in it (``"body"``, ``"joint"`` or ``""``) and the name of the field.

    Raises
    ------
    ModelError
        If there is none, or more than one.
    """
    if not isinstance(name, str):
        raise ModelError(f"parameter {name!r}: expected a name such as 'boom.EI'")
    title, _, key = name.partition(".")
    found = [
        (owner, inner, key)
        for other, owner in _owners(system)
        if other == title
        for inner in ("", *_INNER)
        if key in _fields(_inside(owner, inner))
    ]
    if not found:
        raise ModelError(unknown_name("parameter", name, field_names(system)))
    if len(found) > 1:
        raise ModelError(f"parameter '{name}': {len(found)} components called '{title}' have it; rename one of them")
    return found[0]


def field_value(system: System, name: str) -> Any:
    """Return the value of a field of a system."""
    owner, inner, key = find_field(system, name)
    return getattr(_inside(owner, inner), key)


def field_names(system: System) -> tuple[str, ...]:
    """Return the names of all fields with numbers: ``"boom.EI"``, ``"wheel.inertia"``, ``"environment.rate"``."""
    return tuple(
        f"{title}.{key}"
        for title, owner in _owners(system)
        for inner in ("", *_INNER)
        for key in _fields(_inside(owner, inner))
        if is_number(getattr(_inside(owner, inner), key))
    )


def is_number(value: Any) -> bool:
    """Return whether a value consists of real numbers: float, array, profile, tuple of these. Integers are counts."""
    if isinstance(value, (float, Array, np.ndarray)):
        return True
    if isinstance(value, tuple):
        return bool(value) and all(is_number(item) for item in value)
    return hasattr(value, "varies")


def flatten(value: Any) -> np.ndarray:
    """Flatten a value to its numbers; for a profile those at its stations."""
    if isinstance(value, tuple):
        return np.concatenate([flatten(item) for item in value])
    if hasattr(value, "varies"):
        return np.concatenate([flatten(getattr(value, key)) for key in value.varies])
    return np.asarray(value, dtype=float).reshape(-1)


def unflatten(value: Any, entries: np.ndarray) -> Any:
    """Return a value of the same kind with other numbers."""
    if isinstance(value, tuple):
        return tuple(unflatten(item, piece) for item, piece in zip(value, _cut(value, entries), strict=True))
    if hasattr(value, "varies"):
        inner = [getattr(value, key) for key in value.varies]
        pieces = [unflatten(item, piece) for item, piece in zip(inner, _cut(inner, entries), strict=True)]
        return replace(value, **dict(zip(value.varies, pieces, strict=True)))
    return float(entries[0]) if np.ndim(value) == 0 else np.asarray(entries).reshape(np.shape(value))


def _cut(values: Any, entries: np.ndarray) -> list[np.ndarray]:
    return np.split(entries, np.cumsum([flatten(item).size for item in values])[:-1])


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


def _owners(system: System) -> Iterator[tuple[str, Any]]:
    yield "environment", system.environment
    for series in _SERIES:
        for item in getattr(system, series):
            yield getattr(item, "input_name", None) or item.name, item


def _inside(owner: Any, inner: str) -> Any:
    return owner if not inner else getattr(owner, inner, None)


def _fields(item: Any) -> list[str]:
    return [field.name for field in fields(item)] if is_dataclass(item) else []


def _new_owners(system: System, changes: Mapping[str, Any]) -> dict[int, Any]:
    """Return the replacement of each owner that changes, by the identity of the old one."""
    owners: dict[int, Any] = {}
    wanted: dict[int, dict[str, dict[str, Any]]] = {}
    for name, value in changes.items():
        owner, inner, key = find_field(system, name)
        owners[id(owner)] = owner
        wanted.setdefault(id(owner), {}).setdefault(inner, {})[key] = value
    for old, groups in wanted.items():
        within = {inner: _changed(_inside(owners[old], inner), own) for inner, own in groups.items() if inner}
        owners[old] = _changed(owners[old], {**groups.get("", {}), **within})
    return owners


def _changed(item: Any, changes: dict[str, Any]) -> Any:
    return item.changed(**changes) if hasattr(item, "changed") else replace(item, **changes)
