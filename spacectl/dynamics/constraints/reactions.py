"""Native functions of constraint multipliers: (t, x, u, z, p) -> g with lam from the pivoted kernel.

The multipliers are compiled once for the equations, and each function of them separately; a small C function calls both.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction, compile_expression, prepare_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.kernels import load_kernel
from spacectl.codegen.library import load_tuned
from spacectl.dynamics.constraints.layout import Layout, lay_out_terms
from spacectl.dynamics.constraints.solvers import RANK

__all__ = ["compile_multipliers", "compile_reactions"]


def compile_multipliers(terms: ca.Function, compliance: tuple[float, ...], p: Any) -> NativeFunction:
    """Compile (t, x, u, p) -> (lam, unique) from the terms of constrained equations; lam is NaN where there is no solution.

    Redundant constraints share their load by the compliance of their equations (`constraints.sharing`); `unique` is 1, or 0 for
    reactions that are not unique and for zero columns of E.
    """
    library, n_prepared = _multipliers(terms, compliance)
    n_q, n_v, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(4)
    return prepare_native(library, n_prepared, p, [1, n_q + n_v, terms.numel_in(3), terms.numel_in(4)], [m, m])


def compile_reactions(terms: ca.Function, compliance: tuple[float, ...], rule: ca.Function, p: Any) -> NativeFunction:
    """Compile (t, x, u, z, p) -> g from the terms of constrained equations and a function (t, x, u, z, lam, p) -> g.

    The parameters of `rule` begin with those of the terms. Other parameter values need a new native function.
    """
    numbers = np.asarray(p, dtype=float)
    first = compile_multipliers(terms, compliance, numbers[: terms.numel_in(4)])
    second = compile_expression(rule, numbers)
    library = _composition()
    m = terms.numel_out(4)
    addresses = [first.entry, first.w.ctypes.data, second.entry, second.w.ctypes.data, m]
    return NativeFunction(
        ctypes.cast(library.compose, ctypes.c_void_p).value or 0,
        [rule.numel_in(i) for i in (0, 1, 2, 3, 5)],
        [rule.numel_out(0)],
        np.array(addresses, dtype=np.int64),
        np.zeros(max(2 * m, 1)),
        keep=[library, first, second],
    )


@lru_cache(maxsize=1)
def _composition() -> ctypes.CDLL:
    library: ctypes.CDLL = load_kernel("compose")
    return library


@lru_cache(maxsize=64)
def _multipliers(terms: ca.Function, compliance: tuple[float, ...]) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(4)
    layout = lay_out_terms(terms)
    emitted = emit_function(layout.function, "terms", hoist="p")
    sizes = layout.sizes
    source = f"""
static const double compliance[] = {{{", ".join(map(repr, compliance))}}};
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double q_dot[{n_q}], M[{sizes[1]}], f[{n_v}], J[{sizes[3]}], gamma[{m}], E[{sizes[5]}];
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{q_dot, M, f, J, gamma, E}};
    terms(inner_arg, inner_res, iw, w, mem);
    if (accelerations(M, f, J, gamma, E, res[0]) || {_share(layout, n_v, m)}) {{
        for (int i = 0; i < {m}; i++) res[0][i] = NAN;
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""
    headers = {**layout.headers, "sharing.h": c_source(__package__, "sharing.h")}
    text = f'{layout.text}#include "sharing.h"\n{_SHARE_SPARSE if _is_sparse(layout) else ""}'
    return load_tuned({**headers, "expression.c": text + emitted.text + source}, name="multipliers"), emitted.n_prepared


def _is_sparse(layout: Layout) -> bool:
    return "sparse_solve.h" in layout.headers


def _share(layout: Layout, n_v: int, m: int) -> str:
    """Return the C call that shares the load, for the memory layout of the matrices."""
    if _is_sparse(layout):
        return f"share_sparse(M, E, compliance, {RANK!r}, res[0], res[1])"
    return f"sc_share({n_v}, {m}, M, E, compliance, {RANK!r}, res[0], res[1])"


_SHARE_SPARSE = """
static int share_sparse(const double *M, const double *E, const double *compliance, double tolerance, double *lam,
                        double *unique) {
    const int n = augmented.n, m = augmented.m;
    double *dense = calloc((size_t)n * n + (size_t)n * m, sizeof(double));
    if (!dense) return 1;
    sc_scatter(n, n, augmented.M, M, dense);
    sc_scatter(n, m, augmented.E, E, dense + (long long)n * n);
    const int failed = sc_share(n, m, dense, dense + (long long)n * n, compliance, tolerance, lam, unique);
    free(dense);
    return failed;
}
"""
