"""`Labels` turn names into indices and back."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels

ARM = Labels(("shoulder", "elbow"), ("rad", "rad"), "coordinate")


def test_a_vector_is_named_and_read_back() -> None:
    x = ARM.vector({"elbow": 0.5}, default=np.array([0.1, 0.2]))
    assert ARM.named(x) == {"shoulder": 0.1, "elbow": 0.5}
    assert ARM.indices(("elbow", "shoulder")) == (1, 0)


def test_a_vector_made_from_a_default_does_not_change_it() -> None:
    default = np.array([0.1, 0.2])
    ARM.vector({"elbow": 0.5}, default=default)
    assert default.tolist() == [0.1, 0.2]


def test_joined_labels_keep_order_and_units() -> None:
    both = ARM + Labels(("elbow_dot",), ("rad/s",), "speed")
    assert list(both) == ["shoulder", "elbow", "elbow_dot"]
    assert both.unit("elbow_dot") == "rad/s"
    assert "elbow" in both
    assert Labels(("ratio",)).units == ("1",)


def test_mistakes_are_named_with_a_cure() -> None:
    with pytest.raises(ModelError, match="unknown coordinate 'elbw'; did you mean 'elbow'"):
        ARM.index("elbw")
    with pytest.raises(ModelError, match="duplicate coordinate name 'a'"):
        Labels(("a", "a"), (), "coordinate")
    with pytest.raises(ShapeError, match="1 names but 2 units"):
        Labels(("a",), ("m", "s"))
    with pytest.raises(ShapeError, match="expected 2 coordinates"):
        ARM.named(np.zeros(3))
