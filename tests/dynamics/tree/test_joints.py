"""Each joint's subspace, bias and coordinate rates follow from its placement (differences), on numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spacectl.model.joints import (
    JOINTS,
    Cartesian,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from spacectl.spatial.inertia import Placement

AXIS = (2 / 3, -1 / 3, 2 / 3)
EXAMPLES = [
    Revolute(axis=AXIS),
    Prismatic(axis=AXIS),
    Cylindrical(axis=AXIS),
    Helical(axis=AXIS, pitch=0.3),
    Universal(first=AXIS, second="y"),
    Cartesian(),
    Spherical(),
    Planar(normal="y"),
    Free(),
]


def numbers(joint) -> dict[str, np.ndarray]:
    return {key: np.asarray(number.value) for key, number in joint.numbers().items()}


def state(joint, rng) -> tuple[np.ndarray, np.ndarray]:
    q, v = joint.rest() + rng.uniform(-1, 1, len(joint.coordinates)), rng.uniform(-1, 1, len(joint.speeds))
    if joint.quaternion_at is not None:
        q[:4] /= np.linalg.norm(q[:4])
    return q, v


def twist_by_differences(joint, q, v, n, h=1e-5) -> np.ndarray:
    """Twist of F relative to J in F axes from central differences of the placement along q_dot."""
    ahead: Placement = joint.placement(q + h * joint.q_dot(q, v), n)
    behind: Placement = joint.placement(q - h * joint.q_dot(q, v), n)
    here: Placement = joint.placement(q, n)
    turn = Rotation.from_matrix(behind.R.T @ ahead.R).as_rotvec() / (2 * h)
    return np.concatenate([turn, here.R.T @ (ahead.p - behind.p) / (2 * h)])


def test_every_kind_is_covered() -> None:
    assert {type(joint) for joint in EXAMPLES} | {Fixed} == set(JOINTS.values())


@pytest.mark.parametrize("joint", EXAMPLES, ids=lambda joint: type(joint).__name__)
def test_subspace_is_the_rate_of_the_placement(joint) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = state(joint, rng)
        n = numbers(joint)
        # truncation h^2 = 1e-10 times derivatives of order one, rounding 1e-16 / h = 1e-11
        np.testing.assert_allclose(joint.subspace(q, n) @ v, twist_by_differences(joint, q, v, n), atol=2e-9)


@pytest.mark.parametrize("joint", EXAMPLES, ids=lambda joint: type(joint).__name__)
def test_bias_is_the_rate_of_the_subspace(joint) -> None:
    rng = np.random.default_rng(2)
    h = 1e-5
    for _ in range(5):
        q, v = state(joint, rng)
        n = numbers(joint)
        step = h * joint.q_dot(q, v)
        rate = (joint.subspace(q + step, n) - joint.subspace(q - step, n)) @ v / (2 * h)
        np.testing.assert_allclose(joint.bias(q, v, n), rate, atol=2e-9)
