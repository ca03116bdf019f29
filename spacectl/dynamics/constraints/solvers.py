"""Four independent solvers for constrained accelerations: ``M v_dot = f + E lam``, ``J v_dot = gamma``.

E is J' for natural constraints, the actuators' input maps for artificial ones. All solvers return the same v_dot where it
is unique; they differ in which degenerate systems they accept. `solve_directions` is the reference implementation of the
native kernel (constrained.h), which every formulation uses in native closed loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_solve, qr, solve_triangular
from scipy.linalg.lapack import dgetrf
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from spacectl.core.errors import SolverError

__all__ = [
    "RANK",
    "SOLVERS",
    "Solution",
    "pivoted_columns",
    "require_agreement",
    "row_norms",
    "solve_directions",
    "solve_kkt",
    "solve_partition",
    "solve_pseudoinverse",
    "solve_square",
    "speed_scales",
]

RANK = 1e-9  #: relative singular value or pivot, for rows and columns of unit norm, that counts as zero
SPARSE_FROM = 100  #: number of unknowns from which the augmented system is factorised as a sparse matrix
NEGLIGIBLE = 1e-13  #: rows with a smaller norm, relative to the largest, are rounding errors of zero rows
SMALL = 1e-4  #: least norm, relative to the largest row, by which a row is divided: smaller rows are mostly rounding
#: relative residual allowed in a dependent equation: drift causes far less, a contradiction about 1
CONTRADICTION = 1e-3
SINGULAR = 1e-13  #: pivot, relative to the largest entry of its row, that counts as zero: a few hundred roundings


@dataclass(frozen=True)
class Solution:
    """Accelerations, multipliers, and the number of independent constraint equations."""

    v_dot: np.ndarray
    lam: np.ndarray
    rank: int


def solve_directions(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Project the equations of motion onto the directions without constraint force: ``N' M v_dot = N' f``, ``N' E = 0``.

    Dependent rows of J are omitted. So are dependent columns of E, whose multipliers are set to zero.

    Raises
    ------
    SolverError
        If the forces span fewer directions than the constraints (inadequate actuators), if the reduced mass matrix is
        singular, or (with `check`, as in all solvers) if an omitted equation contradicts the others.
    """
    n, m = len(f), len(gamma)
    if m == 0:
        return Solution(np.linalg.solve(M, f), np.zeros(0), 0)
    scale = speed_scales(M)
    order_J, rank_J = _independent((J * scale).T)
    Q, R, order, rank_E, _ = pivoted_columns(scale[:, None] * E)
    if rank_E < rank_J:
        raise SolverError(
            f"the constraint forces span {rank_E} of {rank_J} independent constraint equations; choose other actuators"
        )
    free = scale[:, None] * Q[:, rank_E:]
    A = np.vstack([free.T @ M, J[order_J[:rank_J]]])
    b = np.concatenate([free.T @ f, gamma[order_J[:rank_J]]])
    if rank_E > rank_J or A.shape[0] != n:
        raise SolverError(
            f"the constraint forces span {rank_E} directions, but only {rank_J} constraint equations are independent: the "
            "forces are not determined"
        )
    v_dot = scale * solve_square(A * scale, b)
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.zeros(m)
    push = Q[:, :rank_E].T @ (scale * (M @ v_dot - f))
    lam[order[:rank_E]] = solve_triangular(R[:rank_E, :rank_E], push)
    return Solution(v_dot, lam, rank_J)


