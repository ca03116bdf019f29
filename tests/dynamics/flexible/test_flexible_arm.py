"""A flexible arm by hand: reactions against Newton and Euler, stiff limit, native code, and a simulated free flight."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Acceleration,
    AngularVelocity,
    Attitude,
    Beam,
    Free,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    Thruster,
    UniformGravity,
    form_equations,
    linearize,
    simulate,
)


def arm(**environment) -> System:
    """Beam on a hinge, a second beam on a hinge at its tip, and a payload fixed to the end."""
    first = Beam(
        name="first",
        length=2.0,
        mass=3.0,
        EI=(40.0, 60.0),
        GJ=20.0,
        rotary=(0.1, 0.05, 0.05),
        bending=("y", "z"),
        torsion=1,
    )
    second = Beam(name="second", length=1.5, mass=2.0, EI=30.0, modes=2)
    load = RigidBody(name="load", mass=4.0, inertia=(0.3, 0.4, 0.5), com=(0.2, 0.1, -0.1))
    parts = (
        Part(first, joint=Revolute(name="hinge", axis="z"), at=(0.3, 0.2, 0.1)),
        Part(second, on="first.tip", joint=Revolute(name="elbow", axis=(0.6, 0.0, 0.8))),
        Part(load, on="second.tip", at=(0.1, 0.0, 0.2)),
    )
    sensors = (
        Acceleration(name="a", on="load", at=(0.2, 0.1, -0.1)),
        AngularVelocity(name="w", on="load"),
        Attitude(name="s", on="load"),
    )
    push = Thruster(name="jet", on="first.tip", direction="y")
    return System(name="arm", parts=parts, sensors=sensors, actuators=(push,), **environment)


@cache
def arm_at(gravity: bool):
    system = arm(environment=UniformGravity(g=(0.5, -2.0, 3.0))) if gravity else arm()
    eom = form_equations(system, formulation="kane")
    rng = np.random.default_rng(4)
    x = 0.1 * rng.normal(size=eom.n_x)
    x[[eom.states.index(name) for name in ("hinge", "elbow", "hinge_dot", "elbow_dot")]] = (0.7, -1.1, 0.8, -1.3)
    return eom, x, np.array([1.5])


@pytest.mark.parametrize("gravity", [False, True])
def test_reaction_at_the_root_is_the_rate_of_momentum(gravity: bool) -> None:
    eom, x, u = arm_at(gravity)
    q, v = x[: eom.n_q], x[eom.n_q :]
    x_dot = eom.x_dot(0.0, x, u)
    Q, V, P = ca.SX.sym("q", eom.n_q), ca.SX.sym("v", eom.n_v), ca.SX.sym("p", eom.p.size)
    rate = ca.jacobian(eom.functions["momentum"](0.0, Q, V, P), ca.vertcat(Q, V))
    H_dot = np.array(ca.Function("J", [Q, V, P], [rate])(q, v, eom.p)) @ x_dot
    total = sum(float(np.asarray(part.body.integrals["mass"] if hasattr(part.body, "integrals") else part.body.mass))
                for part in eom.system.parts)  # fmt: skip
    reaction = eom.reactions(0.0, q, v, u)[0]
    c, s = np.cos(x[0]), np.sin(x[0])
    R_NF, p = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([0.3, 0.2, 0.1])
    force, moment = R_NF @ reaction[3:], R_NF @ reaction[:3]
    jet_place, jet_force = jet(eom, x, u)
    weight = total * np.array([0.5, -2.0, 3.0]) if gravity else np.zeros(3)
    np.testing.assert_allclose(force + jet_force + weight, H_dot[3:], atol=1e-11)  # rounding of terms of order ten
    if not gravity:  # with gravity the centre of mass would be needed as well; forces above have shown it
        np.testing.assert_allclose(moment + np.cross(p, force) + np.cross(jet_place, jet_force), H_dot[:3], atol=1e-11)
    assert abs(reaction[2]) < 1e-11  # the hinge is free about z


def jet(eom, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the jet is and its force, root axes, by virtual displacements of its place (a sensor there)."""
    marked = replace(
        eom.system,
        sensors=(Position(name="o", on="first.tip"), Position(name="y", on="first.tip", at=(0.0, 1.0, 0.0))),
    )
    seen = form_equations(marked).outputs(0.0, x, u)
    return seen[:3], u[0] * (seen[3:] - seen[:3])


