"""The face of `EquationsOfMotion`: names, calls, parameters, reactions, pickling, errors."""

from __future__ import annotations

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from spacectl import library
from spacectl.core.errors import ModelError, ShapeError
from spacectl.dynamics.form import form_equations
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Fixed, Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.dynamics.states import random_state


@pytest.fixture(scope="module")
def arm():
    return form_equations(library.free_flyer_arm())


def test_pendulum_equals_its_textbook_equation() -> None:
    eom = form_equations(library.pendulum(mass=2.0, length=1.5))
    for angle, u in ((0.3, 0.0), (-2.0, 1.0)):
        expected = (u - 2.0 * 9.80665 * 0.75 * np.sin(angle)) / (2.0 * 1.5**2 / 3.0)
        np.testing.assert_allclose(eom.v_dot(0.0, [angle], [0.7], [u]), [expected], rtol=1e-14)


def test_two_link_arm_equals_its_textbook_equations() -> None:
    eom = form_equations(library.planar_arm(lengths=(1.2, 0.8), mass=3.0))
    q, v = np.array([0.4, -1.1]), np.array([0.3, 0.9])
    m, a, b = 3.0, 1.2, 0.8
    c, s = np.cos(q[1]), np.sin(q[1])
    M22 = m * b**2 / 3
    M12 = M22 + m * a * b * c / 2
    M11 = m * a**2 / 3 + m * a**2 + m * b**2 / 3 + m * a * b * c
    k = m * a * b * s / 2
    np.testing.assert_allclose(eom.mass_matrix(0.0, q), [[M11, M12], [M12, M22]], rtol=1e-14)
    np.testing.assert_allclose(eom.bias(0.0, q, v), [-k * (2 * v[0] * v[1] + v[1] ** 2), k * v[0] ** 2], rtol=1e-13)


def test_centre_of_mass_turns_with_the_body() -> None:
    turn, offset = 0.7, np.array([0.3, -0.2, 0.1])
    body = RigidBody(name="body", mass=2.0, inertia=(1.0, 1.0, 1.0), com=tuple(offset))
    eom = form_equations(System(name="turned", parts=(Part(body, at=(1.0, 2.0, 3.0), joint=Revolute(axis="z")),)))
    c, s = np.cos(turn), np.sin(turn)
    expected = np.array([1.0, 2.0, 3.0]) + np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ offset
    np.testing.assert_allclose(eom.center_of_mass(0.0, [turn]), expected, rtol=1e-14)


def test_names_follow_the_joints(arm) -> None:
    assert arm.coordinates[:8] == ("base.qw", "base.qx", "base.qy", "base.qz", "base.x", "base.y", "base.z", "joint1")
    assert arm.speeds[:7] == ("base.wx", "base.wy", "base.wz", "base.x_dot", "base.y_dot", "base.z_dot", "joint1_dot")
    assert arm.inputs == tuple(f"joint{i + 1}" for i in range(7))
    assert arm.labels.x.unit("joint3_dot") == "rad/s"
    assert arm.quaternions == (0,)


def test_state_and_named_are_inverse(arm) -> None:
    x = arm.state(joint2=0.3, joint2_dot=-0.1, **{"base.x": 2.0, "base.qx": 1.0})
    named = arm.named(x)
    assert (named["joint2"], named["joint2_dot"], named["base.x"]) == (0.3, -0.1, 2.0)
    assert np.linalg.norm(x[:4]) == pytest.approx(1.0, abs=1e-15)


def test_unknown_state_names_the_closest(arm) -> None:
    with pytest.raises(ModelError, match="did you mean 'joint2'"):
        arm.state(jont2=0.1)


def test_wrong_sizes_are_named(arm) -> None:
    with pytest.raises(ShapeError, match="'u' has 3 entries, expected 7"):
        arm.x_dot(0.0, arm.state(), np.zeros(3))


def test_functions_are_named_and_agree_with_the_calls(arm) -> None:
    x, u = random_state(arm), np.arange(7.0)
    f = arm.functions["x_dot"]
    assert (f.name_in(), f.name_out()) == (["t", "x", "u", "p"], ["x_dot"])
    np.testing.assert_array_equal(np.array(f(0.0, x, u, arm.p)), arm.call("x_dot", 0.0, x, u)[0])
    np.testing.assert_allclose(np.array(f(0.0, x, u, arm.p))[:, 0], arm.x_dot(0.0, x, u), rtol=1e-12, atol=1e-12)
    q, v = x[: arm.n_q], x[arm.n_q :]
    np.testing.assert_allclose(arm.x_dot(0.0, x, u)[arm.n_q :], arm.v_dot(0.0, q, v, u), rtol=1e-13)
    solved = np.linalg.solve(arm.mass_matrix(0.0, q), arm.input_map(0.0, q) @ u - arm.bias(0.0, q, v))
    np.testing.assert_allclose(arm.v_dot(0.0, q, v, u), solved, rtol=1e-9)


