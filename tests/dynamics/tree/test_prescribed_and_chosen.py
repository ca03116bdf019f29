"""Prescribed joints, speeds of the user's choice, distributed loads: each compared with an independent solution."""

from __future__ import annotations

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    AngularVelocity,
    Beam,
    BodyForce,
    DistributedForce,
    DistributedTorque,
    Frame,
    Free,
    FreeSpace,
    ModelError,
    Part,
    Prismatic,
    Profile,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    form_equations,
    library,
)
from spacectl.model.files import system_from_dict, system_to_dict

BEAM = {"length": 10.0, "mass": 8.0, "EI": 1e4, "modes": 2, "bending": ("y", "z")}


def moved_base() -> System:
    cart = RigidBody(name="cart", mass=1.0, inertia=(1, 1, 1))
    tip = RigidBody(name="tip", mass=1.0, inertia=(1, 1, 1), com=(0.1, 0, 0))
    return System(
        name="moved base",
        environment=UniformGravity(g=(0, 0, -9.81)),
        parts=(
            Part(cart, joint=Prismatic(name="slide", axis="x", prescribed=lambda s: 0.3 * ca.sin(2 * s.t))),
            Part(
                Beam(name="beam", **BEAM),
                on="cart",
                joint=Revolute(name="spin", axis="z", prescribed=lambda s: 0.5 * s.t**2),
            ),
            Part(tip, on="beam.tip", joint=Revolute(name="hinge", axis="y")),
        ),
    )


@pytest.mark.parametrize("formulation", ["kane", "articulated"])
def test_prescribed_joints_move_as_the_free_ones_with_those_accelerations(formulation):
    system, t = moved_base(), 1.3
    eom = form_equations(system, formulation=formulation)
    x = eom.state(**{name: 0.1 * (i + 1) for i, name in enumerate(eom.states)})
    free = replace(
        system,
        parts=tuple(replace(p, joint=replace(p.joint, prescribed=None)) if p.joint.motion else p for p in system.parts),
    )
    other = form_equations(free, formulation="kane")
    y = other.state(
        slide=0.3 * np.sin(2 * t), slide_dot=0.6 * np.cos(2 * t), spin=0.5 * t**2, spin_dot=t, **eom.named(x)
    )
    q, v = y[: other.n_q], y[other.n_q :]
    M, h = other.mass_matrix(t, q), other.bias(t, q, v)
    own = [other.speeds.index(name) for name in eom.speeds]
    given = [other.speeds.index(name) for name in ("slide_dot", "spin_dot")]
    right = -h[own] - M[np.ix_(own, given)] @ [-1.2 * np.sin(2 * t), 1.0]
    expected = np.linalg.solve(M[np.ix_(own, own)], right)
    # rounding times the condition of M (1e3)
    assert np.allclose(eom.v_dot(t, x[: eom.n_q], x[eom.n_q :]), expected, rtol=1e-11, atol=1e-11)


def test_equations_with_prescribed_motion_are_pickled_and_distinguished():
    system = moved_base()
    eom = form_equations(system)
    assert pickle.loads(pickle.dumps(eom)).structure_hash == eom.structure_hash
    slower = replace(
        system,
        parts=(
            replace(system.parts[0], joint=Prismatic(name="slide", axis="x", prescribed=lambda s: 0.1 * s.t)),
            *system.parts[1:],
        ),
    )
    assert form_equations(slower).structure_hash != eom.structure_hash
    with pytest.raises(ModelError, match="function cannot be written"):
        system_to_dict(system)
    with pytest.raises(ModelError, match="casadi"):
        Revolute(axis="z", prescribed=lambda s: np.sin(float(s.t)))


def test_chosen_speeds_give_the_same_motion():
    system = library.free_flyer_arm()
    eom = form_equations(system, formulation="kane")
    other = form_equations(
        system,
        speeds={
            "joint1_dot": ("mixed", lambda s: s["joint1_dot"] + ca.cos(s["joint1"]) * s["joint2_dot"]),
            "base.x_dot": ("slip", lambda s: s["base.x_dot"] + s["base.wz"] * s["joint2"], "m/s"),
        },
    )
    rng = np.random.default_rng(0)
    x = eom.state(**{name: 0.3 * value for name, value in zip(eom.states, rng.normal(size=eom.n_x), strict=True)})
    u = rng.normal(size=eom.n_u)
    at = eom.labels.x.index
    y, rate = x.copy(), eom.x_dot(0.0, x, u)
    expected = rate.copy()
    c, s = np.cos(x[at("joint1")]), np.sin(x[at("joint1")])
    y[at("joint1_dot")] += c * x[at("joint2_dot")]
    expected[at("joint1_dot")] += c * rate[at("joint2_dot")] - s * x[at("joint1_dot")] * x[at("joint2_dot")]
    y[at("base.x_dot")] += x[at("base.wz")] * x[at("joint2")]
    expected[at("base.x_dot")] += rate[at("base.wz")] * x[at("joint2")] + x[at("base.wz")] * x[at("joint2_dot")]
    assert other.speeds[eom.speeds.index("joint1_dot")] == "mixed"
    assert np.allclose(other.x_dot(0.0, y, u), expected, rtol=1e-11, atol=1e-11)
    q = x[: eom.n_q]
    assert np.isclose(other.energy(0.0, q, y[eom.n_q :]), eom.energy(0.0, q, x[eom.n_q :]), rtol=1e-13)
    assert np.allclose(other.reactions(0.0, q, y[eom.n_q :], u), eom.reactions(0.0, q, x[eom.n_q :], u), atol=1e-10)
    assert np.allclose(other.compiled().x_dot(0.0, y, u), other.x_dot(0.0, y, u), rtol=1e-12, atol=1e-12)


