"""Native code of `partitioned`: rates by sequential reduction, and states closed loop after loop.

The plan (`dynamics.partitioning.plan`) is written into the code as tables; elimination.h has the algorithms.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.codegen.native_function import NativeFunction, prepare_native
from spacectl.codegen.sources import c_source
from spacectl.dynamics.constraints.row_scales import Around, Nearness, Samples, levers_source, row_levers
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.partitioning.elimination import LoopRows, eliminate, expand

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["close_state", "compile_closing", "compile_reduced"]

STEPS = 4  #: Newton steps at position level, as in `projection`
SMALL = 1e-15  #: residual, relative to the largest coordinate (at least 1), below which none is made


def compile_reduced(terms: ca.Function, plan: Any, p: Any) -> NativeFunction:
    """(t, x, u, p) -> x_dot from the terms of a constrained system (see `compile_solved`) by sequential reduction."""
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    library, n_prepared = _reduced_library(terms, plan)
    return prepare_native(library, n_prepared, p, [1, n_q + n_v, terms.numel_in(3), terms.numel_in(4)], [n_q + n_v])


@lru_cache(maxsize=64)
def _reduced_library(terms: ca.Function, plan: Any) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(4)
    emitted = emit_function(terms, "terms", hoist="p")
    source = f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double M[{n_v * n_v}], J[{n_v * m}], gamma[{m}], E[{n_v * m}];
    double work[{n_v * m + 2 * n_v * n_v + 3 * n_v + 3 * m}];
    int iwork[{2 * m + len(plan.loops) + n_v}];
    char flags[{n_v}];
    double *v_dot = res[0] + {n_q};
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{res[0], M, v_dot, J, gamma, E}};
    terms(inner_arg, inner_res, iw, w, mem);
    if (sc_sequential(&loops, M, v_dot, J, gamma, {RANK!r}, work, iwork, flags)) {{
        for (int i = 0; i < {n_v}; i++) v_dot[i] = NAN;
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""
    text = _kernels() + _table("loops", n_v, m, plan.loops) + emitted.text + source
    return load_tuned({"expression.c": text}, name="reduced_terms"), emitted.n_prepared


def compile_closing(
    terms: ca.Function, closed: ca.Function | None, plan: Any, p: Any, data: np.ndarray
) -> NativeFunction:
    """(t, x, p) -> (x, near) that meets the constraints, the independent coordinates and speeds as they are.

    Parameters
    ----------
    terms, closed : casadi.Function
        "projection" and (if there are legs with closed forms) "closed_form" of the equations.
    plan : PartitionPlan
        The loops.
    p : array
        Run-time numbers.
    data : array
        `levers.Samples.data`.
    """
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    library, n_prepared = _closing_library(terms, closed, plan)
    return prepare_native(library, n_prepared, p, [1, n_q + n_v, terms.numel_in(3)], [n_q + n_v, 1], data=data)


@lru_cache(maxsize=64)
def _closing_library(terms: ca.Function, closed: ca.Function | None, plan: Any) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m_p, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(0), terms.numel_out(1)
    emitted = emit_function(terms, "terms", hoist="p")
    forms = None if closed is None else emit_function(closed, "forms", hoist="p")
    n_prepared = emitted.n_prepared + (0 if forms is None else forms.n_prepared)
    most = max(m, 1)
    use_forms = "" if forms is None else _FORMS.format(n_q=n_q, shift=emitted.n_prepared)
    source = f"""
