"""Row scales: typical norms of the rows of a constraint Jacobian, relative to which singular positions are detected.

In a linkage with all its links on one line, whole rows vanish. A comparison with other rows would depend on units; a comparison
with the norms of the same rows at positions around the reference does not. Where rows are not defined there (the gradient of a
distance from the origin, for example), positions around the start of a run are used instead. `sample_states` finds such
positions; plans that close loops use them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.tree.terms import Terms

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "FARTHER",
    "Around",
    "DistanceMeasure",
    "Samples",
    "are_defined",
    "find_row_scales",
    "generic_speeds",
    "jacobians_around",
    "measured_row_scales",
    "row_scales_source",
    "sample_states",
]

DistanceMeasure = Callable[
    [np.ndarray, np.ndarray], float
]  #: J (m, n) and row scales (m + 1,) -> distance to singularity
Place = tuple[float, np.ndarray, np.ndarray]  #: t, q, v
Rows = Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  #: (t, q, v) -> J, W
Around = tuple[
    float, Any
]  #: time and state around which rows are evaluated if they are not defined around the reference

COUNT, SPREAD = 5, 0.5  #: number of positions, and largest distance of a coordinate from the reference [rad or m]


def nudges(n_v: int) -> np.ndarray:
    """Return displacements from the reference, shape (COUNT, n_v), the first zero; always the same."""
    steps = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (COUNT, n_v))
    steps[0] = 0.0
    return steps


def places_around(rows: Rows, place: Place, n_v: int) -> np.ndarray:
    """Return coordinates around a place, shape (COUNT, n_q); they need not satisfy the constraints."""
    places: np.ndarray = place[1] + nudges(n_v) @ rows(*place)[1].T
    return places


def jacobians_around(rows: Rows, place: Place) -> list[np.ndarray]:
    """Return J at coordinates around a place."""
    t, _, v = place
    return [rows(t, q, v)[0] for q in places_around(rows, place, len(v))]


def are_defined(rows: Rows, place: Place) -> bool:
    """Return whether all rows are finite at the coordinates around a place."""
    return all(np.all(np.isfinite(J)) for J in jacobians_around(rows, place))


class Samples:
    """Constraint Jacobians around the reference position; hashable, as a key of cached results.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    p : array or None
        Run-time parameters.
    around : (t, x), optional
        Time and state to use instead if some row is not finite around the reference.
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
        """Return J at each position."""
        return jacobians_around(partial(_rows, self.eom, self.p), self._place)

    def data(self) -> np.ndarray:
        """Return time, speeds and coordinates in the order `row_scales_source` reads them, (1 + n_v + COUNT n_q,)."""
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
def measured_row_scales(samples: Samples, measure: DistanceMeasure) -> np.ndarray:
    """Return the largest norm of each row at the sampled positions, then the largest distance there, shape (m + 1,)."""
    return find_row_scales(samples.jacobians(), measure)


def find_row_scales(jacobians: Iterable[np.ndarray], measure: DistanceMeasure) -> np.ndarray:
    """Return the row scales of sampled Jacobians; a row that is not finite in a sample is ignored in it."""
    found = list(jacobians)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.array([np.linalg.norm(J, axis=1) for J in found])
    row_scales = np.append(np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=0), 1.0)
    row_scales[:-1] = np.maximum(row_scales[:-1], 1e-300)
    row_scales[-1] = max([measure(J, row_scales) for J in found if np.all(np.isfinite(J))], default=0.0) or 1.0
    return row_scales


def row_scales_source(rows: ca.Function, first: int) -> str:
    """Return C of ``find_row_scales``, which writes the row scales to w + `first`.

    The surrounding code provides ``update_row_scales`` and ``singularity_distance(J, row_scales)``.

    `Samples.data` must follow the row scales in w before ``find_row_scales`` is called.

    Parameters
    ----------
    rows : casadi.Function
        "projection", as it was emitted under the name ``terms``.
    first : int
        Number of prepared values that precede the row scales in w.
    """
    n_q, n_v, m = rows.numel_in(1), rows.numel_in(2), rows.numel_out(1)
    g, rate, J, J_position, W = (max(rows.nnz_out(i), 1) for i in range(5))
    return f"""
static void find_row_scales(const double *p, double *w) {{
    double g[{g}], rate[{rate}], J[{J}], J_position[{J_position}], W[{W}];
    double best = 0.0, *row_scales = w + {first};
    const double *t = row_scales + {m + 1}, *v = t + 1, *places = v + {n_v};
    long long iw[1];
    for (int j = 0; j < {m}; j++) row_scales[j] = 1e-300;
    row_scales[{m}] = 1.0;
    for (int k = 0; k < {2 * COUNT}; k++) {{ /* norms at all places, then distances where all rows are finite */
        const double *arg[] = {{t, places + {n_q} * (k % {COUNT}), v, p}};
        double *res[] = {{g, rate, J, J_position, W}};
        int is_finite = 1;
        terms(arg, res, iw, w, 0);
        for (int i = 0; i < {rows.nnz_out(2)}; i++) is_finite = is_finite && isfinite(J[i]);
        if (k < {COUNT}) update_row_scales(J, row_scales);
        else if (is_finite) best = fmax(best, singularity_distance(J, row_scales));
    }}
    row_scales[{m}] = best > 0.0 ? best : 1.0;
}}
"""


