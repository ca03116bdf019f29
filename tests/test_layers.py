"""Reads the imports of the package and holds the order of its layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = {
    "core": 0, "spatial": 1, "model": 2, "dynamics": 3, "linear": 4, "controllers": 5, "simulation": 5,
    "planners": 6, "maneuvers": 7, "reports": 8, "interop": 8, "cli": 9,
}  # fmt: skip
PLOTTING = {"matplotlib", "plotly", "k3d", "seaborn"}
FILES = sorted((ROOT / "spacectl").rglob("*.py"))
STUDIES = sorted((ROOT / "studies").rglob("*.py"))


def layer_of(parts: tuple[str, ...]) -> str:
    """Layer of a dotted name or path below spacectl: ``("cli_run",)`` belongs to cli."""
    return "" if not parts else ("cli" if parts[0].startswith(("cli", "__main__")) else parts[0])


def imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str, tuple[str, ...]]]:
    """Every import: the statement, the module, the names taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                yield node, item.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield node, "." * node.level + (node.module or ""), tuple(item.name for item in node.names)


def find_faults(source: str, path: tuple[str, ...]) -> list[str]:
    """What breaks the rules in a file at spacectl/<path>."""
    tree = ast.parse(source)
    here = layer_of(tuple(part.removesuffix(".py") for part in path))
    is_package_face = path == ("__init__.py",)
    faults = []
    for node, module, names in imports(tree):
        first = module.split(".")[0]
        if module.startswith("."):
            faults.append(f"line {node.lineno}: relative import; write the full name")
        if first in PLOTTING and here != "reports":
            faults.append(f"line {node.lineno}: {first} belongs to reports only")
        if module.startswith("matplotlib.pyplot") or (module == "matplotlib" and "pyplot" in names):
            faults.append(f"line {node.lineno}: pyplot keeps global state; use the object interface")
        if first != "spacectl":
            continue
        there = layer_of(tuple(module.split(".")[1:])) or layer_of(tuple(name for name in names[:1] if name in ORDER))
        if is_package_face:
            allowed = there != "cli"
        elif not there:
            allowed = here == "cli"
        else:
            allowed = there == here or ORDER[there] < ORDER[here]
        if not allowed:
            faults.append(f"line {node.lineno}: {here or 'spacectl'} may not import {module}")
        faults += [
            f"line {node.lineno}: {name} is private to {module}"
            for name in names
            if name.startswith("_") and name != "__version__"
        ]
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for node, module, _ in imports(function):
                if module.split(".")[0] in ("spacectl", ""):
                    faults.append(f"line {node.lineno}: import of our own package inside a function")
    return faults


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_imports_follow_the_layers(file: Path) -> None:
    assert find_faults(file.read_text(encoding="utf-8"), file.relative_to(ROOT / "spacectl").parts) == []


NAMES = ROOT / "spacectl" / "__init__.py"  # a list of public names without code: it grows with them


@pytest.mark.parametrize("file", [f for f in FILES if f != NAMES], ids=lambda file: file.relative_to(ROOT).as_posix())
def test_files_stay_small(file: Path) -> None:
    if file == ROOT / "spacectl" / "__init__.py":
        return  # a list of names, one a line
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 300, "split it"


def test_every_folder_is_a_known_layer() -> None:
    folders = {
        file.relative_to(ROOT / "spacectl").parts[0]
        for file in FILES
        if len(file.relative_to(ROOT / "spacectl").parts) > 1
    }
    assert folders <= set(ORDER)


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_studies_use_the_public_api_only(file: Path) -> None:
    modules = {
        module
        for _, module, _ in imports(ast.parse(file.read_text(encoding="utf-8")))
        if module.split(".")[0] == "spacectl"
    }
    assert modules <= {"spacectl"}, "take public names from spacectl itself"


@pytest.mark.parametrize(
    ("source", "path", "fault"),
    [
        ("from spacectl.simulation.loop import x", ("controllers", "pd.py"), "may not import"),
        ("from spacectl.dynamics import x", ("model", "a.py"), "may not import"),
        ("import spacectl.reports", ("interop", "a.py"), "may not import"),
        ("from spacectl import reports", ("simulation", "a.py"), "may not import"),
        ("from spacectl import simulate", ("reports", "a.py"), "may not import"),
        ("def f():\n    from spacectl.core.array import Array", ("model", "a.py"), "inside a function"),
        ("import matplotlib.figure", ("simulation", "a.py"), "belongs to reports"),
        ("import matplotlib.pyplot as plt", ("reports", "a.py"), "pyplot"),
        ("from . import array", ("core", "a.py"), "relative"),
        ("from spacectl.core.study import _plain", ("reports", "a.py"), "private"),
        ("from spacectl.cli import app", ("__init__.py",), "may not import"),
    ],
)
def test_a_wrong_import_is_found(source: str, path: tuple[str, ...], fault: str) -> None:
    assert any(fault in text for text in find_faults(source, path))


def test_right_imports_are_accepted() -> None:
    assert find_faults("from spacectl.core.labels import Labels\nimport numpy", ("simulation", "a.py")) == []
    assert (
        find_faults("from spacectl import __version__\nfrom spacectl.reports import write_report", ("cli_run.py",))
        == []
    )
