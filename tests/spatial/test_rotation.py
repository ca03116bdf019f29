"""Rotations: every parametrisation describes the same matrix, and numpy and CasADi give the same numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from spacectl.core.errors import ModelError
from spacectl.spatial import rotation as rot
from spacectl.spatial.backend import cross, skew

VECTORS = arrays(float, 3, elements=st.floats(-3.0, 3.0))
ROUND = 1e-13  # a few tens of roundings of numbers of order one


def quaternion(vector: np.ndarray) -> np.ndarray:
    """Scalar-first unit quaternion of a rotation vector, by scipy."""
    return np.roll(Rotation.from_rotvec(vector).as_quat(), 1)


@given(VECTORS)
def test_quaternion_matrix_equals_scipy(vector: np.ndarray) -> None:
    R = rot.rotation_from_quaternion(quaternion(vector))
    np.testing.assert_allclose(R, Rotation.from_rotvec(vector).as_matrix(), atol=ROUND)


@given(VECTORS, st.floats(0.1, 10.0))
def test_quaternion_norm_does_not_matter(vector: np.ndarray, scale: float) -> None:
    q = quaternion(vector)
    np.testing.assert_allclose(rot.rotation_from_quaternion(scale * q), rot.rotation_from_quaternion(q), atol=ROUND)


@given(VECTORS)
def test_quaternion_from_rotation_is_the_inverse(vector: np.ndarray) -> None:
    R = Rotation.from_rotvec(vector).as_matrix()
    np.testing.assert_allclose(rot.rotation_from_quaternion(rot.quaternion_from_rotation(R)), R, atol=ROUND)


@pytest.mark.parametrize("axis", np.eye(3))
def test_half_turns_are_handled(axis: np.ndarray) -> None:
    R = rot.axis_rotation(axis, np.pi)
    np.testing.assert_allclose(rot.rotation_from_quaternion(rot.quaternion_from_rotation(R)), R, atol=ROUND)
    np.testing.assert_allclose(np.linalg.norm(rot.rotation_vector(R)), np.pi, atol=ROUND)


@given(VECTORS)
def test_the_scalar_part_of_a_quaternion_is_not_negative(vector: np.ndarray) -> None:
    for turn in (vector, 3.0 * vector):  # also by more than half a turn
        assert rot.quaternion_from_rotation(Rotation.from_rotvec(turn).as_matrix())[0] >= 0.0


def test_quaternions_of_a_history_are_those_of_its_matrices() -> None:
    turns = [*Rotation.random(50, random_state=1).as_rotvec(), *(np.pi * np.eye(3)), *(-np.pi * np.eye(3)), np.zeros(3)]
    R = Rotation.from_rotvec(turns).as_matrix()
    found = rot.quaternions_from_rotations(R)
    np.testing.assert_allclose(found, [rot.quaternion_from_rotation(item) for item in R], atol=ROUND)
    assert np.all(found[:, 0] >= 0.0)


@given(VECTORS, VECTORS)
def test_product_composes_rotations(a: np.ndarray, b: np.ndarray) -> None:
    product = rot.quaternion_product(quaternion(a), quaternion(b))
    expected = rot.rotation_from_quaternion(quaternion(a)) @ rot.rotation_from_quaternion(quaternion(b))
    np.testing.assert_allclose(rot.rotation_from_quaternion(product), expected, atol=ROUND)
    back = rot.quaternion_product(product, rot.quaternion_conjugate(product))
    np.testing.assert_allclose(back, [1.0, 0.0, 0.0, 0.0], atol=ROUND)


@given(VECTORS, VECTORS)
def test_quaternion_rate_turns_in_body_axes(vector: np.ndarray, omega: np.ndarray) -> None:
    q, h = quaternion(vector), 1e-6
    ahead = rot.rotation_from_quaternion(q + h * rot.quaternion_rate(q, omega))
    behind = rot.rotation_from_quaternion(q - h * rot.quaternion_rate(q, omega))
    R_dot = (ahead - behind) / (2 * h)
    # central difference: truncation h^2 |omega|^3 / 6 and rounding 1e-16 / h, both below 1e-9
    np.testing.assert_allclose(R_dot, rot.rotation_from_quaternion(q) @ skew(omega), atol=1e-9)
    assert abs(q @ rot.quaternion_rate(q, omega)) < ROUND


@given(VECTORS, VECTORS)
def test_mrp_agree_with_quaternions(vector: np.ndarray, omega: np.ndarray) -> None:
    q = quaternion(vector)
    q = q if q[0] >= 0 else -q
    sigma = rot.mrp_from_quaternion(q)
    np.testing.assert_allclose(rot.rotation_from_mrp(sigma), rot.rotation_from_quaternion(q), atol=ROUND)
    q_dot = rot.quaternion_rate(q, omega)
    expected = q_dot[1:] / (1 + q[0]) - q[1:] * q_dot[0] / (1 + q[0]) ** 2
    np.testing.assert_allclose(rot.mrp_rate(sigma, omega), expected, atol=ROUND)


@given(VECTORS, st.floats(-7.0, 7.0))
def test_symbols_and_numbers_agree(vector: np.ndarray, angle: float) -> None:
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q, w, a = ca.SX.sym("q", 4), ca.SX.sym("w", 3), ca.SX.sym("a")
    f = ca.Function(
        "f", [q, w, a], [rot.rotation_from_quaternion(q), rot.quaternion_rate(q, w), rot.axis_rotation(axis, a)]
    )
    R, q_dot, turned = (np.array(item) for item in f(quaternion(vector), vector, angle))
    np.testing.assert_allclose(R, rot.rotation_from_quaternion(quaternion(vector)), atol=ROUND)
    np.testing.assert_allclose(q_dot[:, 0], rot.quaternion_rate(quaternion(vector), vector), atol=ROUND)
    np.testing.assert_allclose(turned, Rotation.from_rotvec(axis * angle).as_matrix(), atol=ROUND)


def test_quarter_turns_are_exact() -> None:
    assert set(np.unique(rot.rotation_about("x", np.pi / 2))) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(rot.rotation_about("z", np.pi / 2) @ [1, 0, 0], [0, 1, 0])


def test_unnormalised_axis_is_refused() -> None:
    with pytest.raises(ModelError, match="norm 2"):
        rot.rotation_about((0.0, 0.0, 2.0), 1.0)


@given(VECTORS, VECTORS)
def test_cross_and_skew_are_the_same_product(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    np.testing.assert_allclose(skew(a) @ b, np.cross(a, b), atol=ROUND)
