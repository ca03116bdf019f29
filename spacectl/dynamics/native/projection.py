"""The state projected on the constraints, (t, x, p) -> x, as native code and in numpy: for the driver, after each step."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spacectl.dynamics.compile import load_tuned
from spacectl.dynamics.constrained import RANK
from spacectl.dynamics.emit import emit_function
from spacectl.dynamics.native.function import NativeFunction, prepare_native

__all__ = ["compile_projection", "project_state"]

STEPS = 4  #: Newton steps at position level; after an integration step one or two suffice
SMALL = 1e-15  #: residual, relative to the largest coordinate (at least 1), below which none is made


def compile_projection(terms: ca.Function, p: Any) -> NativeFunction:
    """(t, x, p) -> x from the function "projection" of constrained equations, prepared for the numbers p."""
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    library, n_prepared = _library(terms)
    return prepare_native(library, n_prepared, p, [1, n_q + n_v, terms.numel_in(3)], [n_q + n_v])


@lru_cache(maxsize=64)
def _library(terms: ca.Function) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m_p, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(0), terms.numel_out(1)
    emitted = emit_function(terms, "terms", hoist="p")
    kernel = Path(__file__).with_name("constrained.h").read_text(encoding="utf-8")
    most = max(m, 1)
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double g[{max(m_p, 1)}], rate[{most}], J[{n_v * most}], held[{n_v * max(m_p, 1)}], W[{n_q * n_v}], step[{n_v}];
    double work[{n_v * most + n_v + 2 * most}];
    int iwork[{most}], k;
    double *x = res[0];
    const double *inner_arg[] = {{arg[0], x, x + {n_q}, arg[2]}};
    double *inner_res[] = {{g, rate, J, held, W}};
    memcpy(x, arg[1], {n_q + n_v} * sizeof(double));
    for (k = 0; k < {STEPS if m_p else 0}; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m_p}; i++) left = fmax(left, fabs(g[i]));
        for (int i = 0; i < {n_q}; i++) size = fmax(size, fabs(x[i]));
        if (!(left > {SMALL!r} * size)) break;
        sc_least({n_v}, {m_p}, held, g, step, work, iwork, {RANK!r});
        for (int j = 0; j < {n_v}; j++)
            for (int i = 0; i < {n_q}; i++) x[i] += W[j * {n_q} + i] * step[j];
    }}
    for (k = 0; k < 2; k++) {{
        terms(inner_arg, inner_res, iw, w, mem);
        sc_least({n_v}, {m}, J, rate, step, work, iwork, {RANK!r});
        for (int i = 0; i < {n_v}; i++) x[{n_q} + i] += step[i];
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""
    return load_tuned({"expression.c": kernel + emitted.text + source}, name="projection"), emitted.n_prepared


def project_state(eom: Any, t: float, x: Any, p: Any = None) -> np.ndarray:
    """The numpy twin: least changes of coordinates, then of speeds, that meet the constraints."""
    state = np.array(x, dtype=float)
    n_q = eom.n_q
    for _ in range(STEPS if eom.position_rows else 0):
        g, _, _, held, W = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        if not np.max(np.abs(g)) > SMALL * max(1.0, float(np.max(np.abs(state[:n_q]), initial=0.0))):
            break
        state[:n_q] += W @ _least(held, g.reshape(-1))
    for _ in range(2):
        _, rate, J, _, _ = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        state[n_q:] += _least(J, rate.reshape(-1))
    return state


def _least(J: np.ndarray, g: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(J, axis=1)
    size = np.where(size > 0.0, size, 1.0)
    step: np.ndarray = np.linalg.lstsq(J / size[:, None], -g / size, rcond=RANK)[0]
    return step
