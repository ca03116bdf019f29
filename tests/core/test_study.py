"""Study contracts: parameters are overridden by name, metrics are plain JSON data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from spacectl.core.errors import ModelError
from spacectl.core.provenance import content_hash, versions
from spacectl.core.studies.study import Study, StudyResult, override_parameters


@dataclass(frozen=True)
class Numbers:
    mass: float = 1.0
    count: int = 3
    has_gravity: bool = True
    lengths: tuple[float, ...] = (1.0, 2.0)
    name: str = "arm"


def test_text_from_the_command_line_takes_the_type_of_the_default() -> None:
    text = {"mass": "2.5", "count": "4", "has_gravity": "no", "lengths": "(3, 4.5)", "name": "leg"}
    assert override_parameters(Numbers(), text) == Numbers(2.5, 4, False, (3.0, 4.5), "leg")


def test_values_from_a_script_are_taken_as_they_are() -> None:
    assert override_parameters(Numbers(), {"lengths": [5], "count": 2.0, "has_gravity": False}) == Numbers(
        lengths=(5.0,), count=2, has_gravity=False
    )
    assert override_parameters(Numbers(), {}) == Numbers()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mass", "heavy"),
        ("mass", "nan"),
        ("count", "2.5"),
        ("count", True),
        ("has_gravity", "maybe"),
        ("lengths", "1, x"),
    ],
)
def test_unreadable_values_name_the_parameter(key: str, value: object) -> None:
    with pytest.raises(ModelError, match=f"parameter '{key}': cannot read"):
        override_parameters(Numbers(), {key: value})


def test_an_unknown_parameter_is_named_with_the_closest_one() -> None:
    with pytest.raises(ModelError, match="unknown parameter 'mas'; did you mean 'mass'"):
        override_parameters(Numbers(), {"mas": 1})


def test_metrics_become_plain_json() -> None:
    result = StudyResult(
        metrics={"error": np.float64(0.5), "poles": np.array([-1.0, -2.0]), "peer": None, "is_stable": np.True_, "n": 3}
    )
    assert json.loads(json.dumps(result.metrics)) == {
        "error": 0.5,
        "poles": [-1.0, -2.0],
        "peer": None,
        "is_stable": True,
        "n": 3,
    }
    with pytest.raises(ModelError, match="metric 'drift': nan"):
        StudyResult(metrics={"drift": float("nan")})
    with pytest.raises(ModelError, match="metric 'law'"):
        StudyResult(metrics={"law": object()})


def test_a_study_needs_an_instance_of_its_parameters() -> None:
    with pytest.raises(ModelError, match="instance of a frozen dataclass"):
        Study(question="?", parameters=Numbers, run=lambda *a, **k: StudyResult(metrics={}))


def test_hashes_follow_the_content() -> None:
    assert content_hash(Numbers()) == content_hash(Numbers())
    assert content_hash(Numbers()) != content_hash(Numbers(mass=1.0 + 2**-52))
    with pytest.raises(TypeError, match="cannot hash set"):
        content_hash({1, 2})
    assert {"python", "numpy", "casadi", "spacectl"} <= set(versions())


@dataclass(frozen=True)
class Sized:
    count: int = 3
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    pair: tuple[str, int] = ("a", 1)
    weights: tuple[float, ...] = (1.0, 2.0)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("count", "inf", "cannot read 'inf' as int"),
        ("count", float("inf"), "cannot read inf as int"),
        ("count", "1e400", "cannot read '1e400' as int"),
        ("count", "nan", "cannot read 'nan' as int"),
        ("axis", "1,2", "'1,2' has 2 entries, expected 3"),
        ("axis", (1.0, 2.0, 3.0, 4.0), "has 4 entries, expected 3"),
        ("axis", "1,,2", "cannot read '1,,2' as tuple"),
        ("pair", "a,b", "cannot read 'a,b' as tuple"),
    ],
)
def test_numbers_and_tuples_that_cannot_be_are_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"parameter '{key}': .*{message}"):
        override_parameters(Sized(), {key: value})


def test_whole_numbers_are_exact_and_tuples_keep_their_form() -> None:
    changed = override_parameters(
        Sized(), {"count": "9007199254740993", "pair": "b, 2", "weights": "(5,)", "axis": "0,0,1"}
    )
    assert changed == Sized(count=9007199254740993, pair=("b", 2), weights=(5.0,), axis=(0.0, 0.0, 1.0))
    assert override_parameters(Sized(), {"count": "1e3"}).count == 1000


def test_names_of_metrics_are_texts_and_truth_is_no_number() -> None:
    with pytest.raises(ModelError, match="the name 3 is not text"):
        StudyResult(metrics={3: 1.0})  # type: ignore[dict-item]
    with pytest.raises(ModelError, match="cannot read True as float"):
        override_parameters(Numbers(), {"mass": True})
