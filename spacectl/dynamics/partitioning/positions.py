"""Close a mechanism at many positions in native code: by closed forms, or loop after loop by Newton's method (002 Eq 9).

Newton's method starts with plain steps. Where they are large, do not converge, or cross a singular position, damped steps are
made from the start (positions.h). Equations that are not solved for are checked in the end.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction, prepare_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["compile_positions"]

STEPS = 20  #: plain Newton steps of one block
DAMPED = 60  #: damped Newton steps of one block
CLOSED = 1e-14  #: last step [rad or m] at which a block counts as closed
OPEN = 1e-11  #: residual of an equation, relative to the largest coordinate (at least 1): the tolerance of closed forms


def compile_positions(eom: EquationsOfMotion, method: str, p: Any, *, is_own: bool = True) -> NativeFunction:
    """Compile (t, q, u, p) -> q with closed loops (the third argument is unused); NaN if a loop remains open.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations by ``formulation="partitioned"``.
    method : {"closed form", "newton"}
        Method for closing.
    p : array
        Run-time parameters.
    is_own : bool
        Whether these are the system's own, for which the closed forms were verified; else all equations are checked.
    """
    plan = eom.reduction
    if method == "closed form":
        library, n_prepared = _form_library(
            eom.functions["closed_form"], eom.functions["unsolved" if is_own else "closure"]
        )
    else:
        moved = [
            (eom.functions[f"block{k}"], block.speeds)
            for k, block in enumerate(plan.blocks if plan else ())
            if block.speeds
        ]
        library, n_prepared = _newton_library(
            eom.functions["advance"], tuple(moved), tuple(eom.quaternions), eom.functions["unsolved"]
        )
    return prepare_native(library, n_prepared, p, [1, eom.n_q, 0, len(np.asarray(p))], [eom.n_q])


@lru_cache(maxsize=16)
def _form_library(form: ca.Function, checked: ca.Function) -> tuple[ctypes.CDLL, int]:
    emitted, n_q = emit_function(form, "forms", hoist="p"), form.numel_in(1)
    text, check, prepare, at = _check(checked, n_q, emitted.n_prepared)
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double margin[1], *q = res[0];
    const double *given[] = {{arg[0], arg[1], arg[3]}};
    double *found[] = {{q, margin}};
    forms(given, found, iw, w, mem);
    int is_closed = margin[0] > 0.0;
{check}
    if (!is_closed)
        for (int i = 0; i < {n_q}; i++) q[i] = NAN;
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
    forms_prepare(p, w);
{prepare}}}
"""
    return load_tuned({"expression.c": "#include <math.h>\n" + emitted.text + text + source}, name="forms"), at


