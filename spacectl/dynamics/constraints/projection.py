"""The state projected on the constraints, (t, x, p) -> (x, near), as native code and in numpy: for the driver, after each step.

Some linkages (Bennett's, Bricard's, or any in absolute coordinates that moves in a plane) have rows that depend on each other
where the constraints are met and nowhere else. There, every small error makes rows independent that should not count. The
careful projection begins with the rows that are clearly independent and takes more only if others stay open.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from scipy.linalg import qr

from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.codegen.native_function import NativeFunction, prepare_native
from spacectl.dynamics.constraints.layout import lay_out_rows
from spacectl.dynamics.constraints.row_scales import Around, Samples, levers_source, row_levers
from spacectl.dynamics.constraints.solvers import RANK, row_units

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["compile_projection", "project_near", "project_state", "rank_jumps", "row_nearness"]

STEPS = 4  #: Newton steps at position level; after an integration step one or two suffice
CAREFUL_STEPS = 12  #: the same where the rank has to be found
SMALL = 1e-15  #: residual, relative to the largest coordinate (at least 1), below which none is made
CLEAR = 0.1  #: rows this far from dependence (of unit rows) count at once in a careful projection
OPEN = 1e-12  #: residual, relative as above, of rows left out for which a careful projection takes more rows
NUDGE = 1e-4  #: [rad or m] off the constraints, to see whether the rank jumps there


def compile_projection(
    eom: EquationsOfMotion, p: Any, *, careful: bool = False, around: Around | None = None
) -> NativeFunction:
    """(t, x, p) -> (x, near) from the function "projection" of constrained equations, prepared for the numbers p.

    The least change of the state; equations with a plan of dependent coordinates change these only. `near` tells how far from a
    singular position it is: 0 there, about 1 far away, compared with positions around the reference, or around the time and
    state `around` if rows are not defined there.
    """
    if eom.reduction is not None:
        return eom.reduction.compile_projection(eom, p, around)
    terms = eom.functions["projection"]
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    library, n_prepared = _library(terms, careful)
    sizes = [1, n_q + n_v, terms.numel_in(3)], [n_q + n_v, 1]
    return prepare_native(library, n_prepared, p, *sizes, data=Samples(eom, p, around).data())


@lru_cache(maxsize=64)
def _library(terms: ca.Function, careful: bool) -> tuple[ctypes.CDLL, int]:
    n_q, n_v, m_p, m = terms.numel_in(1), terms.numel_in(2), terms.numel_out(0), terms.numel_out(1)
    layout = lay_out_rows(terms)
    emitted = emit_function(layout.function, "terms", hoist="p")
    most = max(m, 1)
    sizes = layout.sizes
    source = f"""
