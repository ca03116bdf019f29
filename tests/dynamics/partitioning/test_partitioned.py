"""Sequential reduction of loops (Yaskevich): same motion as the augmented system, nested loops, near singular positions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    ModelError,
    UniformGravity,
    close_loops,
    find_base_wrench,
    find_constraint_wrenches,
    form_equations,
    library,
    make_consistent,
    simulate,
)
from spacectl.dynamics.constraints.projection import project_state
from spacectl.dynamics.constraints.solvers import solve_kkt, solve_partition
from spacectl.dynamics.partitioning.elimination import LoopEquations, eliminate, solve_sequential
from spacectl.simulation.driver.native_loop import bind_projection

MECHANISMS: dict[str, Any] = {
    "ring": library.docking_ring,
    "free ring": lambda: library.docking_ring(base_mass=900.0),
    "cylindrical ring": lambda: library.docking_ring(slider="cylindrical"),
    "probe": library.docking_probe,
    "free probe": lambda: library.docking_probe(legs=1, base_mass=300.0),
}


def state_of(eom: Any, seed: int = 0, size: float = 0.05) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.asarray(make_consistent(eom, eom.state(eom.state() + size * rng.standard_normal(eom.n_x))).x)
    return x[: eom.n_q], x[eom.n_q :], 50.0 * rng.standard_normal(eom.n_u)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if " " in name else ()) for name in MECHANISMS]
)
def test_reduction_equals_the_augmented_system(name: str) -> None:
    """Accelerations, multipliers and joint reactions, to 1e-10 of the largest; the condition of the masses is below 1e4."""
    system = MECHANISMS[name]()
    part, kkt = (form_equations(system, formulation=f) for f in ("partitioned", "multipliers"))
    q, v, u = state_of(kkt)
    for call in ("v_dot", "multipliers", "reactions"):
        one, two = (getattr(eom, call)(0.0, q, v, u) for eom in (part, kkt))
        np.testing.assert_allclose(one, two, atol=1e-10 * np.max(np.abs(two)))


def test_coupled_loops_equal_the_augmented_system() -> None:
    """Random rows in loops that all share all speeds, some of them dependent: no order closes one after the other."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        n, sizes = 12, (3, 2, 4)
        root, J = rng.standard_normal((n, n)), rng.standard_normal((sum(sizes), n))
        M, f, gamma = root @ root.T + np.eye(n), rng.standard_normal(n), rng.standard_normal(sum(sizes))
        rows = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        loops = tuple(LoopEquations(tuple(r), tuple(rng.permutation(n)[: len(r)]), len(r)) for r in rows)
        one, two = solve_sequential(M, f, J, gamma, loops), solve_kkt(M, f, J, gamma, J.T)
        np.testing.assert_allclose(one.v_dot, two.v_dot, atol=1e-9 * np.max(np.abs(two.v_dot)))
        np.testing.assert_allclose(one.lam, two.lam, atol=1e-9 * np.max(np.abs(two.lam)))


def test_dependent_rows_are_left_out() -> None:
    rng = np.random.default_rng(6)
    J = rng.standard_normal((3, 6))
    J = np.vstack([J, J[0] + J[1], 2.0 * J[2]])
    M, f, v_dot = np.diag(rng.uniform(1.0, 2.0, 6)), rng.standard_normal(6), rng.standard_normal(6)
    loops = (LoopEquations((0, 1, 2), (3, 4, 5), 3), LoopEquations((3, 4), (0, 1), 2))
    one = solve_sequential(M, f, J, J @ v_dot, loops)
    two = solve_partition(M, f, J, J @ v_dot, J.T)
    assert one.rank == 3
    np.testing.assert_allclose(one.v_dot, two.v_dot, atol=1e-12)


def test_independent_speeds_change_where_the_preferred_ones_have_small_pivots() -> None:
    J = np.array([[1e-5, 1.0, 1.0], [0.0, 1.0, -1.0]])
    loops = (LoopEquations((0, 1), (0, 1), 2),)
    (done,) = eliminate(J, np.zeros(2), loops, np.ones(3))
    assert set(done.dependent) == {1, 2} and done.pivot > 0.1
    J[0, 0] = 0.5
    (done,) = eliminate(J, np.zeros(2), loops, np.ones(3))
    assert set(done.dependent) == {0, 1}


