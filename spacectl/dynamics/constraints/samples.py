"""Configurations around the reference position that satisfy the constraints, as the basis of a loop-closing plan."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.tree.terms import Terms

__all__ = ["FARTHER", "generic_speeds", "sample_states"]

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
