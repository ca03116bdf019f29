"""Find studies by name and load them: a path first, then ./studies, then the copy in the package."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.studies.study import Study

__all__ = [
    "LoadedStudy",
    "find_study",
    "list_studies",
    "load_study",
    "match_units",
    "package_hash",
    "read_question",
    "stated_units",
]

PACKAGE = Path(__file__).resolve().parents[1]
FILE = "study.py"


@dataclass(frozen=True, kw_only=True)
class LoadedStudy:
    """A study with its name, its file, and the units that its own text states."""

    name: str
    file: Path
    study: Study
    units: dict[str, str]
    sha256: str


def study_folders() -> tuple[Path, ...]:
    """Return the folders of studies in the order in which names are looked up: ./studies, then what came with the package."""
    shipped = PACKAGE / "_studies"
    checkout = PACKAGE.parent
    if not shipped.is_dir() and (checkout / "pyproject.toml").is_file():
        shipped = checkout / "studies"  # the package is used from its source tree
    return (Path("studies"), shipped)


def list_studies() -> dict[str, Path]:
    """Return names and files of all studies that can be found by name."""
    found: dict[str, Path] = {}
    for folder in study_folders():
        for file in sorted(folder.glob(f"*/{FILE}")):
            found.setdefault(file.parent.name, file)
    return found


def find_study(name: str) -> Path:
    """Return the study file for a name.

    Raises
    ------
    ModelError
        If there is none; the message lists the names there are.
    """
    path = Path(name)
    if path.is_file() and path.suffix == ".py":
        return path
    if (path / FILE).is_file():
        return path / FILE
    known = list_studies()
    if name not in known:
        raise ModelError(f"{unknown_name('study', name, known)}; or give the path of a folder with a {FILE}")
    return known[name]


def read_question(file: Path) -> str | None:
    """Return the question of a study from its source, without running it; None if it is not written out there."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if [getattr(target, "id", "") for target in node.targets] == ["STUDY"]:
                values = [item.value for item in node.value.keywords if item.arg == "question"]
                if values and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str):
                    return values[0].value
    return None


def load_study(file: Path) -> LoadedStudy:
    """Run a study's file and take its ``STUDY``.

    Raises
    ------
    ModelError
        If the file cannot be loaded or holds no ``STUDY``.
    """
    file = file.resolve()
    name = file.parent.name if file.name == FILE else file.stem
    module_name = f"spacectl_study_{re.sub(r'[^0-9A-Za-z_]', '_', name)}"
    spec = importlib.util.spec_from_file_location(module_name, file, submodule_search_locations=[str(file.parent)])
    if spec is None or spec.loader is None:
        raise ModelError(f"study '{name}': {file} cannot be loaded; expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError) as error:
        raise ModelError(f"study '{name}': {file.name} cannot be loaded ({type(error).__name__}: {error})") from error
    except SystemExit as error:
        raise ModelError(
            f"study '{name}': {file.name} ends the program when it is loaded (SystemExit: {error}); "
            "put such calls under if __name__ == '__main__'"
        ) from error
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise ModelError(
            f"study '{name}': {file.name} has no STUDY; write STUDY = Study(question=..., parameters=..., run=run)"
        )
    sources = sorted(file.parent.glob("*.py")) if file.name == FILE else [file]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    return LoadedStudy(name=name, file=file, study=study, units=stated_units(file), sha256=digest)


def package_hash() -> str:
    """Return sha256 of the package's sources, which versions do not distinguish between two commits."""
    sources = sorted(path for end in ("py", "c", "h") for path in PACKAGE.rglob(f"*.{end}"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


LISTED = r"((?:`[\w*]+`,\s+)*`[\w*]+`)\s+\[([^\]\[\n]+)\]"  # names in a README, and their unit


def stated_units(file: Path) -> dict[str, str]:
    """Return units by name, as the study's own text states them.

    Parameters carry them in a comment, ``mass: float = 2.0  # [kg]``; the README.md beside the file lists metrics as
    ```settling_time` [s]``, several as ```peak`, `mean` [N]``, alike ones as ```travel_k*` [m]``.
    Files beside ``study.py`` count where it does not say.
    """
    sources = [*sorted(set(file.parent.glob("*.py")) - {file}), file] if file.name == FILE else [file]
    units: dict[str, str] = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        units.update(re.findall(r"^ +(\w+)\s*:[^#\n]*#\s*\[([^\]\n]+)\]", text, re.MULTILINE))
    readme = file.with_name("README.md")
    if file.name == FILE and readme.is_file():
        for names, unit in re.findall(LISTED, readme.read_text(encoding="utf-8")):
            units.update(dict.fromkeys(re.findall(r"`([\w*]+)`", names), unit))
    return units


def match_units(units: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return units with those of `names` that only patterns such as ``travel_k*`` state."""
    patterns = {key: unit for key, unit in units.items() if "*" in key}
    found = {
        name: unit
        for name in names
        if name not in units
        for unit in [next((unit for key, unit in patterns.items() if fnmatchcase(name, key)), "")]
        if unit
    }
    return {**units, **found}
