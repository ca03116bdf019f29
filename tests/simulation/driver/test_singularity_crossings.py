"""Singular positions of constraints: runs cross them on the branch on which they came.

Where all links lie on one line, other branches begin; accelerations beside such a position are rounding over the cube of the
distance. References are equations of one coordinate that know nothing of constraints.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp

from spacectl import (
    CallableLaw,
    EquationsOfMotion,
    Frame,
    Guard,
    Part,
    PointOnPlane,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    form_equations,
    make_consistent,
    simulate,
    simulate_many,
)
from spacectl.codegen.binding import bind_native
from spacectl.dynamics.constraints.projection import compile_projection, project_with_distance
from spacectl.simulation.driver.methods.tableau import LONG_NODES, long_step_tableau
from spacectl.simulation.driver.reference.singularity import INTERIOR_FACTOR

G = 9.81


def link(name: str, length: float = 1.0) -> RigidBody:
    """A slender link of 1 kg along x."""
    inertia = length**2 / 12.0
    return RigidBody(
        name=name,
        mass=1.0,
        inertia=(1e-4 * inertia, inertia, inertia),
        com=(0.5 * length, 0.0, 0.0),
        frames=(Frame(name="end", at=(length, 0.0, 0.0)),),
    )


def parallelograms(windows: int, length: float = 1.0) -> System:
    """Cranks side by side, upright, with bars between their ends."""
    up, down = (((0.0, -s, 0.0), (s, 0.0, 0.0), (0.0, 0.0, 1.0)) for s in (1.0, -1.0))
    parts, loops = [], []
    for i in range(windows + 1):
        parts.append(
            Part(
                link(f"crank{i}", length),
                at=(i * length, 0.0, 0.0),
                rotation=up,
                joint=Revolute(name=f"a{i}", axis="z"),
            )
        )
        if i:
            bar = Part(
                link(f"bar{i}", length), on=f"crank{i - 1}.end", rotation=down, joint=Revolute(name=f"b{i}", axis="z")
            )
            parts.append(bar)
            loops += [
                PointOnPlane(name=f"pin{i}{axis}", a=f"crank{i}.end", b=f"bar{i}.end", normal=axis) for axis in "xy"
            ]
    gravity = UniformGravity(g=(0.0, -G, 0.0))
    return System(name="parallelograms", environment=gravity, parts=tuple(parts), constraints=tuple(loops))


def equal_slider_crank() -> System:
    """Crank and rod of 1 m, the rod's end on the x axis: upright, the end may stay at the origin while both turn on."""
    return System(
        name="slider-crank",
        environment=UniformGravity(g=(0.0, -G, 0.0)),
        parts=(
            Part(link("crank"), joint=Revolute(name="crank", axis="z")),
            Part(link("rod"), on="crank.end", joint=Revolute(name="rod", axis="z")),
        ),
        constraints=(PointOnPlane(name="guide", a="world", b="rod.end", normal="y"),),
    )


@cache
def equations(formulation: str, windows: int = 2) -> tuple[EquationsOfMotion, np.ndarray]:
    eom = form_equations(parallelograms(windows), formulation=formulation)
    return eom, np.asarray(make_consistent(eom, eom.state(a0_dot=-1.0), hold=("a0_dot",)).x)