static const double units[] = {{{", ".join(repr(item) for item in plan.units)}}};
static double step_of(const sc_loops *L, const double *J, const double *g, const double *levers, double *step) {{
    double R[{n_v * most}], c[{most}], size[{most}];
    int used[{most}], depends[{most}], found[{max(len(plan.loops), 1)}];
    char flags[{n_v}];
    for (int i = 0; i < L->m; i++) {{
        c[i] = -g[i];
        for (int j = 0; j < {n_v}; j++) R[i * {n_v} + j] = J[j * L->m + i];
    }}
    const double near = sc_eliminate(L, R, c, units, {RANK!r}, size, levers, used, depends, found, flags);
    memset(step, 0, {n_v} * sizeof(double));
    sc_expand(L, R, c, used, depends, found, step);
    return near;
}}
static double nearness(const double *J, const double *levers) {{
    double none[{most}], step[{n_v}];
    memset(none, 0, sizeof none);
    return step_of(&loops, J, none, levers, step);
}}
static void note_levers(const double *J, double *levers) {{ sc_note_levers({n_v}, {m}, J, levers); }}
{levers_source(terms, n_prepared)}
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double g[{max(m_p, 1)}], rate[{most}], J[{n_v * most}], held[{n_v * max(m_p, 1)}], W[{n_q * n_v}], step[{n_v}];
    double *x = res[0];
    const double *inner_arg[] = {{arg[0], x, x + {n_q}, arg[2]}};
    double *inner_res[] = {{g, rate, J, held, W}};
    int k;
    memcpy(x, arg[1], {n_q + n_v} * sizeof(double));
    {use_forms}
    for (k = 0; k < {STEPS}; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m_p}; i++) left = fmax(left, fabs(g[i]));
        for (int i = 0; i < {n_q}; i++) size = fmax(size, fabs(x[i]));
        if (!(left > {SMALL!r} * size)) break;
        step_of(&positions, held, g, 0, step);
        for (int j = 0; j < {n_v}; j++)
            for (int i = 0; i < {n_q}; i++) x[i] += W[j * {n_q} + i] * step[j];
    }}
    for (k = 0; k < 2; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m}; i++) left = fmax(left, fabs(rate[i]));
        for (int i = 0; i < {n_v}; i++) size = fmax(size, fabs(x[{n_q} + i]));
        if (k > 0 && !(left > {SMALL!r} * size)) break;
        res[1][0] = step_of(&loops, J, rate, w + {n_prepared}, step);
        for (int i = 0; i < {n_v}; i++) x[{n_q} + i] += step[i];
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
    terms_prepare(p, w);
    {"" if forms is None else f"forms_prepare(p, w + {emitted.n_prepared});"}
    find_levers(p, w);
}}
"""
    tables = _table("loops", n_v, m, plan.loops) + _table("positions", n_v, m_p, plan.positions)
    text = _kernels() + tables + emitted.text + ("" if forms is None else forms.text) + source
    return load_tuned({"expression.c": text}, name="closing"), n_prepared + m + 1


_FORMS = """{{
        double q[{n_q}], margin[1];
        const double *given[] = {{arg[0], x, arg[2]}};
        double *found[] = {{q, margin}};
        forms(given, found, iw, w + {shift}, mem);
        if (margin[0] > 0.0) memcpy(x, q, {n_q} * sizeof(double));
    }}"""


def _kernels() -> str:
    return c_source("spacectl.dynamics.constraints", "constrained.h") + c_source(__package__, "elimination.h")


def _table(name: str, n: int, m: int, loops: tuple[LoopRows, ...]) -> str:
    """A `sc_loops` of that name."""
    lists: dict[str, list[int]] = {
        "row_start": [sum(len(loop.rows) for loop in loops[:k]) for k in range(len(loops) + 1)],
        "rows": [i for loop in loops for i in loop.rows],
        "wish_start": [sum(len(loop.wished) for loop in loops[:k]) for k in range(len(loops) + 1)],
        "wished": [j for loop in loops for j in loop.wished],
        "rank": [loop.rank for loop in loops],
    }
    text = ""
    for key, values in lists.items():
        entries = ", ".join(str(value) for value in values) or "0"
        text += f"static const int {name}_{key}[] = {{{entries}}};\n"
    pointers = ", ".join(f"{name}_{key}" for key in lists)
    return text + f"static const sc_loops {name} = {{{n}, {m}, {len(loops)}, {pointers}}};\n"


def close_state(
    plan: Any, eom: EquationsOfMotion, t: float, x: Any, p: Any = None, around: Around | None = None
) -> tuple[np.ndarray, float]:
    """The reference implementation of `compile_closing`."""
    n_q = eom.n_q
    state, units = np.array(x, dtype=float), np.asarray(plan.units)

    def step(loops: tuple[LoopRows, ...], J: np.ndarray, g: np.ndarray) -> np.ndarray:
        return expand(eliminate(J, -g.reshape(-1), loops, units), np.zeros(J.shape[1]))

    if "closed_form" in eom.functions:
        q, margin = eom.call("closed_form", t, state[:n_q], p=p)
        state[:n_q] = q.reshape(-1) if margin[0, 0] > 0.0 else state[:n_q]
    for _ in range(STEPS):
        g, _, _, held, W = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        if not np.max(np.abs(g), initial=0.0) > SMALL * max(1.0, float(np.max(np.abs(state[:n_q]), initial=0.0))):
            break
        state[:n_q] += W @ step(plan.positions, held, g)
    near, nearness = 1.0, _nearness(plan)
    for k in range(2):
        _, rate, J, _, _ = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        size = max(1.0, float(np.max(np.abs(state[n_q:]), initial=0.0)))
        if k > 0 and not np.max(np.abs(rate), initial=0.0) > SMALL * size:
            break
        state[n_q:] += step(plan.loops, J, rate)
        near = nearness(J, row_levers(Samples(eom, p, around), nearness))
    return state, near


@lru_cache(maxsize=64)
def _nearness(plan: Any) -> Nearness:
    """How far rows are from a singular position (0 there, about 1 far away): as `row_nearness`, with entries for R."""

    def nearness(J: np.ndarray, levers: np.ndarray) -> float:
        done = eliminate(J, np.zeros(len(J)), plan.loops, np.asarray(plan.units))
        total = sum(float(np.sum((levers[loop.rows] / loop.reach) ** 2)) for loop in done)
        return min(1.0, 1.0 / (np.sqrt(total) * float(levers[-1]))) if total > 0.0 else 1.0

    return nearness
