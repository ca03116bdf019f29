"""Redundant constraints: one rule for the split of their load, in all formulations and kernels; what is unique."""

from __future__ import annotations

import ctypes
import warnings
from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Artificial,
    Constraint,
    FreeSpace,
    JointForce,
    ModelError,
    Part,
    PointOnPlane,
    Prismatic,
    RigidBody,
    System,
    absolute_state,
    correct_tree,
    find_base_wrench,
    find_constraint_wrenches,
    find_uniqueness,
    form_equations,
    library,
    load_system,
    make_consistent,
    save_system,
)
from spacectl.codegen.binding import bind_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.library import load_library
from spacectl.dynamics.constraints.reactions import compile_multipliers
from spacectl.dynamics.constraints.sharing import share_load
from spacectl.dynamics.constraints.solvers import RANK, SOLVERS
from spacectl.dynamics.formulations.switching import active_numbers, compliances_of
from tests.dynamics.redundant_systems import BENT, bar_on_supports, bar_reactions, clamped_arm, clamped_part

FORMULATIONS = ["kane", "udwadia_phohomsiri", "artificial", "partitioned", "embedded"]
WRAPPER = """
int share(int n, int m, const double *M, const double *E, const double *c, double tolerance, double *lam, double *unique) {
    return sc_share(n, m, M, E, c, tolerance, lam, unique);
}
"""


@pytest.fixture(scope="module")
def kernel():
    headers = {name: c_source("spacectl.dynamics.constraints", name) for name in ("constrained.h", "sharing.h")}
    library = load_library({**headers, "kernel.c": '#include "sharing.h"\n' + WRAPPER}, name="sharing_test")
    library.share.argtypes = [ctypes.c_int] * 2 + [ctypes.c_void_p] * 3 + [ctypes.c_double] + [ctypes.c_void_p] * 2

    def share(M, E, lam, compliance):
        n, m = E.shape
        M, E = np.asfortranarray(M), np.asfortranarray(E)
        lam, unique, c = np.array(lam), np.zeros(m), np.array(compliance)
        pointers = [item.ctypes.data for item in (M, E, c, lam, unique)]
        assert library.share(n, m, *pointers[:3], RANK, *pointers[3:]) == 0
        return lam, unique

    return share


def native_multipliers(eom, x, u, p=None):
    """lam and its uniqueness from native code."""
    numbers = eom.p if p is None else p
    bound = bind_native(compile_multipliers(eom.functions["terms"], compliances_of(eom), numbers))
    for place, value in zip(bound.arguments, (0.0, x, u, numbers), strict=True):
        place[:] = value
    assert bound.call()
    return np.array(bound.results[0]), np.array(bound.results[1]) != 0.0


def held(eom):
    x = np.asarray(eom.x_rest)
    return x, x[: eom.n_q], x[eom.n_q :]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "m", "more"), [(1, 1, 1), (6, 3, 2), (6, 6, 12), (9, 4, 3)])
