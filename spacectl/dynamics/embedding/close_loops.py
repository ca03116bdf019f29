"""Close the loops of embedded equations aggregate by aggregate, at a cost proportional to their number.

For a loop that cannot close, the error names the loop and its joints, and contains the closest configuration.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.closest import Closest, find_closest, largest_rows
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.embedding.embedded_model import Member
from spacectl.dynamics.embedding.reference import AggregateSweeps

__all__ = ["close_member", "move_speeds", "own_weights"]


def own_weights(sweeps: AggregateSweeps, t: float, q: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt`` of the inertia of each speed, without outboard aggregates, (n_v,)."""
    weights = np.ones(sweeps.n_v)
    states = sweeps.outward(t, q, np.zeros(sweeps.n_v), np.zeros(sweeps.n_u))
    for member, state in zip(sweeps.members, states, strict=True):
        M = sweeps.model.evaluator(member.kind, "inward")(*state.given, state.ports)[0]
        weights[member.v] = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-12))
    return weights


def close_member(
    sweeps: AggregateSweeps,
    member: Member,
    t: float,
    q: np.ndarray,
    weight: np.ndarray,
    names: tuple[str, ...],
    tolerance: float,
) -> np.ndarray:
    """Return the coordinates of one aggregate that close its loops, by the least weighted change.

    Parameters
    ----------
    sweeps : AggregateSweeps
        The system.
    member : Member
        The aggregate.
    t : float
        Time [s].
    q : array
        Its coordinates at the start.
    weight : array
        Weights of its speeds; zero for those that must not change.
    names : tuple of str
        Names of its coordinates.
    tolerance : float
        Tolerance on the residual.

    Raises
    ------
    SolverError
        If the loops cannot close near the start; the message names them, their joints and the closest configuration, whose
        coordinates are in `partial`.
    """
    normalize = partial(_normalized, [k for k, name in enumerate(names) if name.endswith(".qw")])
    found = solve_constraints(partial(_positions, sweeps, member, t), q, tolerance=tolerance, weight=weight)
    if found.is_solved:
        return found.q
    free = np.flatnonzero(weight > 0.0)

    def linearized(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g, J, W = _positions(sweeps, member, t, q)
        return g, J[:, free], W[:, free]

    closest = find_closest(linearized, normalize, [q, found.q], 1e3 * tolerance)
    raise _not_closed(sweeps, member, closest, names, 1e3 * tolerance)


def _positions(
    sweeps: AggregateSweeps, member: Member, t: float, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the position-level constraint equations, their derivative along the speeds, and W."""
    g, _, _, J, W, *_ = sweeps.model.rows(member, t, q, np.zeros(member.v.size))
    return g.reshape(-1), J, W


def _normalized(quaternions: list[int], q: np.ndarray) -> np.ndarray:
    q = q.copy()
    for k in quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q


def _not_closed(
    sweeps: AggregateSweeps, member: Member, found: Closest, names: tuple[str, ...], limit: float
) -> SolverError:
    """Return the error with the closest configuration of an aggregate, whose coordinates are in `partial`."""
    is_position = member.kind.is_position
    equations = tuple(name for name, is_so in zip(_equation_names(member), is_position, strict=True) if is_so)
    values = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, found.q, strict=True))
    if found.gap <= limit:
        outcome = f"was not closed from here, but it closes elsewhere: {values}. Start closer"
    else:
        worst = largest_rows(equations, found.g)[0]
        left = f"a residual of {np.max(np.abs(found.g)):.3g} remains, largest in '{worst}'"
        end = "the closest configuration found is" if found.is_minimum else "the best configuration found is"
        claim = "cannot close from this start" if found.is_minimum else "was not closed from here"
        outcome = f"{claim}: {left}; {end} {values}. Start closer, hold fewer states, or check lengths and placements"
    return SolverError(
        f"system '{sweeps.model.system.name}': {sweeps.model.describe(member)} {outcome}", partial=found.q
    )


def move_speeds(
    sweeps: AggregateSweeps, member: Member, t: float, q: np.ndarray, v: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the speeds of one aggregate that keep its loops closed, by the least weighted change.

    Raises
    ------
    SolverError
        If no speeds do; the message names the loops and their joints.
    """
    still, size = np.eye(member.v.size), max(1.0, float(np.max(np.abs(v), initial=0.0)))

    def linearized(v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, rate, J, *_ = sweeps.model.rows(member, t, q, v)
        return rate.reshape(-1), J, still

    found = solve_constraints(linearized, v, tolerance=1e-13 * size, weight=weight, largest_step=np.inf)
    left = np.abs(found.g)
    if np.max(left, initial=0.0) > 1e-6 * max(1.0, float(np.max(np.abs(found.q), initial=0.0))):
        worst = _equation_names(member)[int(np.argmax(left))]
        raise SolverError(
            f"system '{sweeps.model.system.name}': no speeds keep {sweeps.model.describe(member)} closed; a "
            f"residual of {np.max(left):.3g} remains, largest in '{worst}'; hold fewer states",
            partial=found.q,
        )
    return found.q


def _equation_names(member: Member) -> list[str]:
    return [name for item in member.aggregate.constraints for name in item.equation_names]
