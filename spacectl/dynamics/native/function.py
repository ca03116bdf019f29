"""Native functions with CasADi's calling convention, ready for the driver: compiled expressions and tree sweeps."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.compile import load_tuned
from spacectl.dynamics.emit import EmittedC, emit_function
from spacectl.dynamics.emit_turns import entry_with_own_turns
from spacectl.dynamics.native.layout import Layout, lay_out_terms
from spacectl.dynamics.native.tree_kernel import TreeKernel

__all__ = ["FUSED_FROM", "NativeFunction", "compile_expression", "compile_solved", "prepare_native", "tree_function"]

FUSED_FROM = 500  #: operations from which a product and a sum become one: a tenth quicker for a 7-joint arm


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """``int fn(const double **arg, double **res, long long *iw, double *w, int mem)`` and what it works with.

    Parameters
    ----------
    entry : int
        Address of the function.
    sizes_in, sizes_out : sequence of int
        Lengths of arguments and results.
    iw, w : arrays
        Passed to every call. For a compiled expression w holds what was prepared from p and is only read.
    prepare : int
        Address of ``void prepare(const double *p, double *w)``, or 0 if new numbers need a new function.
    keep : list
        What must live as long as the function.
    turned, angles : int and sequence of int
        Address of the entry that gets the sines and cosines of its state behind its arguments, or 0, and which
        entries of the state it reads them of.
    """

    entry: int
    sizes_in: Sequence[int]
    sizes_out: Sequence[int]
    iw: np.ndarray
    w: np.ndarray
    prepare: int = 0
    keep: list[Any] = field(default_factory=list)
    turned: int = 0
    angles: Sequence[int] = ()


def compile_expression(function: ca.Function, p: Any, *, hoist: str = "p") -> NativeFunction:
    """A scalar (SX) CasADi function as native code, prepared for the parameters `p`.

    Small functions round as CasADi does; from `FUSED_FROM` operations on a product and a sum are one operation.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    library, emitted = _expression_library(function, hoist)
    return prepare_native(library, emitted.n_prepared, p, *_sizes(function), emitted.angles)


@lru_cache(maxsize=64)
def _sizes(function: ca.Function) -> tuple[list[int], list[int]]:
    """Lengths of arguments and results."""
    sizes_in = [function.numel_in(i) for i in range(function.n_in())]
    return sizes_in, [function.numel_out(i) for i in range(function.n_out())]


@lru_cache(maxsize=64)
def _expression_library(function: ca.Function, hoist: str) -> tuple[ctypes.CDLL, EmittedC]:
    """The compiled function; once for each function of a process."""
    emitted = emit_function(function, "evaluate", hoist=hoist, turns="x")
    text = "#include <math.h>\n" + emitted.text
    return load_tuned({"expression.c": text}, name=function.name(), flags=_options(function)), emitted


def _options(function: ca.Function) -> tuple[str, ...]:
    """Packing scalars of straight-line code into vectors costs more shuffling than it saves: a sixth for a 7-joint arm."""
    fused = ("-ffp-contract=fast",) if function.n_instructions() >= FUSED_FROM else ()
    return ("-fno-tree-slp-vectorize", *fused)


def prepare_native(
    library: ctypes.CDLL,
    n_prepared: int,
    p: Any,
    sizes_in: list[int],
    sizes_out: list[int],
    angles: Sequence[int] = (),
    data: Any = (),
) -> NativeFunction:
    """A library that defines ``evaluate`` and ``evaluate_prepare`` (with angles also ``evaluate_turned``), prepared for `p`.

    `data` stands behind the prepared numbers in w before they are prepared.
    """
    values, w = np.ascontiguousarray(p, dtype=float), np.concatenate([np.zeros(max(n_prepared, 1)), data])
    library.evaluate_prepare.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.evaluate_prepare.restype = None
    library.evaluate_prepare(values.ctypes.data, w.ctypes.data)
    names = ("evaluate", "evaluate_prepare", *(("evaluate_turned",) if angles else ()))
    entry, prepare, *turned = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names)
    none = np.zeros(1, dtype=np.int64)
    return NativeFunction(entry, sizes_in, sizes_out, none, w, prepare, [library], sum(turned), angles)


