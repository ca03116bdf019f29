"""Motors in joints that close a loop: the same motion and reactions as in joints of a tree, for every joint kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Cylindrical,
    JointForce,
    JointTorque,
    Loop,
    ModelError,
    Part,
    Planar,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    System,
    UniformGravity,
    Universal,
    absolute_state,
    find_constraint_wrenches,
    form_equations,
)

KINDS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "revolute": (Revolute(name="j", axis="z"), (JointTorque(joint="j"),)),
    "prismatic": (Prismatic(name="j", axis="y"), (JointForce(joint="j"),)),
    "cylindrical": (
        Cylindrical(name="j", axis="z"),
        (JointTorque(joint="j", component="angle_dot"), JointForce(joint="j", component="slide_dot")),
    ),
    "universal": (
        Universal(name="j", first="x", second="y"),
        (JointTorque(joint="j", component="first_dot"), JointTorque(joint="j", component="second_dot")),
    ),
    "skew universal": (
        Universal(name="j", first="x", second=(0.6, 0.8, 0.0)),
        (JointTorque(joint="j", component="first_dot"), JointTorque(joint="j", component="second_dot")),
    ),
    "spherical": (Spherical(name="j"), tuple(JointTorque(joint="j", component=f"w{e}") for e in "xyz")),
    "planar": (
        Planar(name="j", normal="y"),
        (
            JointTorque(joint="j", component="angle_dot"),
            JointForce(joint="j", component="x_dot"),
            JointForce(joint="j", component="y_dot"),
        ),
    ),
}


def chain(joint: Any, motors: tuple[Any, ...]) -> System:
    """Two bodies: a swinging one, and one on the joint of interest."""
    first = RigidBody(name="carrier", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.4, 0.1, 0.0))
    second = RigidBody(name="load", mass=1.5, inertia=(0.2, 0.25, 0.3), com=(0.1, 0.3, -0.2))
    return System(
        name="chain", environment=UniformGravity(g=(0.0, 0.0, -9.81)), actuators=motors,
        parts=(
            Part(first, joint=Revolute(name="swing", axis=(0.0, 0.6, 0.8))),
            Part(second, on="carrier", at=(0.9, 0.0, 0.2), joint=joint),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_motors_in_a_closing_joint_do_what_they_do_in_a_tree(kind: str) -> None:
    """In absolute coordinates every joint closes a loop; the fourth-order difference of the tree's motion is exact to 1e-10."""
    system = chain(*KINDS[kind])
    tree, bodies = form_equations(system), form_equations(system, coordinates="absolute")
    rng = np.random.default_rng(3)
    x = tree.state(tree.state() + 0.4 * rng.standard_normal(tree.n_x))
    u = rng.standard_normal(tree.n_u)
    q, v = x[: tree.n_q], x[tree.n_q :]
    v_dot, q_dot = tree.v_dot(0.0, q, v, u), tree.call("q_dot", 0.0, q, v)[0].reshape(-1)

    def speeds(s: float) -> np.ndarray:
        return np.asarray(absolute_state(tree, bodies, np.concatenate([q + s * q_dot, v + s * v_dot])))[bodies.n_q :]

    h = 1e-3
    expected = (8.0 * (speeds(h) - speeds(-h)) - (speeds(2 * h) - speeds(-2 * h))) / (12.0 * h)
    y = np.asarray(absolute_state(tree, bodies, x))
    np.testing.assert_allclose(bodies.v_dot(0.0, y[: bodies.n_q], y[bodies.n_q :], u), expected, atol=1e-9)
    wrench = find_constraint_wrenches(bodies, 0.0, y, u)["j"]
    np.testing.assert_allclose(wrench, tree.reactions(0.0, q, v, u)[1], atol=1e-10)


def test_a_motor_of_the_wrong_unit_is_refused() -> None:
    with pytest.raises(ModelError, match="use JointTorque"):
        form_equations(chain(Planar(name="j", normal="y"), (JointForce(joint="j", component="angle_dot"),)))
    system = chain(Planar(name="j", normal="y"), ())
    loop = Loop(name="close", a="world", b="load", joint=Cylindrical(axis="z"))
    with pytest.raises(ModelError, match="use JointForce"):
        replace(system, constraints=(loop,), actuators=(JointTorque(joint="close", component="slide_dot"),))
