"""Accelerations of constrained systems: ``M v_dot = f + E lam``, ``J v_dot = gamma`` by four independent roads.

E is J' for natural constraints, the actuators' input maps for artificial ones. All roads give the same v_dot where it
is unique; they differ in what they can bear. `solve_directions` is the numpy twin of the native kernel
(native/constrained.h), which every formulation uses in native closed loops.
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
    "row_units",
    "solve_directions",
    "solve_kkt",
    "solve_partition",
    "solve_pseudoinverse",
    "solve_rows",
    "speed_scales",
]

RANK = 1e-9  #: singular directions are those below this, of rows and columns scaled to unit size
SPARSE_FROM = 100  #: unknowns of the augmented system from which it is factorised as a sparse matrix
NOTHING = 1e-13  #: rows this small against the largest are rounding of rows that hold nothing
SMALL = (
    1e-4  #: rows smaller than this, of the largest, are scaled as if they had that size: rounding has more part in them
)
CONTRADICTION = 1e-3  #: part of a dependent row that may stay open: drift leaves far less, a contradiction all of it
SINGULAR = 1e-13  #: of a pivot to the rows' largest entries: a few hundred roundings


@dataclass(frozen=True)
class Solution:
    """Accelerations, multipliers, and how many of the constraint rows are independent."""

    v_dot: np.ndarray
    lam: np.ndarray
    rank: int


def solve_directions(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Project the equations on what the constraint forces do not reach: ``N' M v_dot = N' f`` with ``N' E = 0``.

    Rows of J that depend on others are left out; of E likewise, whose multipliers are then zero.

    Raises
    ------
    SolverError
        If the forces span fewer directions than the constraints hold (inadequate actuators), if nothing has inertia, or
        (with `check`, as in all roads) if a row that was left out contradicts the others.
    """
    n, m = len(f), len(gamma)
    if m == 0:
        return Solution(np.linalg.solve(M, f), np.zeros(0), 0)
    scale = speed_scales(M)
    held, rank_J = _independent((J * scale).T)
    Q, R, order, rank_E, _ = pivoted_columns(scale[:, None] * E)
    if rank_E < rank_J:
        raise SolverError(
            f"the constraint forces reach {rank_E} of {rank_J} independent constraints; other actuators are needed"
        )
    free = scale[:, None] * Q[:, rank_E:]
    A = np.vstack([free.T @ M, J[held[:rank_J]]])
    b = np.concatenate([free.T @ f, gamma[held[:rank_J]]])
    if rank_E > rank_J or A.shape[0] != n:
        raise SolverError(f"the constraint forces reach {rank_E} directions but hold {rank_J}: they are not determined")
    v_dot = scale * solve_rows(A * scale, b)
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.zeros(m)
    push = Q[:, :rank_E].T @ (scale * (M @ v_dot - f))
    lam[order[:rank_E]] = solve_triangular(R[:rank_E, :rank_E], push)
    return Solution(v_dot, lam, rank_J)


