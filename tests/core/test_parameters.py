"""`Parameters` keep every number by name and refuse to change what is structure."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.parameters import Parameters

P = Parameters(
    names=("hub.mass", "hub.com"), shapes=((), (3,)), values=[5.0, 0.1, 0.0, 0.0], fixed=(False, False, True, True)
)


def test_a_named_change_reaches_its_place_in_the_vector() -> None:
    p = P.vector({"hub.mass": 7.0, "hub.com": (0.2, 0.0, 0.0)})
    assert p.tolist() == [7.0, 0.2, 0.0, 0.0]
    assert P.get("hub.com", p).tolist() == [0.2, 0.0, 0.0]
    assert P.get("hub.mass").shape == ()
    assert np.asarray(P.values).tolist() == [5.0, 0.1, 0.0, 0.0], "the defaults stay"


def test_structure_cannot_change_and_the_message_says_how_to_free_it() -> None:
    with pytest.raises(ModelError, match=r"parameter 'hub.com': .* cannot become 0.3 .* vary=\('hub.com',\)"):
        P.vector({"hub.com": (0.1, 0.3, 0.0)})
    with pytest.raises(ModelError, match="hub.com"):
        P.check([5.0, 0.1, 0.0, 1.0])


def test_wrong_names_and_shapes_are_named() -> None:
    with pytest.raises(ModelError, match="unknown parameter 'hub.mas'; did you mean 'hub.mass'"):
        P.vector({"hub.mas": 1.0})
    with pytest.raises(ShapeError, match=r"parameter 'hub.com': expected shape \(3,\)"):
        P.vector({"hub.com": 1.0})
    with pytest.raises(ShapeError, match=r"expected shape \(4,\), got \(3,\)"):
        P.check([1.0, 2.0, 3.0])
    with pytest.raises(ModelError, match="only 4 entries"):
        P.name_of(4)


def test_numbers_of_another_system_are_taken_by_name_with_their_changes() -> None:
    other = Parameters(names=("arm.mass", "hub.mass"), shapes=((), ()), values=[1.0, 2.0], fixed=(False, False))
    assert P.taken_from(other).tolist() == [2.0, 0.1, 0.0, 0.0]
    assert P.taken_from(other, [1.0, 3.0]).tolist() == [3.0, 0.1, 0.0, 0.0]
