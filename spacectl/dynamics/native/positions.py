"""Many positions of a mechanism closed at once, natively: by closed forms, or loop after loop by Newton's method (002 Eq 9)."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spacectl.dynamics.compile import load_tuned
from spacectl.dynamics.emit import emit_function
from spacectl.dynamics.native.function import NativeFunction, prepare_native

__all__ = ["compile_positions"]

STEPS = 20  #: Newton steps of one loop
CLOSED = 1e-14  #: last step [rad or m] at which a loop counts as closed


def compile_positions(eom: Any, method: str, p: Any) -> NativeFunction:
    """(t, q, u, p) -> q with closed loops (the third argument is not used); not a number where a loop stays open."""
    plan = eom.stats["road"]
    if method == "closed form":
        library, n_prepared = _form_library(eom.functions["closed_form"])
    else:
        rows = tuple(eom.functions[f"loop{k}"] for k in range(len(plan.loops)))
        wished = tuple(loop.wished for loop in plan.loops)
        library, n_prepared = _newton_library(eom.functions["advance"], rows, wished, tuple(eom.quaternions))
    return prepare_native(library, n_prepared, p, [1, eom.n_q, 0, len(np.asarray(p))], [eom.n_q])


@lru_cache(maxsize=16)
def _form_library(form: ca.Function) -> tuple[ctypes.CDLL, int]:
    emitted, n_q = emit_function(form, "forms", hoist="p"), form.numel_in(1)
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double margin[1];
    const double *given[] = {{arg[0], arg[1], arg[3]}};
    double *found[] = {{res[0], margin}};
    forms(given, found, iw, w, mem);
    if (!(margin[0] > 0.0))
        for (int i = 0; i < {n_q}; i++) res[0][i] = NAN;
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ forms_prepare(p, w); }}
"""
    return load_tuned({"expression.c": "#include <math.h>\n" + emitted.text + source}, name="forms"), emitted.n_prepared


@lru_cache(maxsize=16)
def _newton_library(
    advance: ca.Function,
    rows: tuple[ca.Function, ...],
    wished: tuple[tuple[int, ...], ...],
    quaternions: tuple[int, ...],
) -> tuple[ctypes.CDLL, int]:
    n_q, n_v = advance.numel_in(0), advance.numel_in(1)
    text, prepare, calls, at = "", "", "", 0
    for k, (function, speeds) in enumerate([*zip(rows, wished, strict=True), (advance, ())]):
        name = f"sc_rows{k}" if speeds else "sc_advance"  # glibc has an `advance` of its own
        emitted = emit_function(function, name, hoist="p")
        text += emitted.text
        prepare += f"    {name}_prepare(p, w + {at});\n"
        if speeds:
            calls += _LOOP.format(
                name=name,
                m=len(speeds),
                at=at,
                speeds=", ".join(map(str, speeds)),
                steps=STEPS,
                closed=repr(CLOSED),
                n_q=n_q,
            )
        else:
            text += f"#define ADVANCE_AT {at}\n"
        at += emitted.n_prepared
    kernel = Path(__file__).with_name("constrained.h").read_text(encoding="utf-8")
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double *q = res[0], v[{n_v}], next[{n_q}];
    memcpy(q, arg[1], {n_q} * sizeof(double));
    memset(v, 0, sizeof v);
    const double *given[] = {{arg[0], q, arg[3]}}, *moving[] = {{q, v, arg[3]}};
    double *moved[] = {{next}};
{calls}
{"".join(_UNIT.format(at=at_q) for at_q in quaternions)}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
{prepare}}}
"""
    return load_tuned({"expression.c": kernel + text + source}, name="newton"), at


_UNIT = """
    {{
        double size = 0.0;
        for (int i = 0; i < 4; i++) size += q[{at} + i] * q[{at} + i];
        for (int i = 0; i < 4; i++) q[{at} + i] /= sqrt(size);
    }}
"""

_LOOP = """
    {{
        static const int speeds[] = {{{speeds}}};
        double g[{m}], C[{m} * {m}], T[{m} * {m}], left = 1.0;
        double *out[] = {{g, C}};
        for (int k = 0; k < {steps} && left > {closed}; k++) {{
            {name}(given, out, iw, w + {at}, mem);
            for (int i = 0; i < {m}; i++)
                for (int j = 0; j < {m}; j++) T[i * {m} + j] = C[j * {m} + i];
            if (sc_solve_rows({m}, T, g)) break;
            left = 0.0;
            for (int i = 0; i < {m}; i++) left = fmax(left, fabs(g[i])), v[speeds[i]] = -g[i];
            sc_advance(moving, moved, iw, w + ADVANCE_AT, mem);
            memcpy(q, next, {n_q} * sizeof(double));
            for (int i = 0; i < {m}; i++) v[speeds[i]] = 0.0;
        }}
        if (!(left < 1e-9)) {{
            for (int i = 0; i < {n_q}; i++) q[i] = NAN;
            return 0;
        }}
    }}
"""
