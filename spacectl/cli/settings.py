"""Read parameters and requirements from the command line and a TOML file, and check them before a run."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.input_checks import regular_file
from spacectl.core.studies.requirement import Requirement, parse_requirement

__all__ = ["Settings", "parse_settings", "read_settings"]

KEYS = ("study", "parameters", "requirements")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Changes of a run: parameters and requirements.

    Parameters
    ----------
    changes : dict
        Parameters by name; text from the command line, numbers from a file.
    requirements : tuple of Requirement
        What its metrics must satisfy.
    origin : dict
        Name and sha256 of the file they came from, for the record.
    """

    changes: dict[str, Any] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    origin: dict[str, str] = field(default_factory=dict)


def read_settings(
    settings: Iterable[str] = (), *, file: Path | None = None, require: Iterable[str] = (), study: str = ""
) -> Settings:
    """Return the settings from a file and the command line; the command line wins.

    Parameters
    ----------
    settings, require : iterables of str
        ``"mass=2"`` and ``"peak_torque <= 800"``, as given.
    file : path, optional
        A TOML file with a table ``parameters``, a list ``requirements`` and the name of its ``study``, each optional.
    study : str
        The study that shall run; a file that names another is refused.
    """
    content, origin = ({}, {}) if file is None else _read(file, study)
    stated = [parse_requirement(text) for text in (*content.get("requirements", ()), *require)]
    changes = {**content.get("parameters", {}), **parse_settings(list(settings))}
    return Settings(changes=changes, requirements=tuple(stated), origin=origin)


def parse_settings(settings: list[str], *, option: str = "--set") -> dict[str, str]:
    """Return ``["mass=2", "name=a"]`` as a dictionary.

    Raises
    ------
    ModelError
        For a text without ``=``, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in settings:
        key, separator, value = text.partition("=")
        key = key.strip()
        if not separator or not key:
            raise ModelError(f"{option} '{text}': expected name=value, such as {option} payload_mass=80")
        if key in found:
            raise ModelError(f"{option} '{text}': '{key}' is given twice; keep one")
        found[key] = value.strip()
    return found


def _read(file: Path, study: str) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        data = regular_file(file).read_bytes()
        content = tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise ModelError(f"parameter file '{file}': cannot be read ({error.strerror}); check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            f"parameter file '{file}': not TOML ({error}); write [parameters] and then name = value"
        ) from error
    for key in content:
        if key not in KEYS:
            cure = "; put parameters below a line [parameters]" if not isinstance(content[key], dict) else ""
            raise ModelError(f"parameter file '{file}': {unknown_name('entry', key, KEYS)}{cure}")
    if not isinstance(content.get("parameters", {}), dict):
        raise ModelError(f"parameter file '{file}': parameters must be a table: a line [parameters], then name = value")
    stated = content.get("requirements", [])
    if not isinstance(stated, list) or not all(isinstance(item, str) for item in stated):
        raise ModelError(f"parameter file '{file}': requirements must be a list of texts such as 'peak_torque <= 800'")
    if study and content.get("study", study) != study:
        raise ModelError(f"parameter file '{file}': it is for the study '{content['study']}', not for '{study}'")
    return content, {"name": file.name, "sha256": hashlib.sha256(data).hexdigest()}
