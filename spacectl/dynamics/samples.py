"""Positions of a mechanism that meet its constraints, around the reference position: where plans are made."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.dynamics.constrained import RANK
from spacectl.dynamics.terms import Terms

__all__ = ["sample_states"]

_REACH = 0.1  # [rad or m] along the freedoms, from the reference position to the others


def sample_states(terms: Terms, rows: Any, p: np.ndarray, count: int = 3) -> list[np.ndarray]:
    """Coordinates that meet the constraints: the reference position (or near it) and others around it.

    Where none is found the reference position itself is used: the plan is then made for an open mechanism.

    Parameters
    ----------
    terms : Terms
        Of the tree.
    rows : casadi.Function
        "constraints" of the equations.
    p : array
        Run-time numbers.
    count : int
        How many are wanted; twice as many are tried.
    """
    rest, n = terms.tree.rest(), terms.v.shape[0]
    W = _rate_map(terms)
    rng = np.random.default_rng(0)
    found: list[np.ndarray] = []
    for k in range(2 * count):
        start = found[0] if found else rest
        J = np.asarray(rows(0.0, start, np.zeros(n), p)[2].full())
        along = rng.standard_normal(n) * (0.0 if k == 0 else _REACH)
        along -= np.linalg.lstsq(J, J @ along, rcond=RANK)[0] if J.size else 0.0
        q = _close_roughly(rows, W, start + W(0.0, start, p) @ along, n, p)
        if q is not None or not found:
            found.append(rest if q is None else q)
        if len(found) == count:
            break
    return found


def _close_roughly(rows: Any, W: Any, q: np.ndarray, n: int, p: np.ndarray) -> np.ndarray | None:
    """Newton's method with the least change; None if it does not get there."""
    for _ in range(30):
        out = rows(0.0, q, np.zeros(n), p)
        g, J = np.asarray(out[0].full()).reshape(-1), np.asarray(out[3].full())
        if not np.all(np.isfinite(g)):
            return None
        if np.max(np.abs(g), initial=0.0) < 1e-14 * max(1.0, float(np.max(np.abs(q), initial=0.0))):
            return q
        step = np.linalg.lstsq(J, -g, rcond=RANK)[0]
        q = q + W(0.0, q, p) @ step * min(1.0, 0.5 / max(float(np.max(np.abs(step))), 1e-300))
    return q if np.max(np.abs(g)) < 1e-11 else None


def _rate_map(terms: Terms) -> Any:
    """W of ``q_dot = W v + X`` as a call of (t, q, p)."""
    W = ca.densify(ca.jacobian(terms.q_dot, terms.v))
    function = ca.Function("W", [terms.t, terms.q, terms.v, terms.p], [W])
    return lambda t, q, p: np.asarray(function(t, q, 0.0, p).full())
