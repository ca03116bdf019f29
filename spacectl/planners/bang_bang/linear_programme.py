"""One linear programme of `plan_bang_bang`: the best change of controls and duration for the linearised flow.

States are eliminated by adjoint sweeps: terminal constraints and bounds at single points become rows in the
control changes. Bounds enter as lazy constraints, only where they would be violated, so the programme stays
small on fine cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from spacectl.core.errors import SolverError
from spacectl.planners.bang_bang.motion import Motion

__all__ = ["Curvature", "Point", "Step", "Weights", "solve_step"]

_ROUNDS = 12  # rounds of adding points at which a bound is violated
_VIOLATED = 1e-8  # scaled violation of a bound from which its point enters the programme
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_ALL_AT_ONCE = 40  # violated points that enter at once; of more, only local maxima
_SAMPLE_STRIDE = 4  # and every fourth point enter


@dataclass(frozen=True, order=True)
class Point:
    """One-sided bound `row` at the start (side 0) or the end (side 1) of a cell."""

    cell: int
    side: int
    row: int


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the exact penalty function, in seconds.

    Parameters
    ----------
    end : array (m,)
        Per unit violation of each terminal constraint.
    bound : float
        Per unit violation of the worst bound along the motion.
    change : float
        Per second of exchanged controls. It suppresses changes that gain less, so that the search does not
        alternate between nearly equal vertices.
    """

    end: np.ndarray
    bound: float
    change: float

    def merit(self, motion: Motion) -> float:
        """Return the merit function: duration plus penalties [s]."""
        return motion.T + float(self.end @ np.abs(motion.error)) + self.bound * motion.excess


@dataclass(frozen=True, eq=False)
class Curvature:
    """Errors of the linear model at a trial: of the terminal values and of the bounds along the motion."""

    end: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Step:
    """Solution of the programme.

    Parameters
    ----------
    w, T : array (n, n_w), float
        Changes of controls and duration.
    merit : float
        Merit function predicted by the linear model [s].
    end, sides : array (m,), arrays (n, r)
        Terminal values and bounds predicted by the linear model.
    duals : array (m,)
        Dual variables of the terminal constraints: seconds per unit of each.
    switching : array (n, n_w)
        Switching functions: seconds lost per second of exchanged control (reduced costs).
    points : set of Point
        Points whose bounds entered the programme.
    """

    w: np.ndarray
    T: float
    merit: float
    end: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]
    duals: np.ndarray
    switching: np.ndarray
    points: set[Point]


