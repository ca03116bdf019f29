"""Native state derivatives around generated terms: factorise the mass matrix or solve constraints by the pivoted kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import casadi as ca

from spacectl.codegen.emit_c import EmittedC, emit_function
from spacectl.codegen.library import load_tuned
from spacectl.codegen.native_function import NativeFunction, compiler_flags, find_sizes, prepare_native
from spacectl.codegen.shared_sines import entry_with_own_turns
from spacectl.codegen.sources import c_source
from spacectl.dynamics.constraints.layout import Layout, lay_out_terms

__all__ = ["compile_solved"]


def compile_solved(terms: ca.Function, p: Any, layout: Layout | None = None) -> NativeFunction:
    """Compile (t, x, u, p) -> x_dot from terms (t, q, v, u, p) -> (q_dot, M, f): native code that factorises M.

    With constraints the terms return (J, gamma, E) too (see `dynamics.constraints.solvers`). Where the mass matrix is not
    positive definite, or the constraints cannot be satisfied, v_dot is NaN. A `layout` brings its own C function
    ``accelerations``.
    """
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    sizes = [1, n_q + n_v, terms.numel_in(3), terms.numel_in(4)]
    library, emitted = _solved_library(terms, layout)
    return prepare_native(library, emitted.n_prepared, p, sizes, [n_q + n_v], emitted.angles)


@lru_cache(maxsize=64)
def _solved_library(terms: ca.Function, layout: Layout | None) -> tuple[ctypes.CDLL, EmittedC]:
    """Compile the terms together with the factorisation, once for each function of a process."""
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    is_constrained = terms.n_out() == 6
    if layout is None:
        layout = lay_out_terms(terms) if is_constrained else _full_layout(terms)
    emitted = emit_function(layout.function, "terms", hoist="p", turns="q")
    solve = _source(n_q, n_v, layout.sizes, is_constrained)
    if emitted.angles:
        solve = solve.replace("int evaluate(", "int evaluate_turned(").replace("terms(inner", "terms_turned(inner")
        solve = solve.replace("arg[3]}", "arg[3], arg[4]}") + entry_with_own_turns("evaluate", 4, 1, emitted.angles)
    files = {**layout.headers, "expression.c": layout.text + emitted.text + solve}
    name = "constrained_terms" if is_constrained else "solved_terms"
    return load_tuned(files, name=name, flags=compiler_flags(terms)), emitted


def _full_layout(terms: ca.Function) -> Layout:
    """Return the layout of a system without constraints."""
    header = c_source("spacectl.dynamics.recursion", "factor.h")
    return Layout(terms, find_sizes(terms)[1], '#include <math.h>\n#include "factor.h"\n', {"factor.h": header})


def _source(n_q: int, n_v: int, sizes: Sequence[int], is_constrained: bool) -> str:
    """Return C for the state derivatives of a system around its terms."""
    if is_constrained:
        locals_ = f"double M[{sizes[1]}], J[{sizes[3]}], gamma[{sizes[4]}], E[{sizes[5]}];"
        results, failed = "res[0], M, v_dot, J, gamma, E", "accelerations(M, v_dot, J, gamma, E, 0)"
    else:
        locals_ = f"double M[{n_v * n_v}];"
        results, failed = "res[0], M, v_dot", f"sc_factor({n_v}, M) >= 0"
    solve = "" if is_constrained else f" else {{ sc_solve({n_v}, M, v_dot); }}"
    return f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    {locals_}
    double *v_dot = res[0] + {n_q};
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{{results}}};
    terms(inner_arg, inner_res, iw, w, mem);
    if ({failed}) {{
        for (int i = 0; i < {n_v}; i++) v_dot[i] = NAN;
    }}{solve}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""
