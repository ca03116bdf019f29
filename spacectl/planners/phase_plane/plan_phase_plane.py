"""Minimum time along a prescribed path by its phase plane (Sadigh 1995, section 8.2.2), with every limit in one form.

The path reduces the system to one variable s, the path parameter. Each limit bounds s_ddot at every (s,
s_dot), and the fastest motion has the largest or smallest s_ddot everywhere. Its phase trajectory, the
highest feasible curve of the plane, is constructed directly from the characteristic points of the velocity
limit curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.input_checks import require_memory
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.planners.paths.dynamics import PathDynamics
from spacectl.planners.paths.limit_rows import LimitRows, form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.solve import solve_path
from spacectl.planners.phase_plane.grid import Margin, PhaseGrid, form_grid
from spacectl.planners.phase_plane.points import SwitchPoint, find_points, insert_points
from spacectl.planners.phase_plane.profile import Profile, find_profile
from spacectl.planners.phase_plane.refine import ENOUGH, find_excess, find_parts, halves
from spacectl.planners.phase_plane.timing import Law, find_law, find_switches
from spacectl.planners.plan import Arc, Plan

__all__ = ["PhasePlane", "plan_phase_plane"]

Ends = tuple[float | None, float | None]

MAX_PLANS = 25  #: maximum number of plans on finer grids or with larger margins
LEAST_MARGIN = 1e-9  #: minimum margin, relative to a limit's half range, that absorbs rounding errors
MARGIN_FACTOR = 1.3  #: first margin as a multiple of the excess; it doubles whenever it is insufficient


@dataclass(frozen=True, eq=False)
class PhasePlane:
    """The phase plane of a plan, for drawing and inspection.

    Parameters
    ----------
    s, s_dot : arrays
        The plan.
    limit_s, limit_speed, least_speed : arrays
        Velocity limit curve: largest and smallest feasible s_dot over s.
    curves : tuple of (s, s_dot) arrays
        The curves whose lower envelope is the plan.
    points : tuple of SwitchPoint
        Characteristic points of the limit curve.
    switches : tuple of SwitchPoint
        Where the plan changes from one arc to the next.
    """

    s: np.ndarray
    s_dot: np.ndarray
    limit_s: np.ndarray
    limit_speed: np.ndarray
    least_speed: np.ndarray
    curves: tuple[tuple[np.ndarray, np.ndarray], ...]
    points: tuple[SwitchPoint, ...]
    switches: tuple[SwitchPoint, ...]


def plan_phase_plane(
    eom: EquationsOfMotion,
    path: Path,
    *,
    limits: Any = None,
    begin_speed: float | None = 0.0,
    end_speed: float | None = 0.0,
    points: int = 1000,
    margin: float | None = None,
    p: Any = None,
) -> Plan:
    """Plan the fastest motion along a path within limits, in the phase plane.

    Every limited quantity ``a s_ddot + b s_dot^2 + c s_dot + d`` stays between its bounds. All four terms are
    exact, so orbital Coriolis forces and viscous friction (c) are included. The profile is of second order in
    the grid: limits are imposed in the middle of each cell or, to prevent chattering near zero-inertia
    points, at its end. The plan is checked at five points of every cell. Cells in which a limit is exceeded
    by more than 5e-5 of its half range are split. A smaller excess is removed by a local margin of the same
    size. Thus no limit is exceeded, and from about 200 cells on the time is within 1e-4 of the minimum.

    Parameters
    ----------
    eom : EquationsOfMotion
        A rigid, time-invariant system with actuators for every speed that the path prescribes.
    path : Path
        `JointPath`, `TaskPath`, `ImplicitPath` or `SlewPath`.
    limits : Limit or tuple of Limit, optional
        Default: the limits of the actuators.
    begin_speed, end_speed : float or None
        s_dot at the ends; None leaves it free.
    points : int
        Number of grid cells before refinement.
    margin : float, optional
        Fraction of every limit's half range that is not used. Default: only what the check requires, locally.
        If given, the plan is made once on the initial grid, and its excess is reported in ``notes``.
    p : array, optional
        Run-time parameters; default the system's own.

    Returns
    -------
    Plan
        ``s`` (s, s_dot, s_ddot), states, inputs, arcs with their active limits. ``notes["phase_plane"]`` is
        the `PhasePlane`, ``notes["margin"]`` the largest margin and ``notes["cells"]`` the number of cells
        after refinement.

    Raises
    ------
    SolverError
        If the path is infeasible, the initial speed lies above the limit curve, a load cannot be held, or the
        end cannot be reached. The message states the position and the limit.

    References
    ----------
    Sadigh (1995), section 8.2.2; Bobrow, Dubowsky and Gibson 1985; Pfeiffer and Johanni 1987; Pham 2014.

    Examples
    --------
    >>> from spacectl import JointTorque, LineCurve, JointPath, Part, Revolute, RigidBody, System, form_equations
    >>> wheel = RigidBody(name="wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    >>> system = System(name="wheel", parts=(Part(wheel, joint=Revolute(name="turn", axis="z")),),
    ...                 actuators=(JointTorque(joint="turn", limit=2.0),))
    >>> path = JointPath(curve=LineCurve(start=(0.0,), end=(1.0,)), coordinates=("turn",))
    >>> plan = plan_phase_plane(form_equations(system), path)
    >>> round(plan.final_time, 3), [round(t, 3) for t in plan.switch_times]  # 2 sqrt(inertia angle / torque)
    (2.0, [1.0])
    """
    require_equations(eom, "plan_phase_plane")
    check_arguments(path, begin_speed, end_speed, points, margin)
    values = eom.parameters.of(p)
    rows = form_rows(PathDynamics(eom, solve_path(eom, path, values), values), as_limits(limits))
    ends = (begin_speed, end_speed)
    law, plane, largest_margin, excess = _solve_within(rows, path, points, ends, margin)
    notes = {"scheme": "phase plane", "points": points, "cells": len(law.piece), "margin": largest_margin}
    notes["max_limit_violation"] = max(excess, 0.0)
    return make_plan(rows, path, law, {**notes, "phase_plane": plane, "switches": plane.switches})


def _solve_within(
    rows: LimitRows, path: Path, points: int, ends: Ends, given: float | None
) -> tuple[Law, PhasePlane, float, float]:
    """Return the time law that satisfies all limits between grid points too, its phase plane, margin and excess.

    The excess is a discretisation error: cells with a large excess are split, and the rest is removed by a
    margin.
    """
    raw, inertia = insert_points(form_grid(rows, points, (ends[0] == 0.0, ends[1] == 0.0)))
    margin, factor = Margin(raw.s[[0, -1]], np.full(2, LEAST_MARGIN if given is None else given)), MARGIN_FACTOR
    for _ in range(MAX_PLANS):
        try:
            profile, found, law = _solve(raw.tightened(margin), inertia, path, ends)
        except SolverError:  # infeasible, or the grid is too coarse
            if len(raw.s) > ENOUGH:
                raise
            raw, inertia = insert_points(raw.split(halves(raw)))
            continue
        table, unused = find_excess(law, profile.grid, is_complete=given is not None)
        excess = float(np.max(table))
        if excess <= 0.0 or given is not None:
            return law, _plane(profile, found, law), float(np.max(margin.values)), excess
        parts = find_parts(raw, law, np.max(table, axis=1), unused)
        if np.any(parts > 1):
            raw = raw.split(parts)
        else:
            margin, factor = margin.raised(law.s, np.max(table, axis=1), factor), 2.0 * factor
    worst, row = np.unravel_index(int(np.argmax(table)), table.shape)
    raise SolverError(
        f"path '{path.name}': {rows.names[row]} is exceeded by {excess:.1e} of its range at s = {law.s[worst]:.6g} between grid "
        "points; use more points"
    )


def check_arguments(path: Any, begin: float | None, end: float | None, points: int, margin: float | None) -> None:
    if not isinstance(path, Path):
        raise ModelError(f"plan along a path: expected JointPath, TaskPath, ..., got {type(path).__name__}")
    for name, value in (("begin_speed", begin), ("end_speed", end)):
        if value is not None and not 0.0 <= value < np.inf:
            raise ModelError(
                f"path '{path.name}': {name} is {value!r}, expected s_dot of 0 or more, or None to leave it free"
            )
    if not isinstance(points, int) or points < 10:
        raise ModelError(f"path '{path.name}': points is {points!r}, expected an integer of at least 10")
    require_memory(64.0 * points, f"path '{path.name}': points = {points}", "use fewer points")
    if margin is not None and not 0.0 <= margin < 1.0:
        raise ModelError(f"path '{path.name}': margin is {margin!r}, expected 0 or more and below 1")


def _solve(
    grid: PhaseGrid, inertia: list[tuple[float, int]], path: Path, ends: Ends
) -> tuple[Profile, list[SwitchPoint], Law]:
    """Return the highest profile on a grid, the characteristic points and the time law."""
    try:
        found = find_points(grid, inertia)
        profile = find_profile(grid, found, *ends)
        return profile, found, find_law(profile)
    except SolverError as error:
        low, high, _, _ = grid.limit_curve
        failed = PhasePlane(np.zeros(0), np.zeros(0), grid.s, high, low, (), (), ())
        raise SolverError(f"path '{path.name}': {error}", partial=failed) from error


def _plane(profile: Profile, found: list[SwitchPoint], law: Law) -> PhasePlane:
    grid = profile.grid
    low, high, _, _ = grid.limit_curve
    spans = [(c, slice(c.first, c.last + 1)) for c in profile.curves if c.last > c.first]
    curves = tuple((grid.s[span], np.sqrt(np.maximum(curve.x[span], 0.0))) for curve, span in spans)
    switches = find_switches(law, found, grid.rows.names)
    return PhasePlane(law.s, law.s_dot, grid.s, high, low, curves, tuple(found), switches)


def make_plan(rows: LimitRows, path: Path, law: Law, notes: dict[str, Any]) -> Plan:
    """Return the plan of a time law; at a jump of s_ddot, two knots are one rounding error apart."""
    eom = rows.dynamics.eom
    begin, end = law.node_accelerations()
    at, cell, s_ddot = _knots(law, begin, end)
    t, s, s_dot = _separate(law.t[at]), law.s[at], law.s_dot[at]
    q, v, v_dot, q_dot, tau = _histories(rows, s, s_dot, s_ddot, law.piece[cell])
    low, high = eom.limits(rows.dynamics.p)
    labels = eom.labels
    limits = [rows.names[law.row[a]] for a in law.starts]
    bounds = [*law.t[law.starts], law.t[-1]]
    arcs = tuple(
        Arc(begin=float(b), end=float(e), limit=w) for b, e, w in zip(bounds[:-1], bounds[1:], limits, strict=True)
    )
    path_labels = Labels(("s", "s_dot", "s_ddot"), ("1", "1/s", "1/s^2"), "path variable")
    return Plan(
        name=path.name,
        x=Trajectory(t=t, values=np.hstack([q, v]), rates=np.hstack([q_dot, v_dot]), labels=labels.x),
        u=Trajectory(t=t, values=np.clip(tau, low, high), labels=labels.u, interpolation="linear"),
        s=Trajectory(t=t, values=np.stack([s, s_dot, s_ddot], axis=1), labels=path_labels, interpolation="linear"),
        arcs=arcs,
        outcome=Outcome(message=f"{law.t[-1]:.6g} s along '{path.name}' with {len(arcs) - 1} switches"),
        notes=notes,
    )


def _knots(law: Law, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return node, cell and s_ddot of each knot; there are two knots at a jump of s_ddot."""
    nodes: list[int] = []
    cells: list[int] = []
    s_ddot: list[float] = []
    for a, b in zip(law.jumps, np.append(law.jumps[1:], len(begin)), strict=True):
        nodes += [*range(a, b), b]
        cells += [*range(a, b), b - 1]
        s_ddot += [*begin[a:b], end[b - 1]]
    return np.array(nodes), np.array(cells), np.array(s_ddot)


def _separate(t: np.ndarray) -> np.ndarray:
    """Return times with equal neighbours separated by one rounding error."""
    out = t.copy()
    for k in np.flatnonzero(np.diff(out) <= 0.0):
        out[k + 1] = np.nextafter(out[k], np.inf)
    return out


def _histories(
    rows: LimitRows, s: np.ndarray, s_dot: np.ndarray, s_ddot: np.ndarray, piece: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return q, v, v_dot, q_dot and inputs at the knots."""
    eom, n = rows.dynamics.eom, len(s)
    out = tuple(np.empty((n, k)) for k in (eom.n_q, eom.n_v, eom.n_v, eom.n_q, eom.n_u))
    for i in np.unique(piece):
        mine = piece == i
        motion = rows.dynamics.evaluate(s[mine], int(i))
        y, u = s_dot[mine], s_ddot[mine]
        values = (motion.points.q, motion.speeds(y), motion.accelerations(y, u), motion.points.dq * y[:, None],
                  motion.inputs(y, u))  # fmt: skip
        for target, value in zip(out, values, strict=True):
            target[mine] = value
    return out
