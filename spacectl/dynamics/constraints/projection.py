"""Project the state onto the constraints after each time step, (t, x, p) -> (x, distance), in native code and in numpy.

Some linkages (Bennett's, Bricard's, or any in absolute coordinates that moves in a plane) have constraint
equations that are dependent where the constraints are satisfied and nowhere else. There, any small error
makes dependent equations appear independent. The careful projection starts with equations that are clearly
independent, and adds others only if they remain violated.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from scipy.linalg import qr

from spacectl.codegen.bound_function import NativeFunction, prepare_native
from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.dynamics.constraints.layout import lay_out_projection
from spacectl.dynamics.constraints.row_scales import Around, Samples, measured_row_scales, row_scales_source
from spacectl.dynamics.constraints.solvers import RANK, row_norms

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "compile_projection",
    "newton_steps",
    "project_state",
    "project_with_distance",
    "rank_jumps",
    "singularity_distance",
]

STEPS = 4  #: Newton steps at position level; after an integration step one or two suffice
CAREFUL_STEPS = 12  #: Newton steps of a careful projection, which also determines the rank
SMALL = 1e-15  #: residual, relative to the largest coordinate (at least 1), below which no step is made
CLEAR = 0.1  #: relative pivot (of unit rows) from which a careful projection uses equations from the start
OPEN = 1e-12  #: residual, relative as above, of unused equations from which a careful projection adds equations
NUDGE = 1e-4  #: [rad or m] off the constraints, to find whether the rank changes there


def compile_projection(
    eom: EquationsOfMotion, p: Any, *, careful: bool = False, around: Around | None = None
) -> NativeFunction:
    """Compile (t, x, p) -> (x, distance) from the function "projection" of constrained equations, for the parameters p.

    The change of the state is the least possible; equations with a plan of dependent coordinates change these only. `distance`
    is the distance to singularity: 0 in a singular position, about 1 far from it. It is relative to positions around the
    reference, or around the time and state `around` if some constraint equation is not defined there.
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
    layout = lay_out_projection(terms)
    emitted = emit_function(layout.function, "terms", hoist="p")
    most = max(m, 1)
    sizes = layout.sizes
    source = f"""
static double singularity_distance(const double *J, const double *row_scales) {{
    double none[{most}], step[{n_v}], distance;
    int used[{most}];
    memset(none, 0, sizeof none);
    least_step_all(J, none, step, used, {RANK!r}, row_scales, &distance);
    return distance;
}}
{row_scales_source(layout.function, emitted.n_prepared)}
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    double g[{sizes[0]}], rate[{sizes[1]}], J[{sizes[2]}], J_position[{sizes[3]}], W[{sizes[4]}], step[{n_v}];
    double tolerance = {CLEAR if careful else RANK!r};
    int used[{most}], k;
    double *x = res[0];
    const double *inner_arg[] = {{arg[0], x, x + {n_q}, arg[2]}};
    double *inner_res[] = {{g, rate, J, J_position, W}};
    memcpy(x, arg[1], {n_q + n_v} * sizeof(double));
    for (k = 0; k < {_count(careful) if m_p else 0}; k++) {{
        double left = 0.0, size = 1.0;
        terms(inner_arg, inner_res, iw, w, mem);
        for (int i = 0; i < {m_p}; i++) left = fmax(left, fabs(g[i]));
        for (int i = 0; i < {n_q}; i++) size = fmax(size, fabs(x[i]));
        if (!(left > {SMALL!r} * size)) break;
        for (;;) {{
            double met = 0.0;
            const int rank = least_step_position(J_position, g, step, used, tolerance, 0, 0);
            for (int i = 0; i < rank; i++) met = fmax(met, fabs(g[used[i]]));
            if (tolerance <= {RANK!r} || met > 1e-3 * left || left < {OPEN!r} * size) break;
            tolerance = fmax(0.01 * tolerance, {RANK!r});
        }}
        move(x, W, step);
    }}
    for (k = 0; k < 2; k++) {{
        terms(inner_arg, inner_res, iw, w, mem);
        if (k > 0 && sc_is_small({m}, rate, {n_v}, x + {n_q}, {SMALL!r})) break;
        least_step_all(J, rate, step, used, {RANK!r}, w + {emitted.n_prepared}, res[1]);
        for (int i = 0; i < {n_v}; i++) x[{n_q} + i] += step[i];
    }}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{
    terms_prepare(p, w);
    find_row_scales(p, w);
}}
"""
    files = {**layout.headers, "expression.c": layout.text + emitted.text + source}
    return load_tuned(files, name="projection"), emitted.n_prepared + m + 1


def project_state(eom: EquationsOfMotion, t: float, x: Any, p: Any = None, *, careful: bool = False) -> np.ndarray:
    """Return the state after the least changes of coordinates, then of speeds, that satisfy the constraints."""
    return project_with_distance(eom, t, x, p, careful=careful, around=(t, x))[0]