@lru_cache(maxsize=16)
def _newton_library(
    advance: ca.Function,
    moved: tuple[tuple[ca.Function, tuple[int, ...]], ...],
    quaternions: tuple[int, ...],
    checked: ca.Function,
) -> tuple[ctypes.CDLL, int]:
    n_q, n_v = advance.numel_in(0), advance.numel_in(1)
    emitted = emit_function(advance, "sc_advance", hoist="p")  # glibc has an `advance` of its own
    text, prepare, calls, at = emitted.text, "    sc_advance_prepare(p, w);\n", "", emitted.n_prepared
    for k, (function, speeds) in enumerate(moved):
        name = f"sc_rows{k}"
        emitted = emit_function(function, name, hoist="p")
        text += emitted.text
        prepare += f"    {name}_prepare(p, w + {at});\n"
        words = {"name": name, "m": len(speeds), "at": at, "speeds": ", ".join(map(str, speeds)), "n_q": n_q}
        calls += _BLOCK.format(**words, steps=STEPS, damped=DAMPED, closed=repr(CLOSED))
        at += emitted.n_prepared
    check_text, check, check_prepare, at = _check(checked, n_q, at)
    kernel = c_source("spacectl.dynamics.constraints", "constrained.h") + c_source(__package__, "positions.h")
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double *q = res[0], v[{n_v}], next[{n_q}], start[{n_q}];
    int is_closed = 1;
    memcpy(q, arg[1], {n_q} * sizeof(double));
    memset(v, 0, sizeof v);
    const double *given[] = {{arg[0], q, arg[3]}}, *moving[] = {{q, v, arg[3]}};
    double *moved[] = {{next}};
{calls}
{"".join(_UNIT.format(at=at_q) for at_q in quaternions)}
{check}
    if (!is_closed)
        for (int i = 0; i < {n_q}; i++) q[i] = NAN;
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
{prepare}{check_prepare}}}
"""
    return load_tuned({"expression.c": kernel + text + check_text + source}, name="newton"), at


def _check(checked: ca.Function, n_q: int, at: int) -> tuple[str, str, str, int]:
    """Return code that checks equations and sides: the function, its call, its preparation, and the next free place in w."""
    n_rows, n_sides = checked.numel_out(0), checked.numel_out(1)
    if not n_rows + n_sides:
        return "", "", "", at
    emitted = emit_function(checked, "sc_checked", hoist="p")
    call = _CHECK.format(n_rows=n_rows, n_sides=n_sides, n_q=n_q, at=at, limit=repr(OPEN))
    return emitted.text, call, f"    sc_checked_prepare(p, w + {at});\n", at + emitted.n_prepared


_UNIT = """
    {{
        double size = 0.0;
        for (int i = 0; i < 4; i++) size += q[{at} + i] * q[{at} + i];
        for (int i = 0; i < 4; i++) q[{at} + i] /= sqrt(size);
    }}
"""

_CHECK = """
    if (is_closed) {{
        double g[{n_rows} + 1], sides[{n_sides} + 1], size = 1.0;
        const double *seen[] = {{arg[0], q, arg[3]}};
        double *found[] = {{g, sides}};
        sc_checked(seen, found, iw, w + {at}, mem);
        for (int i = 0; i < {n_q}; i++) size = fmax(size, fabs(q[i]));
        for (int i = 0; i < {n_rows}; i++) is_closed &= fabs(g[i]) <= {limit} * size;
        for (int i = 0; i < {n_sides}; i++) is_closed &= sides[i] > 0.0;
    }}
"""

_BLOCK = """
    if (is_closed) {{
        static const int speeds[] = {{{speeds}}};
        double g[{m}], C[{m} * {m}], T[{m} * {m}], left = 1.0;
        double *out[] = {{g, C}};
        double first = 0.0, det = 0.0;
        memcpy(start, q, sizeof start);
        for (int k = 0; k < {steps} && left > {closed}; k++) {{
            {name}(given, out, iw, w + {at}, mem);
            for (int i = 0; i < {m}; i++)
                for (int j = 0; j < {m}; j++) T[i * {m} + j] = C[j * {m} + i];
            det = sc_solve_square({m}, 1, T, g);
            if (!k) first = det;
            left = 0.0;
            for (int i = 0; i < {m}; i++) left = fmax(left, fabs(g[i])), v[speeds[i]] = -g[i];
            if (!(left < 0.5) || det == 0.0) break;
            sc_advance(moving, moved, iw, w, mem);
            memcpy(q, next, {n_q} * sizeof(double));
        }}
        for (int i = 0; i < {m}; i++) v[speeds[i]] = 0.0;
        if (!(left < 1e-9) || !(det * first > 0.0)) {{
            double work[4 * {m} + 3 * {m} * {m}];
            const sc_block block = {{{m}, {n_q}, speeds, {name}, sc_advance, w + {at}, w, arg[0], arg[3], v}};
            is_closed = 0;
            for (int keep = 0; keep < 2 && !is_closed; keep++) {{
                memcpy(q, start, sizeof start);
                is_closed = sc_close_damped(&block, first, keep, q, next, work, iw, {damped});
            }}
        }}
    }}
"""
