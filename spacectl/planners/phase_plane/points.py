"""Characteristic points of the velocity limit curve, at which an optimal profile can touch it.

There are three kinds (Pfeiffer and Johanni 1987; Slotine and Yang 1989): tangent points, where the only
feasible acceleration is tangent to the curve; discontinuities of the path's curvature or of a limit; and
zero-inertia points, where the coefficient of s_ddot in a limit vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.planners.phase_plane.grid import PhaseGrid, find_limit_curve, rows_at

__all__ = ["SwitchPoint", "find_points", "insert_points"]


@dataclass(frozen=True)
class SwitchPoint:
    """A switching point of the phase plane, or a candidate for one.

    Parameters
    ----------
    s, s_dot : float
        Its position.
    kind : str
        ``"tangent"``, ``"discontinuity"``, ``"zero inertia"`` on the limit curve; ``"crossing"`` of two
        curves below it; ``"limit curve"`` where a profile joins or leaves it.
    limit : str
        The limit that bounds the speed there.
    """

    s: float
    s_dot: float
    kind: str
    limit: str = ""


def insert_points(grid: PhaseGrid) -> tuple[PhaseGrid, list[tuple[float, int]]]:
    """Return the grid with nodes at characteristic points, and (s, row) of zero-inertia candidates."""
    grid, inertia = insert_inertia_points(grid)
    return insert_tangent_points(grid), inertia


def insert_inertia_points(grid: PhaseGrid) -> tuple[PhaseGrid, list[tuple[float, int]]]:
    """Return the grid with nodes where the coefficient of s_ddot in a row vanishes and the row may bound the speed.

    Also return (s, row) of these points; `find_points` selects the characteristic ones.
    """
    A = grid.node[:, :, 0]
    small = 1e-13 * np.max(np.abs(A), axis=0, initial=0.0)
    is_nonzero = (np.abs(A[:-1]) > small) | (np.abs(A[1:]) > small)
    is_cell = (np.diff(grid.s) > 0.0)[:, None]
    cells, rows = np.nonzero((A[:-1] * A[1:] <= 0.0) & is_nonzero & is_cell & (A[1:] != 0.0))
    is_relevant = _may_bound(grid, cells, rows)
    cells, rows = cells[is_relevant], rows[is_relevant]
    if len(cells) == 0:
        return grid, []
    s, piece, table = _roots(grid, cells, rows)
    found = [(float(at), int(row)) for at, row in zip(s, rows, strict=True)]
    first: list[int] = []  # coefficients of both sides of a limit, and of proportional inputs, vanish together
    for i in np.argsort(s):
        if first and s[i] - s[first[-1]] <= 1e-9 * grid.s[-1] and piece[i] == piece[first[-1]]:
            table[first[-1], rows[i], 0] = 0.0
            continue
        first.append(int(i))
        table[i, rows[i], 0] = 0.0
    return grid.insert(s[first], piece[first], table[first]), found


def _may_bound(grid: PhaseGrid, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return whether each row alone bounds the speed near its zero about as tightly as all rows do in the cell."""
    if len(cells) == 0:
        return np.zeros(0, dtype=bool)
    _, high, _, _ = grid.limit_curve
    c = 0.5 * (grid.node[cells, rows] + grid.node[cells + 1, rows])
    own = np.stack([np.zeros(len(c)), c[:, 1], c[:, 2], c[:, 3]], axis=1)[:, None, :]
    _, speed, _, _ = find_limit_curve(np.ascontiguousarray(own))
    return speed <= 1.5 * np.maximum(high[cells], high[cells + 1])


def find_points(grid: PhaseGrid, inertia: list[tuple[float, int]]) -> list[SwitchPoint]:
    """Return the characteristic points of a grid, which lie at its nodes."""
    _, high, _, pair = grid.limit_curve
    found = []
    for s, row in inertia:
        k = int(np.argmin(np.abs(grid.s - s)))
        if pair[k, 0] == row == pair[k, 1]:
            found.append(SwitchPoint(s, float(high[k]), "zero inertia", grid.rows.names[row]))
    cells, part = _tangent_cells(grid)
    for k in cells + (part > 0.5):
        found.append(SwitchPoint(float(grid.s[k]), float(high[k]), "tangent", _names(grid, pair[k])))
    return [*found, *_discontinuities(grid)]


