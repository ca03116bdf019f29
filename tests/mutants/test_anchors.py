"""Every planted fault has its place in the tree, and a fault whose place is gone is reported."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.anchors import ROOT, AnchorError, Mutant, mutate, source_of
from tests.mutants.catalogue import MUTANTS

LAYERS = {
    "cli", "codegen", "controllers", "core", "dynamics", "interop", "linear", "maneuvers", "model", "planners", "reports",
    "simulation", "spatial",
}  # fmt: skip


def test_every_layer_has_planted_faults() -> None:
    assert {item.area for item in MUTANTS} == LAYERS
    assert len(MUTANTS) >= 60 and len({(item.at, item.old, item.new) for item in MUTANTS}) == len(MUTANTS)
    assert any(source_of(item).suffix == ".h" for item in MUTANTS if item.area == "simulation")


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_every_planted_fault_has_its_place_and_its_tests(layer: str) -> None:
    for mutant in (item for item in MUTANTS if item.area == layer):
        changed = mutate(mutant)
        assert changed != source_of(mutant).read_text(encoding="utf-8"), mutant
        if source_of(mutant).suffix == ".py":
            ast.parse(changed)
        assert mutant.tests.split(), f"{mutant.at}: name the tests that must notice it"
        for file in mutant.tests.split():
            assert (ROOT / "tests" / file).is_file(), f"{mutant.at}: there is no tests/{file}"


@pytest.mark.parametrize(
    ("at", "old", "message"),
    [
        ("core.nowhere:f", "x", "there is no spacectl/core/nowhere.py"),
        ("core.labels:Labels.gone", "x", "0 definitions of that name"),
        ("core.labels:Labels.index", "gone", "is there 0 times"),
        ("core.labels:Labels.vector", "out", "is there 3 times"),
        ("simulation/driver/lu.h:gone", "x", "0 functions of that name"),
        ("simulation/driver/lu.h:sc_exchange", "saved", "is there 2 times"),
    ],
)
def test_a_place_that_is_gone_is_reported(at: str, old: str, message: str) -> None:
    with pytest.raises(AnchorError, match=message):
        mutate(Mutant(at, old, "y", "core/test_labels.py"))


def test_an_expression_that_moved_is_reported_with_its_new_place() -> None:
    with pytest.raises(AnchorError, match="the expression is in spacectl/spatial/rotation.py"):
        mutate(Mutant("spatial.gone:quaternion_rate", "w * omega + cross(e, omega)", "0", "spatial/test_rotation.py"))


def test_formatting_and_comments_do_not_matter() -> None:
    spread = Mutant(
        "spatial.rotation:quaternion_rate", "w  *  omega +\n    cross( e,omega )", "0.0", "spatial/test_rotation.py"
    )
    assert "0.5 * stack(vector(-dot(e, omega)), 0.0)" in mutate(spread)
