"""Memory layout of the matrices of constrained equations, and the C functions that solve with them.

Small systems use full matrices and the pivoted kernels of constrained.h. In large systems most entries are
zero, especially in absolute coordinates: only the nonzeros are computed, stored and factorised
(sparse_solve.h). Generated code calls the same functions for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from spacectl.codegen.compiler import c_source
from spacectl.dynamics.constraints.solvers import RANK

__all__ = ["Layout", "lay_out_projection", "lay_out_terms"]

SPARSE_FROM = 30  #: speeds plus constraint equations from which the sparse layout is considered
SPARSE_BELOW = 0.15  #: density of the augmented matrix below which the sparse layout is used


@dataclass(frozen=True, eq=False)
class Layout:
    """A function, the sizes of its results, and C functions that work on them.

    Parameters
    ----------
    function : casadi.Function
        The function to emit; its results are full matrices or nonzeros only.
    sizes : sequence of int
        Lengths of the results, at least 1.
    text : str
        C functions, to be inserted before the code that calls them.
    headers : dict
        Header files that `text` includes.
    """

    function: ca.Function
    sizes: Sequence[int]
    text: str
    headers: dict[str, str]


@lru_cache(maxsize=64)
def lay_out_terms(terms: ca.Function) -> Layout:
    """Lay out "terms" (q_dot, M, f, J, gamma, E), with a C function ``accelerations`` that calls `sc_constrained`."""
    n, m = terms.numel_in(2), terms.numel_out(4)
    sparse = _without_zeros(terms) if n + m >= SPARSE_FROM else terms
    M, J, E = (sparse.sparsity_out(i) for i in (1, 3, 5))
    if not _is_sparse((M, J, E), n + m):
        return _layout(terms, _ACCELERATIONS.format(n=n, m=m, room=2 * n * m + n * n + 6 * n + 4 * m), "constrained.h")
    whole = ca.vertcat(ca.horzcat(M, E), ca.horzcat(J, ca.Sparsity(m, m)))
    tables = [_table(name, item) for name, item in (("M", M), ("J", J), ("E", E), ("whole", whole))]
    shape = f"{n}, {m}, {_pointers('M', 'J', 'E', 'whole')}, order"
    text = "".join([*tables, _numbers("order", _column_order(whole)), _SPARSE_ACCELERATIONS.format(shape=shape)])
    return _layout(sparse, text, "constrained.h", "sparse.h", "sparse_solve.h")


@lru_cache(maxsize=64)
def lay_out_projection(projection: ca.Function) -> Layout:
    """Lay out "projection" (position, speed, J, J_position, W), with C functions as in constrained.h.

    ``least_step_all`` and ``least_step_position`` (all equations, position-level equations) call `sc_least`,
    ``update_row_scales`` calls `sc_update_row_scales`, and ``move`` computes ``x += W step``.
    """
    n_q, n = projection.numel_in(1), projection.numel_in(2)
    m_p, m = projection.numel_out(0), projection.numel_out(1)
    sparse = _without_zeros(projection) if n + m >= SPARSE_FROM else projection
    J, J_position, W = (sparse.sparsity_out(i) for i in (2, 3, 4))
    if not _is_sparse((J, J.T, ca.Sparsity.diag(n)), n + m):
        text = _LEAST.format(name="step_all", n=n, m=m) + _LEAST.format(name="step_position", n=n, m=m_p)
        return _layout(projection, text + _FULL_ROWS.format(n_q=n_q, n=n, m=m), "constrained.h")
    text = _sparse_rows("step_all", J) + _sparse_rows("step_position", J_position) + _table("W", W)
    return _layout(sparse, text + _SPARSE_ROWS.format(n=n, m=max(m, 1)), "constrained.h", "sparse.h", "sparse_solve.h")


def _layout(function: ca.Function, text: str, *headers: str) -> Layout:
    sizes = tuple(max(function.nnz_out(i), 1) for i in range(function.n_out()))
    files = {name: c_source(__package__, name) for name in headers}
    return Layout(function, sizes, f'#include "{headers[-1]}"\n{text}', files)


def _without_zeros(function: ca.Function) -> ca.Function:
    """Return the same function with sparse matrices as results; vectors remain full."""
    given = [ca.SX.sym(name, function.size_in(i)[0]) for i, name in enumerate(function.name_in())]
    results = [ca.sparsify(item) for item in function.call(given)]
    vectors = {"q_dot", "f", "gamma", "position", "speed"}
    results = [
        ca.densify(item) if name in vectors else item for name, item in zip(function.name_out(), results, strict=True)
    ]
    return ca.Function(function.name(), given, results, function.name_in(), function.name_out())


def _is_sparse(blocks: Iterable[ca.Sparsity], size: int) -> bool:
    """Return whether the augmented matrix is large and sparse enough for a sparse factorisation to be faster."""
    return size >= SPARSE_FROM and sum(item.nnz() for item in blocks) < SPARSE_BELOW * size**2


def _column_order(whole: ca.Sparsity) -> list[int]:
    """Return a column order for elimination with little fill, found on random entries."""
    rng = np.random.default_rng(0)
    pattern = (rng.uniform(0.5, 1.5, whole.nnz()), np.asarray(whole.row()), np.asarray(whole.colind()))
    A = csc_matrix(pattern, shape=whole.shape)
    best: tuple[int, list[int]] | None = None
    for kind in ("MMD_AT_PLUS_A", "COLAMD"):
        try:
            done = splu(A, permc_spec=kind, diag_pivot_thresh=0.1)
        except RuntimeError:  # structurally singular: the dense kernel reports it
            continue
        if best is None or done.L.nnz + done.U.nnz < best[0]:
            best = done.L.nnz + done.U.nnz, np.argsort(done.perm_c).tolist()
    return best[1] if best else list(range(whole.size1()))


def _sparse_rows(name: str, J: ca.Sparsity) -> str:
    """Return the tables of a `sc_rows`, and its C function ``least_NAME``."""
    m, n = J.shape
    whole = ca.vertcat(ca.horzcat(ca.Sparsity.diag(n), J.T), ca.horzcat(J, ca.Sparsity(m, m)))
    rows, columns = np.asarray(J.row(), dtype=int), np.asarray(J.get_col(), dtype=int)
    come_from = np.lexsort((columns, rows))  # nonzeros of J row by row
    tables = _table(f"{name}_J", J) + _table(f"{name}_whole", whole) + _numbers(f"{name}_from", come_from.tolist())
    tables += _numbers(f"{name}_order", _column_order(whole))
    shape = f"{n}, {m}, {_pointers(f'{name}_J', f'{name}_whole')}, {name}_from, {name}_order"
    return tables + _SPARSE_LEAST.format(name=name, shape=shape, rank=repr(RANK))


def _table(name: str, pattern: ca.Sparsity) -> str:
    return _numbers(f"{name}_start", pattern.colind()) + _numbers(f"{name}_row", pattern.row())


def _numbers(name: str, values: Iterable[int]) -> str:
    return f"static const int {name}[] = {{{', '.join(map(str, values)) or '0'}}};\n"


def _pointers(*names: str) -> str:
    return ", ".join(f"{{{name}_start, {name}_row}}" for name in names)


_ACCELERATIONS = """
static int accelerations(const double *M, double *f, const double *J, const double *gamma, const double *E, double *lam) {{
    double work[{room}];
    int iwork[2 * {m} + 1];
    return sc_constrained({n}, {m}, M, f, J, gamma, E, lam, work, iwork, RANK);
}}
""".replace("RANK", repr(RANK))

_SPARSE_ACCELERATIONS = """
static const sc_augmented augmented = {{{shape}}};
static int accelerations(const double *M, double *f, const double *J, const double *gamma, const double *E, double *lam) {{
    return sc_sparse_constrained(&augmented, M, f, J, gamma, E, lam, RANK);
}}
""".replace("RANK", repr(RANK))

_LEAST = """
static int least_{name}(const double *J, const double *g, double *step, int *used, double tolerance, const double *row_scales,
                        double *distance) {{
    double work[{n} * {m} + {n} + 2 * {m} + 1];
    return sc_least({n}, {m}, J, g, step, work, used, tolerance, row_scales, distance);
}}
"""

_FULL_ROWS = """
static void update_row_scales(const double *J, double *row_scales) {{ sc_update_row_scales({n}, {m}, J, row_scales); }}
static void move(double *x, const double *W, const double *step) {{
    for (int j = 0; j < {n}; j++)
        for (int i = 0; i < {n_q}; i++) x[i] += W[j * {n_q} + i] * step[j];
}}
"""

_SPARSE_LEAST = """
static const sc_rows {name}_shape = {{{shape}}};
static int least_{name}(const double *J, const double *g, double *step, int *used, double tolerance, const double *row_scales,
                        double *distance) {{
    return sc_sparse_least(&{name}_shape, J, g, step, used, tolerance, tolerance > {rank}, row_scales, distance);
}}
"""

_SPARSE_ROWS = """
static void update_row_scales(const double *J, double *row_scales) {{
    double work[{m}];
    sc_sparse_row_scales(&step_all_shape, J, row_scales, work);
}}
static void move(double *x, const double *W, const double *step) {{
    for (int j = 0; j < {n}; j++)
        for (int e = W_start[j]; e < W_start[j + 1]; e++) x[W_row[e]] += W[e] * step[j];
}}
"""
