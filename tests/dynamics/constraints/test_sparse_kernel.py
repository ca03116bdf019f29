"""Sparse kernels of large constrained systems: factorisation, accelerations, least steps; what is left to the dense ones."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy.sparse import csc_matrix, random_array

from spacectl import (
    EquationsOfMotion,
    Frame,
    JointTorque,
    Loop,
    Part,
    PointOnPlane,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    absolute_state,
    form_equations,
    make_consistent,
    simulate,
)
from spacectl.codegen.binding import bind_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.library import load_library
from spacectl.dynamics.constraints.layout import lay_out_projection, lay_out_terms
from spacectl.dynamics.constraints.projection import compile_projection, project_with_distance
from spacectl.dynamics.constraints.reactions import compile_multipliers
from spacectl.dynamics.constraints.solver_function import compile_solved
from spacectl.dynamics.formulations.switching import compliances_of

WRAPPER = """
int solve(int n, const int *start, const int *row, const double *A, const int *order, double *b, double *x) {
    sc_lu F;
    double work[1000];
    const sc_pattern at = {start, row};
    const int is_good = sc_lu_make(&F, n, 1) && sc_lu_factor(&F, at, A, order);
    if (is_good) sc_lu_solve(&F, order, b, x, work);
    sc_lu_free(&F);
    return is_good;
}
"""


@pytest.fixture(scope="module")
def lu():
    text = c_source("spacectl.dynamics.constraints", "sparse.h")
    library = load_library({"kernel.c": text + WRAPPER}, name="sparse_test")
    library.solve.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 6

    def solve(A: np.ndarray, b: np.ndarray, order: np.ndarray) -> np.ndarray | None:
        S = csc_matrix(A)
        start, row, order = (np.asarray(item, dtype=np.int32) for item in (S.indptr, S.indices, order))
        right, x = np.array(b), np.zeros(len(b))
        pointers = [item.ctypes.data for item in (start, row, S.data, order, right, x)]
        return x if library.solve(len(b), *pointers) else None

    return solve


@pytest.mark.parametrize("seed", range(8))
def test_factorisation_solves_in_any_order(lu, seed: int) -> None:
    """Zeros on the diagonal, rows in any order, memory that has to grow."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 90))
    A = random_array((n, n), density=0.1, rng=rng).toarray() + np.eye(n)[rng.permutation(n)]
    A[:, 0] = rng.normal(size=n)
    b = rng.normal(size=n)
    x = lu(A, b, rng.permutation(n))
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-13 * np.linalg.cond(A) * np.max(np.abs(x)))


def test_singular_matrices_are_refused(lu) -> None:
    A = np.diag([1.0, 2.0, 3.0, 0.0])
    A[0, 2] = 1.0
    assert lu(A, np.ones(4), np.arange(4)) is None
    A[3] = A[0] + A[1]  # no row of zeros
    assert lu(A, np.ones(4), np.arange(4)) is None
    A[3, 3] = np.nan
    assert lu(A, np.ones(4), np.arange(4)) is None


def link(name: str) -> RigidBody:
    """One metre along x, inertia about all axes."""
    end = Frame(name="end", at=(1.0, 0.0, 0.0))
    return RigidBody(name=name, mass=1.3, inertia=(0.01, 0.2, 0.21), com=(0.5, 0.02, 0.0), frames=(end,))


def frames(windows: int, *, is_dependent: bool = False) -> System:
    """Parallelograms side by side, tilted out of the gravity's plane; pins that hold two rows, or hinges that hold five."""
    up, down = (((0.0, -s, 0.0), (s, 0.0, 0.0), (0.0, 0.0, 1.0)) for s in (1.0, -1.0))
    parts, loops = [], []
    for i in range(windows + 1):
        joint = Revolute(name=f"a{i}", axis="z")
        parts.append(Part(link(f"crank{i}"), at=(float(i), 0.0, 0.0), rotation=up, joint=joint))
        if i == 0:
            continue
        bar = Part(link(f"bar{i}"), on=f"crank{i - 1}.end", rotation=down, joint=Revolute(name=f"b{i}", axis="z"))
        parts.append(bar)
        ends = {"a": f"crank{i}.end", "b": f"bar{i}.end"}
        if is_dependent:
            loops.append(Loop(name=f"hinge{i}", joint=Revolute(axis="z"), **ends))
        else:
            loops += [PointOnPlane(name=f"pin{i}{axis}", normal=axis, **ends) for axis in "xy"]
    return System(
        name="frames",
        environment=UniformGravity(g=(1.0, -9.0, 2.0)),
        parts=tuple(parts),
        constraints=tuple(loops),
        actuators=(JointTorque(joint="a0"),),
    )


def moving(system: System) -> tuple[EquationsOfMotion, np.ndarray]:
    """A state of motion away from the reference."""
    eom = form_equations(system, formulation="kane")
    held = ("a0", "a0_dot")
    return eom, np.asarray(make_consistent(eom, eom.state(a0=0.4, a0_dot=-1.1), hold=held).x)