def solve_partition(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Kane's road: independent speeds by pivoting, the others from the constraints (003 section 3.3).

    ``v = A_c v_I + a`` with ``A_c = [1; -J_D^-1 J_I]``; ``A_c' M A_c v_I_dot = A_c' (f - M a)``. The choice of independent
    speeds is made anew at every call, so it cannot go bad.
    """
    n = len(f)
    scale = speed_scales(M)
    held, rank = _independent((J * scale).T)
    rows = held[:rank]
    order = qr(_unit_rows(J[rows] * scale), mode="economic", pivoting=True)[2] if rank else np.arange(n)
    dependent, independent = order[:rank], order[rank:]
    J_D, J_I = J[np.ix_(rows, dependent)], J[np.ix_(rows, independent)]
    A_c, a = np.zeros((n, n - rank)), np.zeros(n)
    A_c[independent] = np.eye(n - rank)
    A_c[dependent] = -np.linalg.solve(J_D, J_I)
    a[dependent] = np.linalg.solve(J_D, gamma[rows])
    unit = scale[independent]
    v_dot = A_c @ (unit * solve_rows((A_c.T @ M @ A_c) * unit, A_c.T @ (f - M @ a))) + a
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.zeros(len(gamma))
    lam[rows] = np.linalg.lstsq(scale[:, None] * J[rows].T, scale * (M @ v_dot - f), rcond=None)[0]
    return Solution(v_dot, lam, rank)


def solve_kkt(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """The augmented system ``[M, -E; J, 0]`` (000 Eq 41): independent constraints only.

    From `SPARSE_FROM` unknowns on it is factorised as a sparse matrix: in absolute coordinates M is block diagonal and each
    joint touches two bodies.

    Raises
    ------
    SolverError
        If rows of J depend on each other, for then the matrix is singular however well the motion is determined.
    """
    n, m = len(f), len(gamma)
    scale = speed_scales(M)
    _, rank = _independent((J * scale).T) if m else (None, 0)
    if rank < m:
        raise SolverError(f"{m} constraint rows, of which {rank} are independent: the augmented matrix is singular")
    size = np.linalg.norm(E * scale[:, None], axis=0)
    K = np.block([[M, -E], [J, np.zeros((m, m))]])
    balance = np.concatenate([scale, 1.0 / np.where(size > 0.0, size, 1.0)])  # unknowns in units of their own
    rows = np.concatenate([scale, np.ones(m)])
    scaled, right = rows[:, None] * K * balance, rows * np.concatenate([f, gamma])
    solution = balance * (_solve_sparse(scaled, right) if n + m >= SPARSE_FROM else solve_rows(scaled, right))
    return Solution(solution[:n], solution[n:], rank)


def solve_pseudoinverse(
    M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
) -> Solution:
    """Udwadia and Phohomsiri's explicit equation (001 Eqs 21, 22): singular M and dependent constraints are allowed.

    ``v_dot = [(1 - A+ A) M; A]+ [f; b]``, unique if and only if [M; A] has full column rank; the multipliers are those of
    least size.

    Raises
    ------
    SolverError
        If [M; A] has not full column rank: then the motion is not determined.
    """
    n, m = len(f), len(gamma)
    scale = speed_scales(M)
    A = _unit_rows(J * scale)
    b = gamma / row_units(J * scale)
    inertia, force = scale[:, None] * M * scale, scale * f
    U, size, V = np.linalg.svd(A) if m else (np.zeros((0, 0)), np.zeros(0), np.eye(n))
    rank = int(np.sum(size > RANK * max(float(np.max(size, initial=0.0)), 1e-300)))
    # 1 - A+ A projects on the rows V[rank:]; written with them, rounding is not divided by small singular values twice
    whole = np.vstack([V[rank:] @ inertia, size[:rank, None] * V[:rank]])
    singular = np.linalg.svd(np.vstack([inertia, A]), compute_uv=False)
    if not singular[-1] > RANK * singular[0]:
        raise SolverError(
            f"mass matrix and constraints together have rank below {n}: something without inertia is not held either"
        )
    w = solve_rows(whole, np.concatenate([V[rank:] @ force, U[:, :rank].T @ b]))
    v_dot = scale * w
    if check:
        require_agreement(f, J, gamma, v_dot, scale)
    lam = np.linalg.pinv(J.T * scale[:, None], rcond=RANK) @ (scale * (M @ v_dot - f)) if m else np.zeros(0)
    return Solution(v_dot, lam, rank)


Solver = Callable[..., Solution]

#: Roads by name
SOLVERS: dict[str, Solver] = {
    "directions": solve_directions,
    "partition": solve_partition,
    "kkt": solve_kkt,
    "pseudoinverse": solve_pseudoinverse,
}


def speed_scales(M: np.ndarray) -> np.ndarray:
    """``1 / sqrt(diag M)``: speeds in units of their own inertia, so that rank does not depend on units."""
    diagonal = np.diag(M)
    typical = np.max(diagonal, initial=0.0) or 1.0
    return 1.0 / np.sqrt(np.where(diagonal > 1e-14 * typical, diagonal, typical))


def require_agreement(f: np.ndarray, J: np.ndarray, gamma: np.ndarray, v_dot: np.ndarray, scale: np.ndarray) -> None:
    """Raise if ``J v_dot = gamma`` stays open in some row by much of what the row is made of."""
    gap = np.abs(J @ v_dot - gamma)
    size = np.abs(J) @ (np.abs(v_dot) + scale**2 * np.abs(f)) + np.abs(gamma)
    if np.any(gap > CONTRADICTION * size + 1e-9 * np.max(size, initial=0.0)):
        raise SolverError("constraints contradict each other: no accelerations meet them all")


def row_units(A: np.ndarray) -> np.ndarray:
    """What rows are divided by before their rank is judged: their sizes, which are units, but not much less than the largest.

    A row that vanishes in some position is mostly rounding beside it; at unit size it would take the place of a good one.
    """
    size = np.linalg.norm(A, axis=1)
    least = SMALL * np.max(size, initial=0.0)
    return np.maximum(size, least if least > 0.0 else 1.0)


def _unit_rows(A: np.ndarray) -> np.ndarray:
    """Rows scaled to unit size, small ones to less."""
    return A / row_units(A)[:, None]


def pivoted_columns(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]:
    """``A P = Q R``, the order P, the rank of A's columns scaled to unit size, and these sizes; R is of A itself."""
    size = row_units(A.T)
    Q, R, order = qr(A / size, pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > RANK * max(diagonal[0], 1e-300))) if diagonal.size else 0
    return Q, R * size[order], order, rank, size


def _independent(columns: np.ndarray) -> tuple[np.ndarray, int]:
    """Order of the columns by pivoting, and how many are independent."""
    _, _, order, rank, _ = pivoted_columns(columns)
    return order, rank


def _solve_sparse(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solution of a square system by a sparse factorisation."""
    try:
        solution: np.ndarray = splu(csc_matrix(A)).solve(b)
    except RuntimeError as error:
        raise SolverError(f"the augmented matrix is singular ({error})") from error
    return solution


def solve_rows(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solution of a square system after scaling its rows."""
    if A.size == 0:
        return np.zeros(0)
    size = np.max(np.abs(A), axis=1)
    if np.all(size > 0.0):
        factors, pivots, _ = dgetrf(A / size[:, None])
        if np.min(np.abs(np.diag(factors))) > SINGULAR:
            solution: np.ndarray = lu_solve((factors, pivots), b / size)
            return solution
    raise SolverError("nothing has inertia against some motion that the constraints allow, or their forces do no work")
