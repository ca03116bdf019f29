"""Descriptions of tethers and springs between points: what is refused, and how they travel through files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from spacectl import (
    Cartesian,
    ElasticTether,
    Fixed,
    Free,
    ModelError,
    Part,
    Prismatic,
    RigidBody,
    SpringDamper,
    System,
    Tether,
    load_system,
    save_system,
)


def body(name: str) -> RigidBody:
    return RigidBody(name=name, mass=5.0, inertia=(1.0, 1.0, 1.0))


def two_free(*elements: Any) -> System:
    parts = (Part(body("mother"), joint=Free(name="base")), Part(body("satellite"), joint=Free(name="far")))
    return System(name="two", parts=parts, elements=elements)


def elastic(**changes: Any) -> ElasticTether:
    given: dict[str, Any] = {
        "name": "line",
        "on": "mother",
        "to": "satellite",
        "length": 10.0,
        "density": 0.1,
        "masses": 2,
        "stiffness": 100.0,
    }
    return ElasticTether(**(given | changes))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tether(name="line", on="m", length=0.0), "tether 'line': length is 0 m, expected a positive length"),
        (
            lambda: Tether(name="line", on="m", length=lambda s: s.t - 1.0),
            "length is -1 m at t = 0, expected a positive",
        ),
        (lambda: Tether(name="line", on="m", length=5.0, density=-1.0), "tether 'line': density is -1 kg/m"),
        (lambda: Tether(name="line", on="m", length=lambda s: 5.0 + s.t, density=1.0), "give spool"),
        (
            lambda: Tether(name="line", on="m", length=5.0, density=1.0, spool=4.0),
            "spool is 4 m, less than the deployed 5 m",
        ),
        (
            lambda: Tether(name="line", on="m", length=5.0, shortest=6.0),
            "shortest is 6 m, expected a positive length below",
        ),
        (lambda: Tether(name="line", on="m", length=5.0, joint=Fixed()), "tether 'line': joint is Fixed"),
        (lambda: Tether(name="line", on="m", length=5.0, joint=Prismatic()), "expected one that only rotates"),
        (lambda: Tether(name="line", on="m", length=lambda s: 5.0 + s.t, is_reeled=True), "give one of the two"),
        (lambda: elastic(length=-2.0), "tether 'line': length is -2 m, expected a positive length"),
        (lambda: elastic(stiffness=0.0), "tether 'line': stiffness is 0 N, expected a positive number"),
        (lambda: elastic(damping=-1.0), "tether 'line': damping is -1 N s"),
        (lambda: elastic(masses=-1), "masses is -1, expected a whole number"),
        (lambda: elastic(masses=0), "a line with mass needs masses"),
        (lambda: elastic(density=0.0), "a line with mass needs masses, a massless one has none"),
        (
            lambda: SpringDamper(name="s", on_a="a", on_b="b", stiffness=-1.0),
            "spring 's': stiffness is -1, expected 0 or more",
        ),
        (
            lambda: SpringDamper(name="s", on_a="a", on_b="b", length=-1.0),
            "spring 's': length is -1 m, expected 0 or more",
        ),
        (lambda: SpringDamper(name="s", on_a="a", on_b="b", stiffness=1.0, damping=1.0), "use inertial_damping"),
        (lambda: SpringDamper(name="s", on_a="a", on_b="b", length=1.0, longest=2.0), "positive stop_stiffness"),
        (
            lambda: SpringDamper(
                name="s", on_a="a", on_b="b", length=1.0, shortest=3.0, longest=2.0, stop_stiffness=1.0
            ),
            "shortest is 3 m, expected less than longest",
        ),
        (lambda: two_free(elastic(to="sun")), "element 'line': it ends on an unknown frame 'sun'"),
        (
            lambda: two_free(elastic(on="moon")),
            "element 'line': it ends on an unknown frame 'moon'|on names an unknown body",
        ),
        (
            lambda: two_free(Tether(name="line", on="moon", length=1.0)),
            "tether 'line': on names an unknown frame 'moon'",
        ),
        (
            lambda: two_free(Tether(name="line", on="mother.tip", length=1.0)),
            "tether 'line': on names an unknown frame",
        ),
        (
            lambda: two_free(SpringDamper(name="s", on_a="mother", on_b="mother", stiffness=1.0, length=1.0)),
            "both its ends are at the same point",
        ),
        (lambda: two_free(elastic(), elastic()), "duplicate"),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_name_and_the_cure(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_tethers_and_springs_travel_through_files_and_processes(tmp_path: Path) -> None:
    spring = SpringDamper(name="s", on_a="mother", on_b="satellite", at_b=(0.0, 1.0, 0.0), stiffness=3.0, length=2.0)
    hung = Part(body("lamp"), on="cord")
    system = two_free(elastic(), spring, Tether(name="cord", on="mother", length=4.0, density=0.1))
    system = System(name="all", parts=(*system.parts, hung), elements=system.elements)
    again = load_system(save_system(system, tmp_path / "all.toml"))
    assert again == system and again.structure_hash() == system.structure_hash()
    moving = two_free(elastic(length=lambda s: 10.0 + s.t, spool=50.0))
    assert pickle.loads(pickle.dumps(moving)).content_hash() == moving.content_hash()
    with pytest.raises(ModelError, match="cannot be written to a file"):
        save_system(moving, tmp_path / "moving.toml")


def test_lengths_and_stiffnesses_are_run_time_numbers() -> None:
    one, other = two_free(elastic()), two_free(elastic(length=12.0, stiffness=70.0, density=0.3))
    assert one.structure_hash() == other.structure_hash()
    assert one.structure_hash() != two_free(elastic(masses=3)).structure_hash()
    assert float(other.parameters().get("line.length")) == 12.0


def test_a_tether_brings_its_bodies() -> None:
    system = two_free(elastic(spool=20.0))
    names = [part.name for part in system.tree]
    assert names == ["mother", "satellite", "line_1", "line_2", "line_spool"]
    assert isinstance(system.part("line_1").joint, Cartesian)
    assert not system.is_plain