def solve_step(
    motion: Motion, weights: Weights, radius: float, points: set[Point], span: tuple[float, float],
    curvature: Curvature | None = None,
) -> Step:  # fmt: skip
    """Solve for the best change within a trust region.

    Minimise ``dT + penalty of violations + penalty of the change``, with at most `radius` seconds of
    exchanged controls. A control that moves from one limit to the other for t seconds exchanges t.

    Parameters
    ----------
    motion : Motion
        The motion about which the flow is linearised.
    weights : Weights
        Penalty weights.
    radius : float
        Trust-region radius [s].
    points : set of Point
        Points whose bounds are included from the beginning.
    span : tuple of float
        Bounds of the duration [s].
    curvature : Curvature, optional
        Correction added to the linear model (second-order correction).
    """
    points = set(points)
    values = [side.value for side in motion.sides]
    end_rows, end = _end_rows(motion), motion.end[0]
    if curvature is not None:
        end = end + curvature.end
        values = [value + more for value, more in zip(values, curvature.sides, strict=True)]
    columns = _columns(motion)
    n = len(columns.factor)
    for _ in range(_ROUNDS):
        limits = _bound_rows(motion, sorted(points), values)
        found = _programme(motion, columns, (end_rows, end), limits, weights, radius, span)
        change, duration_change = columns.change(found.x[:n]), float(found.x[n])
        sides = _predict_bounds(motion, change, duration_change, values)
        new = _violating_points(motion, sides, max(float(found.x[-1]), 0.0)) - points
        if not new:
            break
        points |= new
    merit = motion.T + float(found.fun) - weights.change * float(np.sum(found.x[:n]))
    reached = end + end_rows @ np.append(change.ravel(), duration_change)
    duals = np.abs(found.eqlin.marginals)
    return Step(
        change, duration_change, merit, reached, sides, duals, columns.reduced_costs(found.lower.marginals[:n]), points
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """Admissible changes of single controls, in seconds of exchange: one direction at a limit, two elsewhere.

    Parameters
    ----------
    shape : tuple of int
        (n, n_w).
    place : array of int
        Flat index of each column's control in an array of that shape.
    factor, room : array
        Change of the control per second of exchange, and its upper bound [s].
    """

    shape: tuple[int, int]
    place: np.ndarray
    factor: np.ndarray
    room: np.ndarray

    def change(self, seconds: np.ndarray) -> np.ndarray:
        """Return the control changes, (n, n_w)."""
        out = np.zeros(self.shape[0] * self.shape[1])
        np.add.at(out, self.place, seconds * self.factor)
        return out.reshape(self.shape)

    def reduced_costs(self, marginals: np.ndarray) -> np.ndarray:
        """Return seconds lost per second of exchange, the smaller of both directions, (n, n_w)."""
        out = np.full(self.shape[0] * self.shape[1], np.inf)
        np.minimum.at(out, self.place, marginals)
        return out.reshape(self.shape)


def _columns(motion: Motion) -> _Columns:
    flow = motion.cells.flow
    span = flow.high - flow.low
    unit = (span / motion.h[:, None]).ravel()
    rooms = [(side / span).ravel() for side in (flow.high - motion.w, motion.w - flow.low)]
    indices = [np.flatnonzero(room > 1e-9) for room in rooms]
    place = np.concatenate(indices)
    factor = np.concatenate([unit[indices[0]], -unit[indices[1]]])
    room = np.concatenate([room[index] for room, index in zip(rooms, indices, strict=True)])
    return _Columns(motion.w.shape, place, factor, room * np.repeat(motion.h, flow.n_w)[place])


def _programme(
    motion: Motion, columns: _Columns, end: Any, limits: Any, weights: Weights, radius: float, span: tuple[float, float]
) -> Any:
    """Solve for (exchanged seconds, duration change, terminal slacks (twice), terminal values, violation)."""
    (end_rows, end_value), (bound_rows, bound_value) = end, limits
    goal = motion.cells.goal
    m, n, r = len(end_value), len(columns.factor), len(bound_value)
    zero, one = np.zeros(m), np.ones(n)

    def in_seconds(rows: np.ndarray) -> np.ndarray:
        return np.hstack([rows[:, columns.place] * columns.factor, rows[:, -1:]])

    cost = np.concatenate([weights.change * one, [1.0], weights.end, weights.end, zero, [weights.bound]])
    A_eq = np.hstack([in_seconds(end_rows), np.eye(m), -np.eye(m), -np.eye(m), zero[:, None]])
    rows = [np.concatenate([one / radius, np.zeros(3 * m + 2)])[None]]
    if r:
        rows.append(np.hstack([in_seconds(bound_rows), np.zeros((r, 3 * m)), -np.ones((r, 1))]))
    low = np.concatenate([0.0 * one, [max(-radius, span[0] - motion.T)], zero, zero, goal.low / goal.scale, [0.0]])
    high = [columns.room, [min(radius, span[1] - motion.T)], zero + np.inf, zero + np.inf, goal.high / goal.scale]
    bounds = np.stack([low, np.concatenate([*high, [np.inf]])], axis=1)
    given = {"A_ub": np.vstack(rows), "b_ub": np.concatenate([[1.0], -bound_value]), "A_eq": A_eq, "b_eq": -end_value}
    for method in ("highs-ds", "highs-ipm"):
        found = linprog(cost, **given, bounds=bounds, method=method, options=_EXACT)
        if found.x is not None:
            return found
    raise SolverError(f"plan_bang_bang: a linear programme has no solution ({found.message})")


def _end_rows(motion: Motion) -> np.ndarray:
    """Return the Jacobian of the terminal values with respect to the changes (dw, dT)."""
    linear, duration_shares = motion.linear, motion.duration_shares
    n, n_w = motion.w.shape
    g = motion.end[1]
    out = np.zeros((len(g), n * n_w + 1))
    for k in range(n - 1, -1, -1):
        out[:, k * n_w : (k + 1) * n_w] = g @ linear.B[k]
        out[:, -1] += duration_shares[k] * (g @ linear.c[k])
        g = g @ linear.A[k]
    return out


def _bound_rows(motion: Motion, points: list[Point], values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the Jacobian by (dw, dT) of the bounds at points, which are sorted by cell, and their values."""
    linear, duration_shares = motion.linear, motion.duration_shares
    n, n_w = motion.w.shape
    out = np.zeros((len(points), n * n_w + 1))
    g = np.zeros((len(points), motion.x.shape[1]))
    first = i = len(points)
    for k in range(points[-1].cell if points else -1, -1, -1):
        for side in (1, 0):
            while i > 0 and points[i - 1].cell == k and points[i - 1].side == side:
                i -= 1
                jacobians = motion.sides[side]
                g[i] = jacobians.by_x[k, points[i].row]
                out[i, k * n_w : (k + 1) * n_w] += jacobians.by_w[k, points[i].row]
            first = i
            if side == 1:
                out[first:, k * n_w : (k + 1) * n_w] += g[first:] @ linear.B[k]
                out[first:, -1] += duration_shares[k] * (g[first:] @ linear.c[k])
                g[first:] = g[first:] @ linear.A[k]
    return out, np.array([values[point.side][point.cell, point.row] for point in points])


def _predict_bounds(
    motion: Motion, change: np.ndarray, duration_change: float, values: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the one-sided bounds along the motion predicted by the linear model."""
    if not values[0].shape[1]:
        return values[0], values[1]
    linear = motion.linear
    driven = np.einsum("nij,nj->ni", linear.B, change) + linear.c * (motion.duration_shares * duration_change)[:, None]
    dx = np.zeros_like(motion.x)
    for k in range(len(change)):
        dx[k + 1] = linear.A[k] @ dx[k] + driven[k]
    begin, end = (
        value + np.einsum("nij,nj->ni", side.by_x, moved) + np.einsum("nij,nj->ni", side.by_w, change)
        for value, side, moved in zip(values, motion.sides, (dx[:-1], dx[1:]), strict=True)
    )
    return begin, end


def _violating_points(motion: Motion, sides: tuple[np.ndarray, np.ndarray], bound: float) -> set[Point]:
    """Return points that violate a bound: all if they are few, else local maxima and a regular sample.

    Quantities that do not depend on the controls are equal at the end of a cell and the beginning of the
    next.
    """
    found = set()
    for side, values in enumerate(sides):
        bad = values > bound + _VIOLATED
        if side == 0:
            bad[1:] &= np.any(motion.sides[0].by_w[1:] != 0.0, axis=2)
        if bad.sum() > _ALL_AT_ONCE:
            padded = np.pad(values, ((1, 1), (0, 0)), constant_values=-np.inf)
            worst = (values >= padded[:-2]) & (values >= padded[2:])
            worst[::_SAMPLE_STRIDE] = True
            bad &= worst
        found |= {Point(int(k), side, int(row)) for k, row in zip(*np.nonzero(bad), strict=True)}
    return found
