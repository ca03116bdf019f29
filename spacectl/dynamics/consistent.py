"""`make_consistent`: find the nearest state that satisfies the constraints, at position and at speed level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, SolverError, unknown_name
from spacectl.core.input_checks import as_names, as_time
from spacectl.dynamics.closing.open_loops import PositionEquations, closure_error
from spacectl.dynamics.constraints.closest import largest_rows
from spacectl.dynamics.constraints.diagnosis import require_sides
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.embedding.close_loops import close_member, move_speeds, own_weights
from spacectl.dynamics.embedding.reference import AggregateSweeps
from spacectl.dynamics.formulations.switching import stage_numbers
from spacectl.dynamics.tree.irregular import require_defined
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.functions import as_given_state

__all__ = ["ConsistentState", "make_consistent"]


@dataclass(frozen=True)
class ConsistentState:
    """A state that satisfies the constraints, and its difference from the given one.

    Parameters
    ----------
    x : Array, shape (n_x,)
        The state.
    moved_q, moved_v : dict
        Changes of coordinates and speeds by name, if above rounding.
    residual : float
        Largest remaining constraint residual, at position or speed level.
    message : str
        Summary.
    """

    x: Any
    moved_q: dict[str, float]
    moved_v: dict[str, float]
    residual: float
    message: str


def make_consistent(
    eom: EquationsOfMotion,
    x0: Any,
    *,
    t: float = 0.0,
    hold: tuple[str, ...] | str = (),
    tolerance: float = 1e-12,
    p: Any = None,
    stage: Any = None,
) -> ConsistentState:
    """Project a state onto the constraints: least change of coordinates, then of speeds, weighted by their inertia.

    ``g(t, q) = 0`` by Newton's method, then ``J v = b``.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system; without constraints the state is returned unchanged.
    x0 : array, shape (n_x,)
        Start.
    t : float
        Time [s].
    hold : tuple of str
        Coordinates and speeds that must not change; a single name may be a string.
    tolerance : float
        Tolerance on the residual, relative to the largest coordinate (at least 1).
    p : array, optional
        Run-time parameters.
    stage : Stage or tuple of str, optional
        Of equations formed with ``switchable=True``: the stage, or the names of the constraints that act.

    Raises
    ------
    ModelError
        If a constraint is not defined at the start, as ``sqrt(x^2 + y^2) - 1`` at the origin.
    SolverError
        If no state near the start satisfies the constraints; the message names the open loops and their
        joints, and `partial` is the closest state found.
    """
    require_equations(eom, "make_consistent")
    p = p if stage is None else stage_numbers(eom, stage, p)
    hold, t = as_names(hold, "make_consistent: hold"), as_time(t, "make_consistent: t")
    for name in hold:
        if name not in eom.states:
            raise ModelError(f"make_consistent: hold names an {unknown_name('state', name, eom.states)}")
    start = as_given_state(eom, x0, "make_consistent: x0")
    if not eom.constraint_rows:
        return ConsistentState(Array(start), {}, {}, 0.0, "no constraints: the state is unchanged")
    require_defined(eom, t, start, p)
    if eom.handover.aggregates is not None:
        sweeps = eom.handover.aggregates(eom.parameters.of(p))
        closed = _close_aggregates(eom, sweeps, start, t, hold, tolerance, p)
        left = float(np.max(np.abs(eom.residual(t, closed[: eom.n_q], closed[eom.n_q :], p)), initial=0.0))
        return _report(eom, start, closed, left)
    x, n_q = start.copy(), eom.n_q
    weight = 1.0 / np.sqrt(np.maximum(np.diag(eom.mass_matrix(t, x[:n_q], p)), 1e-12))
    free_q, free_v = _coordinate_weights(eom, hold), np.array([float(name not in hold) for name in eom.speeds])
    left = 0.0
    if eom.position_rows:
        equations = PositionEquations(eom, t, x[n_q:], p)
        limit = tolerance * max(1.0, float(np.max(np.abs(x[:n_q]), initial=0.0)))
        solved = solve_constraints(
            equations, x[:n_q], tolerance=limit, weight=weight * free_q, normalize=equations.normalize
        )
        x[:n_q] = solved.q
        if not solved.is_solved:
            raise closure_error(eom, t, [start, x], free_q > 0.0, 1e3 * limit, p)
        require_sides(eom, t, x, p)
        left = float(np.max(np.abs(solved.g), initial=0.0))
    identity = np.eye(eom.n_v)

    def rates(v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, rate, J, *_ = eom.call("constraints", t, x[:n_q], v, p=p)
        return rate.reshape(-1), J, identity

    limit = tolerance * max(1.0, float(np.max(np.abs(x[n_q:]), initial=0.0)))
    moved = solve_constraints(rates, x[n_q:], tolerance=limit, weight=weight * free_v, largest_step=np.inf)
    x[n_q:] = moved.q
    open_rate = float(np.max(np.abs(moved.g), initial=0.0))
    if not open_rate <= 1e-6 * max(1.0, float(np.max(np.abs(x[n_q:]), initial=0.0))):
        worst = ", ".join(largest_rows(eom.constraint_rows, moved.g))
        raise SolverError(
            f"system '{eom.system.name}': no speeds satisfy its constraints; the residual is {open_rate:.3g}, largest in "
            f"{worst}; hold fewer states, or check that the constraints do not contradict each other",
            partial=x,
        )
    return _report(eom, start, x, max(left, open_rate))


def _close_aggregates(
    eom: EquationsOfMotion,
    sweeps: AggregateSweeps,
    start: np.ndarray,
    t: float,
    hold: tuple[str, ...],
    tolerance: float,
    p: Any,
) -> np.ndarray:
    """Project the state of embedded equations, loop by loop."""
    x, n_q = start.copy(), eom.n_q
    weight, free_q = own_weights(sweeps, t, x[:n_q]), _coordinate_weights(eom, hold)
    free_v = np.array([name not in hold for name in eom.speeds], dtype=float)
    size = max(1.0, float(np.max(np.abs(x[:n_q]), initial=0.0)))
    loops = [member for member in sweeps.members if member.rows.size]
    for member in loops:
        names, own = tuple(eom.coordinates[k] for k in member.q), weight[member.v] * free_q[member.v]
        try:
            x[member.q] = close_member(sweeps, member, t, x[member.q], own, names, tolerance * size)
        except SolverError as error:
            x[member.q] = error.partial
            raise SolverError(str(error), partial=eom.state(x)) from error
    x = eom.state(x)
    if eom.position_rows:
        require_sides(eom, t, x, p)
    for member in loops:
        own = weight[member.v] * free_v[member.v]
        x[n_q + member.v] = move_speeds(sweeps, member, t, x[member.q], x[n_q + member.v], own)
    return x


def _coordinate_weights(eom: EquationsOfMotion, hold: tuple[str, ...]) -> np.ndarray:
    """Return zero for speeds whose coordinate is fixed, else one; a quaternion is fixed as a whole."""
    quaternions = [eom.states[k].removesuffix("qw") for k in eom.quaternions]
    turning = {f"{root}w{axis}" for root in quaternions if any(f"{root}q{e}" in hold for e in "wxyz") for axis in "xyz"}
    return np.array([0.0 if name in turning or name.removesuffix("_dot") in hold else 1.0 for name in eom.speeds])


def _report(eom: EquationsOfMotion, start: np.ndarray, x: np.ndarray, residual: float) -> ConsistentState:
    change = x - start
    moved = {name: float(d) for name, d in zip(eom.states, change, strict=True) if abs(d) > 1e-14 * (1.0 + abs(d))}
    moved_q = {name: d for name, d in moved.items() if name in eom.coordinates}
    moved_v = {name: d for name, d in moved.items() if name in eom.speeds}
    if not moved:
        message = "the state met the constraints"
    else:
        name = max(moved, key=lambda key: abs(moved[key]))
        message = f"{len(moved)} states moved, most '{name}' by {moved[name]:.3g}; residual {residual:.1e}"
    return ConsistentState(Array(x), moved_q, moved_v, residual, message)
