"""Close the loops of embedded equations aggregate by aggregate: cost in proportion to their number.

For a loop that cannot close, the configuration that comes closest is found and told, with the loop and its joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.closest import find_closest, largest_rows
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.embedding.embedded_model import Member
from spacectl.dynamics.embedding.reference import EmbeddedTwin

__all__ = ["close_member", "least_change", "move_speeds", "own_weights", "shorten_step"]

_STEPS = 50  # Newton steps; a start from which they do not suffice is no start
_LARGEST = 0.5  # [rad or m] of a step
_SHORTER = 20  # halvings of a step that ends where a constraint is not defined


def own_weights(twin: EmbeddedTwin, t: float, q: np.ndarray) -> np.ndarray:
    """``1 / sqrt`` of the inertia of each speed, what hangs on its aggregate left out, (n_v,)."""
    weights = np.ones(twin.n_v)
    states = twin.outward(t, q, np.zeros(twin.n_v), np.zeros(twin.n_u))
    for member, state in zip(twin.members, states, strict=True):
        M = twin.model.evaluator(member.kind, "inward")(*state.given, state.ports)[0]
        weights[member.v] = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-12))
    return weights


def close_member(
    twin: EmbeddedTwin,
    member: Member,
    t: float,
    q: np.ndarray,
    weight: np.ndarray,
    names: tuple[str, ...],
    tolerance: float,
) -> np.ndarray:
    """Coordinates of one aggregate that close its loops, by the least weighted change.

    Parameters
    ----------
    twin : EmbeddedTwin
        The system.
    member : Member
        The aggregate.
    t : float
        Time [s].
    q : array
        Its coordinates at the start.
    weight : array
        Of its speeds; zero for those that must not change.
    names : tuple of str
        Names of its coordinates.
    tolerance : float
        On the residual.

    Raises
    ------
    SolverError
        If the loops cannot close near the start; the message names them, their joints and the closest configuration, whose
        coordinates are in `partial`.
    """
    start, still = q, np.zeros(member.v.size)
    for _ in range(_STEPS):
        g, _, _, J, W, *_ = twin.rows(member, t, q, still)
        if np.max(np.abs(g), initial=0.0) <= tolerance:
            return q
        step = least_change(J, -g.reshape(-1), weight)
        step *= min(1.0, _LARGEST / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        q = shorten_step(q, W @ step, lambda trial: twin.rows(member, t, trial, still)[:4])
    g = twin.rows(member, t, q, still)[0]
    if np.max(np.abs(g), initial=0.0) <= 1e3 * tolerance:
        return q
    raise _not_closed(twin, member, t, start, q, weight, names, 1e3 * tolerance)


def shorten_step(q: np.ndarray, step: np.ndarray, rows: Callable[[np.ndarray], Iterable[np.ndarray]]) -> np.ndarray:
    """``q + step``, with a step that is halved while it ends where a constraint is not defined.

    Parameters
    ----------
    q, step : array, shape (n_q,)
        Coordinates and their change.
    rows : function
        Coordinates -> arrays that must be finite.
    """
    for _ in range(_SHORTER):
        if all(np.all(np.isfinite(item)) for item in rows(q + step)):
            break
        step = 0.5 * step
    return q + step


def _not_closed(
    twin: EmbeddedTwin,
    member: Member,
    t: float,
    start: np.ndarray,
    last: np.ndarray,
    weight: np.ndarray,
    names: tuple[str, ...],
    limit: float,
) -> SolverError:
    """The error that tells how close an aggregate comes to being closed; `partial` are its coordinates there."""
    still, roots = np.zeros(member.v.size), [k for k, name in enumerate(names) if name.endswith(".qw")]

    def linear(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g, _, _, J, W, *_ = twin.rows(member, t, q, still)
        return g.reshape(-1), J, W

    def unit(q: np.ndarray) -> np.ndarray:
        q = q.copy()
        for k in roots:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q

    found = find_closest(linear, unit, [start, last], np.flatnonzero(weight > 0.0), limit)
    held = tuple(name for name, holds in zip(_row_names(member), member.kind.holds, strict=True) if holds)
    told = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, found.q, strict=True))
    if found.gap <= limit:
        outcome = f"was not closed from here, but it closes elsewhere: {told}. Start closer"
    else:
        left = f"{np.max(np.abs(found.g)):.3g} is left, most in '{largest_rows(held, found.g)[0]}'"
        told = f"the closest configuration found is {told}" if found.is_minimum else f"what came closest is {told}"
        claim = "cannot close from this start" if found.is_minimum else "was not closed from here"
        outcome = f"{claim}: {left}; {told}. Start closer, hold less, or check lengths and placements"
    return SolverError(f"system '{twin.model.system.name}': {twin.model.describe(member)} {outcome}", partial=found.q)


def move_speeds(
    twin: EmbeddedTwin, member: Member, t: float, q: np.ndarray, v: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Speeds of one aggregate that keep its loops closed, by the least weighted change.

    Raises
    ------
    SolverError
        If no speeds do; the message names the loops and their joints.
    """
    for _ in range(_STEPS):  # once for rows linear in the speeds, and once more for rounding
        _, rate, J, *_ = twin.rows(member, t, q, v)
        size = max(1.0, float(np.max(np.abs(v), initial=0.0)))
        if np.max(np.abs(rate)) <= 1e-13 * size:
            return v
        v = v + least_change(J, -rate.reshape(-1), weight)
    left = np.abs(twin.rows(member, t, q, v)[1].reshape(-1))
    if np.max(left) > 1e-6 * size:
        worst = _row_names(member)[int(np.argmax(left))]
        raise SolverError(
            f"system '{twin.model.system.name}': no speeds keep {twin.model.describe(member)} closed; {np.max(left):.3g} "
            f"is left, most in '{worst}'; hold less",
            partial=v,
        )
    return v


def _row_names(member: Member) -> list[str]:
    found = []
    for item in member.aggregate.constraints:
        found += [f"{item.name}.{name}" if name else item.name for name in item.row_names]
    return found


def least_change(J: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The least weighted change with ``J change = b``."""
    if not b.size:
        return np.zeros(weight.size)
    scaled = J * weight
    if not (np.all(np.isfinite(scaled)) and np.all(np.isfinite(b))):
        raise SolverError("a constraint is not defined at a state that Newton's method came to; start closer")
    size = np.linalg.norm(scaled, axis=1)
    size = np.where(size > 1e-9 * np.max(size, initial=0.0), size, np.inf)
    change: np.ndarray = weight * np.linalg.lstsq(scaled / size[:, None], b / size, rcond=RANK)[0]
    return change