def test_wrong_choices_of_speeds_are_refused():
    system = library.planar_arm()
    with pytest.raises(ModelError, match="not linear"):
        form_equations(system, speeds={"joint1_dot": ("w", lambda s: s["joint1_dot"] ** 2)})
    with pytest.raises(ModelError, match="does not depend"):
        form_equations(system, speeds={"joint1_dot": ("w", lambda s: s["joint2_dot"])})
    with pytest.raises(ModelError, match="joint9_dot"):
        form_equations(system, speeds={"joint9_dot": ("w", lambda s: s["joint1_dot"])})


def boom(environment, actuators=(), sensors=(), frames=()) -> System:
    beam = Beam(name="beam", torsion=1, GJ=1e3, rotary=(0.1, 0, 0), frames=frames, **BEAM)
    hub = RigidBody(name="hub", mass=3.0, inertia=(1, 1, 1))
    parts = (Part(hub, joint=Free()), Part(beam, on="hub", joint=Revolute(name="hinge", axis="y")))
    return System(name="boom", environment=environment, parts=parts, actuators=actuators, sensors=sensors)


@pytest.mark.parametrize("formulation", ["kane", "articulated"])
def test_a_distributed_weight_is_uniform_gravity(formulation):
    heavy = form_equations(boom(UniformGravity(g=(0, 0, -2.0))), formulation=formulation)
    weight = DistributedForce(name="weight", on="beam", density=0.8, direction="z", axes="world")
    system = boom(FreeSpace(), (weight, BodyForce(name="hub_weight", on="hub", direction="z", axes="world")))
    assert system_from_dict(system_to_dict(system)) == system
    pushed = form_equations(system, formulation=formulation)
    x = heavy.state(**{name: 0.1 * np.sin(i + 1) for i, name in enumerate(heavy.states)})
    expected = heavy.x_dot(0.0, x)
    assert np.allclose(pushed.x_dot(0.0, x, [-2.0, -6.0]), expected, atol=1e-11 * np.max(np.abs(expected)))


def test_the_power_of_a_distributed_torque_is_that_on_its_slices():
    density = Profile(x=(0.0, 10.0), values=(0.0, 1.0))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    nodes, weights = 5.0 * (nodes + 1.0), 5.0 * weights
    frames = tuple(Frame(name=f"f{i}", at=(place, 0, 0)) for i, place in enumerate(nodes))
    sensors = tuple(AngularVelocity(name=f"w{i}", on=f"beam.f{i}", axes="beam") for i in range(12))
    load = DistributedTorque(name="twist", on="beam", density=density, direction="x")
    eom = form_equations(boom(FreeSpace(), (load,), sensors, frames), formulation="kane")
    gaps = []
    for size in (0.1, 0.05):
        x = eom.state(**{name: size * np.sin(i + 1) for i, name in enumerate(eom.states)})
        power = eom.input_map(0.0, x[: eom.n_q])[:, 0] @ x[eom.n_q :]
        rates = eom.outputs(0.0, x, [0.0])[::3]
        gaps.append(abs(power - np.sum(weights * nodes / 10.0 * rates)) / abs(power))
    assert gaps[1] < 0.35 * gaps[0] < 0.35 * 1e-3  # slices turn to second order: the rest falls with the square


def test_a_rigid_tree_with_a_prescribed_joint_is_formed():
    arm = RigidBody(name="arm", mass=2.0, inertia=(0.1, 1.0, 1.0), com=(0.5, 0, 0))
    load = RigidBody(name="load", mass=1.0, inertia=(0.1, 0.1, 0.1))
    reel = Prismatic(name="reel", axis="x", prescribed=lambda s: 1.0 + 0.1 * s.t)
    system = System(
        name="reel", parts=(Part(arm, joint=Revolute(name="swing", axis="z")), Part(load, on="arm", joint=reel))
    )
    eom = form_equations(system)
    # angular momentum L = I(t) w is conserved: I = 1.5 + 0.1 + (1 + 0.1 t)^2
    t, rate = 2.0, 0.7
    inertia, slope = 1.5 + 0.1 + 1.2**2, 2.0 * 1.2 * 0.1
    assert np.isclose(eom.v_dot(t, [0.3], [rate])[0], -slope * rate / inertia, rtol=1e-13)
