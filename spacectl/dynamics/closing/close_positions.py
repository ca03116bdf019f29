"""`close_positions`: close the loops of a mechanism at many positions in one native call."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.codegen.batch_function import evaluate_points
from spacectl.core.errors import ModelError, ShapeError
from spacectl.dynamics.closing.close_loops import require_plan
from spacectl.dynamics.partitioning.positions import compile_positions
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["close_positions"]


def close_positions(
    eom: EquationsOfMotion, q: Any, *, t: float = 0.0, method: str = "auto", p: Any = None
) -> np.ndarray:
    """Close the loops at many positions in native code: for workspaces, and to start many simulations.

    Parameters
    ----------
    eom : EquationsOfMotion
        By ``formulation="partitioned"``.
    q : array, shape (n, n_q)
        Coordinates; dependent ones select the branch and the start of Newton's method.
    t : float
        Time [s].
    method : {"auto", "closed form", "newton"}
        ``"auto"``: closed forms if every loop has one, Newton's method where they fail; else Newton's method.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    array, shape (n, n_q)
        Coordinates with closed loops, on the branch of the given ones. A position that cannot be closed there is NaN in all
        entries, also if a loop is closed only when turned by 180 degrees; `close_loops` reports the cause.

    Raises
    ------
    SolverError
        If there is no compiler.
    """
    plan = require_plan(eom, "close_positions")
    if method not in ("auto", "closed form", "newton"):
        raise ModelError(f"close_positions: method is {method!r}, expected 'auto', 'closed form' or 'newton'")
    moved = [loop for loop in plan.loops if loop.preferred and loop.positions]  # others are at speed level or redundant
    open_legs = [f"'{loop.name}' ({loop.leg})" for loop in moved if not loop.has_form]
    has_forms = not open_legs and "closed_form" in eom.functions
    if method == "closed form" and not has_forms:
        raise ModelError(f"close_positions: no closed form for loops {', '.join(open_legs)}; use method='newton'")
    given = np.ascontiguousarray(np.atleast_2d(np.asarray(q, dtype=float)))
    if given.ndim != 2 or given.shape[1] != eom.n_q:
        raise ShapeError(f"close_positions: q has shape {given.shape}, expected (n, {eom.n_q})")
    numbers = eom.parameters.of(p)
    if method != "auto":
        return _close_all(eom, given, method, t, numbers)
    closed = _close_all(eom, given, "closed form" if has_forms else "newton", t, numbers)
    missing = np.isnan(closed).any(axis=1)
    if has_forms and np.any(missing):
        closed[missing] = _close_all(eom, np.ascontiguousarray(given[missing]), "newton", t, numbers)
    return closed


def _close_all(eom: EquationsOfMotion, given: np.ndarray, method: str, t: float, numbers: np.ndarray) -> np.ndarray:
    is_own = np.array_equal(numbers, eom.p)
    native = compile_positions(eom, method, numbers, is_own=is_own)
    return evaluate_points(native, [np.array([t]), given, given, numbers], len(given))[0]
