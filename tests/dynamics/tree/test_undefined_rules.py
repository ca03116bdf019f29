"""Rules and elements that are not defined at the reference position, or at the state that is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import (
    Artificial,
    BodyForce,
    Cartesian,
    Constraint,
    Exit,
    Guard,
    Part,
    RigidBody,
    SpringDamper,
    Stage,
    System,
    UniformGravity,
    check_adequacy,
    diagnose_constraints,
    find_operating_point,
    form_equations,
    linearize,
    make_consistent,
    simulate,
    simulate_many,
    simulate_stages,
)
from spacectl.codegen.binding import bind_native
from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.projection import compile_projection, project_with_distance

G = 9.80665  # [m/s^2]
FORMULATIONS = ["kane", "multipliers", "udwadia_phohomsiri", "artificial", "partitioned", "embedded"]
X0 = np.array([0.6, 0.0, -0.8, 0.24, 0.9, 0.18])  # on the unit sphere, with a speed along it


def radius(s: Any) -> Any:
    """Distance from the origin, where it has no gradient."""
    return ca.sqrt(s["c.x"] ** 2 + s["c.y"] ** 2 + s["c.z"] ** 2)


def particle(rule: Callable[[Any], Any], **more: Any) -> System:
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.0, 0.0, 0.0))
    push = BodyForce(name="lift", on="ball", direction="z", axes="world")
    return System(
        name="particle",
        environment=UniformGravity(),
        parts=(Part(ball, joint=Cartesian(name="c")),),
        constraints=(Constraint(name="shell", rule=rule, **more),),
        actuators=(push,),
    )


def on_sphere() -> System:
    return particle(lambda s: radius(s) - 1.0)


def pendulum_in_angles(t: float) -> np.ndarray:
    """Position after t of a spherical pendulum from X0, by its equations in angles (from below, and of azimuth)."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        a, _, a_dot, b_dot = y
        return [a_dot, b_dot, np.sin(a) * np.cos(a) * b_dot**2 - G * np.sin(a), -2.0 * a_dot * b_dot / np.tan(a)]

    a = np.arcsin(0.6)  # d/dt of x = sin a, z = -cos a, y = sin a sin b at b = 0
    start = [a, 0.0, 0.24 / np.cos(a), 0.9 / np.sin(a)]
    a, b, *_ = solve_ivp(rate, (0.0, t), start, rtol=1e-11, atol=1e-12).y[:, -1]
    return np.array([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), -np.cos(a)])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_particle_on_a_sphere_is_a_spherical_pendulum(formulation: str) -> None:
    eom = form_equations(on_sphere(), formulation=formulation)
    r, v, gravity = X0[:3], X0[3:], np.array([0.0, 0.0, -G])
    expected = gravity - (v @ v + gravity @ r) * r  # the only acceleration that keeps |r| = 1 by a push along r
    np.testing.assert_allclose(eom.v_dot(0.0, r, v, [0.0]), expected, atol=1e-13)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, X0, [0.0])[3:], expected, atol=1e-13)
    start = np.asarray(make_consistent(eom, X0 + 1e-3).x)
    assert np.linalg.norm(start[:3]) == pytest.approx(1.0, abs=1e-12)
    for driver, tier in (("auto", "auto"), ("python", "vm")):
        sim = simulate(eom, x0=X0, u=[0.0], t_span=(0.0, 1.0), driver=driver, tier=tier)  # type: ignore[arg-type]
        np.testing.assert_allclose(sim.x[-1][:3], pendulum_in_angles(1.0), atol=1e-7)
        assert sim.outcome.stats["n_crossings"] == 0
    assert all(status.name == "OK" for status in simulate_many(eom, x0=[X0, start], t_span=(0.0, 0.1), u=[0.0]).status)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_balanced_point_is_found_and_linearised(formulation: str) -> None:
    eom = form_equations(on_sphere(), formulation=formulation)
    point = find_operating_point(eom, guess=[0.1, 0.2, -0.9, 0.0, 0.0, 0.0], u={"lift": 0.0}, free=("all",))
    np.testing.assert_allclose(point.x[:3], [0.0, 0.0, -1.0], atol=1e-9)
    poles = np.linalg.eigvals(np.asarray(linearize(eom, point).A))
    np.testing.assert_allclose(np.sort(np.abs(poles)), np.sqrt(G), rtol=1e-8)  # a pendulum of 1 m, twice


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_state_where_a_rule_is_not_defined_is_refused_by_name(formulation: str) -> None:
    eom = form_equations(on_sphere(), formulation=formulation)
    nothing = np.zeros(6)
    calls: list[Callable[[], Any]] = [
        lambda: eom.v_dot(0.0, nothing[:3], nothing[3:], [0.0]),
        lambda: eom.multipliers(0.0, nothing[:3], nothing[3:], [0.0]),
        lambda: make_consistent(eom, nothing),
        lambda: find_operating_point(eom),
        lambda: linearize(eom, nothing),
        lambda: diagnose_constraints(eom, 0.0, nothing),
        lambda: simulate(eom, x0=nothing, t_span=(0.0, 1.0)),
    ]
    for call in calls:
        with pytest.raises(ModelError, match="constraint 'shell' is not defined.*c.x = 0, c.y = 0, c.z = 0.*squares"):
            call()
    # rows that are not a number once lost every comparison of pivots and were left out: the particle fell freely
    assert np.all(np.isnan(eom.compiled().x_dot(0.0, nothing, [0.0])[3:]))


def test_adequacy_is_not_judged_where_a_rule_is_not_defined() -> None:
    eom = form_equations(particle(lambda s: radius(s) - 1.0, kind=Artificial(by=("lift",))))
    assert check_adequacy(eom, 0.0, X0).leverage[0] == pytest.approx(0.8, rel=1e-12)  # the cosine to the vertical
    with pytest.raises(ModelError, match="'shell' is not defined"):
        check_adequacy(eom, 0.0, np.zeros(6))