static double nearness(const double *J, const double *levers) {{
    double none[{most}], step[{n_v}], near;
    int used[{most}];
    memset(none, 0, sizeof none);
    least_rows(J, none, step, used, {RANK!r}, levers, &near);
    return near;
}}
{levers_source(layout.function, emitted.n_prepared)}
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double g[{sizes[0]}], rate[{sizes[1]}], J[{sizes[2]}], held[{sizes[3]}], W[{sizes[4]}], step[{n_v}];
    double tolerance = {CLEAR if careful else RANK!r};
    int used[{most}], k;
    double *x = res[0];
    const double *inner_arg[] = {{arg[0], x, x + {n_q}, arg[2]}};
    double *inner_res[] = {{g, rate, J, held, W}};
    memcpy(x, arg[1], {n_q + n_v} * sizeof(double));
    for (k = 0; k < {_count(careful) if m_p else 0}; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m_p}; i++) left = fmax(left, fabs(g[i]));
        for (int i = 0; i < {n_q}; i++) size = fmax(size, fabs(x[i]));
        if (!(left > {SMALL!r} * size)) break;
        for (;;) {{
            double met = 0.0;
            const int rank = least_held(held, g, step, used, tolerance, 0, 0);
            for (int i = 0; i < rank; i++) met = fmax(met, fabs(g[used[i]]));
            if (tolerance <= {RANK!r} || met > 1e-3 * left || left < {OPEN!r} * size) break;
            tolerance = fmax(0.01 * tolerance, {RANK!r});
        }}
        move(x, W, step);
    }}
    for (k = 0; k < 2; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m}; i++) left = fmax(left, fabs(rate[i]));
        for (int i = 0; i < {n_v}; i++) size = fmax(size, fabs(x[{n_q} + i]));
        if (k > 0 && !(left > {SMALL!r} * size)) break;
        least_rows(J, rate, step, used, {RANK!r}, w + {emitted.n_prepared}, res[1]);
        for (int i = 0; i < {n_v}; i++) x[{n_q} + i] += step[i];
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
    terms_prepare(p, w);
    find_levers(p, w);
}}
"""
    files = {**layout.headers, "expression.c": layout.text + emitted.text + source}
    return load_tuned(files, name="projection"), emitted.n_prepared + m + 1


def project_state(eom: EquationsOfMotion, t: float, x: Any, p: Any = None, *, careful: bool = False) -> np.ndarray:
    """The reference implementation: least changes of coordinates, then of speeds, that meet the constraints."""
    return project_near(eom, t, x, p, careful=careful, around=(t, x))[0]


def project_near(
    eom: EquationsOfMotion, t: float, x: Any, p: Any = None, *, careful: bool = False, around: Around | None = None
) -> tuple[np.ndarray, float]:
    """The projected state, and how far it is from a singular position (0 there, about 1 far away; see sc_least)."""
    if eom.reduction is not None:
        return eom.reduction.project(eom, t, x, p, around)
    state = np.array(x, dtype=float)
    n_q = eom.n_q
    tolerance = CLEAR if careful else RANK
    for _ in range(_count(careful) if eom.position_rows else 0):
        g, _, _, held, W = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        left, size = np.max(np.abs(g)), max(1.0, float(np.max(np.abs(state[:n_q]), initial=0.0)))
        if not left > SMALL * size:
            break
        step, met = _least(held, g.reshape(-1), tolerance)
        while tolerance > RANK and met <= 1e-3 * left and left >= OPEN * size:
            tolerance = max(0.01 * tolerance, RANK)
            step, met = _least(held, g.reshape(-1), tolerance)
        state[:n_q] += W @ step
    for k in range(2):
        _, rate, J, _, _ = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        size = max(1.0, float(np.max(np.abs(state[n_q:]), initial=0.0)))
        if k > 0 and not np.max(np.abs(rate), initial=0.0) > SMALL * size:
            break
        state[n_q:] += _least(J, rate.reshape(-1), RANK)[0]
    return state, row_nearness(J, row_levers(Samples(eom, p, around), row_nearness))


def rank_jumps(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> bool:
    """Whether rows that depend on each other where the constraints are met become independent beside it."""
    if not eom.position_rows:
        return False
    n_q = eom.n_q
    on = project_state(eom, t, x, p, careful=True)
    _, _, _, held, W = eom.call("projection", t, on[:n_q], on[n_q:], p=p)
    rank = _rows(held, RANK)[1]
    if rank == held.shape[0]:
        return False
    nudge = NUDGE * np.random.default_rng(0).uniform(-1.0, 1.0, held.shape[1])
    off = eom.call("projection", t, on[:n_q] + W @ nudge, on[n_q:], p=p)[3]
    return _rows(off, RANK)[1] > rank


def _count(careful: bool) -> int:
    return CAREFUL_STEPS if careful else STEPS


def _rows(J: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """Rows in the order of pivoting, and how many of them are independent (of unit rows): none if some are not finite."""
    if not np.all(np.isfinite(J)):
        return np.arange(len(J)), 0
    _, R, order = qr((J / row_units(J)[:, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return order, int(np.sum(diagonal > tolerance * max(float(np.max(diagonal, initial=0.0)), 1e-300)))


def _least(J: np.ndarray, g: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """The least step with ``J step = -g`` in the rows that count, and the largest g among them."""
    if not g.size:
        return np.zeros(J.shape[1]), 0.0
    order, rank = _rows(J, tolerance)
    rows = order[:rank]
    step: np.ndarray = np.linalg.lstsq(J[rows], -g[rows], rcond=None)[0] if rank else np.zeros(J.shape[1])
    return step, float(np.max(np.abs(g[rows]), initial=0.0))


def row_nearness(J: np.ndarray, levers: np.ndarray) -> float:
    """How far from a singular position, as sc_near: ``1 / |A+|`` of the rows that count, in units of `levers`."""
    order, rank = _rows(J, RANK)
    if not rank:
        return 1.0
    rows = order[:rank]
    A = J[rows] / levers[rows, None]
    size = float(np.linalg.norm(np.linalg.pinv(A, rcond=0.0))) * float(levers[-1])
    return 1.0 / size if size > 1.0 else 1.0  # rows without a lever are not watched: their size is 0
