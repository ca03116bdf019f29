"""Shaped timing: the fastest s(t) along a path convolved with an input shaper, so that no vibration remains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.controllers.shaping.shaper import Shaper, design_shaper
from spacectl.core.errors import SolverError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.analysis.modes import modes
from spacectl.linear.linearize import linearize
from spacectl.linear.operating_point import find_operating_point
from spacectl.planners.paths.limits import TorqueLimits
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.solve import SolvedPath, solve_path
from spacectl.planners.phase_plane.plan_phase_plane import plan_phase_plane
from spacectl.planners.plan import Arc, Plan

__all__ = ["shape_motion", "shape_plan"]


def shape_plan(
    eom: EquationsOfMotion,
    rigid: EquationsOfMotion,
    path: Path,
    shaper: Any,
    *,
    limits: tuple[Any, ...] = (),
    fraction: float = 1.0,
) -> Plan:
    """Plan with a shaped timing: ``s(t) = sum_i a_i s_0(t - t_i)``, torques of the rigid system on the same path.

    The convolved s(t) requires other torques at other positions, so the underlying plan uses a fraction of the
    limits, found by iteration such that no shaped torque exceeds its limit.

    Parameters
    ----------
    eom, rigid : EquationsOfMotion
        The plant, whose elastic modes at the end of the path determine the shaper, and its rigid counterpart.
    path : Path
        The path.
    shaper : {"ZV", "ZVD", "EI", ...} or Shaper
        Kind of the shaper, or a shaper.
    limits : tuple of Limit
        Further limits of the plan.
    fraction : float
        Fraction of the limits for the shaped torques.

    Raises
    ------
    SolverError
        If there is no suitable fraction.
    """
    solved = solve_path(rigid, path)
    low, high = rigid.limits()
    train: Shaper | None = None
    trial = fraction
    for _ in range(12):
        plan = plan_phase_plane(rigid, path, limits=(TorqueLimits(fraction=trial), *limits))
        if plan.s is None:
            raise SolverError(f"path '{path.name}': the plan has no timing to shape")
        train = train or (shaper if isinstance(shaper, Shaper) else _design(eom, rigid, plan, shaper))
        shaped = _replay(rigid, solved, plan, train)
        u = np.asarray(shaped.u.values)
        excess = float(np.max(np.maximum(u / high, u / low)))
        if excess <= fraction:
            break
        trial *= fraction / (excess * (1.0 + 1e-6))
    else:
        raise SolverError(
            f"path '{path.name}': shaped torques exceed their limits for every fraction of the limits in the plan"
        )
    notes = {**plan.notes, "fraction": trial, "shaper": train.name, "impulses": np.asarray(train.times).tolist()}
    return Plan(
        name=f"{path.name}, shaped", x=shaped.x, u=shaped.u, s=shaped.s, arcs=shaped.arcs, outcome=plan.outcome, notes=notes
    )  # fmt: skip


def _design(eom: EquationsOfMotion, rigid: EquationsOfMotion, plan: Plan, kind: Any) -> Shaper:
    """Design a shaper for the elastic modes at the end of the path, with joints free to move under their torques."""
    end = dict(zip(plan.x.labels.names, np.asarray(plan.x.values)[-1], strict=True))
    point = find_operating_point(eom, q={name: float(end[name]) for name in rigid.coordinates})
    found = modes(linearize(eom, point))
    slowest = 10.0 / plan.final_time  # [rad/s] below it a mode is orbital or rigid
    kept = [k for k, w in enumerate(found.frequency) if w > slowest and abs(found.damping[k]) < 0.7]
    if not kept:
        raise SolverError(f"plan '{plan.name}': no vibration above {slowest:.2g} rad/s to shape for")
    return design_shaper(np.asarray(found.frequency)[kept], np.asarray(found.damping)[kept], kind=kind)


def shape_motion(
    eom: EquationsOfMotion, rigid: EquationsOfMotion, plan: Plan, shaper: Any = "ZVD", *, fraction: float = 1.0
) -> Plan:
    """Plan the shaped motion of a plan without a path: ``q(t) = sum_i a_i q_0(k (t - t_i))``, and its torques.

    The path changes a little, conditions linear in q remain satisfied. The motion is slowed down (k below 1) as far
    as the limits require.

    Parameters
    ----------
    eom, rigid : EquationsOfMotion
        The plant, whose elastic modes at the end determine the shaper, and its rigid counterpart, for which the plan
        was made.
    plan : Plan
        From rest to rest, in coordinates without quaternions.
    shaper : {"ZV", "ZVD", "EI", ...} or Shaper
        Kind of the shaper, or a shaper.
    fraction : float
        Fraction of the limits for the shaped torques.
    """
    low, high = rigid.limits()
    train = shaper if isinstance(shaper, Shaper) else _design(eom, rigid, plan, shaper)
    order = [plan.x.labels.index(name) for name in rigid.states]
    slow = 1.0
    for _ in range(12):

        def motion(t: np.ndarray, slow: float = slow) -> np.ndarray:
            x, rate = plan.x(slow * t)[:, order], plan.x.rate(slow * t)[:, order]
            n = rigid.n_q
            return np.hstack([x[:, :n], slow * x[:, n:], slow**2 * rate[:, n:]]).T

        t, columns = _convolve(motion, np.asarray(plan.x.t) / slow, train, rigid.n_q)
        q, v, v_dot = np.split(columns.T, 3, axis=1)
        shaped = _torques(rigid, f"{plan.name}, shaped", t, q, v, v_dot)
        u = np.asarray(shaped.u.values)
        excess = float(np.max(np.maximum(u / high, u / low)))
        if excess <= fraction:
            notes = {**plan.notes, "slowed": slow, "shaper": train.name, "impulses": np.asarray(train.times).tolist()}
            return replace(shaped, outcome=plan.outcome, notes=notes)
        slow *= float(np.sqrt(fraction / excess)) * (1.0 - 1e-6)
    raise SolverError(f"plan '{plan.name}': shaped torques exceed their limits at every speed of execution")


def _replay(rigid: EquationsOfMotion, solved: SolvedPath, plan: Plan, train: Shaper) -> Plan:
    """Return states and torques of the rigid system that follows the path with the shaped timing."""
    assert plan.s is not None
    timing = plan.s
    t, (s, s_dot, s_ddot) = _convolve(lambda t: timing(t).T[:3], np.asarray(timing.t), train, 1)
    points = solved.evaluate(np.clip(s, 0.0, solved.length))
    v_dot = points.dq * s_ddot[:, None] + points.ddq * (s_dot**2)[:, None]
    shaped = _torques(rigid, plan.name, t, points.q, points.dq * s_dot[:, None], v_dot)
    values = np.stack([s, s_dot, s_ddot], axis=1)
    return replace(shaped, s=Trajectory(t=t, values=values, labels=timing.labels, interpolation="linear"))


def _torques(
    rigid: EquationsOfMotion, name: str, t: np.ndarray, q: np.ndarray, v: np.ndarray, v_dot: np.ndarray
) -> Plan:
    """Return the plan of a given motion: inputs by inverse dynamics, ``B_tau u = M v_dot + h``."""
    x = np.hstack([q, v])
    terms = {key: np.asarray(rigid.along(key, t, x)) for key in ("mass_matrix", "bias", "input_map")}
    n, m = rigid.n_v, rigid.n_u
    force = np.einsum("nij,nj->ni", terms["mass_matrix"].reshape(-1, n, n), v_dot) + terms["bias"].reshape(-1, n)
    u = np.linalg.solve(terms["input_map"].reshape(-1, n, m), force[:, :, None])[:, :, 0]
    labels = rigid.labels
    return Plan(
        name=name,
        x=Trajectory(t=t, values=x, rates=np.hstack([v, v_dot]), labels=labels.x),
        u=Trajectory(t=t, values=u, labels=Labels(labels.u.names, labels.u.units, "input"), interpolation="linear"),
        arcs=(Arc(begin=float(t[0]), end=float(t[-1]), limit="shaped timing"),),
    )


def _convolve(
    motion: Callable[[np.ndarray], np.ndarray], knots: np.ndarray, train: Shaper, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return knots and values, shape (3 size, n), of ``sum_i a_i f(t - t_i)`` for rows f of positions, rates and second rates.

    Where a second rate jumps two knots differ by rounding only.
    """
    end = float(knots[-1])
    gap = 1e-9 * end
    times = np.sort(np.add.outer(np.asarray(train.times), knots).ravel())
    times = times[np.concatenate([[True], np.diff(times) > 3.0 * gap])]
    before, after = (_shifted(motion, end, train, times + side, size) for side in (-gap, gap))
    jump = np.abs(after - before)[2 * size :]
    jumps = np.any(jump > 1e-6 * np.max(np.abs(after[2 * size :]), axis=1, keepdims=True), axis=0)
    jumps[[0, -1]] = False
    first = np.where(np.arange(times.size) == 0, after, before)  # value at a knot, or before its jump
    t = np.concatenate([times, np.nextafter(times[jumps], np.inf)])
    order = np.argsort(t, kind="stable")
    return t[order], np.concatenate([first, after[:, jumps]], axis=1)[:, order]


def _shifted(
    motion: Callable[[np.ndarray], np.ndarray], end: float, train: Shaper, t: np.ndarray, size: int
) -> np.ndarray:
    """Return the sum at times that are no knots; copies are at rest outside their own time."""
    total = np.zeros((3 * size, t.size))
    for amplitude, delay in zip(np.asarray(train.amplitudes), np.asarray(train.times), strict=True):
        own = np.array(motion(np.clip(t - delay, 1e-12 * end, (1.0 - 1e-12) * end)))
        own[size:, (t < delay) | (t > delay + end)] = 0.0
        total += amplitude * own
    return total