def test_jacobian_equals_differences(arm) -> None:
    x, u, h = random_state(arm), np.ones(7), 1e-3
    exact = arm.jacobian("x_dot", "x_dot", "x", 0.0, x, u)

    def difference(e: np.ndarray) -> np.ndarray:
        """Six-point central difference, error of order h^6."""
        f = {k: arm.x_dot(0.0, x + k * h * e, u) for k in (-3, -2, -1, 1, 2, 3)}
        return (45 * (f[1] - f[-1]) - 9 * (f[2] - f[-2]) + (f[3] - f[-3])) / (60 * h)

    # rounding eps * cond(M) |x_dot| / h with cond(M) = 1e4, accelerations of order ten; truncation h^6
    np.testing.assert_allclose(exact, np.stack([difference(e) for e in np.eye(arm.n_x)], axis=1), atol=1e-8)


def test_parameters_change_at_run_time_as_a_new_system_would(arm) -> None:
    other = form_equations(library.free_flyer_arm(link_mass=31.0))
    x, u = random_state(arm), np.ones(7)
    p = arm.parameters_of(other.system)
    np.testing.assert_array_equal(arm.x_dot(0.0, x, u, p), other.call("x_dot", 0.0, x, u)[0][:, 0])
    one = arm.parameters.vector({"payload.mass": 80.0})
    assert not np.allclose(arm.x_dot(0.0, x, u, one), arm.x_dot(0.0, x, u))


def test_parameters_of_another_structure_are_refused() -> None:
    def links(where: str) -> System:
        def body(name: str) -> RigidBody:
            return RigidBody(name=name, mass=1.0, inertia=(1.0, 1.0, 1.0), com=(0.1, 0.0, 0.0))

        chain = [
            Part(body("a"), joint=Revolute(name="ja")),
            Part(body("b"), on="a", at=(1, 0, 0), joint=Revolute(name="jb")),
        ]
        return System(name="s", parts=(*chain, Part(body("c"), on=where, at=(1, 0, 0), joint=Revolute(name="jc"))))

    with pytest.raises(ModelError, match="another structure"):
        form_equations(links("b")).parameters_of(links("a"))


def test_formulations_have_different_structure_hashes(arm) -> None:
    assert arm.structure_hash != form_equations(arm.system, formulation="kane").structure_hash


def test_a_wrist_of_point_masses_is_no_fault() -> None:
    """z-y-z axes through one point: singular at rest, where two axes coincide, but not elsewhere."""
    parts, on = [], "world"
    for i, axis in enumerate("zyz"):
        inertia = (0.1, 0.2, 0.15) if i == 2 else (0.0, 0.0, 0.0)
        body = RigidBody(name=f"b{i}", mass=0.1, inertia=inertia)
        parts.append(Part(body, on=on, joint=Revolute(name=f"j{i}", axis=axis)))
        on = body.name
    eom = form_equations(System(name="wrist", parts=tuple(parts)))
    assert np.all(np.isfinite(eom.v_dot(0.0, [0.1, 0.7, 0.2], [0.0, 0.1, 0.2])))


def test_structural_zeros_are_guarded_and_can_be_freed() -> None:
    system = library.pendulum()
    eom = form_equations(system)
    with pytest.raises(ModelError, match=r"vary=\('rod.com',\)"):
        eom.parameters.vector({"rod.com": (0.1, 0.0, -0.5)})
    freed = form_equations(system, vary=("rod.com",))
    p = freed.parameters.vector({"rod.com": (0.1, 0.0, -0.5)})
    moved = replace(system, parts=(replace(system.parts[0], body=replace(system.parts[0].body, com=(0.1, 0.0, -0.5))),))
    np.testing.assert_allclose(
        freed.x_dot(0.0, [0.3, 0.1], [0.0], p), form_equations(moved).x_dot(0.0, [0.3, 0.1], [0.0]), rtol=1e-14
    )


def test_limits_come_from_the_actuators() -> None:
    eom = form_equations(library.wheel_spacecraft())
    low, high = eom.limits()
    assert (low[0], high[0], low[3], high[3]) == (-0.2, 0.2, 0.0, 5.0)
    changed = eom.parameters.vector({"wheel_x.limit": (-0.1, 0.3)})
    assert eom.limits(changed)[1][0] == 0.3
    free_low, free_high = form_equations(library.pendulum()).limits()
    assert free_low[0] == -np.inf and free_high[0] == np.inf


def test_reactions_carry_the_weight_and_the_torque() -> None:
    eom = form_equations(library.pendulum(mass=2.0))
    wrench = eom.reactions(0.0, [0.0], [0.0], [0.4])[0]
    a = eom.v_dot(0.0, [0.0], [0.0], [0.4])[0]
    # rod hanging along -z, turning about y: the centre of mass accelerates by -a L/2 along x
    np.testing.assert_allclose(wrench, [0.0, 0.4, 0.0, -2.0 * a * 0.5, 0.0, 2.0 * 9.80665], atol=1e-12)


def test_reactions_project_to_the_inputs(arm) -> None:
    x, u = random_state(arm), np.arange(7.0) - 3.0
    wrench = arm.reactions(0.0, x[: arm.n_q], x[arm.n_q :], u)
    axes = {part.name: np.asarray(part.joint.axis) for part in arm.system.tree if isinstance(part.joint, Revolute)}
    for i, part in enumerate(arm.system.tree):
        if part.name in axes:
            assert axes[part.name] @ wrench[i, :3] == pytest.approx(u[int(part.name[-1]) - 1], abs=1e-9)
    np.testing.assert_allclose(wrench[0], np.zeros(6), atol=1e-9)  # nothing holds the free base


