"""Rows of every joint that can close a loop: how many, which directions they block, and their rates."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Cartesian,
    Constraint,
    Cylindrical,
    Fixed,
    Frame,
    Free,
    Loop,
    ModelError,
    NoRelativeRotation,
    Part,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    System,
    Universal,
    form_equations,
    library,
    make_consistent,
)
from spacectl.dynamics.reactions.wrenches import find_constraint_wrenches
from spacectl.spatial.rotation import quaternion_from_rotation
from tests.strategies import random_body, random_place, random_quaternion

JOINTS = (
    Fixed(),
    Revolute(axis=(0.6, 0.0, 0.8)),
    Prismatic(axis=(0.0, 0.6, -0.8)),
    Cylindrical(axis=(2 / 3, -1 / 3, 2 / 3)),
    Universal(first="x", second=(0.0, 0.8, 0.6)),
    Spherical(),
    Planar(normal="x"),
    Planar(normal="z"),
    Cartesian(),
)
NAMES = [type(joint).__name__ + getattr(joint, "normal", "") for joint in JOINTS]


def two_bodies(joint: Any, seed: int = 0) -> tuple[System, System]:
    """Two bodies tied by a joint of a tree, and two free bodies tied by the loop that says the same."""
    rng = np.random.default_rng(seed)
    first, second = random_body(rng, "first"), random_body(rng, "second")
    at, rotation, child_at, child_rotation = (
        random_place(rng), random_quaternion(rng), random_place(rng), random_quaternion(rng),
    )  # fmt: skip
    base = Part(first, joint=Free(name="base"))
    held = Part(
        second, on="first", at=at, rotation=rotation, joint=joint, child_at=child_at, child_rotation=child_rotation
    )
    loop = Loop(
        name="tie",
        a="first",
        b="second",
        at_a=at,
        rotation_a=rotation,
        at_b=child_at,
        rotation_b=child_rotation,
        joint=joint,
    )
    free = Part(second, joint=Free(name="other"))
    return System(name="tree", parts=(base, held)), System(name="tied", parts=(base, free), constraints=(loop,))


def tree_motion(system: System, seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    eom = form_equations(system)
    rng = np.random.default_rng(seed)
    x = eom.state(eom.state() + 0.4 * rng.standard_normal(eom.n_x))
    return eom, x, eom.placements(0.0, x[: eom.n_q]), rng


def body_velocities(eom: Any, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rates of a `Free` joint (omega in body axes, velocity in root axes) of the second body for speeds v."""
    q = x[: eom.n_q]
    places = eom.placements(0.0, q)
    slope = eom.jacobian("placements", "placements", "q", 0.0, q)
    rates = (slope @ eom.call("q_dot", 0.0, q, v)[0].reshape(-1)).reshape(places.shape, order="F")[1]
    spin = places[1][:9].reshape(3, 3).T @ rates[:9].reshape(3, 3)
    return np.concatenate([[spin[2, 1], spin[0, 2], spin[1, 0]], rates[9:]])


def free_state(tied: Any, tree: Any, x: np.ndarray) -> np.ndarray:
    """The state of two free bodies that the tree's state gives."""
    place = tree.placements(0.0, x[: tree.n_q])[1]
    quaternion = np.asarray(quaternion_from_rotation(place[:9].reshape(3, 3))).reshape(-1)
    motion = body_velocities(tree, x, x[tree.n_q :])
    named = tree.named(x)
    found = {name: named[name] for name in tied.states if name.startswith("base.")}
    found |= {f"other.q{e}": quaternion[k] for k, e in enumerate("wxyz")}
    for k, e in enumerate("xyz"):
        found |= {f"other.{e}": place[9 + k], f"other.w{e}": motion[k], f"other.{e}_dot": motion[3 + k]}
    return tied.state(**found)


