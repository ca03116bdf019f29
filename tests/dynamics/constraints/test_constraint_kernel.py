"""Solvers for constrained accelerations on random problems: native kernel and reference, four solvers, accuracy, rank."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np
import pytest

from spacectl import SolverError
from spacectl.codegen.compiler import c_source
from spacectl.codegen.library import load_library
from spacectl.dynamics.constraints import solvers as constrained
from spacectl.dynamics.constraints.solver_function import constrained_solve
from spacectl.dynamics.constraints.solvers import RANK, SOLVERS, Solution, solve_directions

HEADER = c_source("spacectl.dynamics.constraints", "constrained.h")
WRAPPER = """
int solve(int n, int m, const double *M, double *f, const double *J, const double *gamma, const double *E, double *lam,
          double *work, int *iwork, double tolerance) {
    return sc_constrained(n, m, M, f, J, gamma, E, lam, work, iwork, tolerance);
}
"""


@pytest.fixture(scope="module")
def kernel():
    library = load_library({"kernel.c": HEADER + WRAPPER}, name="constrained_test")
    library.solve.argtypes = [ctypes.c_int] * 2 + [ctypes.c_void_p] * 8 + [ctypes.c_double]

    def solve(M, f, J, gamma, E) -> Solution | None:
        n, m = len(f), len(gamma)
        M, J, E = (np.asfortranarray(A, dtype=float) for A in (M, J, E))
        v_dot, rest, lam = np.array(f, dtype=float), np.array(gamma, dtype=float), np.zeros(m)
        guard = 7.25  # beyond what the header asks for, nothing is written
        work = np.full(2 * n * m + n * n + 6 * n + 4 * m + 8, guard)
        iwork = np.full(2 * m + 4, 77, dtype=np.int32)
        code = library.solve(
            n, m, M.ctypes.data, v_dot.ctypes.data, J.ctypes.data, rest.ctypes.data, E.ctypes.data, lam.ctypes.data,
            work.ctypes.data, iwork.ctypes.data, RANK,
        )  # fmt: skip
        assert np.all(work[-8:] == guard) and np.all(iwork[-4:] == 77)
        return None if code else Solution(v_dot, lam, -1)

    return solve


def problem(rng: np.random.Generator, n: int, m: int, dependent: int = 0, artificial: int = 0):
    """A well-conditioned problem with some dependent (but consistent) rows and some rows kept by other forces."""
    A = rng.standard_normal((n, n))
    M = A @ A.T + n * np.eye(n)
    units = 10.0 ** rng.uniform(-3.0, 3.0, n)  # speeds in any units
    M = units[:, None] * M * units
    f = units * rng.standard_normal(n)
    J = rng.standard_normal((m, n)) * units
    gamma = rng.standard_normal(m)
    mix = rng.standard_normal((dependent, m))
    E = J.T.copy()
    E[:, :artificial] = units[:, None] * rng.standard_normal((n, artificial))
    order = rng.permutation(m + dependent)
    J, gamma = np.vstack([J, mix @ J])[order], np.concatenate([gamma, mix @ gamma])[order]
    E = np.hstack([E, E @ rng.standard_normal((m, dependent))])[:, order]
    return M, f, J, gamma, E


SHAPES = [
    (1, 1, 0, 0),
    (3, 2, 0, 0),
    (6, 3, 2, 0),
    (6, 6, 0, 0),
    (5, 2, 4, 0),
    (8, 3, 0, 2),
    (8, 3, 2, 3),
    (12, 7, 3, 1),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_native_kernel_and_reference_agree(kernel, shape: tuple[int, ...], seed: int) -> None:
    """Dependent rows, forces that are not gradients (unsymmetric), speeds in units from a thousandth to a thousand."""
    M, f, J, gamma, E = problem(np.random.default_rng(seed), *shape)
    reference, found = solve_directions(M, f, J, gamma, E), kernel(M, f, J, gamma, E)
    assert found is not None and reference.rank == shape[1]
    scale = np.sqrt(np.diag(M))
    size = np.max(np.abs(scale * reference.v_dot))
    np.testing.assert_allclose(
        scale * found.v_dot, scale * reference.v_dot, atol=1e-11 * size
    )  # rounding times conditioning
    np.testing.assert_allclose(J @ found.v_dot, gamma, atol=1e-10 * np.max(np.abs(gamma)))
    left = (M @ found.v_dot - f - E @ found.lam) / scale
    np.testing.assert_allclose(left, 0.0, atol=1e-10 * np.max(np.abs(M @ found.v_dot / scale) + np.abs(f / scale)))


@pytest.mark.parametrize("seed", range(4))
def test_all_solvers_agree_on_natural_constraints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    M, f, J, gamma, E = problem(rng, 7, 3)
    found = {name: solve(M, f, J, gamma, E) for name, solve in SOLVERS.items()}
    scale = np.sqrt(np.diag(M))
    for item in found.values():
        np.testing.assert_allclose(scale * item.v_dot, scale * found["kkt"].v_dot, atol=1e-11)
        np.testing.assert_allclose(item.lam, found["kkt"].lam, rtol=1e-9)
    M, f, J, gamma, E = problem(rng, 7, 3, dependent=3)
    names = [name for name in SOLVERS if name != "kkt"]
    found = {name: SOLVERS[name](M, f, J, gamma, J.T) for name in names}
    scale = np.sqrt(np.diag(M))
    for item in found.values():
        np.testing.assert_allclose(scale * item.v_dot, scale * found["partition"].v_dot, atol=1e-10)
        push = found["partition"].lam @ J  # the multipliers are not unique, what they do is
        np.testing.assert_allclose(item.lam @ J / scale, push / scale, atol=1e-9 * np.max(np.abs(push / scale)))
    with pytest.raises(SolverError, match="3 of 6 constraint equations are independent"):
        SOLVERS["kkt"](M, f, J, gamma, J.T)


def test_the_lagrange_form_of_artificial_constraints_equals_the_projected_form() -> None:
    """Sadigh (1995), section 9.2 leaves it open: ``[M, -B_c; J, 0]`` against ``N' M v_dot = N' f`` with ``N' B_c = 0``."""
    for seed in range(5):
        M, f, J, gamma, E = problem(np.random.default_rng(seed), 8, 3, artificial=2)
        augmented = np.linalg.solve(np.block([[M, -E], [J, np.zeros((3, 3))]]), np.concatenate([f, gamma]))
        projected = solve_directions(M, f, J, gamma, E)
        scale = np.sqrt(np.diag(M))
        np.testing.assert_allclose(scale * projected.v_dot, scale * augmented[:8], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(projected.lam, augmented[8:], rtol=1e-8)


def exact(M, f, J, gamma) -> np.ndarray:
    """Solution of the augmented system in rational numbers."""
    n, m = len(f), len(gamma)
    rows = [[Fraction(float(a)) for a in row] for row in np.block([[M, -J.T], [J, np.zeros((m, m))]])]
    b = [Fraction(float(a)) for a in np.concatenate([f, gamma])]
    for k in range(n + m):
        best = next(i for i in range(k, n + m) if rows[i][k] != 0)
        rows[k], rows[best], b[k], b[best] = rows[best], rows[k], b[best], b[k]
        for i in range(k + 1, n + m):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k], strict=True)]
            b[i] -= factor * b[k]
    x = [Fraction(0)] * (n + m)
    for k in reversed(range(n + m)):
        x[k] = (b[k] - sum(rows[k][j] * x[j] for j in range(k + 1, n + m))) / rows[k][k]
    return np.array([float(a) for a in x[:n]])