def test_accelerations_stay_exact_beside_a_singular_position() -> None:
    """Coupler and rocker within 1e-6 rad of their stretched position, where the usual independent angle fails."""
    eom = form_equations(library.four_bar(), formulation="partitioned")
    other = form_equations(library.four_bar())
    start = eom.state(crank_pin=1.5, coupler_pin=-1.1, rocker_pin=0.7)
    bent = -(np.arctan2(-1.1, 0.3) - np.arctan2(0.45, 1.45))  # the rocker's angle where it continues the coupler
    for gap in (1e-2, 1e-4, 1e-6):
        near = other.state(start, rocker_pin=bent - gap, rocker_pin_dot=1.0)
        x = np.asarray(make_consistent(other, near, hold=("rocker_pin", "rocker_pin_dot")).x)
        one, two = (e.v_dot(0.0, x[:3], x[3:], [2.0]) for e in (eom, other))
        np.testing.assert_allclose(one, two, atol=1e-9 * np.max(np.abs(two)))  # residual 1e-12 over the gap's slope


@pytest.mark.parametrize(
    "name",
    [
        "four_bar",
        "redundant_four_bar",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("slider_crank", "two_arm_flyer", "rolling_disc")),
    ],
)
def test_native_code_and_its_references_agree(name: str) -> None:
    eom = form_equations(library.CONSTRAINED[name](), formulation="partitioned")
    q, v, u = state_of(eom, 1)
    x = np.concatenate([q, v])
    expected = eom.x_dot(0.0, x, u)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, x, u), expected, atol=1e-12 * np.max(np.abs(expected)))
    y = eom.state(x + 0.01 * np.random.default_rng(2).standard_normal(eom.n_x))
    native = bind_projection(eom, "native", eom.p, careful=False)
    assert native is not None
    native.arguments[0][:], native.arguments[1][:] = 0.0, y
    native.call()
    closed = np.array(native.results[0])
    np.testing.assert_allclose(closed, project_state(eom, 0.0, y), atol=1e-13)
    assert np.max(np.abs(eom.residual(0.0, closed[: eom.n_q], closed[eom.n_q :]))) < 1e-12


@pytest.mark.parametrize("name", ["four_bar", pytest.param("spatial_four_bar", marks=pytest.mark.slow)])
def test_simulations_agree_with_independent_speeds_and_keep_energy(name: str) -> None:
    system = library.CONSTRAINED[name]()
    ends = []
    for formulation in ("partitioned", "kane"):
        eom = form_equations(system, formulation=formulation)
        start = make_consistent(
            eom, eom.state(eom.state(), **{f"{eom.coordinates[0]}_dot": 2.0}), hold=(f"{eom.coordinates[0]}_dot",)
        )
        sim = simulate(eom, x0=start.x, t_span=(0.0, 2.0), rtol=1e-10, atol=1e-11)
        energy = eom.along("energy", sim.t, sim.x)
        assert np.ptp(energy) < 1e-7 * np.max(np.abs(energy))
        assert np.max(np.abs(eom.residual(2.0, sim.x[-1][: eom.n_q], sim.x[-1][eom.n_q :]))) < 1e-13
        ends.append(np.asarray(sim.x[-1]))
    np.testing.assert_allclose(*ends, atol=1e-6)  # 2 s at 1e-10 of each step