@pytest.mark.parametrize("joint", JOINTS, ids=NAMES)
def test_rows_block_exactly_what_the_joint_does_not_allow(joint: Any) -> None:
    tree_system, tied_system = two_bodies(joint)
    tree, x, _, rng = tree_motion(tree_system, 1)
    tied = form_equations(tied_system, formulation="udwadia_phohomsiri")
    y = free_state(tied, tree, x)
    q, v = y[: tied.n_q], y[tied.n_q :]
    assert len(tied.constraint_rows) == 6 - len(joint.speeds) == len(tied_system.constraints[0].row_names)
    np.testing.assert_allclose(tied.residual(0.0, q, v), 0.0, atol=1e-13)  # rounding of places of a few metres
    J = tied.call("constraints", 0.0, q, v)[2]
    assert np.linalg.matrix_rank(J, tol=1e-9) == J.shape[0]
    # every motion that the joint allows, and that of the base, passes; and there are no others
    allowed = []
    for column in np.eye(tree.n_v):
        allowed.append(np.concatenate([column[:6], body_velocities(tree, x, column)]))
    np.testing.assert_allclose(J @ np.array(allowed).T, 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(np.array(allowed), tol=1e-9) == tied.n_v - J.shape[0]
    # and the tied bodies accelerate as the tree's
    v_dot, free_dot = tree.v_dot(0.0, x[: tree.n_q], x[tree.n_q :]), tied.v_dot(0.0, q, v)
    np.testing.assert_allclose(free_dot[:6], v_dot[:6], atol=1e-10 * np.max(np.abs(free_dot)))
    wrench = find_constraint_wrenches(tied, 0.0, y)["tie"]
    expected = tree.reactions(0.0, x[: tree.n_q], x[tree.n_q :])[1]
    np.testing.assert_allclose(wrench, expected, atol=1e-10 * np.max(np.abs(expected)))


@pytest.mark.parametrize("joint", JOINTS[:-1], ids=NAMES[:-1])
def test_rates_of_rows_agree_with_differences(joint: Any) -> None:
    _, tied_system = two_bodies(joint, 3)
    eom = form_equations(tied_system)
    rng = np.random.default_rng(5)
    x = eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x))  # anywhere: rates hold off the constraints too
    check_rates(eom, x, 0.0)


def check_rates(eom: Any, x: np.ndarray, t: float) -> None:
    """J, speed rows and gamma against central differences of the rows along the motion with some acceleration."""
    n_q = eom.n_q
    rng = np.random.default_rng(8)
    a = rng.standard_normal(eom.n_v)
    q_dot = eom.call("q_dot", t, x[:n_q], x[n_q:])[0].reshape(-1)
    # second derivative of q for the accelerations a: exact Jacobians of q_dot
    turn = eom.jacobian("q_dot", "q_dot", "q", t, x[:n_q], x[n_q:]) @ q_dot
    turn = turn + eom.jacobian("q_dot", "q_dot", "v", t, x[:n_q], x[n_q:]) @ a
    position, speed, J, J_g, gamma = eom.call("constraints", t, x[:n_q], x[n_q:])

    def rows(s: float) -> tuple[np.ndarray, np.ndarray]:
        moved = eom.call("constraints", t + s, x[:n_q] + s * q_dot + 0.5 * s * s * turn, x[n_q:] + s * a)
        return moved[0].reshape(-1), moved[1].reshape(-1)

    h = 1e-4
    (low, low_rate), (high, high_rate) = rows(-h), rows(h)
    held = [eom.constraint_rows.index(name) for name in eom.position_rows]
    scale = 1.0 + np.max(np.abs(gamma))
    np.testing.assert_allclose((high - low) / (2 * h), speed.reshape(-1)[held], atol=1e-6 * scale)  # h^2 g''' / 6
    np.testing.assert_allclose((high_rate - low_rate) / (2 * h), J @ a - gamma.reshape(-1), atol=1e-6 * scale)
    step = 1e-6
    for k in range(eom.n_v):
        d = step * np.eye(eom.n_v)[k]
        up, down = (eom.call("constraints", t, x[:n_q], x[n_q:] + e)[1].reshape(-1) for e in (d, -d))
        np.testing.assert_allclose((up - down) / (2 * step), J[:, k], atol=1e-8 * scale)
    np.testing.assert_allclose(J_g, J[held], atol=1e-12 * scale)


@pytest.mark.parametrize("name", library.CONSTRAINED)
def test_rates_of_the_library_agree_with_differences(name: str) -> None:
    eom = form_equations(library.CONSTRAINED[name]())
    rng = np.random.default_rng(2)
    check_rates(eom, eom.state(eom.state() + 0.2 * rng.standard_normal(eom.n_x)), 0.4)


