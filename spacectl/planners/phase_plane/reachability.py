"""A second, independent solver for the fastest motion along a path, by reachable sets.

A backward pass computes the set of speeds from which the end can be reached within the limits. A forward pass
takes the largest acceleration that stays in these sets. The method shares only the limit rows with the phase
plane. It includes the term linear in s_dot exactly, unlike the usual convex formulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.planners.paths.dynamics import PathDynamics
from spacectl.planners.paths.limit_rows import LimitRows, form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.solve import solve_path
from spacectl.planners.phase_plane.cells import smooth_labels
from spacectl.planners.phase_plane.plan_phase_plane import check_arguments, make_plan
from spacectl.planners.phase_plane.timing import Law
from spacectl.planners.plan import Plan

__all__ = ["plan_reachability"]

LARGE = 1e60


def plan_reachability(
    eom: EquationsOfMotion,
    path: Path,
    *,
    limits: Any = None,
    begin_speed: float | None = 0.0,
    end_speed: float | None = 0.0,
    points: int = 1000,
    p: Any = None,
) -> Plan:
    """Plan the fastest motion along a path within limits, by reachable sets of s_dot.

    In each cell s_ddot is constant and the limits are imposed in its middle, ``A u + B x + C sqrt(x) + D <=
    0`` with ``x = (x_k + x_{k+1}) / 2``, ``u = (x_{k+1} - x_k) / (2 h)``: a quadratic in sqrt(x). The method
    is slower than `plan_phase_plane` and serves to verify it. Between grid points, inputs may exceed their
    limits by the discretisation error, which is reported in ``notes``.

    Parameters
    ----------
    eom : EquationsOfMotion
        As for `plan_phase_plane`.
    path : Path
        The path to follow.
    limits : Limit or tuple of Limit, optional
        Default: the limits of the actuators.
    begin_speed, end_speed : float or None
        s_dot at the ends; None leaves it free.
    points : int
        Number of grid cells.
    p : array, optional
        Run-time parameters; default the system's own.

    Returns
    -------
    Plan
        As returned by `plan_phase_plane`, without the phase plane in ``notes``.

    Raises
    ------
    SolverError
        If no motion reaches the end within the limits. The message states the position and the limit.

    References
    ----------
    Pham and Pham 2018, whose sets are convex; these need not be.
    """
    require_equations(eom, "plan_reachability")
    check_arguments(path, begin_speed, end_speed, points, None)
    values = eom.parameters.of(p)
    rows = form_rows(PathDynamics(eom, solve_path(eom, path, values), values), as_limits(limits))
    s, piece, middle, nodes = _grid(rows, points)
    low, high = _backward(rows, path, s, middle, nodes, end_speed)
    x = _forward(rows, path, s, middle, (low, high), begin_speed)
    law = _law(s, x, piece, middle)
    excess = float(np.max(law.excess(rows, law.is_cut)))
    return make_plan(
        rows, path, law, {"scheme": "reachability", "points": points, "max_limit_violation": max(excess, 0.0)}
    )


def _grid(rows: LimitRows, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes, pieces of the cells, rows at their middles, and the largest x by speed limits at each node."""
    breaks = rows.dynamics.solved.breaks
    s, piece, middle, nodes = [np.zeros(1)], [], [], [np.full(1, LARGE)]
    end_V = None
    for i, (begin, end) in enumerate(zip(breaks[:-1], breaks[1:], strict=True)):
        n = max(8, round(points * (end - begin) / breaks[-1]))
        at = begin + (end - begin) * (0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, n + 1)))  # quadratic near ends at rest
        motion, table = rows.evaluate(at, i)
        caps = _own_caps(table)
        is_corner = end_V is not None and np.max(np.abs(end_V - motion.V[0])) > 1e-7 * np.max(np.abs(motion.V[0]))
        nodes[-1][-1] = 0.0 if is_corner else min(nodes[-1][-1], caps[0])
        end_V = motion.V[-1]
        s.append(at[1:])
        piece.append(np.full(n, i))
        middle.append(rows.evaluate(0.5 * (at[:-1] + at[1:]), i)[1])
        nodes.append(caps[1:])
    return np.concatenate(s), np.concatenate(piece), np.concatenate(middle), np.concatenate(nodes)