_REACH = 0.1  # [rad or m] from the reference position to the others, along the free directions

#: Distances tried from a reference position at which constraint equations are not defined [rad or m]
FARTHER = tuple(0.3 * 2.0**k for k in range(12))


def generic_speeds(n: int) -> np.ndarray:
    """Return generic speeds: equations that are nonlinear in the speeds may be degenerate or undefined at rest."""
    return np.random.default_rng(1).standard_normal(n)


def sample_states(terms: Terms, rows: Any, p: np.ndarray, count: int = 3) -> list[np.ndarray]:
    """Return coordinates that satisfy the constraints: the reference position (or one near it) and others around it.

    If the constraint equations are not defined at the reference position, the nearest trial position at which they are
    replaces it. If no position satisfies the constraints, that position itself is used, for an open mechanism.

    Parameters
    ----------
    terms : Terms
        Of the tree.
    rows : casadi.Function
        "constraints" of the equations.
    p : array
        Run-time parameters.
    count : int
        Number of positions; twice as many are tried.

    Raises
    ------
    ModelError
        If the constraint equations are not defined at any trial position.
    """
    n, W = terms.v.shape[0], _rate_map(terms)
    rest = _defined_rest(terms, rows, W, p)
    rng = np.random.default_rng(0)
    found: list[np.ndarray] = []
    for k in range(2 * count):
        start = found[0] if found else rest
        J = np.asarray(rows(0.0, start, generic_speeds(n), p)[2].full())
        along = rng.standard_normal(n) * (0.0 if k == 0 else _REACH)
        along -= np.linalg.lstsq(J, J @ along, rcond=RANK)[0] if J.size else 0.0
        q = _close_roughly(rows, W, start + W(0.0, start, p) @ along, n, p)
        if q is not None or not found:
            found.append(rest if q is None else q)
        if len(found) == count:
            break
    return found


def _defined_rest(terms: Terms, rows: Any, W: Any, p: np.ndarray) -> np.ndarray:
    """Return the reference position, or a nearby one where all equations are defined (and satisfied, if possible)."""
    rest, n = terms.tree.rest(), terms.v.shape[0]

    def is_defined(q: np.ndarray) -> bool:
        return all(np.all(np.isfinite(item.full())) for item in rows(0.0, q, generic_speeds(n), p)[:4])

    if is_defined(rest):
        return rest
    rng, along = np.random.default_rng(0), W(0.0, rest, p)
    tried = [rest + along @ (size * rng.standard_normal(n)) for size in FARTHER]
    found = [q for q in tried if is_defined(q)]
    if not found:
        raise ModelError(
            f"system '{terms.system.name}': its constraints are not defined at the reference position, nor at any of "
            f"{len(FARTHER)} positions up to {FARTHER[-1]:g} rad or m from it, so no dependent speeds can be chosen; use "
            "formulation='kane', or shift the coordinates so that the rules are defined near zero"
        )
    closed = (_close_roughly(rows, W, q, n, p) for q in found)
    return next((q for q in closed if q is not None), found[0])


def _close_roughly(rows: Any, W: Any, q: np.ndarray, n: int, p: np.ndarray) -> np.ndarray | None:
    """Return the position that solves the constraint equations near a start; None if none is found."""

    def linearized(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        out = rows(0.0, q, np.zeros(n), p)
        return np.asarray(out[0].full()).reshape(-1), np.asarray(out[3].full()), W(0.0, q, p)

    size = max(1.0, float(np.max(np.abs(q), initial=0.0)))
    found = solve_constraints(linearized, q, tolerance=1e-14 * size)
    return found.q if found.is_solved else None


def _rate_map(terms: Terms) -> Any:
    """Return W of ``q_dot = W v + X`` as a function of (t, q, p)."""
    W = ca.densify(ca.jacobian(terms.q_dot, terms.v))
    function = ca.Function("W", [terms.t, terms.q, terms.v, terms.p], [W])
    return lambda t, q, p: np.asarray(function(t, q, 0.0, p).full())
