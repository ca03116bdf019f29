"""Descriptions are values: equal data is equal and hashes equally, and files bring back the same system."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from spacectl import library
from spacectl.core.array import Array
from spacectl.core.errors import ModelError
from spacectl.model import files
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.files import load_system, save_system, system_from_dict, system_to_dict
from spacectl.model.joints import Fixed, Revolute
from spacectl.model.part import Part
from spacectl.model.system import System

SYSTEMS = list(library.LIBRARY.items())


@pytest.mark.parametrize(("name", "make"), SYSTEMS)
def test_equal_data_has_equal_hashes(name, make) -> None:
    a, b = make(), make()
    assert a == b
    assert hash(a) == hash(b)
    assert a.content_hash() == b.content_hash()


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize(("name", "make"), SYSTEMS)
def test_files_bring_back_the_same_system(name, make, suffix, tmp_path) -> None:
    path = save_system(make(), tmp_path / f"{name}{suffix}")
    assert load_system(path) == make()
    assert load_system(path).content_hash() == make().content_hash()


def test_changing_a_mass_keeps_the_structure() -> None:
    a, b = library.free_flyer_arm(), library.free_flyer_arm(link_mass=24.0)
    assert a.content_hash() != b.content_hash()
    assert a.structure_hash() == b.structure_hash()


def test_moving_a_zero_changes_the_structure_unless_freed() -> None:
    a = library.pendulum()
    rod = replace(a.parts[0].body, com=(0.1, 0.0, -0.5))
    b = replace(a, parts=(replace(a.parts[0], body=rod),))
    assert a.structure_hash() != b.structure_hash()
    assert a.structure_hash(vary=("rod.com",)) == b.structure_hash(vary=("rod.com",))


def test_descriptions_are_frozen() -> None:
    system = library.pendulum()
    with pytest.raises(FrozenInstanceError):
        system.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(system.parts[0].body.com)[0] = 1.0


def test_parts_may_be_listed_in_any_order() -> None:
    a = Part(RigidBody(name="a", mass=1.0, inertia=(1, 1, 1)), joint=Revolute(name="ja"))
    b = Part(RigidBody(name="b", mass=1.0, inertia=(1, 1, 1)), on="a", joint=Fixed())
    assert [part.name for part in System(name="s", parts=(b, a)).tree] == ["a", "b"]


def _nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(type="Sytem"), ("unknown type", "System")),
        (lambda d: d["parts"][0]["body"].update(mas=1.0), ("parts[0].body", "unknown field 'mas'", "mass")),
        (lambda d: d["parts"][0]["body"].update(mass=-1.0), ("parts[0].body", "rod", "positive")),
        (lambda d: d["parts"][0]["body"].pop("mass"), ("parts[0].body", "RigidBody", "mass")),
        (lambda d: d["parts"][0].pop("type"), ("parts[0]", "without 'type'")),
        (lambda d: d["parts"][0]["body"].update(mass="nan"), ("rod", "without quotes")),
        (lambda d: d["parts"][0]["body"].update(mass=float("nan")), ("rod", "finite")),
        (lambda d: d["parts"][0]["body"].update(mass=True), ("rod", "mass", "True")),
        (lambda d: d["parts"][0]["body"].update(mass=10**400), ("rod", "mass", "number")),
        (lambda d: d["parts"][0].update(joint={"type": "Planar", "normal": ["z"]}), ("joint", "normal", "['z']")),
        (lambda d: d["parts"][0].update(on=["world"]), ("rod", "on is ['world']")),
        (
            lambda d: d.update(sensors=[{"type": "Position", "name": "tip", "on": ["rod"]}]),
            ("sensor 'tip'", "['rod']", "expected text"),
        ),
        (lambda d: d.update(actuators=[{"type": "JointTorque", "joint": ["hinge"]}]), ("JointTorque", "['hinge']")),
        (lambda d: d["parts"][0].update(at=_nested(5000)), ("nested too deeply",)),
        (
            lambda d: d["parts"][0]["body"].update(com={"file": "../secret.npy", "sha256": "0"}),
            ("com", "beside the document"),
        ),
    ],
)
def test_bad_documents_are_refused_with_the_place(change, words) -> None:
    document = json.loads(json.dumps(system_to_dict(library.pendulum())))
    change(document)
    with pytest.raises(ModelError) as caught:
        system_from_dict(document)
    for word in words:
        assert word in str(caught.value)


def test_broken_files_are_refused(tmp_path) -> None:
    (tmp_path / "a.toml").write_text("type = ")
    with pytest.raises(ModelError, match="not valid TOML"):
        load_system(tmp_path / "a.toml")
    with pytest.raises(ModelError, match="cannot be read"):
        load_system(tmp_path / "missing.json")
    with pytest.raises(ModelError, match=r"\.toml or \.json"):
        save_system(library.pendulum(), tmp_path / "a.yaml")


def test_large_arrays_lie_beside_the_file_and_are_verified(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(files, "LARGE", 2)
    path = save_system(library.pendulum(), tmp_path / "p.toml")
    assert load_system(path) == library.pendulum()
    victim = next(tmp_path.glob("*.npy"))
    np.save(victim, np.load(victim) + 1.0)
    with pytest.raises(ModelError, match="sha256 differs"):
        load_system(path)


def test_array_equality_is_by_content() -> None:
    assert Array([0.0, -0.0]) == Array([0.0, 0.0])
    assert Array([[1.0]]) != Array([1.0])
    assert len({Array([1.0]), Array([1.0])}) == 1


def test_file_errors_name_the_file_and_suffixes_may_be_capital(tmp_path) -> None:
    path = save_system(library.pendulum(), tmp_path / "Rod.TOML")
    assert load_system(path) == library.pendulum()
    path.write_text(path.read_text().replace("mass = ", "mass = -"))
    with pytest.raises(ModelError, match=r"Rod\.TOML.*parts\[0\]\.body.*positive"):
        load_system(path)
    for name, text in (("deep.json", "[" * 100_000), ("half.json", "{"), ("digits.json", "9" * 5000)):
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError, match=f"{name}.*not valid JSON"):
            load_system(tmp_path / name)