def solve_partition(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Use Kane's method: independent speeds by pivoting, the others from the constraints (003 section 3.3).

    ``v = A_c v_I + a`` with ``A_c = [1; -J_D^-1 J_I]``; ``A_c' M A_c v_I_dot = A_c' (f - M a)``. The independent speeds are
    re-selected at every call, so that J_D stays well conditioned along a motion.
    """
    n = len(f)
    scale = speed_scales(M)
    order_J, rank = _independent((J * scale).T)
    rows = order_J[:rank]
    order = qr(_unit_rows(J[rows] * scale), mode="economic", pivoting=True)[2] if rank else np.arange(n)
    dependent, independent = order[:rank], order[rank:]
    J_D, J_I = J[np.ix_(rows, dependent)], J[np.ix_(rows, independent)]
    A_c, a = np.zeros((n, n - rank)), np.zeros(n)
    A_c[independent] = np.eye(n - rank)
    A_c[dependent] = -np.linalg.solve(J_D, J_I)
    a[dependent] = np.linalg.solve(J_D, gamma[rows])
    unit = scale[independent]
    v_dot = A_c @ (unit * solve_square((A_c.T @ M @ A_c) * unit, A_c.T @ (f - M @ a))) + a
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.zeros(len(gamma))
    lam[rows] = np.linalg.lstsq(scale[:, None] * J[rows].T, scale * (M @ v_dot - f), rcond=None)[0]
    return Solution(v_dot, lam, rank)


def solve_kkt(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Solve the augmented system ``[M, -E; J, 0]`` (000 Eq 41), for independent constraints only.

    From `SPARSE_FROM` unknowns on it is factorised as a sparse matrix: in absolute coordinates M is block diagonal and each
    joint connects two bodies.

    Raises
    ------
    SolverError
        If rows of J depend on each other: the matrix is then singular even where the accelerations are unique.
    """
    n, m = len(f), len(gamma)
    scale = speed_scales(M)
    _, rank = _independent((J * scale).T) if m else (None, 0)
    if rank < m:
        raise SolverError(f"{rank} of {m} constraint equations are independent: the augmented matrix is singular")
    size = np.linalg.norm(E * scale[:, None], axis=0)
    K = np.block([[M, -E], [J, np.zeros((m, m))]])
    balance = np.concatenate([scale, 1.0 / np.where(size > 0.0, size, 1.0)])
    rows = np.concatenate([scale, np.ones(m)])
    scaled, right = rows[:, None] * K * balance, rows * np.concatenate([f, gamma])
    solution = balance * (_solve_sparse(scaled, right) if n + m >= SPARSE_FROM else solve_square(scaled, right))
    return Solution(solution[:n], solution[n:], rank)


def solve_pseudoinverse(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Use Udwadia and Phohomsiri's explicit equation (001 Eqs 21, 22), which allows singular M and dependent constraints.

    ``v_dot = [(1 - A+ A) M; A]+ [f; b]``, unique if and only if [M; A] has full column rank. The multipliers are those of
    least norm.

    Raises
    ------
    SolverError
        If [M; A] does not have full column rank: the motion is then not determined.
    """
    n, m = len(f), len(gamma)
    scale = speed_scales(M)
    A = _unit_rows(J * scale)
    b = gamma / row_norms(J * scale)
    inertia, force = scale[:, None] * M * scale, scale * f
    U, size, V = np.linalg.svd(A) if m else (np.zeros((0, 0)), np.zeros(0), np.eye(n))
    rank = int(np.sum(size > RANK * max(float(np.max(size, initial=0.0)), 1e-300)))
    # 1 - A+ A projects onto V[rank:]; used directly, rounding errors are not divided by small singular values twice
    whole = np.vstack([V[rank:] @ inertia, size[:rank, None] * V[:rank]])
    singular = np.linalg.svd(np.vstack([inertia, A]), compute_uv=False)
    if not singular[-1] > RANK * singular[0]:
        raise SolverError(
            f"mass matrix and constraints together have rank below {n}: some direction has neither inertia nor a constraint"
        )
    w = solve_square(whole, np.concatenate([V[rank:] @ force, U[:, :rank].T @ b]))
    v_dot = scale * w
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.linalg.pinv(J.T * scale[:, None], rcond=RANK) @ (scale * (M @ v_dot - f)) if m else np.zeros(0)
    return Solution(v_dot, lam, rank)


Solver = Callable[..., Solution]

#: Solvers by name
SOLVERS: dict[str, Solver] = {
    "directions": solve_directions,
    "partition": solve_partition,
    "kkt": solve_kkt,
    "pseudoinverse": solve_pseudoinverse,
}


def speed_scales(M: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt(diag M)``; speeds scaled by it make rank independent of units."""
    diagonal = np.diag(M)
    typical = np.max(diagonal, initial=0.0) or 1.0
    return 1.0 / np.sqrt(np.where(diagonal > 1e-14 * typical, diagonal, typical))


def require_agreement(f: np.ndarray, J: np.ndarray, gamma: np.ndarray, v_dot: np.ndarray, scale: np.ndarray) -> None:
    """Raise if the residual of some equation ``J v_dot = gamma`` is large relative to the terms of that equation."""
    gap = np.abs(J @ v_dot - gamma)
    size = np.abs(J) @ (np.abs(v_dot) + scale**2 * np.abs(f)) + np.abs(gamma)
    if np.any(gap > CONTRADICTION * size + 1e-9 * np.max(size, initial=0.0)):
        raise SolverError("constraints contradict each other: no accelerations satisfy them all")


def row_norms(A: np.ndarray) -> np.ndarray:
    """Return the norms by which rows are divided before their rank is found, bounded below relative to the largest.

    A row that vanishes in some position is mostly rounding near it; at unit norm it could be chosen before a good one.
    """
    size = np.linalg.norm(A, axis=1)
    least = SMALL * np.max(size, initial=0.0)
    return np.maximum(size, least if least > 0.0 else 1.0)


def _unit_rows(A: np.ndarray) -> np.ndarray:
    """Scale rows to unit norm, small ones to less."""
    return A / row_norms(A)[:, None]


def pivoted_columns(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]:
    """Return Q, R and order with ``A[:, order] = Q R``, the rank of A with columns of unit norm, and these norms."""
    size = row_norms(A.T)
    Q, R, order = qr(A / size, pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > RANK * max(diagonal[0], 1e-300))) if diagonal.size else 0
    return Q, R * size[order], order, rank, size


def _independent(columns: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the order of the columns by pivoting, and the number of independent ones."""
    _, _, order, rank, _ = pivoted_columns(columns)
    return order, rank


def _solve_sparse(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a square system by a sparse factorisation."""
    try:
        solution: np.ndarray = splu(csc_matrix(A)).solve(b)
    except RuntimeError as error:
        raise SolverError(f"the augmented matrix is singular ({error})") from error
    return solution


def solve_square(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a square system after scaling its rows."""
    if A.size == 0:
        return np.zeros(0)
    size = np.max(np.abs(A), axis=1)
    if np.all(size > 0.0):
        factors, pivots, _ = dgetrf(A / size[:, None])
        if np.min(np.abs(np.diag(factors))) > SINGULAR:
            solution: np.ndarray = lu_solve((factors, pivots), b / size)
            return solution
    raise SolverError(
        "some motion that the constraints allow has no inertia, or the constraint forces do no work on it"
    )