def test_the_wrench_on_the_base_is_that_of_its_joints_and_loops() -> None:
    """Two independent solutions: the wrench of joints and loops on the base, by multipliers; and the change of momentum."""
    system = library.four_bar()
    eom = form_equations(system, formulation="partitioned")
    q, v, u = state_of(eom, 3, 0.2)
    x = np.concatenate([q, v])
    found = find_base_wrench(eom, 0.0, x, u)
    held = eom.reactions(0.0, q, v, u)[0]
    R = eom.placements(0.0, q)[0][:9].reshape(3, 3)
    force, moment = -R @ held[3:], -R @ held[:3]
    pivot = np.array([2.0, 0.0, 0.0])
    tip = eom.placements(0.0, q)[2]
    for wrench in find_constraint_wrenches(eom, 0.0, x, u).values():
        push = -tip[:9].reshape(3, 3) @ wrench[3:]
        force, moment = force + push, moment + np.cross(pivot, push)
    np.testing.assert_allclose(found, np.concatenate([moment, force]), atol=1e-10)
    x_dot, h = eom.x_dot(0.0, x, u), 1e-4

    def momentum(s: float) -> np.ndarray:
        y = x + s * x_dot
        return eom.momentum(0.0, y[: eom.n_q], y[eom.n_q :])

    rate = (8.0 * (momentum(h) - momentum(-h)) - (momentum(2 * h) - momentum(-2 * h))) / (12.0 * h)
    g, mass = np.array([0.0, -9.81, 0.0]), 5.0
    weight = np.concatenate([np.cross(eom.center_of_mass(0.0, q), mass * g), mass * g])
    np.testing.assert_allclose(found, weight - rate, atol=1e-8)  # fourth-order differences of 1e-4


def test_a_free_carrier_receives_the_wrench_of_its_mechanism() -> None:
    """The base is moved by the wrench on it alone: its own momentum changes at that rate."""
    eom = form_equations(library.docking_ring(base_mass=900.0), formulation="partitioned")
    q, v, u = state_of(eom, 4, 0.02)
    found = find_base_wrench(eom, 0.0, np.concatenate([q, v]), u, base="base")
    v_dot = eom.v_dot(0.0, q, v, u)
    R = eom.placements(0.0, q)[0][:9].reshape(3, 3)
    omega, alpha, com = v[:3], v_dot[:3], np.array([0.0, 0.0, -1.5])
    acceleration = R.T @ v_dot[3:6] + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com))
    force = 900.0 * acceleration
    inertia = 0.4 * 900.0 * np.eye(3)
    moment = inertia @ alpha + np.cross(omega, inertia @ omega) + np.cross(com, force)
    np.testing.assert_allclose(found, np.concatenate([moment, force]), atol=1e-9 * np.max(np.abs(found)))


def test_base_wrench_needs_a_body_that_carries_something() -> None:
    eom = form_equations(library.four_bar(), formulation="partitioned")
    with pytest.raises(ModelError, match="unknown body 'bas'"):
        find_base_wrench(eom, 0.0, eom.state(), base="bas")
    with pytest.raises(ModelError, match="'rocker' carries no bodies"):
        find_base_wrench(eom, 0.0, eom.state(), base="rocker")


def test_trees_and_actuated_constraints_are_refused() -> None:
    with pytest.raises(ModelError, match="closes a loop"):
        form_equations(library.pendulum(), formulation="partitioned")
    with pytest.raises(ModelError, match="artificial"):
        form_equations(library.line_arm(), formulation="partitioned")


def test_the_base_supports_the_weight() -> None:
    """At rest, held by its drives, a ring under gravity passes its own weight and nothing else."""
    system = replace(library.docking_ring(), environment=UniformGravity(g=(0.0, 0.0, -9.81)))
    eom = form_equations(system, formulation="partitioned")
    x = np.asarray(close_loops(eom, eom.state()).x)
    B = eom.input_map(0.0, x[: eom.n_q])
    free = eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], np.zeros(6))
    gain = np.stack([eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], unit) - free for unit in np.eye(6)], axis=1)
    u = np.linalg.lstsq(gain, -free, rcond=None)[0]
    assert B.shape == (24, 6) and np.max(np.abs(free + gain @ u)) < 1e-10
    wrench = find_base_wrench(eom, 0.0, x, u, base="base")
    np.testing.assert_allclose(wrench[3:], [0.0, 0.0, -9.81 * (24.0 + 6 * 3.0)], atol=1e-8)
    np.testing.assert_allclose(wrench[:3], 0.0, atol=1e-8)  # the legs lie symmetrically about the axis
