"""`find_constraint_wrenches`: the wrench of each natural constraint between frames on its body."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import warn
from spacectl.dynamics.constraints.loads import natural_frames
from spacectl.dynamics.formulations.switching import constraints_of
from spacectl.dynamics.reactions.uniqueness import find_uniqueness
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["find_constraint_wrenches"]


def find_constraint_wrenches(
    eom: EquationsOfMotion, t: float, x: Any, u: Any = None, *, p: Any = None
) -> dict[str, np.ndarray]:
    """Find the wrench of each natural constraint between frames on its body `b`, by the constraint's name.

    A motor in the joint that closes a loop is included, as in ``eom.reactions``. Redundant constraints share their load by
    their compliance; `find_uniqueness` reports which wrenches depend on that.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system; in absolute coordinates every joint is such a constraint.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    u : array, shape (n_u,), optional
        Inputs; default zero.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    dict of str to array, shape (6,)
        Moment [N m] and force [N] about the origin of frame F on `b`, in its axes.
    """
    state = np.asarray(x, dtype=float)
    q, v, command = state[: eom.n_q], state[eom.n_q :], np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    eom.v_dot(t, q, v, command, p)  # raises an error with the cause if there is no solution
    _warn_if_shared(eom, t, np.concatenate([q, v]), p)
    lam = eom.multipliers(t, q, v, command, p)
    function = eom.functions["constraint_wrenches"]
    found = np.asarray(function(t, q, v, command, lam, eom.parameters.of(p)).full())
    return dict(zip(natural_frames(eom), found, strict=True))


def _warn_if_shared(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any) -> None:
    """Warn about wrenches that depend on how redundant constraints share a load, unless their compliance is known."""
    found = find_uniqueness(eom, t, x, p=p)
    shared = [name for name, is_unique in found.wrenches.items() if not is_unique]
    unknown = [item.name for item in constraints_of(eom) if item.name in shared and item.compliance is None]
    if unknown:
        warn(
            f"find_constraint_wrenches: the wrenches of {', '.join(map(repr, shared))} depend on how redundant constraints share "
            f"a load, which the equations of motion leave open; give compliance=... to {', '.join(map(repr, unknown))}, or "
            "remove what is redundant"
        )
