"""`Array` is content: equal numbers are equal, hash alike, and cannot be changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError


def test_equal_content_is_one_key_of_a_dictionary() -> None:
    table = {Array([1.0, 0.0]): "a"}
    assert table[Array((1, -0.0))] == "a"
    assert Array([1.0, 0.0]) != Array([[1.0, 0.0]])
    assert Array([1.0]) != [1.0]


def test_nobody_can_change_it_and_it_survives_a_trip_to_a_worker() -> None:
    source = np.array([1.0, 2.0])
    array = Array(source)
    source[0] = 5.0
    assert array.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(array)[0] = 3.0
    copy = pickle.loads(pickle.dumps(array))
    assert copy == array
    assert hash(copy) == hash(array)
    assert copy.sha256() == array.sha256()


def test_errors_name_what_was_given() -> None:
    with pytest.raises(ShapeError, match=r"body 'hub': com: expected shape \(3,\), got \(2,\)"):
        as_array([1.0, 2.0], (3,), "body 'hub': com")
    with pytest.raises(ModelError, match="gain: .*not finite"):
        as_array([1.0, np.nan], None, "gain")
    with pytest.raises(ModelError, match="mass: expected a number, got 'heavy'"):
        as_scalar("heavy", "mass")
    with pytest.raises(ModelError, match="mass: got inf"):
        as_scalar(np.inf, "mass")


@pytest.mark.parametrize(
    "values", ["1", b"1", ["1", "2"], [1.0, "2"], np.array(["1"]), np.array([1.0, "2"], dtype=object)]
)
def test_texts_are_refused_even_if_they_read_as_numbers(values) -> None:
    with pytest.raises(ModelError, match="gain: expected numbers, got text.*without quotes"):
        as_array(values, None, "gain")


def test_objects_that_are_numbers_are_taken() -> None:
    assert as_array(np.array([1, 2.5], dtype=object), (2,), "gain") == Array([1.0, 2.5])


def test_it_acts_as_a_numpy_array_in_formulas() -> None:
    R = Array([[0.0, -1.0], [1.0, 0.0]])
    assert np.array_equal(R.T @ np.asarray(R), np.eye(2))
    assert np.asarray(R, dtype=int).dtype.kind == "i"
    assert float(Array(2.5)) == 2.5
    assert "sha256" in repr(Array(np.zeros(20)))
