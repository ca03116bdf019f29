"""Springs between points, and the joint of three translations, against closed forms and other ways to say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacectl import (
    Cartesian,
    CircularOrbit,
    Free,
    FreeSpace,
    JointSpring,
    ModelError,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    SpringDamper,
    System,
    absolute_state,
    form_equations,
    linearize,
    rotation_about,
    simulate,
)


def pair(spring: SpringDamper, environment: Any = None) -> System:
    bodies = [
        RigidBody(name=name, mass=m, inertia=(1.0, 2.0, 2.5), com=(0.1, 0.0, 0.2))
        for name, m in (("a", 3.0), ("b", 4.0))
    ]
    parts = tuple(Part(body, joint=Free(name=f"free_{body.name}")) for body in bodies)
    return System(name="pair", environment=environment or FreeSpace(), parts=parts, elements=(spring,))


def force_on_b(spring: SpringDamper, r: tuple[float, ...], v: tuple[float, ...], environment: Any = None) -> np.ndarray:
    """Force on b, in root axes, with a at the origin and b at r moving with v, from the acceleration of a point mass."""
    part = Part(RigidBody(name="b", mass=2.0, inertia=(0.0, 0.0, 0.0)), joint=Cartesian())
    eom = form_equations(System(name="one", environment=environment or FreeSpace(), parts=(part,), elements=(spring,)))
    x = np.array([*r, *v])
    return 2.0 * eom.x_dot(0.0, x)[3:]


def spring(**changes: Any) -> SpringDamper:
    return SpringDamper(**({"name": "s", "on_a": "world", "on_b": "b", "stiffness": 3.0, "length": 2.0} | changes))


R = (0.0, 3.0, 4.0)  # distance 5
E = np.array(R) / 5.0


@pytest.mark.parametrize(
    ("item", "v", "pull"),
    [
        (spring(), (0.0, 0.0, 0.0), 9.0),
        (spring(cubic=0.5), (0.0, 0.0, 0.0), 9.0 + 0.5 * 27.0),
        (spring(damping=2.0), (1.0, 0.0, 1.0), 9.0 + 2.0 * 0.8),
        (spring(length=lambda s: 2.0 + 0.5 * s.t, damping=2.0), (0.0, 0.0, 0.0), 9.0 - 2.0 * 0.5),
        (spring(length=6.0), (0.0, 0.0, 0.0), -3.0),
        (spring(length=6.0, tension_only=True, damping=2.0), (0.0, 3.0, 4.0), 0.0),
        (spring(tension_only=True, damping=2.0), (0.0, -6.0, -8.0), 0.0),  # would push: 9 - 20
        (spring(longest=4.0, stop_stiffness=100.0), (0.0, 0.0, 0.0), 9.0 + 100.0),
        (spring(shortest=5.5, stop_stiffness=100.0), (0.0, 0.0, 0.0), 9.0 - 50.0),
        (spring(length=0.0), (0.0, 0.0, 0.0), 15.0),
    ],
)
def test_force_is_the_law_along_the_line(item: SpringDamper, v: tuple[float, ...], pull: float) -> None:
    np.testing.assert_allclose(force_on_b(item, R, v), -pull * E, rtol=1e-13, atol=1e-13)


def test_inertial_damping_takes_the_inertial_rate_of_the_vector() -> None:
    """Schutte and Udwadia (2010), Eqs 32-37: in a turning frame even a point at rest there is damped, across the line."""
    v = np.array([0.3, -0.2, 0.5])
    np.testing.assert_allclose(
        force_on_b(spring(stiffness=0.0, inertial_damping=0.7), R, tuple(v)), -0.7 * v, rtol=1e-13
    )
    orbit = CircularOrbit(rate=0.4)
    with_damper = force_on_b(spring(stiffness=0.0, inertial_damping=0.7), R, tuple(v), orbit)
    without = force_on_b(spring(stiffness=0.0), R, tuple(v), orbit)
    expected = -0.7 * (v + np.cross([0.0, 0.0, 0.4], R))
    np.testing.assert_allclose(with_damper - without, expected, rtol=1e-12)


@pytest.mark.parametrize("environment", [FreeSpace(), CircularOrbit(rate=0.4)], ids=["free", "orbit"])
def test_formulations_agree_on_springs_between_turning_bodies(environment: Any) -> None:
    item = SpringDamper(
        name="s",
        on_a="a",
        on_b="b",
        at_a=(0.2, 0.1, 0.0),
        at_b=(1.0, 2.0, 3.0),
        stiffness=3.0,
        cubic=0.1,
        length=2.0,
        damping=0.3,
        inertial_damping=0.7,
        longest=3.0,
        stop_stiffness=10.0,
    )
    kane, recursion = (form_equations(pair(item, environment), formulation=key) for key in ("kane", "articulated"))
    x = kane.state(np.random.default_rng(4).normal(size=kane.n_x))
    np.testing.assert_allclose(recursion.x_dot(0.0, x), kane.x_dot(0.0, x), rtol=1e-11, atol=1e-12)
    tau = recursion.functions["inverse_dynamics"](
        0.0, x[: kane.n_q], x[kane.n_q :], kane.x_dot(0.0, x)[kane.n_q :], kane.p
    )
    np.testing.assert_allclose(np.array(tau).ravel(), 0.0, atol=1e-11)


def test_power_of_a_spring_is_what_it_stores() -> None:
    item = spring(on_a="a", at_a=(0.2, 0.1, 0.0), at_b=(1.0, 2.0, 3.0), cubic=0.2, longest=3.0, stop_stiffness=10.0)
    eom = form_equations(pair(item, CircularOrbit(rate=0.4)))
    x = eom.state(np.random.default_rng(5).normal(size=eom.n_x))
    x_dot, h = eom.x_dot(0.0, x), 1e-5
    energy = [eom.energy(0.0, y[: eom.n_q], y[eom.n_q :]) for y in (x - h * x_dot, x + h * x_dot)]
    assert abs(energy[1] - energy[0]) / (2.0 * h) < 1e-5  # truncation h^2 times third derivatives of order 1e4


def test_stiff_springs_are_quick_with_the_implicit_method() -> None:
    """A massless-looking damper: mode at -1e5 1/s and creep at -1 1/s; the Jacobian must know the spring."""
    part = Part(RigidBody(name="b", mass=1.0, inertia=(0.0, 0.0, 0.0)), joint=Cartesian())
    item = spring(stiffness=1e5, damping=1e5, length=2.0)
    eom = form_equations(System(name="stiff", parts=(part,), elements=(item,)))
    sim = simulate(eom, x0={"b.x": 2.5}, t_span=(0.0, 3.0), method="radau", rtol=1e-8, atol=1e-10)
    slow, fast = np.roots([1.0, 1e5, 1e5])[::-1].real
    expected = 0.5 * (fast * np.exp(slow * sim.t) - slow * np.exp(fast * sim.t)) / (fast - slow)
    np.testing.assert_allclose(sim["b.x"] - 2.0, expected, atol=1e-7)  # a tenth of the tolerance's error a step
    assert sim.outcome.stats["n_right_sides"] < 5000


def carried(is_cartesian: bool) -> System:
    """A hinged pair on a free mother, displaced by one joint or by three slides in a row."""
    mother = Part(RigidBody(name="m", mass=5.0, inertia=(3.0, 4.0, 5.0)), joint=Free(name="base"))
    body = RigidBody(name="b", mass=3.0, inertia=(1.0, 2.0, 2.5), com=(0.1, 0.2, 0.3))
    flap = Part(
        RigidBody(name="c", mass=1.0, inertia=(1.0, 1.0, 1.0), com=(0.3, 0.1, 0.0)),
        on="b",
        joint=Revolute(name="h", axis="y"),
    )
    place = {"on": "m", "at": (0.4, 0.5, 0.6), "rotation": rotation_about((0.6, 0.0, 0.8), 0.7)}
    child = {"child_at": (0.1, 0.0, 0.2), "child_rotation": rotation_about("y", 0.3)}
    if is_cartesian:
        slides = [Part(body, joint=Cartesian(name="j"), **place, **child)]
    else:
        thin = [RigidBody(name=f"e{k}", mass=1e-300, inertia=(0.0, 0.0, 0.0)) for k in range(2)]
        slides = [
            Part(thin[0], joint=Prismatic(name="jx", axis="x"), **place),
            Part(thin[1], on="e0", joint=Prismatic(name="jy", axis="y")),
            Part(body, on="e1", joint=Prismatic(name="jz", axis="z"), **child),
        ]
    return System(name="carried", environment=CircularOrbit(rate=0.3), parts=(mother, *slides, flap))


def test_three_translations_are_three_slides_in_a_row_in_every_kernel() -> None:
    slides = form_equations(carried(False))
    x = slides.state(np.random.default_rng(0).normal(size=slides.n_x))
    expected = slides.x_dot(0.0, x)
    for formulation in ("kane", "articulated"):
        eom = form_equations(carried(True), formulation=formulation)
        np.testing.assert_allclose(eom.x_dot(0.0, x), expected, rtol=1e-11, atol=1e-12)
    native = eom.compiled(kind="data-driven")
    np.testing.assert_allclose(np.asarray(native.x_dot(0.0, x, np.zeros(0))), expected, rtol=1e-11, atol=1e-12)
    by_kernel = np.asarray(linearize(eom, x, check=False).A)
    by_casadi = np.asarray(linearize(form_equations(carried(True), formulation="kane"), x, check=False).A)
    np.testing.assert_allclose(by_kernel, by_casadi, rtol=0, atol=1e-11 * np.max(np.abs(by_casadi)))


def test_springs_between_points_act_in_absolute_coordinates_too() -> None:
    """A double pendulum with a damped spring from its end to the ground: the same places and energy after half a second."""
    links = [
        RigidBody(name=name, mass=m, inertia=(0.1, 0.1, 0.2), com=(0.5, 0.0, 0.0))
        for name, m in (("a", 1.0), ("b", 2.0))
    ]
    spring = SpringDamper(
        name="s",
        on_a="world",
        at_a=(0.5, 2.0, 0.0),
        on_b="b",
        at_b=(1.0, 0.0, 0.1),
        stiffness=30.0,
        damping=2.0,
        length=0.5,
    )
    parts = (
        Part(links[0], joint=Revolute(name="one", axis="z")),
        Part(links[1], on="a", at=(1.0, 0.0, 0.0), joint=Revolute(name="two", axis="y")),
    )
    system = System(name="sprung", environment=FreeSpace(), parts=parts, elements=(spring,))
    tree = form_equations(system, formulation="kane")
    bodies = form_equations(system, formulation="multipliers", coordinates="absolute")
    x0 = tree.state(one=0.3, two=-0.4, one_dot=1.0)
    run = {"t_span": (0.0, 0.5), "rtol": 1e-10, "atol": 1e-10, "tier": "vm"}
    ends = [
        np.asarray(simulate(eom, x0=x, **run).x)[-1]
        for eom, x in ((tree, x0), (bodies, absolute_state(tree, bodies, x0)))
    ]
    expected = absolute_state(tree, bodies, ends[0])
    np.testing.assert_allclose(ends[1], expected, atol=2e-8)  # a hundred steps of 1e-10 in each
    held = System(
        name="held",
        environment=FreeSpace(),
        parts=parts,
        elements=(JointSpring(name="coil", joint="one", stiffness=1.0),),
    )
    with pytest.raises(ModelError, match="'coil' need joint coordinates"):
        form_equations(held, formulation="multipliers", coordinates="absolute")
