"""Conversion and checks of the fields of descriptions, and the values that become run-time parameters.

A component of a model lists its parameters as `Number`s; the equations use symbols with the same keys. `fixed`
marks entries that are structure (exact zeros and ones, see `core.parameters`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.spatial.rotation import AXES, rotation_from_quaternion

__all__ = [
    "Number",
    "always",
    "check_name",
    "choices",
    "direction",
    "is_count",
    "members",
    "placement_number",
    "rotation_matrix",
    "set_field",
    "set_scalars",
    "unless_trivial",
]


@dataclass(frozen=True)
class Number:
    """A parameter: a value (scalar or array) and which of its entries are structure."""

    value: Array
    fixed: tuple[bool, ...]


def always(value: Any) -> Number:
    """Return a parameter whose entries may all change at run time."""
    array = Array(value)
    return Number(array, (False,) * array.size)


def unless_trivial(value: Any, *trivial: float) -> Number:
    """Return a parameter whose entries equal to one of `trivial` (default 0) are structure."""
    array = Array(value)
    return Number(array, tuple(float(entry) in (trivial or (0.0,)) for entry in np.asarray(array).reshape(-1)))


def placement_number(value: Any) -> Number:
    """Return a rotation or direction as a parameter; if it is axis-aligned, its entries 0, 1 and -1 are structure."""
    array = Array(value)
    aligned = bool(np.all(np.isin(np.asarray(array), (0.0, 1.0, -1.0))))
    return Number(array, (aligned,) * array.size) if aligned else unless_trivial(array)


def set_field(owner: Any, name: str, value: Any) -> None:
    """Assign a converted value to a field of a frozen dataclass, in its ``__post_init__``."""
    object.__setattr__(owner, name, value)


def set_scalars(owner: Any, what: str, *keys: str, sign: str = "", unit: str = "") -> None:
    """Store fields as finite floats; `sign` is ``""``, ``"positive"`` or ``"not negative"``."""
    for key in keys:
        value = as_scalar(getattr(owner, key), f"{what}: {key}")
        if (sign and value < 0.0) or (sign == "positive" and value == 0.0):
            expected = "a positive number" if sign == "positive" else "0 or more"
            raise ModelError(f"{what}: {key} is {value:g}{unit}, expected {expected}")
        set_field(owner, key, value)


def is_count(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_name(name: Any, what: str) -> None:
    """Raise `ModelError` unless a name is valid in expressions, file names and tables."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}: name is {name!r}; give each a name, such as name='arm'")
    if not name.isprintable():
        raise ModelError(f"{what}: name {name!r} has a non-printable character (line break, tab, ...); remove it")
    if "." in name or name.strip() != name:
        raise ModelError(
            f"{what}: name {name!r} must not contain '.' or leading or trailing blanks; '.' separates body and frame"
        )
    if name in ("world", "orbit"):
        raise ModelError(f"{what}: the name '{name}' is reserved for the root frame; choose another")


def choices(item: Any) -> tuple[Any, ...]:
    """Return the fields that are not run-time parameters: names, counts and switches, which affect code."""
    return tuple(value for field in fields(item) if isinstance(value := getattr(item, field.name), (str, bool, int)))


def members(items: Any, kind: type, what: str, field: str) -> tuple[Any, ...]:
    """Convert a sequence of `kind` to the tuple of a field such as ``parts``; raise `ModelError` otherwise."""
    example = f"write {field}=({(type(items) if isinstance(items, kind) else kind).__name__}(...),)"
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise ModelError(f"{what}: {field} is a single {type(items).__name__}, expected a tuple; {example}")
    found = tuple(items)
    for item in found:
        if not isinstance(item, kind):
            raise ModelError(f"{what}: {field} contains {item!r}, expected {kind.__name__} objects; {example}")
    return found


def direction(value: Any, what: str) -> Array:
    """Return a unit vector from ``"x"``, ``"-y"``, ... or three numbers of norm 1."""
    if isinstance(value, str):
        sign, letter = (-1.0, value[1:]) if value.startswith("-") else (1.0, value)
        if letter not in AXES:
            raise ModelError(f"{what} is '{value}', expected x, y, z, -x, -y, -z or a unit vector")
        return Array(sign * np.array(AXES[letter]))
    array = as_array(value, (3,), what)
    length = float(np.linalg.norm(array))
    if abs(length - 1.0) > 1e-9:
        raise ModelError(f"{what} has norm {length:.6g}, expected 1; pass axis / norm(axis)")
    return array


def rotation_matrix(value: Any, what: str) -> Array:
    """Return a rotation matrix from None (identity), a 3 x 3 matrix or a scalar-first unit quaternion."""
    if value is None:
        return Array(np.eye(3))
    array = as_array(value, None, what)
    if array.shape == (4,):
        if abs(float(np.linalg.norm(array)) - 1.0) > 1e-9:
            raise ModelError(f"{what}: quaternion has norm {np.linalg.norm(array):.6g}, expected 1 (scalar first)")
        return Array(rotation_from_quaternion(np.asarray(array)))
    array = as_array(value, (3, 3), what)
    R = np.asarray(array)
    if np.max(np.abs(R @ R.T - np.eye(3))) > 1e-9 or np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{what}: not a rotation matrix (R R' differs from 1, or det R = -1); use rotation_about(axis, angle)"
        )
    return array
