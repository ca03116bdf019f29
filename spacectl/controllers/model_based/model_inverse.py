"""Inputs that impose given accelerations, with the structure of the equations, as scalar expressions.

``C v_dot = c`` with ``M v_dot = f + E y`` is solved for the few inputs y by sparse LDL' factors of a part of M that are
written out: no matrix is left in the law, so that it compiles into plain operations. `feedback_linearization` and
`artificial_constraint` use it.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.consistent import make_consistent
from spacectl.dynamics.constraints.authority import Authority
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "command_function",
    "guard_terms",
    "independent_rows",
    "meet_rows",
    "postures",
    "singular_side",
    "solve_symmetric",
]

_FEW = 5  # rows of a determinant that is written out


def meet_rows(eom: EquationsOfMotion, M: Any, f: Any, C: Any, right: Any, E: Any) -> tuple[Any, list[Any], Any]:
    """Return y with ``C v_dot = right`` where ``M v_dot = f + E y``; squared leverages; the side of a singularity.

    C has as many rows as E has columns. Speeds on which no input in y acts directly are eliminated first, by the
    equations in which y does not stand. The leverage is that of `measure_authority` as the root of the harmonic mean
    of the squared cosines: at most sqrt(m) times the smallest of m cosines, and zero with it. There is none where it
    is 1 everywhere (inputs that act on the outputs directly). The side changes its sign where inputs pass through a
    position without authority.
    """
    M, C, E = ca.sparsify(M), ca.sparsify(C), ca.sparsify(E)
    pushed = sorted(set(E.sparsity().row()))
    m = E.shape[1]
    if len(pushed) != m:
        Z = _divide(eom, M.T, C.T)  # ``C M^-1`` transposed: one solution for each row
        D = ca.sparsify(Z.T @ E)
        back = ca.solve(D, ca.SX.eye(m))
        weights = (Z.T @ C.T) @ back.T @ (E.T @ _divide(eom, M, E)) @ back  # W^-1 W^-T for the scaled matrix W
        return ca.solve(D, right - Z.T @ f), [m / ca.trace(weights)], singular_side(D)
    free = [k for k in range(eom.n_v) if k not in pushed]
    squares, side = [], singular_side(C[:, pushed], E[pushed, :])
    if C[:, free].nnz():  # by the free rows, v_dot of the free speeds = base - slope times that of the pushed ones
        both = _divide(eom, M[free, free], ca.horzcat(f[free], M[free, pushed], C[:, free].T))
        base, slope, spread = both[:, 0], both[:, 1 : m + 1], both[:, m + 1 :]
        S = ca.sparsify(C[:, pushed] - C[:, free] @ slope)
        v_pushed = ca.solve(S, right - C[:, free] @ base)
        v_free = base - slope @ v_pushed
        # C M^-1 C' = K + S N^-1 S' with the reduced inertia N, C M^-1 E = S N^-1 E_p and E' M^-1 E = E_p' N^-1 E_p
        N, K, back = M[pushed, pushed] - M[pushed, free] @ slope, C[:, free] @ spread, ca.solve(S, ca.SX.eye(m))
        squares, side = [m / (m + ca.trace(back @ K @ back.T @ N))], singular_side(S, E[pushed, :])
    else:
        v_pushed = ca.solve(C[:, pushed], right)
        v_free = _divide(eom, M[free, free], f[free] - M[free, pushed] @ v_pushed)
    efforts = M[pushed, pushed] @ v_pushed + M[pushed, free] @ v_free - f[pushed]
    return ca.solve(E[pushed, :], efforts), squares, side


def singular_side(*factors: Any) -> Any:
    """Return a product of determinants that changes its sign at a singularity; empty if constant or of over five rows."""
    if factors[0].shape[0] > _FEW:
        return ca.SX(0, 1)
    product = ca.det(factors[0]) if len(factors) == 1 else ca.det(factors[0]) * ca.det(factors[1])
    return product if ca.symvar(product) else ca.SX(0, 1)


def guard_terms(C: Any, E: Any, own: int, M: Any, symbols: Any, design: Authority | None) -> list[Any]:
    """Return the squared independence of the first `own` rows of C and columns of E.

    It is relative to that at design, and empty if it does not depend on `symbols`.
    """
    if design is None:
        return []
    given = ((C, design.output_sizes), (E.T, design.input_sizes))
    return [
        _independence(rows, sizes, own, M) / design.independence**2
        for rows, sizes in given
        if ca.depends_on(rows, symbols)
    ]


def _independence(rows: Any, sizes: np.ndarray, own: int, M: Any) -> Any:
    """Return the squared distance of the first `own` rows from zero, from combinations of each other, and of the rest.

    It is that of `Authority`, with rows in units of their `sizes` at design, and a mean in place of the smallest as in
    `meet_rows`. A block of the inverse of a Gram matrix is that of what the rest leaves.
    """
    scaled = rows @ ca.diag(1.0 / ca.sqrt(ca.diag(M)))
    rest = ca.sqrt(ca.sum2(scaled[own:, :] ** 2))
    unit = ca.diag(1.0 / ca.vertcat(ca.DM(sizes), rest)) @ scaled
    return own / ca.trace(ca.solve(unit @ unit.T, ca.SX.eye(rows.shape[0])[:, :own])[:own, :])


def solve_symmetric(A: Any, columns: Any) -> Any:
    """Return ``A^-1 columns`` for a symmetric positive definite A, written out."""
    D, LT, order = ca.ldl(ca.sparsify(A), True)
    return ca.ldl_solve(ca.densify(columns), D, LT, order)


def command_function(name: str, symbols: list[Any], *results: Any) -> ca.Function:
    """Return a function of scalar expressions without repeated subexpressions (derivatives repeat every sine)."""
    return ca.Function(name, symbols, ca.cse([ca.densify(item) for item in results]))


def _divide(eom: EquationsOfMotion, M: Any, columns: Any) -> Any:
    """Return ``M^-1 columns`` for (a part of) the mass matrix, which is symmetric unless an order is truncated."""
    if M.shape[0] == 0:
        return ca.SX(0, columns.shape[1])
    return ca.solve(M, ca.densify(columns)) if eom.system.is_first_order else solve_symmetric(M, columns)


def independent_rows(eom: EquationsOfMotion) -> list[int]:
    """Return the indices of independent natural constraint equations, determined near the reference position.

    A bearing that closes a planar loop has five equations, two of which are independent of those of the other pins.
    """
    rows = list(range(len(eom.constraint_rows)))
    try:
        kept = [_independent(eom, x) for x in postures(eom)]
    except SolverError:
        return rows
    return max(kept, key=len, default=rows)


def postures(eom: EquationsOfMotion) -> list[np.ndarray]:
    """Return the reference position and one near it, made consistent with the constraints."""
    rest = np.array(eom.x_rest, dtype=float)
    moved = rest.copy()
    moved[: eom.n_q] += (0.03 if eom.constraint_rows else 0.1) * np.cos(np.arange(eom.n_q))
    return [np.array(make_consistent(eom, eom.state(x)).x) for x in (rest, moved)]


def _independent(eom: EquationsOfMotion, x: np.ndarray) -> list[int]:
    q, v = x[: eom.n_q], x[eom.n_q :]
    J = eom.call("constraints", 0.0, q, v)[2] / np.sqrt(np.diag(eom.mass_matrix(0.0, q)))
    size = np.linalg.norm(J, axis=1)
    base, kept = np.zeros((0, eom.n_v)), []
    for k in np.flatnonzero(size > NEGLIGIBLE * np.max(size, initial=0.0)):
        rest = J[k] / size[k]
        for _ in range(2):  # once more for the rounding of the first
            rest = rest - base.T @ (base @ rest)
        if np.linalg.norm(rest) > RANK:
            base = np.vstack([base, rest / np.linalg.norm(rest)])
            kept.append(int(k))
    return kept
