"""Weights by number, diagonal, name and matrix, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacectl import Labels, ModelError, ShapeError
from spacectl.controllers.regulators.weights import check_joint, read_weight

X = Labels(("elbow", "wrist"), ("rad", "rad"), "state")


@pytest.mark.parametrize(
    ("given", "matrix"),
    [
        (2.0, np.diag([2.0, 2.0])),
        ([1.0, 3.0], np.diag([1.0, 3.0])),
        ({"wrist": 10.0}, np.diag([0.0, 10.0])),
        ([[2.0, 1.0], [1.0, 2.0]], np.array([[2.0, 1.0], [1.0, 2.0]])),
    ],
)
def test_all_notations_are_equivalent(given: Any, matrix: np.ndarray) -> None:
    np.testing.assert_array_equal(read_weight(given, X, "Q", definite=False), matrix)


@pytest.mark.parametrize(
    ("given", "definite", "message"),
    [
        ({"elbw": 1.0}, False, "unknown state 'elbw'; did you mean 'elbow'"),
        ({"elbow": 1.0}, True, "state 'wrist' has no weight"),
        ({"elbow": "1"}, False, "state 'elbow'.*expected a number"),
        ([1.0, -1.0], False, "state 'wrist' has the weight -1"),
        ([1.0, 0.0], True, "state 'wrist' has the weight 0"),
        ([[1.0, 0.5], [0.0, 1.0]], False, r"not symmetric: entry \('elbow', 'wrist'\) is 0.5"),
        ([[1.0, 2.0], [2.0, 1.0]], False, "indefinite: the direction .*elbow"),
        ([[1.0, 1.0], [1.0, 1.0]], True, "not positive definite"),
        ([[1.0, 1e-3], [1e-3, 0.0]], False, "indefinite"),
        ([1.0, np.nan], False, "not finite"),
    ],
)
def test_wrong_weights_name_the_entry(given: Any, definite: bool, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_weight(given, X, "Q", definite=definite)


def test_wrong_shape_raises() -> None:
    with pytest.raises(ShapeError, match=r"shape \(3,\), expected a number, \(2,\)"):
        read_weight([1.0, 2.0, 3.0], X, "Q", definite=False)


def test_singular_weights_are_allowed_in_any_units() -> None:
    root = np.array([[1.0, 1e6]])  # rank one, entries 1 to 1e12
    assert np.array_equal(read_weight(root.T @ root, X, "Q", definite=False), root.T @ root)


def test_cross_weight_must_leave_the_cost_positive() -> None:
    u = Labels(("motor",), ("N m",), "input")
    check_joint(np.eye(2), np.eye(1), np.array([[0.9], [0.0]]), X, u, "LQR")
    with pytest.raises(ModelError, match="indefinite.*input motor"):
        check_joint(np.eye(2), np.eye(1), np.array([[1.1], [0.0]]), X, u, "LQR")