def pendulum(t: np.ndarray, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Angle of all cranks from upright and its rate: one pendulum."""
    inertia, weight = (windows + 1) / 3.0 + windows, G * (0.5 * (windows + 1) + windows)
    start, span = [0.0, -1.0], (0.0, t[-1])
    found = solve_ivp(
        lambda _, y: [y[1], weight * np.sin(y[0]) / inertia],
        span,
        start,
        t_eval=t,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    return found.y[0], found.y[1]


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("formulation", ["kane", "partitioned", "embedded"])
def test_the_branch_is_preserved_at_every_tolerance(formulation: str, rtol: float) -> None:
    """Twenty passages; without singularity crossing, runs stop or change the branch at half of the tolerances."""
    eom, x0 = equations(formulation)
    sim = simulate(eom, x0=x0, t_span=(0.0, 20.0), rtol=rtol, atol=rtol)
    angle, rate = pendulum(np.asarray(sim.t), 2)
    x = np.asarray(sim.x)
    assert rtol > 1e-6 or sim.outcome.stats["n_crossings"] == 20  # steps of more than a radian may go over one unaware
    assert np.max(np.abs(x[:, eom.states.index("a0")] - angle)) < 1e4 * rtol + 1e-6  # rounding, whatever the tolerance
    for name, sign in (("a1", 1.0), ("a2", 1.0), ("b1", -1.0), ("b2", -1.0)):
        assert np.max(np.abs(x[:, eom.states.index(name)] - sign * x[:, eom.states.index("a0")])) < 20.0 * rtol + 1e-9
    assert np.max(np.abs(x[:, eom.states.index("a0_dot")] - rate)) < 1e5 * rtol + 1e-7


@pytest.mark.parametrize("method", ["rk45", "adams", "radau"])
def test_all_methods_cross_singularities(method: str) -> None:
    eom, x0 = equations("kane")
    sim = simulate(eom, x0=x0, t_span=(0.0, 3.0), rtol=1e-8, atol=1e-8, method=method)
    angle, _ = pendulum(np.asarray(sim.t), 2)
    assert sim.outcome.stats["n_crossings"] == 3
    assert np.max(np.abs(np.asarray(sim.x)[:, eom.states.index("a0")] - angle)) < 1e-5


def test_the_reference_makes_the_same_crossings() -> None:
    eom, x0 = equations("kane")
    one, two = (
        simulate(eom, x0=x0, t_span=(0.0, 3.0), rtol=1e-8, atol=1e-8, tier="native", driver=driver)
        for driver in ("native", "python")
    )
    for name in ("n_steps", "n_rejected", "n_crossings", "n_right_sides"):
        assert one.outcome.stats[name] == two.outcome.stats[name]
    np.testing.assert_allclose(one.x, two.x, rtol=0.0, atol=1e-9)


def test_batches_cross_singularities() -> None:
    eom, x0 = equations("kane")
    starts = np.array([x0, 1.0 * x0, x0])
    many = simulate_many(eom, x0=starts, t_span=(0.0, 3.0), rtol=1e-8, atol=1e-8, grid=31)
    one = simulate(eom, x0=x0, t_span=(0.0, 3.0), rtol=1e-8, atol=1e-8, grid=31)
    for x in np.asarray(many.x):
        np.testing.assert_allclose(x, one.x, atol=1e-12)


def test_longest_steps_are_respected() -> None:
    """Where a crossing would be longer than `max_step`, ordinary steps continue."""
    eom, x0 = equations("kane")
    sim = simulate(eom, x0=x0, t_span=(0.0, 1.0), rtol=1e-6, atol=1e-6, max_step=0.02)
    angle, _ = pendulum(np.asarray(sim.t), 2)
    assert sim.outcome.stats["n_crossings"] == 0
    assert sim.outcome.stats["n_steps"] < 100
    assert np.max(np.abs(np.asarray(sim.x)[:, eom.states.index("a0")] - angle)) < 1e-6


def test_sampled_laws_cross_too() -> None:
    """The sampling period is shorter than a crossing: steps pass the position, and none shrinks towards it."""
    eom, x0 = equations("kane")
    law = CallableLaw(function=lambda t, x: np.zeros(0), period=0.02, name="nothing")
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 1.0), rtol=1e-6, atol=1e-6)
    angle, _ = pendulum(np.asarray(sim.t), 2)
    assert sim.outcome.stats["n_steps"] < 120
    assert np.max(np.abs(np.asarray(sim.x)[:, eom.states.index("a0")] - angle)) < 1e-6


@pytest.mark.parametrize("formulation", ["kane", "partitioned", "embedded"])
def test_runs_may_end_inside_a_crossing(formulation: str) -> None:
    """The step across goes on beyond the end and is cut there; ordinary steps would end on a branch that rounding has chosen."""
    eom, x0 = equations(formulation)
    passage = 0.714  # [s] about when all cranks are level
    for end in passage + np.array([-0.05, -0.01, -1e-3, 0.0, 1e-3, 0.01, 0.05]):
        sim = simulate(eom, x0=x0, t_span=(0.0, end), rtol=1e-9, atol=1e-9)
        t, x = np.asarray(sim.t), np.asarray(sim.x)
        angle, rate = pendulum(t, 2)
        assert t[-1] == end and sim.outcome.stats["n_crossings"] == (end > passage - 0.02)
        assert np.max(np.abs(x[:, eom.states.index("a0")] - angle)) < 1e-7
        assert np.max(np.abs(x[:, eom.states.index("a2_dot")] - rate)) < 1e-6
        assert np.max(np.abs(x[:, eom.states.index("b1")] + x[:, eom.states.index("a0")])) < 1e-7


def test_the_reference_cuts_the_same_crossing() -> None:
    eom, x0 = equations("kane")
    one, two = (
        simulate(eom, x0=x0, t_span=(0.0, 0.72), rtol=1e-9, atol=1e-9, tier="native", driver=driver)
        for driver in ("native", "python")
    )
    assert one.outcome.stats["n_crossings"] == two.outcome.stats["n_crossings"] == 1
    np.testing.assert_allclose(one.x, two.x, rtol=0.0, atol=1e-10)


def test_the_error_inside_a_crossing_follows_from_its_first_rate() -> None:
    """A rate of degree 8 is missed by a multiple of Legendre's polynomial, whose integral is largest inside."""
    few, made, f = LONG_NODES[0], long_step_tableau(), np.linspace(0.0, 1.0, 1001)
    rates = made.C[few:] ** 8
    found = rates @ np.array([Polynomial([0.0, *row])(f) for row in made.F])
    gap = rates @ made.F[:, 0]  # the true rate at the beginning is 0
    assert np.max(np.abs(found - f**9 / 9.0)) == pytest.approx(INTERIOR_FACTOR * abs(gap), rel=0.01)


def test_guards_are_found_inside_a_crossing() -> None:
    """The cranks are horizontal in the middle of a crossing."""
    eom, x0 = equations("kane")
    guard = Guard(name="level", expression=lambda s: s["a0"] + 0.5 * np.pi, direction=-1)
    sim = simulate(eom, x0=x0, t_span=(0.0, 1.0), rtol=1e-10, atol=1e-10, guards=(guard,))
    event = solve_ivp(
        lambda _, y: [y[1], G * 3.5 * np.sin(y[0]) / 3.0],
        (0.0, 1.0),
        [0.0, -1.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        events=lambda _, y: y[0] + 0.5 * np.pi,
    ).t_events[0]
    assert sim.outcome.stats["n_crossings"] == 1
    np.testing.assert_allclose([item.time for item in sim.events], event, atol=1e-8)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-11])