def test_reaction_at_the_payload_obeys_newton_and_euler() -> None:
    eom, x, u = arm_at(False)
    q, v = x[: eom.n_q], x[eom.n_q :]
    y = dict(zip(eom.labels.y.names, eom.outputs(0.0, x, u), strict=True))
    J = eom.jacobian("outputs", "y", "x", 0.0, x, u)
    y_dot = dict(zip(eom.labels.y.names, J @ eom.x_dot(0.0, x, u), strict=True))
    s = np.array([y[f"s.s{k}"] for k in (1, 2, 3)])
    S = np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])
    R = np.eye(3) + (8.0 * S @ S + 4.0 * (1.0 - s @ s) * S) / (1.0 + s @ s) ** 2
    omega, alpha = (R.T @ np.array([item[f"w.w{axis}"] for axis in "xyz"]) for item in (y, y_dot))
    force = 4.0 * R.T @ np.array([y[f"a.{axis}"] for axis in "xyz"])
    inertia, com = np.diag([0.3, 0.4, 0.5]), np.array([0.2, 0.1, -0.1])
    moment = inertia @ alpha + np.cross(omega, inertia @ omega) + np.cross(com, force)
    np.testing.assert_allclose(eom.reactions(0.0, q, v, u)[2], np.r_[moment, force], atol=1e-10)  # rounding


def test_stiff_limit_is_rigid() -> None:
    """The frequency of a pendulum tends to that of the rigid one like 1 / frequency^2 of the first mode."""
    total, length, weight, g = 3.0, 2.0, 2.0, 9.0
    load = RigidBody(name="load", mass=weight, inertia=(0.1, 0.1, 0.1))

    def system(EI: float) -> System:
        boom = Beam(name="boom", length=length, mass=total, EI=EI, modes=3)
        parts = (Part(boom, joint=Revolute(name="hinge", axis="z")), Part(load, on="boom.tip"))
        return System(name="stiff", parts=parts, environment=UniformGravity(g=(g, 0.0, 0.0)))

    eom = form_equations(system(1.0))

    def pendulum(EI: float) -> float:
        A = linearize(eom, eom.state(), p=system(EI).parameters().values).A  # other numbers, the same equations
        return float(np.min(np.abs(np.linalg.eigvals(A))))

    inertia = total * length**2 / 3.0 + weight * length**2 + 0.1
    rigid = np.sqrt(g * length * (total / 2.0 + weight) / inertia)
    stiffness = np.array([1e3, 1e4, 1e5])  # EI is proportional to frequency^2
    errors = [abs(pendulum(EI) - rigid) for EI in stiffness]
    assert np.polyfit(np.log(stiffness), np.log(errors), 1)[0] == pytest.approx(-1.0, abs=0.02)
    assert errors[-1] < 1e-3 * rigid


def flyer() -> System:
    """A free hub with two flexible booms, the second on a hinge at the tip of the first."""
    boom = Beam(
        name="boom",
        length=2.0,
        mass=3.0,
        EI=(500.0, 300.0),
        GJ=200.0,
        rotary=(0.1, 0.05, 0.05),
        bending=("y", "z"),
        torsion=1,
    )
    hub = RigidBody(name="hub", mass=5.0, inertia=(1.0, 1.2, 1.4))
    arm = replace(boom, name="arm", bending=("y",), torsion=0)
    parts = (
        Part(hub, joint=Free(name="base")),
        Part(boom, on="hub", at=(0.5, 0.0, 0.0)),
        Part(arm, on="boom.tip", joint=Revolute(name="elbow", axis="z")),
    )
    return System(name="flyer", parts=parts)


def test_native_code_gives_the_same_rates() -> None:
    eom = form_equations(flyer())
    x = eom.state(eom.state() + 0.02 * np.random.default_rng(1).normal(size=eom.n_x))
    expected = eom.x_dot(0.0, x, np.zeros(0))
    found = eom.compiled().x_dot(0.0, x, np.zeros(0))
    np.testing.assert_allclose(
        found, expected, rtol=1e-11, atol=1e-11 * np.max(np.abs(expected))
    )  # another order of sums


def test_free_flight_keeps_energy_and_momentum() -> None:
    eom = form_equations(flyer())
    start = {"base.wz": 0.5, "base.wx": 0.2, "elbow": 1.0, "elbow_dot": 0.3, "boom.eta1": 0.01, "boom.eta3": 0.02}
    run = simulate(eom, None, x0=eom.state(**start), t_span=(0.0, 2.0), rtol=1e-10, atol=1e-12)
    x = np.asarray(run.dataset["x"])
    q, v = x[:, : eom.n_q], x[:, eom.n_q :]
    energy = [eom.energy(0.0, a, b) for a, b in zip(q[::20], v[::20], strict=True)]
    momentum = np.array([eom.momentum(0.0, a, b) for a, b in zip(q[::20], v[::20], strict=True)])
    # tolerances of the integrator, 1e-10 a step, over some hundred steps
    assert np.ptp(energy) < 1e-7 * abs(energy[0])
    assert np.max(np.ptp(momentum, axis=0)) < 1e-7 * np.max(np.abs(momentum))
    assert np.max(np.ptp(x[:, eom.states.index("boom.eta1")])) > 0.01  # it did vibrate