def compile_solved(terms: ca.Function, p: Any) -> NativeFunction:
    """(t, x, u, p) -> x_dot from terms (t, q, v, u, p) -> (q_dot, M, f): native code that factorises M.

    With constraints the terms have (J, gamma, E) too (see `dynamics.constrained`). A mass matrix that is not positive
    definite, or constraints that cannot be kept, give rates that are not finite.
    """
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    sizes = [1, n_q + n_v, terms.numel_in(3), terms.numel_in(4)]
    library, emitted = _solved_library(terms)
    return prepare_native(library, emitted.n_prepared, p, sizes, [n_q + n_v], emitted.angles)


@lru_cache(maxsize=64)
def _solved_library(terms: ca.Function) -> tuple[ctypes.CDLL, EmittedC]:
    """The compiled terms with the factorisation behind them; once for each function of a process."""
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    is_constrained = terms.n_out() == 6
    layout = lay_out_terms(terms) if is_constrained else _full_layout(terms)
    emitted = emit_function(layout.function, "terms", hoist="p", turns="q")
    solve = _constrained_source(n_q, n_v, layout.sizes) if is_constrained else _free_source(n_q, n_v)
    if emitted.angles:
        solve = solve.replace("int evaluate(", "int evaluate_turned(").replace("terms(inner", "terms_turned(inner")
        solve = solve.replace("arg[3]}", "arg[3], arg[4]}") + entry_with_own_turns("evaluate", 4, 1, emitted.angles)
    files = {**layout.headers, "expression.c": layout.text + emitted.text + solve}
    name = "constrained_terms" if is_constrained else "solved_terms"
    return load_tuned(files, name=name, flags=_options(terms)), emitted


def _full_layout(terms: ca.Function) -> Layout:
    """Of a system without constraints."""
    header = Path(__file__).with_name("factor.h").read_text(encoding="utf-8")
    return Layout(terms, _sizes(terms)[1], '#include <math.h>\n#include "factor.h"\n', {"factor.h": header})


def _free_source(n_q: int, n_v: int) -> str:
    """The rates of a system without constraints around its terms."""
    return f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double M[{n_v * n_v}];
    double *v_dot = res[0] + {n_q};
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{res[0], M, v_dot}};
    terms(inner_arg, inner_res, iw, w, mem);
    if (sc_factor({n_v}, M) >= 0) {{
        for (int i = 0; i < {n_v}; i++) v_dot[i] = NAN;
    }} else {{
        sc_solve({n_v}, M, v_dot);
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""


def _constrained_source(n_q: int, n_v: int, sizes: Sequence[int]) -> str:
    """The rates of a constrained system around its terms."""
    return f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double M[{sizes[1]}], J[{sizes[3]}], gamma[{sizes[4]}], E[{sizes[5]}];
    double *v_dot = res[0] + {n_q};
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{res[0], M, v_dot, J, gamma, E}};
    terms(inner_arg, inner_res, iw, w, mem);
    if (accelerations(M, v_dot, J, gamma, E, 0)) {{
        for (int i = 0; i < {n_v}; i++) v_dot[i] = NAN;
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""


def tree_function(kernel: TreeKernel, n_p: int) -> NativeFunction:
    """(t, x, u, p) -> x_dot of a tree by the data-driven sweep; one for each thread."""
    n_x = kernel.n_q + kernel.n_v
    if n_x == 0:
        raise ModelError("a system without speeds has nothing to integrate")
    return NativeFunction(
        ctypes.cast(kernel.library.sc_tree_plant, ctypes.c_void_p).value or 0,
        [1, n_x, kernel.n_u, n_p],
        [n_x],
        np.frombuffer(memoryview(kernel.data.struct).cast("B"), dtype=np.int64),
        np.zeros(kernel.data.n_work),
        keep=[kernel],
    )
