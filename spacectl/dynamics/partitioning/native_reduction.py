"""Native code of `partitioned`: state derivatives by sequential reduction, and states closed loop after loop.

The plan (`dynamics.partitioning.plan`) becomes tables in the code; elimination.h contains the algorithms.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction, find_sizes, prepare_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.dynamics.constraints.layout import Layout
from spacectl.dynamics.constraints.projection import SMALL, STEPS, newton_steps
from spacectl.dynamics.constraints.row_scales import (
    Around,
    DistanceMeasure,
    Samples,
    measured_row_scales,
    row_scales_source,
)
from spacectl.dynamics.constraints.solver_function import compile_solved
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.partitioning.elimination import LoopEquations, eliminate, expand

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["close_state", "compile_closing", "compile_reduced"]


def compile_reduced(terms: ca.Function, plan: Any, p: Any) -> NativeFunction:
    """Compile (t, x, u, p) -> x_dot from the terms of a constrained system by sequential reduction (see `compile_solved`)."""
    return compile_solved(terms, p, _lay_out_reduced(terms, plan))


@lru_cache(maxsize=64)
def _lay_out_reduced(terms: ca.Function, plan: Any) -> Layout:
    n, m = terms.numel_in(2), terms.numel_out(4)
    text = f"""
static int accelerations(const double *M, double *f, const double *J, const double *gamma, const double *E, double *lam) {{
    double work[{n * m + 2 * n * n + 3 * n + 3 * m}];
    int iwork[{2 * m + len(plan.loops) + n}];
    char flags[{n}];
    (void)E, (void)lam;
    return sc_sequential(&loops, M, f, J, gamma, {RANK!r}, work, iwork, flags);
}}
"""
    return Layout(terms, find_sizes(terms)[1], _kernels() + _table("loops", n, m, plan.loops) + text, {})


def compile_closing(
    terms: ca.Function, closed: ca.Function | None, plan: Any, p: Any, data: np.ndarray
) -> NativeFunction:
    """Compile (t, x, p) -> (x, distance) that satisfies the constraints and leaves independent coordinates and speeds.

    Parameters
    ----------
    terms, closed : casadi.Function
        "projection" and (if there are legs with closed forms) "closed_form" of the equations.
    plan : PartitionPlan
        The loops.
    p : array
        Run-time parameters.
    data : array
        `row_scales.Samples.data`.
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
static double step_of(const sc_loops *L, const double *J, const double *g, const double *row_scales, double *step) {{
    double R[{n_v * most}], c[{most}], size[{most}];
    int used[{most}], depends[{most}], found[{max(len(plan.loops), 1)}];
    char flags[{n_v}];
    for (int i = 0; i < L->m; i++) {{
        c[i] = -g[i];
        for (int j = 0; j < {n_v}; j++) R[i * {n_v} + j] = J[j * L->m + i];
    }}
    const double distance = sc_eliminate(L, R, c, units, {RANK!r}, size, row_scales, used, depends, found, flags);
    memset(step, 0, {n_v} * sizeof(double));
    sc_expand(L, R, c, used, depends, found, step);
    return distance;
}}
static double singularity_distance(const double *J, const double *row_scales) {{
    double none[{most}], step[{n_v}];
    memset(none, 0, sizeof none);
    return step_of(&loops, J, none, row_scales, step);
}}
static void update_row_scales(const double *J, double *row_scales) {{ sc_update_row_scales({n_v}, {m}, J, row_scales); }}
{row_scales_source(terms, n_prepared)}
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double g[{max(m_p, 1)}], rate[{most}], J[{n_v * most}], J_position[{n_v * max(m_p, 1)}], W[{n_q * n_v}], step[{n_v}];
    double *x = res[0];
    const double *inner_arg[] = {{arg[0], x, x + {n_q}, arg[2]}};
    double *inner_res[] = {{g, rate, J, J_position, W}};
    int k;
    memcpy(x, arg[1], {n_q + n_v} * sizeof(double));
    {use_forms}
    for (k = 0; k < {STEPS}; k++) {{
        terms(inner_arg, inner_res, iw, w, mem);
        if (sc_is_small({m_p}, g, {n_q}, x, {SMALL!r})) break;
        step_of(&positions, J_position, g, 0, step);
        for (int j = 0; j < {n_v}; j++)
            for (int i = 0; i < {n_q}; i++) x[i] += W[j * {n_q} + i] * step[j];
    }}
    for (k = 0; k < 2; k++) {{
        terms(inner_arg, inner_res, iw, w, mem);
        if (k > 0 && sc_is_small({m}, rate, {n_v}, x + {n_q}, {SMALL!r})) break;
        res[1][0] = step_of(&loops, J, rate, w + {n_prepared}, step);
        for (int i = 0; i < {n_v}; i++) x[{n_q} + i] += step[i];
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
    terms_prepare(p, w);
    {"" if forms is None else f"forms_prepare(p, w + {emitted.n_prepared});"}
    find_row_scales(p, w);
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


def _table(name: str, n: int, m: int, loops: tuple[LoopEquations, ...]) -> str:
    """Return the C tables of a `sc_loops` of this name."""
    lists: dict[str, list[int]] = {
        "row_start": [sum(len(loop.rows) for loop in loops[:k]) for k in range(len(loops) + 1)],
        "rows": [i for loop in loops for i in loop.rows],
        "preferred_start": [sum(len(loop.preferred) for loop in loops[:k]) for k in range(len(loops) + 1)],
        "preferred": [j for loop in loops for j in loop.preferred],
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
    """Return the reference implementation of `compile_closing`."""
    n_q, state, units = eom.n_q, np.array(x, dtype=float), np.asarray(plan.units)

    def step(loops: tuple[LoopEquations, ...], J: np.ndarray, g: np.ndarray) -> np.ndarray:
        return expand(eliminate(J, -g, loops, units), np.zeros(J.shape[1]))

    if "closed_form" in eom.functions:
        q, margin = eom.call("closed_form", t, state[:n_q], p=p)
        state[:n_q] = q.reshape(-1) if margin[0, 0] > 0.0 else state[:n_q]
    state, J = newton_steps(
        eom, t, state, p, lambda J, g, *_: step(plan.positions, J, g), lambda J, rate: step(plan.loops, J, rate)
    )
    measure = _distance_measure(plan)
    return state, measure(J, measured_row_scales(Samples(eom, p, around), measure))


@lru_cache(maxsize=64)
def _distance_measure(plan: Any) -> DistanceMeasure:
    """Return the distance to singularity as a function: as `singularity_distance`, with the largest entries of rows for R."""

    def measure(J: np.ndarray, row_scales: np.ndarray) -> float:
        done = eliminate(J, np.zeros(len(J)), plan.loops, np.asarray(plan.units))
        total = sum(float(np.sum((row_scales[loop.rows] / loop.reach) ** 2)) for loop in done)
        return min(1.0, 1.0 / (np.sqrt(total) * float(row_scales[-1]))) if total > 0.0 else 1.0

    return measure