def test_split_has_least_work_whatever_was_left_out(kernel, n: int, m: int, more: int, seed: int) -> None:
    """Against the pseudoinverse in the metric of the compliance; the last column depends on no other and stays as it is."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-1.0, 1.0, n + 1)
    M = np.diag(units**2)
    E = np.zeros((n + 1, m + more + 1))
    E[:n, : m + more] = rng.standard_normal((n, m)) @ np.hstack([np.eye(m), rng.standard_normal((m, more))])
    E[n, -1] = 1.0
    E *= units[:, None]
    c = 10.0 ** rng.uniform(-2.0, 2.0, m + more + 1)
    force = E @ rng.standard_normal(m + more + 1)
    scaled = E / units[:, None] / np.sqrt(c)
    expected = np.linalg.pinv(scaled, rcond=1e-10) @ (force / units) / np.sqrt(c)
    for order in (np.arange(m + more + 1), rng.permutation(m + more + 1)):
        basic = np.zeros(m + more + 1)  # as pivoted kernels give it: some multipliers are zero
        used = [*range(m), m + more]
        basic[used] = np.linalg.lstsq(E[:, used] / units[:, None], force / units, rcond=None)[0]
        found, unique = kernel(M, E[:, order], basic[order], c[order])
        size = np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected[order], atol=1e-11 * size)
        np.testing.assert_allclose(
            share_load(M, E[:, order], basic[order], c[order]), expected[order], atol=1e-11 * size
        )
        assert found[order == m + more] == basic[-1]
        np.testing.assert_array_equal(unique != 0.0, order == m + more)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_equal_clamps_carry_half_of_the_pull_each(formulation: str) -> None:
    for is_reversed in (False, True):
        eom = form_equations(clamped_part(is_reversed=is_reversed), formulation=formulation)
        x, q, v = held(eom)
        expected = [-500.0 if name.endswith(".x") else 0.0 for name in eom.constraint_rows]
        np.testing.assert_allclose(eom.multipliers(0.0, q, v, [1000.0]), expected, atol=1e-9)
        lam, unique = native_multipliers(eom, x, [1000.0])
        np.testing.assert_allclose(lam, expected, atol=1e-9)
        assert not np.any(unique)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_split_does_not_depend_on_formulation_or_coordinates(formulation: str) -> None:
    """A plane arm in two spatial pins of unequal compliance, loaded out of its plane; joints of the tree do not yield."""
    system = clamped_arm(((1.0, 2.0, 3.0, 4.0, 5.0), (2.0, 2.0, 1.0, 3.0, 1.0)))
    reference = form_equations(system, formulation="udwadia_phohomsiri")
    x, q, v = BENT, BENT[:2], BENT[2:]
    expected = reference.multipliers(0.0, q, v, [30.0])
    assert np.max(np.abs(expected)) > 1.0
    eom = form_equations(system, formulation=formulation)
    np.testing.assert_allclose(eom.multipliers(0.0, q, v, [30.0]), expected, atol=1e-9)
    np.testing.assert_allclose(native_multipliers(eom, x, [30.0])[0], expected, atol=1e-9)
    np.testing.assert_allclose(np.asarray(correct_tree(eom, 0.0, x, [30.0]).lam), expected, atol=1e-9)
    bodies = form_equations(system, formulation="udwadia_phohomsiri", coordinates="absolute")
    y = absolute_state(eom, bodies, x)
    lam = dict(zip(bodies.constraint_rows, bodies.multipliers(0.0, *np.split(y, [bodies.n_q]), [30.0]), strict=True))
    np.testing.assert_allclose([lam[name] for name in eom.constraint_rows], expected, atol=1e-8)


def test_accelerations_are_those_of_the_solver_alone() -> None:
    eom = form_equations(library.redundant_four_bar())
    x = np.asarray(make_consistent(eom, eom.state(crank_pin=0.3, crank_pin_dot=1.0), hold=("crank_pin",)).x)
    _, M, f, J, gamma, E = eom.call("terms", 0.0, x[: eom.n_q], x[eom.n_q :], np.ones(eom.n_u))
    expected = SOLVERS["partition"](M, f[:, 0], J, gamma[:, 0], E).v_dot
    np.testing.assert_array_equal(eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], np.ones(eom.n_u)), expected)


def test_reactions_without_redundancy_are_those_of_the_solver_to_the_last_bit() -> None:
    eom = form_equations(library.four_bar())
    x = np.asarray(make_consistent(eom, eom.state(crank_pin=0.3, crank_pin_dot=1.0), hold=("crank_pin",)).x)
    _, M, f, J, gamma, E = eom.call("terms", 0.0, x[:3], x[3:], [0.5])
    expected = SOLVERS["partition"](M, f[:, 0], J, gamma[:, 0], E).lam
    np.testing.assert_array_equal(eom.multipliers(0.0, x[:3], x[3:], [0.5]), expected)
    assert all(find_uniqueness(eom, 0.0, x).equations.values()) and find_uniqueness(eom, 0.0, x).groups == ()


def sliding_part(first, second) -> System:
    """A part on a rail in two clamps."""
    part = Part(RigidBody(name="part", mass=2.0, inertia=(1.0, 1.0, 1.0)), joint=Prismatic(name="slide", axis="x"))
    clamps = [PointOnPlane(name=name, b="part", normal="x", compliance=c) for name, c in (("a", first), ("b", second))]
    pull = JointForce(name="pull", joint="slide")
    return System(name="rail", environment=FreeSpace(), parts=(part,), actuators=(pull,), constraints=tuple(clamps))


@pytest.mark.parametrize(("soft", "share"), [(1e-8, 0.5), (2e-8, 2.0 / 3.0), (3e-8, 0.75)])
def test_springs_in_parallel_share_by_stiffness(soft: float, share: float) -> None:
    eom = form_equations(sliding_part(1e-8, soft))
    expected = [-900.0 * share, -900.0 * (1.0 - share)]
    np.testing.assert_allclose(eom.multipliers(0.0, [0.0], [0.0], [900.0]), expected, rtol=1e-14)


def test_clamp_that_does_not_yield_carries_all() -> None:
    eom = form_equations(sliding_part(0.0, 1e-8))
    np.testing.assert_allclose(eom.multipliers(0.0, [0.0], [0.0], [900.0]), [-900.0, 0.0], atol=1e-8)


@pytest.mark.parametrize("compliance", [(1.0, 1.0, 1.0), (1e-6, 3e-6, 2e-6)])
def test_bar_on_three_supports_is_that_on_three_springs(compliance) -> None:
    eom = form_equations(bar_on_supports(compliance))
    x, q, v = held(eom)
    np.testing.assert_allclose(eom.multipliers(0.0, q, v, [120.0]), bar_reactions(compliance, 120.0), rtol=1e-12)
    np.testing.assert_allclose(native_multipliers(eom, x, [120.0])[0], bar_reactions(compliance, 120.0), rtol=1e-12)


def test_equal_compliance_is_the_rule_where_none_is_given() -> None:
    eom = form_equations(bar_on_supports())
    _, q, v = held(eom)
    np.testing.assert_allclose(eom.multipliers(0.0, q, v, [120.0]), bar_reactions((1.0, 1.0, 1.0), 120.0), rtol=1e-12)


def test_derivatives_of_shared_reactions_are_exact() -> None:
    """Four guides of a plane body in three freedoms: their directions, and with them the split, change with its angle."""
    guides = tuple(
        PointOnPlane(name=f"g{k}", b="bar", at_a=at, at_b=at, normal=normal, compliance=1.0 + k)
        for k, (at, normal) in enumerate(
            [((1, 0.2, 0), "y"), ((-1, 0.5, 0), "y"), ((0.3, 1, 0), "x"), ((0.1, -0.7, 0), (0.6, 0.8, 0.0))]
        )
    )
    eom = form_equations(replace(bar_on_supports(), constraints=guides))
    _, q, v = held(eom)
    found, h = eom.jacobian("multipliers", "lam", "q", 0.0, q, v, [40.0]), 1e-5
    steps = [
        eom.multipliers(0.0, q + h * d, v, [40.0]) - eom.multipliers(0.0, q - h * d, v, [40.0]) for d in np.eye(eom.n_q)
    ]
    assert np.max(np.abs(found)) > 1.0
    np.testing.assert_allclose(found, np.array(steps).T / (2 * h), atol=1e-7 * np.max(np.abs(found)))


def test_uniqueness_of_equations_joints_and_wrenches() -> None:
    eom = form_equations(clamped_part(), switchable=True)
    x, _, _ = held(eom)
    both = find_uniqueness(eom, 0.0, x)
    assert not any(both.equations.values()) and not any(both.wrenches.values()) and both.joints == {"part": True}
    assert {name for group in both.groups for name in group} == set(eom.constraint_rows)
    one = find_uniqueness(eom, 0.0, x, p=active_numbers(eom, ("left",)))
    assert all(one.equations.values()) and all(one.wrenches.values()) and one.groups == ()
    unique = native_multipliers(eom, x, [1.0], active_numbers(eom, ("left",)))[1]
    np.testing.assert_array_equal(unique, [name.startswith("left") for name in eom.constraint_rows])


def test_joints_that_share_with_a_loop_are_not_unique() -> None:
    """Two pins hold the tip in the plane together; out of it they share with the joints of the arm."""
    eom = form_equations(clamped_arm())
    found = find_uniqueness(eom, 0.0, BENT)
    assert found.joints == {"shoulder": False, "elbow": False} and not any(found.equations.values())
    plane = form_equations(library.four_bar())
    x = np.asarray(make_consistent(plane, plane.state(crank_pin=0.3), hold=("crank_pin",)).x)
    assert all(find_uniqueness(plane, 0.0, x).joints.values())


def test_the_sum_of_shared_wrenches_is_the_unique_one() -> None:
    for given in ((None, None), (1.0, 7.0)):
        eom = form_equations(clamped_part(*given))
        x, _, _ = held(eom)
        found = find_constraint_wrenches(eom, 0.0, x, [1000.0])
        np.testing.assert_allclose(found["left"][3:] + found["right"][3:], [-1000.0, 0.0, 0.0], atol=1e-9)


def test_wrenches_of_constraints_warn_if_they_depend_on_the_split() -> None:
    eom = form_equations(clamped_part())
    x = eom.state()
    with pytest.warns(UserWarning, match="wrenches of 'left', 'right' depend on .*compliance=... to 'left', 'right'"):
        find_constraint_wrenches(eom, 0.0, x, [1000.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_constraint_wrenches(form_equations(clamped_part(1.0, 2.0)), 0.0, x, [1000.0])


def test_base_wrench_warns_if_it_depends_on_the_split() -> None:
    """The second link's pins hold it to the world, which the first link does not carry."""
    eom, x = form_equations(clamped_arm()), BENT
    with pytest.warns(
        UserWarning, match="find_base_wrench.*'upper' depends on how constraints first, second.*compliance"
    ):
        find_base_wrench(eom, 0.0, x, [30.0], base="upper")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_base_wrench(eom, 0.0, x, [30.0], base="world")
        find_base_wrench(form_equations(clamped_arm((1.0, 2.0))), 0.0, x, [30.0], base="upper")


def test_compliance_is_checked_and_saved(tmp_path) -> None:
    with pytest.raises(ModelError, match="constraint 'left': compliance is -1.0, expected numbers"):
        clamped_part(-1.0)
    with pytest.raises(ModelError, match="constraint 'left': compliance has 2 values, expected 1 or 6.*x, y, z, rx"):
        clamped_part((1.0, 2.0))
    with pytest.raises(ModelError, match="constraint 'g': compliance is for natural constraints"):
        Constraint(name="g", rule=lambda s: s["q"], kind=Artificial(by=("m",)), compliance=1.0)
    system = clamped_part(1e-8, (1e-8,) * 3 + (1e-7,) * 3)
    assert load_system(save_system(system, tmp_path / "part.toml")) == system
    assert system.structure_hash() != clamped_part().structure_hash()