def test_one_row_that_vanishes(rtol: float) -> None:
    """The rod's end goes on along its guide; with the crank upright it might as well stay."""
    eom = form_equations(equal_slider_crank())
    start = eom.state(crank=0.5, rod=-1.0, crank_dot=6.0, rod_dot=-12.0)
    sim = simulate(eom, x0=start, t_span=(0.0, 4.0), rtol=rtol, atol=rtol)

    def rates(_: float, y: np.ndarray) -> list[float]:
        """Energy: crank 1/3, rod 1/12 + its centre at (3/2 cos, 1/2 sin)."""
        a, w = y
        inertia = 1.0 / 3.0 + 1.0 / 12.0 + 2.25 * np.sin(a) ** 2 + 0.25 * np.cos(a) ** 2
        slope = 4.0 * np.sin(a) * np.cos(a)
        return [w, (-0.5 * slope * w**2 - G * np.cos(a)) / inertia]

    t = np.asarray(sim.t)
    exact = solve_ivp(rates, (0.0, 4.0), [0.5, 6.0], t_eval=t, method="DOP853", rtol=1e-12, atol=1e-12).y
    x = np.asarray(sim.x)
    assert sim.outcome.stats["n_crossings"] > 5
    assert np.max(np.abs(x[:, 0] - exact[0])) < 1e4 * rtol + 1e-8
    assert np.max(np.abs(x[:, 1] + 2.0 * exact[0])) < 1e4 * rtol + 1e-8


@pytest.mark.parametrize("formulation", ["kane", "partitioned", "embedded"])
def test_distance_to_singularity_by_two_methods(formulation: str) -> None:
    """Native code and numpy agree; it falls evenly towards a singular position."""
    eom, x0 = equations(formulation)
    own = eom.handover.projection
    native: Any = compile_projection(eom, eom.p) if own is None else own(eom.p)
    bound = bind_native(native)
    bound.arguments[2][:] = eom.p
    found = []
    for away in (0.4, 0.1, 0.01):
        angle = -0.5 * np.pi + away
        x = np.array([(angle if name[0] == "a" else -angle) if "_dot" not in name else 0.0 for name in eom.states])
        bound.arguments[1][:] = x
        assert bound.call()
        state, near = project_with_distance(eom, 0.0, x)
        np.testing.assert_allclose(bound.results[0], state, atol=1e-12)
        np.testing.assert_allclose(bound.results[1][0], near, rtol=1e-6)
        found.append(near)
    assert found[1] / found[2] == pytest.approx(10.0, rel=0.02)
    assert 0.5 < found[0] / 0.4 < 2.0


def test_nearness_does_not_depend_on_units() -> None:
    values = []
    for length in (1.0, 1e-3):
        eom = form_equations(parallelograms(2, length))
        x = np.array([(-1.3 if name[0] == "a" else 1.3) if "_dot" not in name else 0.0 for name in eom.states])
        values.append(project_with_distance(eom, 0.0, x)[1])
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_the_collocation_has_its_order() -> None:
    """Polynomials up to twice the number of nodes less one are integrated exactly; states inside follow."""
    few, more = LONG_NODES
    made = long_step_tableau()
    parts = ((made.C[:few], made.B[:few], made.A[: few**2]), (made.C[few:], made.B[few:], made.A[few**2 :]))
    for count, (C, B, A) in zip(LONG_NODES, parts, strict=True):
        for degree in range(2 * count):
            assert B @ C**degree == pytest.approx(1.0 / (degree + 1), rel=1e-12)
        for degree in range(count):
            np.testing.assert_allclose(
                A.reshape(count, count) @ C**degree, C ** (degree + 1) / (degree + 1), atol=1e-13
            )
    curve = Polynomial([0.3, -1.0, 2.0, 0.5, -0.7])
    rates = curve.deriv()(made.C[few:])
    for f in (0.0, 0.3, 0.77, 1.0):
        weights = [Polynomial([0.0, *row])(f) for row in made.F]
        assert weights @ rates == pytest.approx(curve(f) - curve(0.0), abs=1e-10)
    start = made.start @ curve.deriv()(made.C[:few])
    np.testing.assert_allclose(start, curve(made.C[few:]) - curve(0.0), atol=1e-12)