def _own_caps(table: np.ndarray) -> np.ndarray:
    """Return the largest x that rows without inertia (speed limits) allow."""
    A, B, C, D = (table[:, :, i] for i in range(4))
    _, high = _solve(np.where(A == 0.0, B, 0.0), np.where(A == 0.0, C, 0.0), np.where(A == 0.0, D, -1.0), np.zeros(1))
    return np.minimum(np.min(high, axis=1), 1e30) ** 2


def _solve(P: np.ndarray, Q: np.ndarray, R: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of y >= 0 with ``P y^2 + Q y + R <= 0`` that contains or is next to `near`, for arrays."""
    with np.errstate(all="ignore"):
        root = np.sqrt(Q * Q - 4.0 * P * R)
        half = -0.5 * (Q + np.where(Q >= 0.0, root, -root))
        one, two = half / P, np.where(half != 0.0, R / half, half / P)
        y1, y2 = np.minimum(one, two), np.maximum(one, two)
        single = -R / Q
    is_line = (P == 0.0) | (np.abs(P) * LARGE <= np.abs(Q))
    is_real = ~np.isnan(root)
    is_below = (near < 0.5 * (y1 + y2)) & (y1 >= 0.0)
    low = np.where(P > 0.0, y1, np.where(is_below, 0.0, y2))
    high = np.where(P > 0.0, y2, np.where(is_below, y1, LARGE))
    low, high = np.where(is_real, low, 0.0), np.where(is_real, high, np.where(P > 0.0, -1.0, LARGE))
    line_low = np.where(Q < 0.0, single, 0.0)
    line_high = np.where(Q > 0.0, single, np.where((Q == 0.0) & (R > 0.0), -1.0, LARGE))
    return np.maximum(np.where(is_line, line_low, low), 0.0), np.where(is_line, line_high, high)


def _next(table: np.ndarray, h: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the feasible range of x after a cell for several x (m,) before it, and the row of its upper end."""
    A, B, C, D = (table[:, i : i + 1] for i in range(4))
    low, high = _solve(A / h + B, np.broadcast_to(C, (len(A), len(x))), D - A * x / h, np.sqrt(x))
    is_own = A == 0.0  # imposed at the nodes
    low = np.where(is_own | (low <= 0.0), 0.0, 2.0 * low**2 - x)
    high = np.where(is_own, LARGE, np.where(high < 0.0, -1.0, np.minimum(2.0 * np.maximum(high, 0.0) ** 2 - x, LARGE)))
    return np.max(low, axis=0), np.min(high, axis=0), np.argmin(high, axis=0)


def _backward(
    rows: LimitRows, path: Path, s: np.ndarray, middle: np.ndarray, nodes: np.ndarray, end: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and largest x at each node from which the end can be reached."""
    n = len(s)
    low, high = np.zeros(n), np.zeros(n)
    target = nodes[-1] if end is None else end**2
    low[-1], high[-1] = (0.0 if end is None else target), target
    for k in range(n - 2, -1, -1):
        found = _set(middle[k], s[k + 1] - s[k], low[k + 1], high[k + 1], nodes[k])
        if found is None:
            at_rest = _next(middle[k], s[k + 1] - s[k], np.array([high[k + 1]]))
            raise SolverError(
                f"path '{path.name}': from s = {s[k]:.6g} no speed reaches the end within the limits "
                f"({rows.names[int(at_rest[2][0])]})"
            )
        low[k], high[k] = found
    return low, high


def _set(table: np.ndarray, h: float, low: float, high: float, cap: float) -> tuple[float, float] | None:
    """Return the interval of x before a cell from which [low, high] after it can be reached."""
    acceleration = np.abs(table[:, 3]) / np.maximum(np.abs(table[:, 0]), 1e-30)
    size = high + 2.0 * h * float(np.min(acceleration))  # scale set by the accelerations in the cell

    def is_good(x: np.ndarray) -> np.ndarray:
        a, b, _ = _next(table, h, x)
        slack = 1e-12 * size
        return (np.maximum(a, low) <= np.minimum(b, high) + slack) & (x <= cap)

    x = np.concatenate([[0.0], size * np.geomspace(1e-6, 1e6, 60), [cap]])
    x = np.sort(x[x <= cap])
    good = np.flatnonzero(is_good(x))
    if len(good) == 0:
        return None
    first, last = int(good[0]), int(good[-1])
    top = (x[last], x[min(last + 1, len(x) - 1)])
    bottom = (x[first], x[max(first - 1, 0)])
    return _edge(is_good, *bottom), _edge(is_good, *top)


def _edge(is_good: Any, inside: float, outside: float) -> float:
    """Return the last admissible value between an admissible and an inadmissible one, by bisection."""
    for _ in range(3):
        if inside == outside:
            break
        x = np.linspace(inside, outside, 60)
        k = int(np.argmin(is_good(x))) or len(x)  # first inadmissible value
        inside, outside = x[k - 1], x[min(k, len(x) - 1)]
    return float(inside)


def _forward(
    rows: LimitRows,
    path: Path,
    s: np.ndarray,
    middle: np.ndarray,
    sets: tuple[np.ndarray, np.ndarray],
    begin: float | None,
) -> np.ndarray:
    """Return the largest reachable x at every node."""
    low, high = sets
    x = np.zeros(len(s))
    x[0] = high[0] if begin is None else begin**2
    if not low[0] * (1.0 - 1e-9) <= x[0] <= high[0] * (1.0 + 1e-9):
        raise SolverError(
            f"path '{path.name}': the initial speed s_dot = {np.sqrt(x[0]):.6g} lies outside the range from which the end can "
            f"be reached, {np.sqrt(low[0]):.6g} to {np.sqrt(high[0]):.6g}{_reason(rows, s, middle, low, x[0])}"
        )
    for k in range(len(s) - 1):
        _, top, row = _next(middle[k], s[k + 1] - s[k], x[k : k + 1])
        x[k + 1] = min(float(top[0]), high[k + 1])
        if x[k + 1] < low[k + 1] * (1.0 - 1e-6) or x[k + 1] < 0.0:
            raise SolverError(
                f"path '{path.name}': the motion comes to rest at s = {s[k]:.6g} ({rows.names[int(row[0])]}); the end cannot "
                "be reached"
            )
    return x


def _reason(rows: LimitRows, s: np.ndarray, middle: np.ndarray, low: np.ndarray, x0: float) -> str:
    """Describe where a minimum speed is required to pass a load."""
    if x0 >= low[0]:
        return ""
    k = int(np.argmin(np.where(low > 0.0, low, np.inf)[:-1]))
    row = _next(middle[k], s[k + 1] - s[k], low[k : k + 1])[2]
    return f" (a minimum speed is required from s = 0 to s = {s[k]:.6g}, {rows.names[int(row[0])]})"


def _law(s: np.ndarray, x: np.ndarray, piece: np.ndarray, middle: np.ndarray) -> Law:
    """Return the time law with arcs from the row nearest to its limit in each cell; a cell with a switch is split."""
    u, mean = 0.5 * np.diff(x) / np.diff(s), 0.5 * (x[:-1] + x[1:])
    terms = np.einsum("nmk,nk->nm", middle, np.stack([u, mean, np.sqrt(mean), np.ones(len(u))], axis=1))
    row, centre = np.argmax(terms, axis=1), 0.5 * (s[:-1] + s[1:])
    for k in np.flatnonzero(np.max(terms, axis=1) < -1e-3)[::-1]:  # no row is active: a switch between two
        if not 0 < k < len(u) - 1 or not u[k - 1] > u[k] > u[k + 1]:
            continue
        part = (x[k + 1] - x[k] - 2.0 * u[k + 1] * (s[k + 1] - s[k])) / (2.0 * (u[k - 1] - u[k + 1]))
        s, x = np.insert(s, k + 1, s[k] + part), np.insert(x, k + 1, x[k] + 2.0 * u[k - 1] * part)
        piece, centre = np.insert(piece, k, piece[k]), np.insert(centre, k, centre[k])
        row = np.concatenate([row[:k], [row[k - 1], row[k + 1]], row[k + 1 :]])
    speed = np.sqrt(np.maximum(x, 0.0))
    total = speed[:-1] + speed[1:]
    if np.any(total <= 0.0):
        raise SolverError(f"the motion comes to rest at s = {s[int(np.argmin(total))]:.6g}")
    kind = np.where(np.diff(x) >= 0.0, 1, -1)
    kind, row = smooth_labels(kind, row)
    change = np.diff(row) != 0
    starts = np.append(0, np.flatnonzero(change) + 1)
    jumps = np.append(0, np.flatnonzero(change & ((np.diff(kind) != 0) | (np.diff(piece) != 0))) + 1)
    t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(s) / total)])
    return Law(s, x, t, piece, centre, kind, row, starts, jumps)
