"""Twists, wrenches and inertias: power does not depend on the frame, and inertia moves as its point masses do."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from spacectl.spatial.inertia import Inertia, Placement, cross_force, cross_motion, move_twist, pull_wrench

VECTORS = arrays(float, 3, elements=st.floats(-2.0, 2.0))
SIX = arrays(float, 6, elements=st.floats(-2.0, 2.0))
ROUND = 1e-12  # tens of roundings of numbers up to about 100


def placement(turn: np.ndarray, p: np.ndarray) -> Placement:
    return Placement(Rotation.from_rotvec(turn).as_matrix(), p)


def cloud(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0.1, 1.0, 5), rng.standard_normal((5, 3))


def inertia_of(masses: np.ndarray, points: np.ndarray) -> Inertia:
    I = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    return Inertia(masses.sum(), masses @ points, I)


@given(VECTORS, VECTORS, SIX, SIX)
def test_power_is_the_same_in_both_frames(turn, p, twist, wrench) -> None:
    X = placement(turn, p)
    assert abs(move_twist(X, twist) @ wrench - twist @ pull_wrench(X, wrench)) < ROUND


@given(VECTORS, VECTORS, SIX)
def test_inverse_undoes_the_move(turn, p, twist) -> None:
    X = placement(turn, p)
    np.testing.assert_allclose(move_twist(X.inverse(), move_twist(X, twist)), twist, atol=ROUND)
    np.testing.assert_allclose((X @ X.inverse()).R, np.eye(3), atol=ROUND)
    np.testing.assert_allclose((X @ X.inverse()).p, np.zeros(3), atol=ROUND)


@given(SIX, SIX, SIX)
def test_cross_products_are_dual(a, b, f) -> None:
    assert abs(cross_motion(a, b) @ f + b @ cross_force(a, f)) < ROUND


@given(VECTORS, VECTORS, SIX, st.integers(0, 2**32 - 1))
def test_inertia_equals_its_point_masses(turn, p, twist, seed) -> None:
    masses, points = cloud(np.random.default_rng(seed))
    body, X = inertia_of(masses, points), placement(turn, p)
    moved = points @ X.R.T + X.p
    seen, direct = body.seen_from(X), inertia_of(masses, moved)
    np.testing.assert_allclose(seen.I_O, direct.I_O, atol=1e-10)  # squares of distances up to 6
    np.testing.assert_allclose(seen.first, direct.first, atol=ROUND)
    omega, v = twist[:3], twist[3:]
    velocity = v + np.cross(omega, points)
    momentum = np.concatenate([(masses[:, None] * np.cross(points, velocity)).sum(0), masses @ velocity])
    np.testing.assert_allclose(body @ twist, momentum, atol=1e-10)
    np.testing.assert_allclose(body.matrix() @ twist, momentum, atol=1e-10)


@given(SIX, st.integers(0, 2**32 - 1))
def test_bias_wrench_is_what_turns_the_momentum_with_the_body(twist, seed) -> None:
    body = inertia_of(*cloud(np.random.default_rng(seed)))
    np.testing.assert_allclose(body.bias_wrench(twist), cross_force(twist, body @ twist), atol=1e-10)


def test_from_centre_is_the_parallel_axis_theorem() -> None:
    masses, points = cloud(np.random.default_rng(3))
    com = masses @ points / masses.sum()
    central = inertia_of(masses, points - com)
    body = Inertia.from_centre(masses.sum(), com, central.I_O)
    np.testing.assert_allclose(body.I_O, inertia_of(masses, points).I_O, atol=1e-13)
