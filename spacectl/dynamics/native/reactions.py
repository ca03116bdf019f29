"""Rules of the multipliers of constraints as native code: (t, x, u, z, p) -> g with lam from the pivoted kernel."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca

from spacectl.dynamics.compile import load_tuned
from spacectl.dynamics.constrained import RANK
from spacectl.dynamics.emit import emit_function
from spacectl.dynamics.native.function import NativeFunction, prepare_native

__all__ = ["compile_reactions"]


def compile_reactions(terms: ca.Function, rule: ca.Function, p: Any) -> NativeFunction:
    """(t, x, u, z, p) -> g from the terms of constrained equations and a rule (t, x, u, z, lam, p) -> g.

    The p of the rule begins with the p of the terms. Where the constraints cannot be solved, g is not a number.
    """
    library, n_prepared = _library(terms, rule)
    sizes = [rule.numel_in(i) for i in (0, 1, 2, 3, 5)]
    return prepare_native(library, n_prepared, p, sizes, [rule.numel_out(0)])


@lru_cache(maxsize=64)
def _library(terms: ca.Function, rule: ca.Function) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m, n_g = terms.numel_in(1), terms.numel_in(2), terms.numel_out(4), rule.numel_out(0)
    found, watched = emit_function(terms, "terms", hoist="p"), emit_function(rule, "rule", hoist="p")
    kernel = Path(__file__).with_name("constrained.h").read_text(encoding="utf-8")
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double q_dot[{n_q}], M[{n_v * n_v}], f[{n_v}], J[{n_v * m}], gamma[{m}], E[{n_v * m}], lam[{m}];
    double work[{2 * n_v * m + n_v * n_v + 6 * n_v + 4 * m}];
    int iwork[{2 * m}];
    const double *terms_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[4]}};
    double *terms_res[] = {{q_dot, M, f, J, gamma, E}};
    const double *rule_arg[] = {{arg[0], arg[1], arg[2], arg[3], lam, arg[4]}};
    terms(terms_arg, terms_res, iw, w, mem);
    if (sc_constrained({n_v}, {m}, M, f, J, gamma, E, lam, work, iwork, {RANK!r})) {{
        for (int i = 0; i < {n_g}; i++) res[0][i] = NAN;
        return 0;
    }}
    return rule(rule_arg, res, iw, w + {found.n_prepared}, mem);
}}
void evaluate_prepare(const double *p, double *w) {{
    terms_prepare(p, w);
    rule_prepare(p, w + {found.n_prepared});
}}
"""
    text = kernel + found.text + watched.text + source
    return load_tuned({"expression.c": text}, name="reactions"), found.n_prepared + watched.n_prepared