def moving_in(coordinates: str) -> tuple[EquationsOfMotion, np.ndarray]:
    """The same for a chain of a size that is kept sparse, in joint or absolute coordinates."""
    system = frames(8 if coordinates == "joint" else 2)
    eom, x = moving(system)
    if coordinates == "joint":
        return eom, x
    bodies = form_equations(system, formulation="multipliers", coordinates="absolute")
    return bodies, absolute_state(eom, bodies, x)


def called(function, eom: EquationsOfMotion, *given) -> list[np.ndarray]:
    """Results of a native function of (t, x, ..., p)."""
    bound = bind_native(function)
    for place, value in zip(bound.arguments, (*given, eom.p), strict=True):
        place[:] = value
    assert bound.call()
    return [np.array(item) for item in bound.results]


def test_matrices_with_few_entries_are_stored_as_sparse() -> None:
    eom, _ = moving(frames(8))
    n, m = eom.n_v, len(eom.constraint_rows)
    terms, rows = lay_out_terms(eom.functions["terms"]), lay_out_projection(eom.functions["projection"])
    assert terms.sizes[1] < 0.2 * n * n and terms.sizes[3] < 0.2 * m * n and rows.sizes[4] == n
    small, _ = moving(frames(1))
    assert lay_out_terms(small.functions["terms"]).sizes[1] == small.n_v**2


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_accelerations_and_multipliers_equal_those_of_the_dense_solver(coordinates: str) -> None:
    """Against numpy's own solution of the same terms."""
    eom, x = moving_in(coordinates)
    u, n_q = [0.7], eom.n_q
    assert lay_out_terms(eom.functions["terms"]).sizes[1] < eom.n_v**2
    (rate,) = called(compile_solved(eom.functions["terms"], eom.p), eom, 0.0, x, u)
    expected = eom.x_dot(0.0, x, u)
    np.testing.assert_allclose(rate, expected, atol=1e-12 * np.max(np.abs(expected)))
    lam, _ = called(compile_multipliers(eom.functions["terms"], compliances_of(eom), eom.p), eom, 0.0, x, u)
    expected = eom.multipliers(0.0, x[:n_q], x[n_q:], u)
    np.testing.assert_allclose(lam, expected, atol=1e-11 * np.max(np.abs(expected)))


def test_dependent_rows_go_to_the_dense_kernel() -> None:
    """Hinges in a plane hold more than is needed: accelerations, and projections of both kinds."""
    eom, x = moving(frames(5, is_dependent=True))
    assert lay_out_terms(eom.functions["terms"]).sizes[3] < eom.n_v * len(eom.constraint_rows)
    (rate,) = called(compile_solved(eom.functions["terms"], eom.p), eom, 0.0, x, [0.7])
    expected = eom.x_dot(0.0, x, [0.7])
    np.testing.assert_allclose(rate, expected, atol=1e-12 * np.max(np.abs(expected)))
    off = x + 1e-4 * np.random.default_rng(0).normal(size=x.size)
    for careful in (False, True):
        state, near = called(compile_projection(eom, eom.p, careful=careful), eom, 0.0, off)
        reference, expected_near = project_with_distance(eom, 0.0, off, careful=careful)
        np.testing.assert_allclose(state, reference, atol=1e-11)
        assert near[0] == pytest.approx(expected_near, rel=1e-6)


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_smallest_corrections_equal_those_of_the_reference(coordinates: str) -> None:
    """Nearness is an estimate here: of the same size, and even across a singular position."""
    eom, x = moving_in(coordinates)
    function = compile_projection(eom, eom.p)
    off = x + 1e-3 * np.random.default_rng(1).normal(size=x.size)
    state, near = called(function, eom, 0.0, off)
    reference, expected = project_with_distance(eom, 0.0, off)
    np.testing.assert_allclose(state, reference, atol=1e-11)
    assert np.max(np.abs(eom.residual(0.0, state[: eom.n_q], state[eom.n_q :]))) < 1e-13
    assert 0.5 < near[0] / expected < 2.0


@pytest.mark.slow
def test_long_chains_run_in_absolute_coordinates() -> None:
    """The same motion as in joint coordinates, through a singular position."""
    system = frames(6)
    joints, x0 = moving(system)
    bodies = form_equations(system, formulation="multipliers", coordinates="absolute")
    settings = {"t_span": (0.0, 1.5), "rtol": 1e-9, "atol": 1e-9, "grid": 8}
    one = simulate(joints, x0=x0, **settings)
    two = simulate(bodies, x0=absolute_state(joints, bodies, x0), **settings)
    assert one.outcome.stats["n_crossings"] == two.outcome.stats["n_crossings"] > 0
    for k in range(8):
        expected = absolute_state(joints, bodies, np.asarray(one.x)[k])
        np.testing.assert_allclose(np.asarray(two.x)[k], expected, atol=1e-6)