FAR = 7e6  # [m]
RULES = {
    "far from the reference": (
        lambda s: ca.log(radius(s) / FAR),
        [FAR, 0.0, 0.0, 0.0, 10.0, 0.0],
        [-(10.0**2) / FAR, 0.0],
    ),
    "nowhere around it": (lambda s: ca.sqrt(s["c.x"] - 2.0) - 1.0, [3.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0]),
    "at no position at rest": (
        lambda s: ca.sqrt(s["c.x_dot"] ** 2 + s["c.y_dot"] ** 2) - 1.0,
        [3.0, 0.0, 0.0, 0.6, 0.8, 0.0],
        [0.0, 0.0],
    ),
}


@pytest.mark.parametrize("formulation", ["kane", "multipliers", "partitioned", "embedded"])
@pytest.mark.parametrize("name", RULES)
def test_rows_are_measured_around_the_start(name: str, formulation: str) -> None:
    rule, start, expected = RULES[name]
    eom, x = form_equations(particle(rule), formulation=formulation), np.array(start)
    np.testing.assert_allclose(eom.v_dot(0.0, x[:3], x[3:], [0.0])[:2], expected, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a singular position: sizes around the reference would make this one
        for driver, tier in (("auto", "auto"), ("python", "vm")):
            sim = simulate(eom, x0=x, t_span=(0.0, 0.5), u=[0.0], driver=driver, tier=tier)  # type: ignore[arg-type]
            assert sim.x[-1][2] == pytest.approx(-0.5 * G * 0.5**2, rel=1e-9)  # nothing holds it up
        linearize(eom, x, check=False)


@pytest.mark.parametrize("formulation", ["kane", "partitioned", "embedded"])
def test_native_code_and_reference_agree_on_the_size_of_constraint_equations(formulation: str) -> None:
    eom = form_equations(particle(RULES["nowhere around it"][0]), formulation=formulation)
    start, x = np.array([3.0, 0.0, 0.0, 0.0, 1.0, 0.0]), np.array([3.1, 0.0, 0.0, 0.0, 1.0, 0.0])
    around = (0.0, start)
    native = (
        eom.handover.projection(eom.p, around)
        if eom.handover.projection is not None
        else compile_projection(eom, eom.p, around=around)
    )
    bound = bind_native(native)
    bound.arguments[1][:], bound.arguments[2][:] = x, eom.p
    assert bound.call()
    state, near = project_with_distance(eom, 0.0, x, around=around)
    np.testing.assert_allclose(bound.results[0], state, atol=1e-12)
    assert bound.results[1][0] == pytest.approx(near, rel=1e-12)
    assert 0.5 < near < 0.9  # of the largest size around the start, that of the place nearest to x = 2


def test_a_rule_that_is_quadratic_in_speeds_is_partitioned() -> None:
    rule = particle(lambda s: s["c.x_dot"] ** 2 + s["c.z_dot"] ** 2 - 1.0)  # holds nothing at rest
    v = np.array([0.6, 0.0, -0.8])
    expected = np.array([0.0, 0.0, -G]) - (0.8 * G) * v  # gravity without its part along v
    for formulation in ("kane", "partitioned"):
        eom = form_equations(rule, formulation=formulation)
        np.testing.assert_allclose(eom.v_dot(0.0, np.zeros(3), v, [0.0]), expected, atol=1e-13)
        np.testing.assert_allclose(
            eom.compiled().x_dot(0.0, np.append(np.zeros(3), v), [0.0])[3:], expected, atol=1e-13
        )


@pytest.mark.parametrize("formulation", ["kane", "udwadia_phohomsiri", "artificial"])
def test_a_constraint_that_does_not_act_need_not_be_defined(formulation: str) -> None:
    eom = form_equations(on_sphere(), formulation=formulation, switchable=True)
    hit = Exit(guard=Guard(name="hit", expression=lambda s: s["c.x"] - 1.0, direction=1), to="rail")
    stages = [Stage(name="flight", exits=(hit,)), Stage(name="rail", u={"lift": 2.0 * G})]
    sim = simulate_stages(eom, stages, x0={"c.x_dot": 2.0}, t_span=(0.0, 1.0))  # begins at the origin
    np.testing.assert_allclose(sim.x[-1][[0, 2]], [2.0, -0.5 * G * 0.5**2 - 0.5 * G * 0.5], rtol=1e-9)
    assert make_consistent(eom, np.zeros(6), stage=stages[0]).moved_q == {}
    with pytest.raises(ModelError, match="'shell' is not defined"):
        make_consistent(eom, np.zeros(6), stage=("shell",))


@pytest.mark.parametrize("formulation", ["articulated", "kane", "embedded"])
def test_a_spring_whose_ends_meet_is_named(formulation: str) -> None:
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    strut = SpringDamper(name="strut", on_a="world", on_b="ball", stiffness=10.0, length=1.0)
    system = System(name="s", parts=(Part(ball, joint=Cartesian(name="c")),), elements=(strut,))
    eom = form_equations(system, formulation=formulation)
    calls: list[Callable[[], Any]] = [
        lambda: eom.v_dot(0.0, np.zeros(3), np.zeros(3)),
        lambda: simulate(eom, x0=np.zeros(6), t_span=(0.0, 1.0)),
    ]
    for call in calls:
        with pytest.raises(ModelError, match="the force of 'strut' between 'world' and 'ball'.*c.x = 0.*length=0"):
            call()
    assert simulate(eom, x0=[1.1, 0.0, 0.0, 0.0, 0.0, 0.0], t_span=(0.0, 0.1)).outcome.is_success
