"""Reads the imports of the package and holds the order of its layers."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from spacectl.model.actuators import Actuator
from spacectl.model.bodies.base.body import Body
from spacectl.model.constraints import AnyConstraint
from spacectl.model.elements import Element
from spacectl.model.environment import Environment
from spacectl.model.joints import Joint
from spacectl.model.sensors import Sensor

ROOT = Path(__file__).resolve().parents[2]
ORDER = {
    "core": 0, "spatial": 1, "codegen": 1, "model": 2, "dynamics": 3, "linear": 4, "controllers": 5, "simulation": 5,
    "planners": 6, "maneuvers": 7, "reports": 8, "interop": 8, "cli": 9,
}  # fmt: skip
#: Order inside the layers, lowest first: a sub-package may import those before it in its row. Modules that lie
#: directly in a layer are not listed; no cycle may lead through them.
INSIDE = {
    "core": "studies",
    "model": "bodies environment joints sensors actuators constraints elements validation tethers library transforms",
    "dynamics": "tree recursion constraints truncation partitioning waist closing embedding formulations reactions",
    "linear": "models analysis margins reduction sweeps",
    "controllers": "analysis wrappers regulators model_based shaping",
    "simulation": "driver results run batches stages",
    "planners": "paths phase_plane collocation bang_bang",
    "reports": "scene page folder",
}
MOST_NAMES = 22  # in one folder, so that it can be taken in at a glance
PLOTTING = {"matplotlib", "plotly", "k3d", "seaborn"}
FILES = sorted((ROOT / "spacectl").rglob("*.py"))
STUDIES = sorted((ROOT / "studies").rglob("*.py"))


@cache
def parse(source: str) -> ast.Module:
    """The tree of a source, which nobody changes."""
    return ast.parse(source)


def layer_of(parts: tuple[str, ...]) -> str:
    """Layer of a dotted name or path below spacectl; ``python -m spacectl`` is the command line."""
    return "" if not parts else ("cli" if parts[0].startswith("__main__") else parts[0])


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
    tree = parse(source)
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


@cache
def kinds() -> frozenset[str]:
    """Names of all joints, bodies, actuators, sensors, environments, constraints and elements, and of their bases."""
    importlib.import_module("spacectl.model.files")  # loads every kind
    found, new = set(), {Joint, Body, Actuator, Sensor, Environment, AnyConstraint, Element}
    while new:
        found |= new
        new = {kind for base in new for kind in base.__subclasses__()} - found
    return frozenset(kind.__name__ for kind in found)


def find_type_questions(source: str) -> list[str]:
    """Calls of isinstance or issubclass, and comparisons of type(...), that name a kind of the model."""
    found = []
    for node in ast.walk(parse(source)):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if is_call and node.func.id in ("isinstance", "issubclass") and len(node.args) == 2:
            asked: ast.AST = node.args[1]
        elif (
            isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and ast.unparse(node.left.func) == "type"
        ):
            asked = ast.Tuple(node.comparators)
        else:
            continue
        names = {item.id for item in ast.walk(asked) if isinstance(item, ast.Name)} & kinds()
        found += [f"line {node.lineno}: asks for {name}" for name in sorted(names)]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_only_the_model_asks_for_kinds(file: Path) -> None:
    if file.relative_to(ROOT / "spacectl").parts[0] != "model":
        assert find_type_questions(file.read_text(encoding="utf-8")) == [], "let the class answer"


@pytest.mark.parametrize(
    "source", ["isinstance(joint, Revolute)", "isinstance(x, (int, FlexibleBody))", "type(a) is Thruster"]
)
def test_a_question_for_a_kind_is_found(source: str) -> None:
    assert len(find_type_questions(source)) == 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_files_stay_small(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    of_imports = sum(node.end_lineno - node.lineno + 1 for node, _, _ in imports(parse(text)))
    assert len(text.splitlines()) - of_imports <= 300, "split it"


@cache
def modules() -> dict[str, Path]:
    """Dotted names of all modules, with their files."""
    found = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in FILES}
    return {name.removesuffix(".__init__"): file for name, file in found.items()}


def imported(name: str, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a module imports when it runs; what only type checkers see does not count."""
    tree = ast.parse(known[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = {
        f"{module}.{item}" for _, module, names in imports(tree) for item in names if module.startswith("spacectl")
    }
    return {item if item in known else item.rpartition(".")[0] for item in found} & set(known)


@cache
def inner_graph(layer: str) -> dict[str, set[str]]:
    """Which sub-packages and modules of a layer import which others of it."""
    known = modules()
    graph: dict[str, set[str]] = {}
    for name in known:
        here = name.split(".")[1:3]
        if here[:1] == [layer] and len(here) == 2:
            others = {item.split(".")[2] for item in imported(name, known) if item.startswith(f"spacectl.{layer}.")}
            graph.setdefault(here[1], set()).update(others - {here[1]})
    return graph


@pytest.mark.parametrize("layer", sorted(ORDER))
def test_no_cycle_leads_through_sub_packages(layer: str) -> None:
    TopologicalSorter(inner_graph(layer)).prepare()  # raises CycleError with the cycle


@pytest.mark.parametrize("layer", sorted(INSIDE))
def test_sub_packages_import_downwards(layer: str) -> None:
    order = INSIDE[layer].split()
    folders = {path.name for path in (ROOT / "spacectl" / layer).iterdir() if (path / "__init__.py").exists()}
    assert folders == set(order)
    graph = inner_graph(layer)
    wrong = [
        f"{a} -> {b}" for a in order for b in graph.get(a, set()) if b in order and order.index(b) > order.index(a)
    ]
    assert wrong == []


@pytest.mark.parametrize("tree", ["spacectl", "tests"])
def test_folders_can_be_taken_in_at_a_glance(tree: str) -> None:
    counted = {
        folder.relative_to(ROOT).as_posix(): len([path for path in folder.iterdir() if path.name != "__pycache__"])
        for folder in [ROOT / tree, *(path for path in (ROOT / tree).rglob("*") if path.is_dir())]
        if folder.name != "__pycache__"
    }
    counted.pop("tests/studies", None)  # one file a study
    counted.pop("tests", None)  # one folder a layer
    assert {name: n for name, n in counted.items() if n > MOST_NAMES} == {}


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
        ("from spacectl.core.studies.study import _plain", ("reports", "a.py"), "private"),
        ("from spacectl.cli.main import app", ("__init__.py",), "may not import"),
    ],
)
def test_a_wrong_import_is_found(source: str, path: tuple[str, ...], fault: str) -> None:
    assert any(fault in text for text in find_faults(source, path))


def test_right_imports_are_accepted() -> None:
    assert find_faults("from spacectl.core.labels import Labels\nimport numpy", ("simulation", "a.py")) == []
    assert (
        find_faults(
            "from spacectl import __version__\nfrom spacectl.reports.page.page import write_report", ("cli", "run.py")
        )
        == []
    )
