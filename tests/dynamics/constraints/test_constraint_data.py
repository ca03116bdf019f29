"""Constraints as data: wrong names, files, hashes, workers, run-time numbers."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Artificial,
    Baumgarte,
    Constraint,
    ModelError,
    NoRelativeRotation,
    PointOnPlane,
    Revolute,
    System,
    absolute_state,
    find_constraint_wrenches,
    form_equations,
    library,
    load_system,
    make_consistent,
    save_system,
)
from spacectl.core.expression import NamedExpression, TimeExpression


def with_rules(*constraints: Any) -> System:
    return replace(library.planar_arm(lengths=(1.0, 0.8, 0.6)), constraints=constraints)


def rule(name: str, function: Any, **more: Any) -> Constraint:
    return Constraint(name=name, rule=function, **more)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: with_rules(rule("a", lambda s: s["elbow"])), ("'a'", "elbow", "joint1")),
        (lambda: with_rules(rule("a", lambda s: s.position("link9.tip")[0])), ("'a'", "link9")),
        (lambda: with_rules(PointOnPlane(name="a", b="lnik1")), ("'a'", "lnik1")),
        (lambda: with_rules(rule("a", lambda s: s["joint1"]), rule("a", lambda s: s["joint2"])), ("a", "constraint")),
        (lambda: with_rules(rule("a", lambda s: s["joint1"], kind=Artificial(by=("motor",)))), ("'a'", "motor", "joint1")),
        (lambda: with_rules(rule("a", lambda s: s["joint1"], kind=Artificial(by=("joint1", "joint2")))), ("'a'", "1", "2")),
        (lambda: rule("a", lambda s: s["joint1"] - s.number("angle")), ("'a'", "angle")),
        (lambda: rule("a", lambda s: s["joint1"], kind="natural"), ("'a'", "natural", "Natural()")),
        (lambda: rule("a", 3.0), ("'a'", "3.0", "lambda")),
        (lambda: NoRelativeRotation(name="a", b="link1", axis="z", free="z"), ("'a'", "free")),
        (lambda: PointOnPlane(name="a", b="link1", normal=(1.0, 1.0, 0.0)), ("'a'", "normal")),
        (lambda: Artificial(by=()), ("by",)),
        (lambda: Baumgarte(alpha=-1.0), ("alpha", "-1")),
    ],
)  # fmt: skip
def test_wrong_descriptions_are_refused_with_names(make: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


# -- constraints as data

FILED = [
    name for name, make in library.CONSTRAINED.items() if not any(isinstance(c, Constraint) for c in make().constraints)
]


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("name", FILED)
def test_files_bring_constraints_back(name: str, suffix: str, tmp_path: Any) -> None:
    system = library.CONSTRAINED[name]()
    again = load_system(save_system(system, tmp_path / f"{name}{suffix}"))
    assert again == system and again.content_hash() == system.content_hash()
    assert again.structure_hash() == system.structure_hash()


def test_rules_cannot_be_filed(tmp_path: Any) -> None:
    with pytest.raises(ModelError, match=r"constraints\[0\].*rule.*cannot be written"):
        save_system(library.rolling_disc(), tmp_path / "disc.toml")


def test_hashes_of_different_constraints_differ() -> None:
    base = library.four_bar()
    moved = replace(base, constraints=(replace(base.constraints[0], at_a=(2.1, 0.0, 0.0)), base.constraints[1]))
    other = replace(base, constraints=(replace(base.constraints[0], b="coupler.end"), base.constraints[1]))
    assert base.content_hash() != moved.content_hash() and base.structure_hash() == moved.structure_hash()
    assert base.structure_hash() != other.structure_hash()
    assert library.level_arm().structure_hash() != library.level_arm(kept="natural").structure_hash()
    small = [with_rules(rule("a", lambda s, c=c: s["joint1"] - c)) for c in (0.1234567, 0.1234568)]
    assert small[0] != small[1] and small[0].structure_hash() != small[1].structure_hash()
    assert with_rules(rule("a", lambda s: s["joint1"])) == with_rules(rule("a", lambda s: s["joint1"]))
    assert form_equations(base).structure_hash != form_equations(base, active=("pin_x",)).structure_hash
    assert form_equations(base).structure_hash != form_equations(base, stabilization=Baumgarte()).structure_hash


def test_expressions_differ_if_any_digit_does() -> None:
    assert TimeExpression(lambda s: 0.1234567 * s.t, "a") != TimeExpression(lambda s: 0.1234568 * s.t, "a")
    one, two = (NamedExpression(lambda s, c=c: ca.sin(c * s["a"]), "a") for c in (1.0 / 3.0, 1.0 / 3.0 + 1e-15))
    assert one != two and one == pickle.loads(pickle.dumps(one))
    assert NamedExpression(lambda s: 2.0 * s["a"], "a").text.startswith("(2")


@pytest.mark.parametrize("name", ["redundant_four_bar", "rolling_disc", "guided_arm", "momentum_flyer"])
def test_workers_form_the_same_equations(name: str) -> None:
    eom = form_equations(library.CONSTRAINED[name]())
    again = pickle.loads(pickle.dumps(eom))
    x = np.asarray(make_consistent(eom, eom.state(eom.state() + 0.1 * np.cos(np.arange(eom.n_x)))).x)
    u = np.ones(eom.n_u)
    np.testing.assert_array_equal(again.x_dot(0.0, x, u), eom.x_dot(0.0, x, u))
    assert again.constraint_rows == eom.constraint_rows and again.constraint_inputs == eom.constraint_inputs
    assert again.structure_hash == eom.structure_hash


def test_numbers_of_constraints_are_run_time_parameters() -> None:
    eom = form_equations(library.four_bar())
    longer = replace(
        library.four_bar(), constraints=tuple(replace(c, at_a=(2.1, 0.0, 0.0)) for c in library.four_bar().constraints)
    )
    p = eom.parameters_of(longer)
    x = np.asarray(make_consistent(eom, eom.state(), p=p).x)
    own = form_equations(longer)
    np.testing.assert_allclose(own.residual(0.0, x[:3], x[3:]), 0.0, atol=1e-11)
    np.testing.assert_allclose(eom.v_dot(0.0, x[:3], x[3:], [1.0], p), own.v_dot(0.0, x[:3], x[3:], [1.0]), rtol=1e-13)
    prescribed = form_equations(library.prescribed_arm())
    assert prescribed.parameters.get("program.amplitude") == pytest.approx(0.4)


def test_absolute_state_refuses_other_systems() -> None:
    eom = form_equations(library.four_bar())
    other = form_equations(library.slider_crank(), formulation="multipliers", coordinates="absolute")
    with pytest.raises(ModelError, match="different bodies"):
        absolute_state(eom, other, eom.state())
    crank, *others = library.four_bar().parts
    renamed = replace(
        library.four_bar(), parts=(replace(crank, joint=Revolute(name="pivot", axis="z")), *others), actuators=()
    )
    with pytest.raises(ModelError, match="'pivot'.*coordinates='absolute'"):
        absolute_state(eom, form_equations(renamed), eom.state())


def test_wrenches_of_loops_have_names_and_include_their_motors() -> None:
    eom = form_equations(library.redundant_four_bar())
    x = np.asarray(make_consistent(eom, eom.state() + 0.1).x)
    at_rest, driven = (find_constraint_wrenches(eom, 0.0, x, [0.0, u]) for u in (0.0, 2.0))
    assert set(driven) == {"bearing"} and at_rest["bearing"][2] == pytest.approx(0.0, abs=1e-12)
    assert driven["bearing"][2] == pytest.approx(2.0, rel=1e-12)