def errors_near_dependence(angle: float) -> dict[str, float]:
    """Return the largest relative error of each solver, over some problems with two rows that differ by an angle."""
    worst = dict.fromkeys(SOLVERS, 0.0)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((4, 4))
        M, f = A @ A.T + 4.0 * np.eye(4), rng.standard_normal(4)
        first, other = rng.standard_normal((2, 4))
        J = np.array([first, first + angle * other])
        a = rng.standard_normal(4)
        gamma = J @ a  # conditions that some acceleration of order one meets
        truth = exact(M, f, J, gamma)
        for name, solve in SOLVERS.items():
            error = np.max(np.abs(solve(M, f, J, gamma, J.T).v_dot - truth)) / np.max(np.abs(truth))
            worst[name] = max(worst[name], float(error))
    return worst


def test_the_augmented_form_loses_twice_the_digits_near_dependence(record_property) -> None:
    """Its condition number grows with the inverse square of the angle between rows, that of the others with the inverse."""
    angles = (1e-2, 1e-4, 1e-6)
    table = [errors_near_dependence(angle) for angle in angles]
    for angle, errors in zip(angles, table, strict=True):
        text = ", ".join(f"{name} {error:.0e}" for name, error in errors.items())
        record_property("summary", f"rows that differ by an angle of {angle:.0e}: errors of v_dot: {text}")
        for name in ("directions", "partition", "pseudoinverse"):
            assert errors[name] < 200 * 2.2e-16 / angle  # backward stable: rounding times the condition of the rows
    matrix = np.array([[1.0, 0.0, -1.0, -1.0], [0.0, 1.0, 0.0, -1e-6], [1.0, 0.0, 0.0, 0.0], [1.0, 1e-6, 0.0, 0.0]])
    assert np.linalg.cond(matrix) > 1e11  # of the augmented matrix; of its rows it is 1e6
    assert table[2]["kkt"] > 30 * table[2]["partition"]
    slopes = np.diff(np.log10([errors["kkt"] for errors in table])) / -np.diff(np.log10(angles))
    assert np.all(slopes > 1.5)  # two by theory


