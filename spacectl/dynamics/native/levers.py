"""How large the rows of a constraint Jacobian are in general: the measure of how small they become in a singular position.

A linkage with all its links on one line loses whole rows. To compare them with other rows would depend on units; to compare them
with their own sizes at positions around the reference does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

__all__ = ["Nearness", "around_rest", "find_levers", "levers_source", "nudges", "row_levers"]

Nearness = Callable[[np.ndarray, np.ndarray], float]  #: of rows (m, n) with their levers

COUNT, SPREAD = 5, 0.5  #: positions, and how far their coordinates are from the reference [rad or m]


def nudges(n_v: int) -> np.ndarray:
    """Steps away from the reference, shape (COUNT, n_v), the first zero; always the same."""
    steps = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (COUNT, n_v))
    steps[0] = 0.0
    return steps


@lru_cache(maxsize=64)
def around_rest(eom: Any) -> tuple[tuple[float, ...], ...]:
    """Coordinates around the reference position; they need not meet the constraints."""
    rest, v = np.asarray(eom.state())[: eom.n_q], np.zeros(eom.n_v)
    W = eom.call("projection", 0.0, rest, v)[4]
    return tuple(tuple((rest + W @ step).tolist()) for step in nudges(eom.n_v))


def row_levers(eom: Any, nearness: Nearness, p: Any = None) -> np.ndarray:
    """Largest sizes of the rows at those positions, then the largest nearness there, shape (m + 1,)."""
    numbers = np.asarray(eom.p if p is None else p, dtype=float)
    return _row_levers(eom, nearness, numbers.tobytes())


@lru_cache(maxsize=64)
def _row_levers(eom: Any, nearness: Nearness, numbers: bytes) -> np.ndarray:
    p, v = np.frombuffer(numbers), np.zeros(eom.n_v)
    return find_levers([eom.call("projection", 0.0, q, v, p=p)[2] for q in around_rest(eom)], nearness)


def find_levers(jacobians: list[np.ndarray], nearness: Nearness) -> np.ndarray:
    """The same from the rows at those positions."""
    sizes = np.max([np.linalg.norm(J, axis=1) for J in jacobians], axis=0)
    levers = np.append(np.maximum(sizes, 1e-300), 1.0)
    levers[-1] = max([nearness(J, levers) for J in jacobians]) or 1.0
    return levers


def levers_source(places: tuple[tuple[float, ...], ...], rows: ca.Function, first: int) -> str:
    """C of ``find_levers``: the levers at w + `first`, with ``note_levers`` and ``nearness(J, levers)`` of the code around it.

    Parameters
    ----------
    places : tuple of tuple of float
        `around_rest`.
    rows : casadi.Function
        "projection", as it was emitted under the name ``terms``.
    first : int
        How many numbers are prepared before.
    """
    n_q, n_v, m = rows.numel_in(1), rows.numel_in(2), rows.numel_out(1)
    g, rate, J, held, W = (max(rows.nnz_out(i), 1) for i in range(5))
    text = ", ".join(repr(value) for place in places for value in place) or "0.0"
    return f"""
static void find_levers(const double *p, double *w) {{
    static const double places[] = {{{text}}};
    double g[{g}], rate[{rate}], J[{J}], held[{held}], W[{W}];
    double t = 0.0, v[{n_v}], best = 0.0, *levers = w + {first};
    long long iw[1];
    for (int j = 0; j < {n_v}; j++) v[j] = 0.0;
    for (int j = 0; j < {m}; j++) levers[j] = 1e-300;
    levers[{m}] = 1.0;
    for (int k = 0; k < {2 * len(places)}; k++) {{ /* sizes at all places, then nearness */
        const double *arg[] = {{&t, places + {n_q} * (k % {len(places)}), v, p}};
        double *res[] = {{g, rate, J, held, W}};
        terms(arg, res, iw, w, 0);
        if (k < {len(places)}) note_levers(J, levers);
        else best = fmax(best, nearness(J, levers));
    }}
    levers[{m}] = best > 0.0 ? best : 1.0;
}}
"""
