"""How large the rows of a constraint Jacobian are in general: the measure of how small they become in a singular position.

A linkage with all its links on one line loses whole rows. To compare them with other rows would depend on units; to compare them
with their own sizes at positions around the reference does not. Where rows are not defined there (the gradient of a distance
from the origin, say), positions around the start of a run take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "Around",
    "Nearness",
    "Samples",
    "are_defined",
    "find_levers",
    "jacobians_around",
    "levers_source",
    "row_levers",
]

Nearness = Callable[[np.ndarray, np.ndarray], float]  #: of rows (m, n) with their levers
Place = tuple[float, np.ndarray, np.ndarray]  #: t, q, v
Rows = Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  #: (t, q, v) -> J, W
Around = tuple[float, Any]  #: time and state around which rows are measured if the reference does not serve

COUNT, SPREAD = 5, 0.5  #: positions, and how far their coordinates are from the reference [rad or m]


def nudges(n_v: int) -> np.ndarray:
    """Steps away from the reference, shape (COUNT, n_v), the first zero; always the same."""
    steps = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (COUNT, n_v))
    steps[0] = 0.0
    return steps


def places_around(rows: Rows, place: Place, n_v: int) -> np.ndarray:
    """Coordinates around a place, shape (COUNT, n_q); they need not meet the constraints."""
    places: np.ndarray = place[1] + nudges(n_v) @ rows(*place)[1].T
    return places


def jacobians_around(rows: Rows, place: Place) -> list[np.ndarray]:
    """J at coordinates around a place."""
    t, _, v = place
    return [rows(t, q, v)[0] for q in places_around(rows, place, len(v))]


def are_defined(rows: Rows, place: Place) -> bool:
    """Whether all rows are finite at the coordinates around a place."""
    return all(np.all(np.isfinite(J)) for J in jacobians_around(rows, place))


class Samples:
    """Rows of equations of motion around the reference position; hashable, for what is computed from them once.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    p : array or None
        Run-time parameters.
    around : (t, x), optional
        Where rows are measured instead if some row is not finite around the reference.
    """

    def __init__(self, eom: EquationsOfMotion, p: Any = None, around: Around | None = None):
        self.eom, self.p = eom, np.asarray(eom.parameters.of(p))
        t, x = (0.0, eom.state()) if around is None or _defined(eom, self.p.tobytes()) else around
        self.t, self.x = float(t), np.array(x, dtype=float)
        self._key = (eom, self.p.tobytes(), self.t, self.x.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Samples) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _place(self) -> Place:
        return self.t, self.x[: self.eom.n_q], self.x[self.eom.n_q :]

    def jacobians(self) -> list[np.ndarray]:
        """J at each position."""
        return jacobians_around(partial(_rows, self.eom, self.p), self._place)

    def data(self) -> np.ndarray:
        """Time, speeds and coordinates in the order in which `levers_source` reads them, shape (1 + n_v + COUNT n_q,)."""
        places = places_around(partial(_rows, self.eom, self.p), self._place, self.eom.n_v)
        return np.concatenate([[self.t], self._place[2], places.reshape(-1)])


def _rows(
    eom: EquationsOfMotion, p: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    _, _, J, _, W = eom.call("projection", t, q, v, p=p)
    return J, W


@lru_cache(maxsize=64)
def _defined(eom: EquationsOfMotion, numbers: bytes) -> bool:
    q, v = np.split(np.asarray(eom.state()), [eom.n_q])
    return are_defined(partial(_rows, eom, np.frombuffer(numbers)), (0.0, q, v))


@lru_cache(maxsize=64)
def row_levers(samples: Samples, nearness: Nearness) -> np.ndarray:
    """Largest sizes of the rows at those positions, then the largest nearness there, shape (m + 1,)."""
    return find_levers(samples.jacobians(), nearness)


def find_levers(jacobians: Iterable[np.ndarray], nearness: Nearness) -> np.ndarray:
    """The same from the rows at those positions; rows that are not finite at one of them do not count there."""
    found = list(jacobians)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.array([np.linalg.norm(J, axis=1) for J in found])
    levers = np.append(np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=0), 1.0)
    levers[:-1] = np.maximum(levers[:-1], 1e-300)
    levers[-1] = max([nearness(J, levers) for J in found if np.all(np.isfinite(J))], default=0.0) or 1.0
    return levers


def levers_source(rows: ca.Function, first: int) -> str:
    """C of ``find_levers``: the levers at w + `first`, with ``note_levers`` and ``nearness(J, levers)`` of the code around it.

    Behind the levers w holds `Samples.data`, which is there before ``find_levers`` is called.

    Parameters
    ----------
    rows : casadi.Function
        "projection", as it was emitted under the name ``terms``.
    first : int
        How many numbers are prepared before.
    """
    n_q, n_v, m = rows.numel_in(1), rows.numel_in(2), rows.numel_out(1)
    g, rate, J, held, W = (max(rows.nnz_out(i), 1) for i in range(5))
    return f"""
static void find_levers(const double *p, double *w) {{
    double g[{g}], rate[{rate}], J[{J}], held[{held}], W[{W}];
    double best = 0.0, *levers = w + {first};
    const double *t = levers + {m + 1}, *v = t + 1, *places = v + {n_v};
    long long iw[1];
    for (int j = 0; j < {m}; j++) levers[j] = 1e-300;
    levers[{m}] = 1.0;
    for (int k = 0; k < {2 * COUNT}; k++) {{ /* sizes at all places, then nearness where all rows are finite */
        const double *arg[] = {{t, places + {n_q} * (k % {COUNT}), v, p}};
        double *res[] = {{g, rate, J, held, W}};
        int is_finite = 1;
        terms(arg, res, iw, w, 0);
        for (int i = 0; i < {rows.nnz_out(2)}; i++) is_finite = is_finite && isfinite(J[i]);
        if (k < {COUNT}) note_levers(J, levers);
        else if (is_finite) best = fmax(best, nearness(J, levers));
    }}
    levers[{m}] = best > 0.0 ? best : 1.0;
}}
"""