@pytest.mark.parametrize(("rank_A", "held"), [(3, True), (2, True), (3, False), (2, False)])
def test_appendix_theorem_of_001(rank_A: int, held: bool) -> None:
    """The augmented matrix is regular if and only if A has full row rank and [M A'] has full rank; M semidefinite."""
    rng = np.random.default_rng(0)
    K, m = 6, 3
    loose = np.linalg.qr(rng.standard_normal((K, K)))[0]
    M = loose[:, :4] @ np.diag([1.0, 2.0, 3.0, 4.0]) @ loose[:, :4].T  # two directions without inertia
    A = rng.standard_normal((m, K))
    if not held:
        A = A @ (np.eye(K) - np.outer(loose[:, 4], loose[:, 4]))  # which the constraints do not hold either
    if rank_A < m:
        A[2] = A[0] - 2.0 * A[1]
    M_hat = np.hstack([M, A.T])
    augmented = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    conditions = np.linalg.matrix_rank(A) == m and np.linalg.matrix_rank(M_hat) == K
    assert conditions == (rank_A == m and held)
    assert (np.linalg.matrix_rank(augmented, tol=1e-10) == K + m) == conditions
    f, b = rng.standard_normal(K), A @ rng.standard_normal(K)
    if conditions:
        found = SOLVERS["kkt"](M, f, A, b, A.T)
        np.testing.assert_allclose(found.v_dot, SOLVERS["pseudoinverse"](M, f, A, b, A.T).v_dot, atol=1e-10)
        np.testing.assert_allclose(found.v_dot, np.linalg.solve(augmented, np.concatenate([f, b]))[:K], atol=1e-10)
    elif held:  # Schutte and Udwadia (2010), Eq 21 needs the second condition only: Gauss's principle decides, whoever carries it
        found = SOLVERS["pseudoinverse"](M, f, A, b, A.T).v_dot
        np.testing.assert_allclose(A @ found, b, atol=1e-10)
        null = np.linalg.svd(A)[2][2:]
        np.testing.assert_allclose(null @ (M @ found - f), 0.0, atol=1e-10)
        with pytest.raises(SolverError, match="2 of . constraint equations are independent"):
            SOLVERS["kkt"](M, f, A, b, A.T)
    else:
        with pytest.raises(SolverError, match="neither inertia nor a constraint"):
            SOLVERS["pseudoinverse"](M, f, A, b, A.T)


def test_the_solver_computes_eq_21_of_schutte_and_udwadia_as_published() -> None:
    """With M semidefinite: ``[(1 - A+ A) M; A]+ [Q; b]`` by plain pseudo-inverses."""
    rng = np.random.default_rng(4)
    H = rng.standard_normal((3, 4))
    M = H.T @ np.diag([2.0, 3.0, 5.0]) @ H
    A = np.vstack([rng.standard_normal(4), np.zeros(4)])
    A[1] = 3.0 * A[0]
    b, Q = np.array([0.4, 1.2]), rng.standard_normal(4)
    published = np.linalg.pinv(np.vstack([(np.eye(4) - np.linalg.pinv(A) @ A) @ M, A])) @ np.concatenate([Q, b])
    found = SOLVERS["pseudoinverse"](M, Q, A, b, A.T)
    np.testing.assert_allclose(found.v_dot, published, atol=1e-12)
    np.testing.assert_allclose(A.T @ found.lam, M @ published - Q, atol=1e-11)  # Eq 22


