"""Convert the motion of `plan_bang_bang` to a `Plan`: trajectories, arcs, and the cause of a failure."""

from __future__ import annotations

import numpy as np

from spacectl.core.trajectory import Trajectory
from spacectl.planners.bang_bang.motion import Motion
from spacectl.planners.collocation.arcs import Stretch, find_stretches
from spacectl.planners.plan import Arc

__all__ = ["arcs_of", "describe_violation", "stretches_of", "trajectories"]

_SAMPLE = 0.1  # fastest rate times the knot spacing: cubic interpolation errs by 3e-7 of the vibration
_NEAR = 1e-6  # fraction of its range within which a control counts as at its limit
_TRANSITION = 0.025  # of the duration: shorter transitions between limits are one switch if no bound is active
_AT_BOUND = 1e-3  # scaled distance within which a bound counts as active


def trajectories(motion: Motion, fastest: float) -> tuple[Trajectory, Trajectory]:
    """Return states and inputs over time; at a jump of a control, two knots are one rounding error apart."""
    cells, flow = motion.cells, motion.cells.flow
    eom = flow.problem.eom
    h = motion.h
    steps = max(2, int(np.ceil(fastest * h.max() / _SAMPLE)))
    fine = flow.integrate(cells.x0, motion.w, h, steps)
    n = len(h)
    begins = np.concatenate([[0.0], np.cumsum(h)])
    begins[-1] = motion.T
    part = np.arange(steps + 1) / steps
    t = begins[:-1, None] * (1.0 - part) + begins[1:, None] * part
    x = fine[np.arange(n)[:, None] * steps + np.arange(steps + 1)]
    jumps = np.append(np.any(np.abs(np.diff(motion.w, axis=0)) > 0.0, axis=1), False)
    t[jumps, -1] = np.nextafter(t[jumps, -1], 0.0)
    keep = np.ones((n, steps + 1), dtype=bool)
    keep[:-1, -1] = jumps[:-1]
    w = np.repeat(motion.w[:, None, :], steps + 1, axis=1)[keep]
    t, x = t[keep], x[keep]
    rates = flow.rates(x, w)
    u = flow.inputs(x, w)
    u_dot = np.zeros_like(u)
    jacobians = flow.row_values(x, w).by_x[:, : len(flow.busy)]
    u_dot[:, list(eom.labels.u.indices(flow.busy))] = np.einsum("nij,nj->ni", jacobians, rates)
    return (
        Trajectory(t=t, values=x, rates=rates, labels=eom.labels.x),
        Trajectory(t=t, values=u, rates=u_dot, labels=eom.labels.u),
    )


def _mesh(motion: Motion) -> np.ndarray:
    """Return the cell boundaries as fractions of the duration."""
    mesh = np.append(0.0, np.cumsum(motion.h)) / motion.T
    mesh[-1] = 1.0
    return mesh


def _active(motion: Motion) -> np.ndarray:
    """Return a mask of the bounds active in each cell."""
    return np.asarray(np.minimum(*(item.value for item in motion.sides)) > -_AT_BOUND)


def stretches_of(motion: Motion) -> dict[str, list[Stretch]]:
    """Return the stretches of each control by name; a transition between limits becomes one switch."""
    flow = motion.cells.flow
    transition = max(1, int(_TRANSITION * len(motion.w))) if not _active(motion).any() else 1
    level = (2.0 * motion.w - flow.high - flow.low) / (flow.high - flow.low)
    side = np.where(level > 1.0 - 2.0 * _NEAR, 1, np.where(level < 2.0 * _NEAR - 1.0, -1, 0))
    return {
        name: find_stretches(_mesh(motion), level[:, i], side[:, i], transition) for i, name in enumerate(flow.controls)
    }


def arcs_of(motion: Motion) -> tuple[Arc, ...]:
    """Return the arcs with their active limits; switches inside a cell preserve the integral of the control."""
    flow, goal, T = motion.cells.flow, motion.cells.goal, motion.T
    mesh, rows = _mesh(motion), list(stretches_of(motion).values())
    active = _active(motion)
    changes = mesh[1:-1][np.any(active[1:] != active[:-1], axis=1)]
    cuts = np.unique(np.concatenate([[0.0, 1.0], changes, *([item.begin for item in row] for row in rows)]))
    arcs: list[Arc] = []
    for begin, end in zip(cuts[:-1], cuts[1:], strict=True):
        middle = 0.5 * (begin + end)
        found = [
            f"{name} at its {'upper' if side > 0 else 'lower'} limit"
            for name, row in zip(flow.controls, rows, strict=True)
            if (side := next(item.side for item in row if item.begin <= middle <= item.end))
        ]
        cell = min(int(np.searchsorted(mesh, middle, side="right")) - 1, len(active) - 1)
        found += [f"{flow.rows[goal.rows[r]].name} at its {'upper' if goal.sign[r] > 0 else 'lower'} limit"
                  for r in np.flatnonzero(active[cell])]  # fmt: skip
        words = ", ".join(found) or "no limit"
        if arcs and arcs[-1].limit == words:
            arcs[-1] = Arc(begin=arcs[-1].begin, end=float(end * T), limit=words)
        else:
            arcs.append(Arc(begin=float(begin * T), end=float(end * T), limit=words))
    return tuple(arcs)


def describe_violation(motion: Motion) -> str:
    """Describe the worst violation of a motion."""
    flow, goal = motion.cells.flow, motion.cells.goal
    error = np.abs(motion.error)
    if error.size and error.max() >= motion.excess:
        i = int(error.argmax())
        got = motion.end[0][i] * goal.scale[i]
        wanted = f"{goal.low[i]:g}" if goal.low[i] == goal.high[i] else f"{goal.low[i]:g} to {goal.high[i]:g}"
        return f"at the end '{goal.names[i]}' is {got:.6g} instead of {wanted}"
    side = max(motion.sides, key=lambda item: float(item.value.max(initial=-np.inf)))
    k, r = np.unravel_index(int(side.value.argmax()), side.value.shape)
    t = float(np.sum(motion.h[:k]))
    violation = float(side.value[k, r]) * goal.unit[r]
    return f"'{flow.rows[goal.rows[r]].name}' violates its bound {goal.bound[r]:g} by {violation:.3g} at {t:.4g} s"