def _roots(grid: PhaseGrid, cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return s where the coefficient of s_ddot in a row vanishes in each cell, the piece, and the rows there.

    Find the root of the parabola through both ends and the middle (third order in the cell), then take one
    secant step.
    """
    s0, s1 = grid.s[cells], grid.s[cells + 1]
    f0, fm, f1 = grid.node[cells, rows, 0], grid.middle[cells, rows, 0], grid.node[cells + 1, rows, 0]
    quadratic, linear = 2.0 * (f0 - 2.0 * fm + f1), 4.0 * fm - 3.0 * f0 - f1  # f0 + linear part + quadratic part^2
    root = np.sqrt(np.maximum(linear**2 - 4.0 * quadratic * f0, 0.0))
    low = -0.5 * (linear + np.where(linear >= 0.0, root, -root))
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.stack([low / quadratic, f0 / low, f0 / (f0 - f1)])
    inside = np.isfinite(parts) & (parts >= 0.0) & (parts <= 1.0)
    part = parts[np.argmax(inside, axis=0), np.arange(len(cells))]
    s, piece = s0 + np.clip(part, 0.0, 1.0) * (s1 - s0), grid.piece[cells]
    table = rows_at(grid.rows, s, piece)
    residual, gradient = table[np.arange(len(s)), rows, 0], (f1 - f0) / (s1 - s0)
    step = np.where(gradient != 0.0, -residual / np.where(gradient != 0.0, gradient, 1.0), 0.0)
    if np.any(np.abs(step) > 1e-7 * (s1 - s0)):
        s = np.clip(s + step, s0, s1)
        table = rows_at(grid.rows, s, piece)
    return s, piece, table


def insert_tangent_points(grid: PhaseGrid) -> PhaseGrid:
    """Return the grid with nodes at the tangent points of the limit curve."""
    cells, part = _tangent_cells(grid)
    if len(cells) == 0:
        return grid
    at = grid.s[cells] + part * (grid.s[cells + 1] - grid.s[cells])
    piece = grid.piece[cells]
    return grid.insert(at, piece, rows_at(grid.rows, at, piece))


def _tangent_cells(grid: PhaseGrid) -> tuple[np.ndarray, np.ndarray]:
    """Return cells in which ``2 s_ddot`` falls below the derivative of the limit curve, and the fractions."""
    _, high, _, pair = grid.limit_curve
    x = np.where(high < 1e100, high, np.nan) ** 2
    kappa = _field(grid, high, pair) - _limit_derivative(grid, x)
    with np.errstate(invalid="ignore"):
        cells = np.flatnonzero((kappa[:-1] > 0.0) & (kappa[1:] <= 0.0) & (np.diff(grid.s) > 0.0))
    return cells, kappa[cells] / (kappa[cells] - kappa[cells + 1])


def _names(grid: PhaseGrid, pair: np.ndarray) -> str:
    names = dict.fromkeys(grid.rows.names[i] for i in pair if i >= 0)
    return ", ".join(names)


def _field(grid: PhaseGrid, high: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return 2 s_ddot on the limit curve where a pair of rows admits one acceleration only; NaN elsewhere."""
    n = np.arange(len(high))
    i, j = pair[:, 0], pair[:, 1]
    is_pair = (i >= 0) & (i != j)
    first, second = grid.node[n, np.maximum(i, 0)], grid.node[n, np.maximum(j, 0)]
    row = np.where((np.abs(first[:, 0]) >= np.abs(second[:, 0]))[:, None], first, second)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        field = -2.0 * ((row[:, 1] * high + row[:, 2]) * high + row[:, 3]) / row[:, 0]
    return np.where(is_pair, field, np.nan)


def _limit_derivative(grid: PhaseGrid, x: np.ndarray) -> np.ndarray:
    """Return dx/ds along the limit curve within each smooth piece."""
    derivative = np.full(len(x), np.nan)
    for i in np.unique(grid.piece):
        mine = np.flatnonzero(grid.piece == i)
        derivative[mine] = np.gradient(x[mine], grid.s[mine])
    return derivative


def _discontinuities(grid: PhaseGrid) -> list[SwitchPoint]:
    """Return the discontinuities at the breaks of the path."""
    _, high, _, pair = grid.limit_curve
    found = []
    for k in np.flatnonzero(np.diff(grid.s) == 0.0):
        lower = k if high[k] <= high[k + 1] else k + 1
        speed = 0.0 if grid.jump[k] else float(high[lower])
        found.append(SwitchPoint(float(grid.s[k]), speed, "discontinuity", _names(grid, pair[lower])))
    return found