def project_with_distance(
    eom: EquationsOfMotion, t: float, x: Any, p: Any = None, *, careful: bool = False, around: Around | None = None
) -> tuple[np.ndarray, float]:
    """Return the projected state and its distance to singularity; the reference implementation of `compile_projection`."""
    if eom.reduction is not None:
        return eom.reduction.project(eom, t, x, p, around)
    tolerance = CLEAR if careful else RANK

    def position_step(J: np.ndarray, g: np.ndarray, left: float, size: float) -> np.ndarray:
        nonlocal tolerance
        step, largest = _least(J, g, tolerance)
        while tolerance > RANK and largest <= 1e-3 * left and left >= OPEN * size:
            tolerance = max(0.01 * tolerance, RANK)
            step, largest = _least(J, g, tolerance)
        return step

    state, J = newton_steps(eom, t, x, p, position_step, lambda J, rate: _least(J, rate, RANK)[0], _count(careful))
    return state, singularity_distance(J, measured_row_scales(Samples(eom, p, around), singularity_distance))


def newton_steps(
    eom: EquationsOfMotion,
    t: float,
    x: Any,
    p: Any,
    position_step: Callable[[np.ndarray, np.ndarray, float, float], np.ndarray],
    speed_step: Callable[[np.ndarray, np.ndarray], np.ndarray],
    count: int = STEPS,
) -> tuple[np.ndarray, np.ndarray]:
    """Take Newton steps for the coordinates, then for the speeds; return the state and J.

    Parameters
    ----------
    eom, t, x, p
        Equations, time, state and parameters.
    position_step : function
        (J_position, g, largest residual, largest coordinate) -> change along the speeds.
    speed_step : function
        (J, residual) -> change of the speeds.
    count : int
        Largest number of steps at position level.
    """
    state, n_q = np.array(x, dtype=float), eom.n_q
    for _ in range(count if eom.position_rows else 0):
        g, _, _, J_position, W = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        left, size = np.max(np.abs(g)), max(1.0, float(np.max(np.abs(state[:n_q]), initial=0.0)))
        if not left > SMALL * size:
            break
        state[:n_q] += W @ position_step(J_position, g.reshape(-1), left, size)
    for k in range(2):
        _, rate, J, _, _ = eom.call("projection", t, state[:n_q], state[n_q:], p=p)
        size = max(1.0, float(np.max(np.abs(state[n_q:]), initial=0.0)))
        if k > 0 and not np.max(np.abs(rate), initial=0.0) > SMALL * size:
            break
        state[n_q:] += speed_step(J, rate.reshape(-1))
    return state, J


def rank_jumps(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> bool:
    """Return whether equations that are dependent where the constraints are satisfied become independent close to it."""
    if not eom.position_rows:
        return False
    n_q = eom.n_q
    on = project_state(eom, t, x, p, careful=True)
    _, _, _, J_position, W = eom.call("projection", t, on[:n_q], on[n_q:], p=p)
    rank = _rows(J_position, RANK)[1]
    if rank == J_position.shape[0]:
        return False
    nudge = NUDGE * np.random.default_rng(0).uniform(-1.0, 1.0, J_position.shape[1])
    off = eom.call("projection", t, on[:n_q] + W @ nudge, on[n_q:], p=p)[3]
    return _rows(off, RANK)[1] > rank


def _count(careful: bool) -> int:
    return CAREFUL_STEPS if careful else STEPS


def _rows(J: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """Return the rows in order of pivoting, and the number of independent ones: none if some entry is not finite."""
    if not np.all(np.isfinite(J)):
        return np.arange(len(J)), 0
    _, R, order = qr((J / row_norms(J)[:, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return order, int(np.sum(diagonal > tolerance * max(float(np.max(diagonal, initial=0.0)), 1e-300)))


def _least(J: np.ndarray, g: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """Return the least step with ``J step = -g`` in the independent equations, and the largest g among them."""
    if not g.size:
        return np.zeros(J.shape[1]), 0.0
    order, rank = _rows(J, tolerance)
    rows = order[:rank]
    step: np.ndarray = np.linalg.lstsq(J[rows], -g[rows], rcond=None)[0] if rank else np.zeros(J.shape[1])
    return step, float(np.max(np.abs(g[rows]), initial=0.0))


def singularity_distance(J: np.ndarray, row_scales: np.ndarray) -> float:
    """Return ``1 / |A+|`` of the independent rows divided by `row_scales`, as sc_singularity_distance does."""
    order, rank = _rows(J, RANK)
    if not rank:
        return 1.0
    rows = order[:rank]
    A = J[rows] / row_scales[rows, None]
    size = float(np.linalg.norm(np.linalg.pinv(A, rcond=0.0))) * float(row_scales[-1])
    return (
        1.0 / size if size > 1.0 else 1.0
    )  # rows that are zero around the reference are not monitored: their size is 0