def test_recursion_can_start_from_any_auxiliary_frame() -> None:
    """The kinematics of outboard bodies follow from the motion of the inboard body alone (Sadigh 1995, chapter 4)."""
    from spacectl.dynamics.tree.kinematics import RootMotion, body_motions, joint_steps
    from spacectl.dynamics.tree.terms import Terms

    whole = library.free_flyer_arm()
    arm_only = replace(
        whole,
        parts=tuple(replace(part, on="world") if part.on == "bus" else part for part in whole.parts[1:]),
        sensors=(),
    )
    terms, sub = Terms(whole), Terms(arm_only)
    rate = ca.SX.sym("alpha", 6)
    root = RootMotion(ca.SX.sym("twist", 6), rate)
    steps = joint_steps(sub.tree, sub.t, sub.q, sub.v, sub.numbers)
    motion = body_motions(sub.tree, steps, sub.v, root)[-1]
    partial = ca.Function("partial", [sub.q, sub.v, root.twist, rate, sub.p], [motion.twist, motion.remainder])
    everything = ca.Function(
        "everything",
        [terms.q, terms.v, terms.p],
        [terms.motions[0].twist, terms.motions[0].remainder, terms.motions[-1].twist, terms.motions[-1].remainder],
    )
    rng = np.random.default_rng(4)
    q, v = np.concatenate([[0.5, 0.5, -0.5, 0.5], rng.standard_normal(10)]), rng.standard_normal(13)
    base_twist, base_remainder, twist, remainder = everything(q, v, whole.parameters().values[...])
    got = partial(q[7:], v[6:], base_twist, base_remainder, arm_only.parameters().values[...])
    np.testing.assert_allclose(np.array(got[0]), np.array(twist), atol=1e-12)
    np.testing.assert_allclose(np.array(got[1]), np.array(remainder), atol=1e-12)


def test_equations_travel_to_other_processes(arm) -> None:
    other = pickle.loads(pickle.dumps(arm))
    x = random_state(arm)
    np.testing.assert_array_equal(other.x_dot(0.0, x, np.ones(7)), arm.x_dot(0.0, x, np.ones(7)))


def test_along_puts_time_first(arm) -> None:
    x = np.stack([random_state(arm, seed) for seed in range(3)])
    t = np.arange(3.0)
    assert arm.along("momentum", t, x).shape == (3, 6)
    assert arm.along("placements", t, x).shape == (3, 9, 12)
    np.testing.assert_allclose(
        arm.along("energy", t, x)[1, 0], arm.energy(1.0, x[1, : arm.n_q], x[1, arm.n_q :]), rtol=1e-14
    )


def test_body_without_inertia_is_named() -> None:
    point = RigidBody(name="point", mass=1.0, inertia=(0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="along 'hinge_dot'; give body 'point'"):
        form_equations(System(name="s", parts=(Part(point, joint=Revolute(name="hinge")),)))


def test_locked_system_has_no_states() -> None:
    block = RigidBody(name="block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    eom = form_equations(System(name="s", environment=UniformGravity(), parts=(Part(block, joint=Fixed()),)))
    assert eom.n_x == 0
    np.testing.assert_allclose(eom.reactions(0.0, [], [])[0], [0, 0, 0, 0, 0, 9.80665], atol=1e-12)


def test_unknown_formulation_is_named() -> None:
    with pytest.raises(ModelError, match="did you mean 'kane'"):
        form_equations(library.pendulum(), formulation="kanes")


def test_auto_gives_its_reason(arm) -> None:
    assert "tree" in arm.stats["reason"]


def test_jacobians_of_large_functions_are_the_same_by_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formed by one direction at a time, at once, and for a system without inputs."""
    eom = form_equations(library.free_flyer_arm())
    rng = np.random.default_rng(4)
    x, u = eom.state(0.3 * rng.standard_normal(eom.n_x)), rng.standard_normal(eom.n_u)
    q, v = x[: eom.n_q], x[eom.n_q :]
    exact = [eom.jacobian("v_dot", "v_dot", name, 0.0, q, v, u) for name in "qvu"]
    monkeypatch.setattr("spacectl.dynamics.waist.functions.LARGE_FUNCTION", 0)
    again = form_equations(library.free_flyer_arm())
    for name, expected in zip("qvu", exact, strict=True):
        found = again.jacobian("v_dot", "v_dot", name, 0.0, q, v, u)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)))
        for _ in range(300):  # then formed for many points
            many = again.jacobian("v_dot", "v_dot", name, 0.0, q, v, u)
        np.testing.assert_allclose(many, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)))
    free = form_equations(library.spherical_pendulum())
    assert free.n_u == 0
    z = free.state()
    assert free.jacobian("v_dot", "v_dot", "u", 0.0, z[: free.n_q], z[free.n_q :], []).shape == (free.n_v, 0)
