"""Systems as TOML or JSON files. Files are untrusted: only known types and fields are accepted, nothing is imported.

Types of the package come from its registries (`ACTUATORS`, `SENSORS`, ...); `register` adds a user's class. A
component is a table with a ``type`` and its fields; fields with default values are omitted. Arrays with more
than `LARGE` entries are stored in ``.npy`` files beside the document, with their sha256.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tomli_w

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.input_checks import regular_file
from spacectl.model.actuators import ACTUATORS
from spacectl.model.bodies.base.damping import Proportional
from spacectl.model.bodies.base.profile import Curve, Profile
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.modal.modal import ModalBody
from spacectl.model.bodies.plate.plate import Plate
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.bodies.surface.function import SurfaceFunction
from spacectl.model.constraints import CONSTRAINTS
from spacectl.model.elements import ELEMENTS, SpringDamper
from spacectl.model.elements.drive import Drive
from spacectl.model.elements.drive_laws import Friction, HardeningSpring, Stiction
from spacectl.model.environment import ENVIRONMENTS
from spacectl.model.joints import JOINTS
from spacectl.model.joints.redundant import QuaternionFree
from spacectl.model.part import Part
from spacectl.model.sensors import SENSORS
from spacectl.model.system import System
from spacectl.model.tethers import Tether
from spacectl.model.tethers.elastic_tether import ElasticTether

__all__ = ["load_system", "register", "save_system", "system_from_dict", "system_to_dict"]

_Kind = TypeVar("_Kind", bound=type)
LARGE = 256
#: Types by their name in files; `register` adds to it
KINDS: dict[str, type] = {
    **{kind.__name__: kind for kind in (System, Part, RigidBody, Frame, ModalBody, Beam, Plate, QuaternionFree)},
    **{kind.__name__: kind for kind in (Profile, Curve, SurfaceFunction, Proportional)},
    **JOINTS,
    **ACTUATORS,
    **CONSTRAINTS,
    **ELEMENTS,
    **{kind.__name__: kind for kind in (Drive, HardeningSpring, Friction, Stiction, SpringDamper)},
    **{kind.__name__: kind for kind in (Tether, ElasticTether)},
    **SENSORS,
    **ENVIRONMENTS,
}


def register(kind: _Kind) -> _Kind:
    """Register a user-defined class, so that systems with it can be saved and loaded.

    Call it once where the class is defined, also as a decorator; a program that loads such a file must import that
    module first. Files contain the fields of the class under its name, never code.

    Parameters
    ----------
    kind : type
        A frozen dataclass: an actuator, sensor, environment, joint, element, constraint or body.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    ModelError
        If it is not a frozen dataclass, or another class has its name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from spacectl import BodyForce
    >>> @register
    ... @dataclass(frozen=True, kw_only=True)
    ... class Sail(BodyForce):
    ...     area: float = 1.0
    """
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ModelError(
            f"register: {kind!r} is not a frozen dataclass; decorate the class with @dataclass(frozen=True, kw_only=True)"
        )
    known = KINDS.get(kind.__name__)
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ModelError(
            f"register: another class {known.__module__}.{kind.__name__} has this name; choose another name"
        )
    KINDS[kind.__name__] = kind
    return kind


def save_system(system: System, path: str | Path) -> Path:
    """Write `system` to a ``.toml`` or ``.json`` file and return the path."""
    path = Path(path)
    document = system_to_dict(system, beside=path)
    if path.suffix.lower() == ".toml":
        path.write_bytes(tomli_w.dumps(document).encode())
    elif path.suffix.lower() == ".json":
        path.write_text(json.dumps(document, indent=2) + "\n")
    else:
        raise ModelError(f"'{path.name}': expected a file name that ends in .toml or .json")
    return path


def load_system(path: str | Path) -> System:
    """Read a system from a ``.toml`` or ``.json`` file.

    Parameters
    ----------
    path : path
        The file; its array files must be in the same folder.

    Raises
    ------
    ModelError
        If it is not a valid description; the message names the file and the place in it.
    """
    path = Path(path)
    read = {".toml": tomllib.loads, ".json": json.loads}.get(path.suffix.lower())
    if read is None:
        raise ModelError(f"'{path}': expected a file name that ends in .toml or .json")
    try:
        document = read(regular_file(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"'{path}': cannot be read ({error.strerror}); check the path") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"'{path}': not valid {path.suffix[1:].upper()} ({error})") from error
    try:
        return system_from_dict(document, beside=path)
    except ModelError as error:
        raise ModelError(f"'{path}': {error}") from error


def system_to_dict(system: System, *, beside: Path | None = None) -> dict[str, Any]:
    """Convert `system` to plain tables; large arrays are written beside the file `beside`, if given."""
    document: dict[str, Any] = _encode(system, "system", beside)
    return document


def system_from_dict(document: Any, *, beside: Path | None = None) -> System:
    """Build the system that plain tables describe."""
    try:
        system = _decode(document, "system", beside)
    except RecursionError as error:
        raise ModelError("system: tables or lists are nested too deeply; a description needs a few levels") from error
    if not isinstance(system, System):
        raise ModelError(f"system: the document describes a {type(system).__name__}; expected type = 'System'")
    return system


def _encode(value: Any, place: str, beside: Path | None) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        if KINDS.get(kind) is not type(value):
            raise ModelError(
                f"{place}: {kind} is not registered for files; call spacectl.register({kind}) where the class is defined"
            )
        table = {"type": kind}
        for item in dataclasses.fields(value):
            entry = getattr(value, item.name)
            if entry is not None and not _is_default(item, entry):
                table[item.name] = _encode(entry, f"{place}.{item.name}", beside)
        return table
    if isinstance(value, Array):
        return value.tolist() if beside is None or value.size <= LARGE else _write_array(value, place, beside)
    if isinstance(value, tuple):
        return [_encode(item, f"{place}[{i}]", beside) for i, item in enumerate(value)]
    if callable(value):
        raise ModelError(f"{place}: a Python function cannot be written to a file; keep this system in a script")
    return value


def _is_default(item: dataclasses.Field[Any], entry: Any) -> bool:
    default = item.default
    if default is dataclasses.MISSING:
        return False
    if isinstance(entry, Array):
        if default is None:  # an omitted rotation
            return entry == Array(np.eye(3))
        return not isinstance(default, str) and entry == Array(default)
    return bool(entry == default)


def _decode(value: Any, place: str, beside: Path | None) -> Any:
    if isinstance(value, list):
        return [_decode(item, f"{place}[{i}]", beside) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if set(value) == {"file", "sha256"}:
        return _read_array(value, place, beside)
    if "type" not in value:
        raise ModelError(f"{place}: a table without 'type'; expected one of {', '.join(KINDS)}")
    kind = KINDS.get(value["type"]) if isinstance(value["type"], str) else None
    if kind is None:
        raise ModelError(
            f"{place}: {unknown_name('type', value['type'], KINDS)}; for a class of your own, import the module that calls "
            "spacectl.register(...) on it first"
        )
    known = {item.name for item in dataclasses.fields(kind)}
    for key in value:
        if key != "type" and key not in known:
            raise ModelError(f"{place}: {unknown_name('field', key, sorted(known))} of {kind.__name__}")
    fields = {key: _decode(entry, f"{place}.{key}", beside) for key, entry in value.items() if key != "type"}
    body = [fields.pop("body")] if kind is Part and "body" in fields else []
    try:
        return kind(*body, **fields)
    except ModelError as error:
        raise ModelError(f"{place}: {error}") from error
    except (TypeError, OverflowError) as error:
        required = [
            item.name
            for item in dataclasses.fields(kind)
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        ]
        raise ModelError(f"{place}: cannot make a {kind.__name__} ({error}); it needs {', '.join(required)}") from error


def _write_array(value: Array, place: str, beside: Path) -> dict[str, str]:
    name = f"{beside.stem}.{value.sha256()[:16]}.npy"
    np.save(beside.with_name(name), np.asarray(value), allow_pickle=False)
    return {"file": name, "sha256": value.sha256()}


def _read_array(value: dict[str, Any], place: str, beside: Path | None) -> Array:
    name = str(value["file"])
    if beside is None or Path(name).name != name:
        raise ModelError(f"{place}: array file '{name}' must lie beside the document, without a folder in its name")
    try:
        array = Array(np.load(regular_file(beside.with_name(name)), allow_pickle=False))
    except (OSError, ValueError, TypeError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise ModelError(f"{place}: array file '{name}' cannot be read ({error})") from error
    if array.sha256() != value["sha256"]:
        raise ModelError(f"{place}: array file '{name}' has changed (sha256 differs); save the system again")
    return array