def test_joints_are_composed_of_the_two_primitives() -> None:
    """Aslanov et al.: a revolute joint is three planes and two rotations, a fixed one three and three."""
    for joint, turns in ((Revolute(axis="z"), "xy"), (Fixed(), "xyz"), (Prismatic(axis="z"), "xyz")):
        _, tied = two_bodies(joint, 6)
        loop = tied.constraints[0]
        place = {key: getattr(loop, key) for key in ("a", "b", "at_a", "at_b", "rotation_a", "rotation_b")}
        axes = "xy" if isinstance(joint, Prismatic) else "xyz"
        free = "z" if isinstance(joint, Revolute) else "none"
        rows = [PointOnPlane(name=f"plane_{e}", normal=e, **place) for e in axes]
        rows += [NoRelativeRotation(name=f"turn_{e}", axis=e, free=free, **place) for e in turns]
        composed = System(name="composed", parts=tied.parts, constraints=tuple(rows))
        one, two = form_equations(tied), form_equations(composed)
        x = np.asarray(
            make_consistent(one, one.state(one.state() + 0.2 * np.random.default_rng(1).standard_normal(26))).x
        )
        q, v = x[: one.n_q], x[one.n_q :]
        assert len(one.constraint_rows) == len(two.constraint_rows)
        np.testing.assert_allclose(two.residual(0.0, q, v), 0.0, atol=1e-10)
        np.testing.assert_allclose(two.v_dot(0.0, q, v), one.v_dot(0.0, q, v), atol=1e-9)
        wrench = sum(find_constraint_wrenches(two, 0.0, x).values())
        np.testing.assert_allclose(wrench, find_constraint_wrenches(one, 0.0, x)["tie"], atol=1e-9)


def test_a_rotation_rate_held_alone_is_nonholonomic() -> None:
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 2.0, 2.5))
    hold = NoRelativeRotation(name="hold", b="body", axis="z")
    eom = form_equations(System(name="s", parts=(Part(body, joint=Free(name="base")),), constraints=(hold,)))
    assert eom.position_rows == () and eom.constraint_rows == ("hold",)
    x = np.asarray(make_consistent(eom, eom.state(eom.state() + 0.4 * np.cos(np.arange(13)))).x)
    R = eom.placements(0.0, x[:7])[0][:9].reshape(3, 3)
    assert (R @ x[7:10])[2] == pytest.approx(0.0, abs=1e-12)  # no rate about the root's z
    moment = find_constraint_wrenches(eom, 0.0, x)["hold"]
    np.testing.assert_allclose(np.cross(R @ moment[:3], [0.0, 0.0, 1.0]), 0.0, atol=1e-12)
    np.testing.assert_allclose(eom.reactions(0.0, x[:7], x[7:]), 0.0, atol=1e-12)  # nothing is left for the free joint


def test_nonlinear_rules_of_speeds_are_met() -> None:
    """Schutte and Udwadia, Eq 17: the speed is held. Chetaev's force is along the velocity and balances gravity's part."""
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.1, 0.1, 0.1), frames=(Frame(name="middle"),))
    rule = Constraint(
        name="speed", rule=lambda s: ca.sumsqr(s.velocity("ball")) - s.number("c") ** 2, values={"c": 3.0}
    )
    system = System(
        name="s", parts=(Part(ball, joint=Free(name="base")),), constraints=(rule,),
        environment=library.four_bar().environment,
    )  # fmt: skip
    for formulation in ("kane", "multipliers", "udwadia_phohomsiri", "artificial"):
        eom = form_equations(system, formulation=formulation)
        x = np.asarray(make_consistent(eom, eom.state(**{"base.x_dot": 1.0, "base.y_dot": 2.0})).x)
        v = x[10:13]
        assert np.linalg.norm(v) == pytest.approx(3.0, rel=1e-12)
        g, along = np.array([0.0, -9.81, 0.0]), v / 3.0
        np.testing.assert_allclose(eom.v_dot(0.0, x[:7], x[7:])[3:], g - (g @ along) * along, atol=1e-12)
        np.testing.assert_allclose(eom.reactions(0.0, x[:7], x[7:]), 0.0, atol=1e-12)


def test_closures_without_effect_or_with_own_motion_are_rejected() -> None:
    with pytest.raises(ModelError, match="'tie'.*no constraint equations"):
        Loop(name="tie", b="x", joint=Free())
    with pytest.raises(ModelError, match="'tie'.*prescribed"):
        Loop(name="tie", b="x", joint=Revolute(axis="z", prescribed=lambda s: s.t))
    with pytest.raises(ModelError, match="'tie'.*expected a joint"):
        Loop(name="tie", b="x", joint="Revolute")  # type: ignore[arg-type]
