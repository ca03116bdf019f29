"""The public face of the package: every name is documented, every parameter named, no keyword swallowed."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re
from typing import Any

import pytest

import spacectl
from tests.package.public_stub import STUB, write_stub

MODULES = sorted(
    item.name for item in pkgutil.walk_packages(spacectl.__path__, "spacectl.") if "._studies" not in item.name
)
PUBLIC = {name: getattr(spacectl, name) for name in spacectl.__all__}
CALLABLE = {
    name: item
    for name, item in PUBLIC.items()
    if inspect.isfunction(item) or (inspect.isclass(item) and not issubclass(item, (Exception, enum.Enum)))
}


def own_items(module_name: str) -> dict[str, Any]:
    """Functions and classes that a module defines and lists in its ``__all__``."""
    module = importlib.import_module(module_name)
    listed = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    kinds = (type, type(own_items))
    return {name: item for name, item in listed.items() if isinstance(item, kinds) and item.__module__ == module_name}


def documentation(item: Any) -> str:
    """Docstring of a function, or of a class and its bases."""
    owners = inspect.getmro(item)[:-1] if inspect.isclass(item) else (item,)
    return "\n".join(inspect.cleandoc(owner.__doc__ or "") for owner in owners)


def parameters(item: Any) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(item).parameters.values() if p.name not in ("self", "cls")]


def is_generated(doc: str, item: Any) -> bool:
    """Whether a dataclass has only the signature that Python puts in place of a docstring."""
    return dataclasses.is_dataclass(item) and doc.startswith(f"{item.__name__}(")


@pytest.mark.parametrize("module_name", MODULES)
def test_every_module_says_what_it_turns_into_what(module_name: str) -> None:
    assert (importlib.import_module(module_name).__doc__ or "").strip()


@pytest.mark.parametrize("module_name", MODULES)
def test_every_listed_name_has_a_docstring_with_a_one_line_purpose(module_name: str) -> None:
    for name, item in own_items(module_name).items():
        doc = inspect.cleandoc(item.__doc__ or "")
        assert doc, f"{name} has no docstring"
        assert not is_generated(doc, item), f"{name} has no docstring"
        lines = doc.splitlines()
        assert len(lines) == 1 or lines[1] == "", f"{name}: the purpose is one line, then a blank one"


@pytest.mark.parametrize("module_name", MODULES)
def test_dunder_all_lists_exactly_the_public_names(module_name: str) -> None:
    """What ``__all__`` lists exists, and no public function or class of a module is missing from it."""
    module = importlib.import_module(module_name)
    listed = set(getattr(module, "__all__", ()))
    assert not [name for name in listed if not hasattr(module, name)]
    tree = ast.parse(inspect.getsource(module))
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    assert defined <= listed, "list public classes in __all__, or begin their name with _"


@pytest.mark.parametrize("name", CALLABLE)
def test_every_public_parameter_is_documented(name: str) -> None:
    doc = documentation(CALLABLE[name])
    missing = [p.name for p in parameters(CALLABLE[name]) if not re.search(rf"\b{re.escape(p.name)}\b", doc)]
    assert not missing, f"{name}: not in the docstring: {', '.join(missing)}"


@pytest.mark.parametrize("name", CALLABLE)
def test_unknown_keywords_are_rejected(name: str) -> None:
    item = CALLABLE[name]
    assert not [p for p in parameters(item) if p.kind is p.VAR_KEYWORD]
    with pytest.raises(TypeError, match="not_a_parameter"):
        item(not_a_parameter=1)


@pytest.mark.parametrize("name", [name for name, item in CALLABLE.items() if inspect.isfunction(item)])
def test_public_functions_take_few_positional_arguments_and_have_hints(name: str) -> None:
    given = parameters(CALLABLE[name])
    assert len([p for p in given if p.kind is p.POSITIONAL_OR_KEYWORD]) <= 4, "make the others keyword-only"
    assert not [p.name for p in given if p.annotation is p.empty]
    assert inspect.signature(CALLABLE[name]).return_annotation is not inspect.Signature.empty


def test_names_that_scripts_rely_on_are_there() -> None:
    bodies = "System Part RigidBody Fixed Revolute Prismatic Universal Cylindrical Spherical Planar Free"
    world = "FreeSpace UniformGravity CentralGravity CircularOrbit"
    drives = "JointTorque JointForce BodyForce BodyTorque Thruster ReactionWheel"
    verbs = "form_equations design_pd simulate write_report Study StudyResult ControlLaw"
    assert set(f"{bodies} {world} {drives} {verbs}".split()) <= set(spacectl.__all__)


def test_public_names_are_sorted_out() -> None:
    assert len(set(spacectl.__all__)) == len(spacectl.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+", spacectl.__version__)


def test_type_checkers_see_the_public_names() -> None:
    assert STUB.read_text(encoding="utf-8") == write_stub(), "run `make stub`"


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        spacectl.simulat  # noqa: B018