def test_contradictions_and_useless_forces_have_no_answer(kernel) -> None:
    rng = np.random.default_rng(1)
    M, f, J, gamma, E = problem(rng, 6, 2, dependent=1)
    wrong = gamma + np.array([0.0, 0.0, 1.0])
    for name in ("directions", "partition", "pseudoinverse"):
        with pytest.raises(SolverError, match="contradict"):
            SOLVERS[name](M, f, J, wrong, J.T)
    assert kernel(M, f, J, wrong, J.T) is None and kernel(M, f, J, gamma, J.T) is not None
    # forces that push only across what they shall keep: J M^-1 B_c is singular though both have full rank
    M, f, J, gamma, _ = problem(rng, 5, 2)
    push = rng.standard_normal((5, 2))
    push[:, 0] = M @ np.linalg.svd(J)[2][-1]
    with pytest.raises(SolverError):
        solve_directions(M, f, J, gamma, push)
    assert kernel(M, f, J, gamma, push) is None
    double = np.stack([push[:, 1], 2.0 * push[:, 1]], axis=1)
    with pytest.raises(SolverError, match="span 1 of 2"):
        solve_directions(M, f, J, gamma, double)
    assert kernel(M, f, J, gamma, double) is None


def test_as_many_equations_as_speeds_and_empty_equations(kernel) -> None:
    """As many rows as speeds leave no equation of motion; rows of rounding hold nothing."""
    rng = np.random.default_rng(2)
    M, f, J, gamma, _ = problem(rng, 4, 4)
    for solve in (*SOLVERS.values(), kernel):
        np.testing.assert_allclose(J @ solve(M, f, J, gamma, J.T).v_dot, gamma, atol=1e-10)
    M, f = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0])
    J = np.array([[1.0, 1.0, 0.0], [1e-17, -2e-17, 3e-17]])
    expected = SOLVERS["kkt"](M, f, J[:1], np.zeros(1), J[:1].T).v_dot
    for name in ("directions", "partition", "pseudoinverse"):
        found = SOLVERS[name](M, f, J, np.array([0.0, 1e-17]), J.T)
        assert found.rank == 1
        np.testing.assert_allclose(found.v_dot, expected, atol=1e-14)
    np.testing.assert_allclose(kernel(M, f, J, np.array([0.0, 1e-17]), J.T).v_dot, expected, atol=1e-14)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_callback_has_the_derivatives_of_the_solution(solver: str) -> None:
    rng = np.random.default_rng(3)
    M, f, J, gamma, E = problem(rng, 4, 2)
    scale = 1.0 / np.sqrt(np.diag(M))
    M, f, J = scale[:, None] * M * scale, scale * f, J * scale
    E = J.T if solver != "directions" else rng.standard_normal((4, 2))
    function = constrained_solve(4, 2, solver)
    jacobian = function.jacobian()
    results = [np.asarray(item.full()) for item in function(M, f, J, gamma, E)]
    slopes = [np.asarray(item.full()) for item in jacobian(M, f, J, gamma, E, *results)]
    h = 1e-6
    for which, columns in ((1, 4), (3, 2)):  # by f and by gamma
        for k in range(columns):
            moved = [[M, f, J, gamma, E] for _ in range(2)]
            for sign, arguments in zip((1.0, -1.0), moved, strict=True):
                arguments[which] = arguments[which] + sign * h * np.eye(columns)[k]
            ahead, back = (np.asarray(function(*arguments)[0].full()) for arguments in moved)
            np.testing.assert_allclose((ahead - back)[:, 0] / (2 * h), slopes[which][:, k], atol=1e-8)


def test_tolerances_of_kernel_and_reference_are_equal() -> None:
    text = HEADER
    for name in ("SMALL", "CONTRADICTION", "SINGULAR"):
        line = next(line for line in text.splitlines() if line.startswith(f"#define SC_{name} "))
        assert float(line.split()[2]) == getattr(constrained, name)


def test_a_row_that_vanishes_does_not_take_the_place_of_a_good_one(kernel):
    """Beside a posture in which it vanishes, a dependent row is mostly rounding: at unit size it would lock the third speed."""
    M, f = np.diag([1.0, 2.0, 3.0]), np.array([0.3, -0.2, 0.9])
    J = np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1e-8, 1e-15]])
    gamma = np.array([0.5, 0.7, 2e-8])
    expected = [0.5, 2.0, 0.3]
    for solve in (kernel, *(SOLVERS[name] for name in ("directions", "partition", "pseudoinverse"))):
        np.testing.assert_allclose(solve(M, f, J, gamma, J.T).v_dot, expected, atol=1e-7)
