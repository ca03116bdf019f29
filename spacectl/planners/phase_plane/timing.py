"""Convert the highest profile to a time law: nodes, arcs with their active limits, and the check of limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.planners.paths.dynamics import combine
from spacectl.planners.paths.limit_rows import LimitRows
from spacectl.planners.phase_plane.cells import SLIDING, find_cells, smooth_labels
from spacectl.planners.phase_plane.grid import PhaseGrid
from spacectl.planners.phase_plane.points import SwitchPoint
from spacectl.planners.phase_plane.profile import Profile

__all__ = ["Law", "find_law"]


@dataclass(frozen=True)
class Law:
    """A time law in cells of constant s_ddot, with nodes at the switches.

    Parameters
    ----------
    s, x, t : arrays, shape (n,)
        Path variable, s_dot^2 and time at the nodes.
    piece : array of int, shape (n - 1,)
        Piece of the path of each cell.
    centre : array, shape (n - 1,)
        Where in s the s_ddot of each cell is exact: its middle, or that of the cell it is part of.
    kind, row : arrays of int, shape (n - 1,)
        Acceleration (1), along the limit curve (0), deceleration (-1); the active row.
    starts : array of int
        First cell of each arc (one active limit).
    jumps : array of int
        First cell of each segment in which s_ddot is continuous.
    cell : array of int, shape (n - 1,), optional
        The grid cell to which each belongs.
    """

    s: np.ndarray
    x: np.ndarray
    t: np.ndarray
    piece: np.ndarray
    centre: np.ndarray
    kind: np.ndarray
    row: np.ndarray
    starts: np.ndarray
    jumps: np.ndarray
    cell: np.ndarray | None = None

    @property
    def s_dot(self) -> np.ndarray:
        """Speeds at the nodes."""
        return np.sqrt(np.maximum(self.x, 0.0))

    @property
    def cell_acceleration(self) -> np.ndarray:
        """s_ddot of each cell."""
        return 0.5 * np.diff(self.x) / np.diff(self.s)

    def node_accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return s_ddot at the start and end of each cell: linear in time between centres, except at jumps."""
        u, y = self.cell_acceleration, self.s_dot
        middle = np.sqrt(np.maximum(self.x[:-1] + 2.0 * u * (self.centre - self.s[:-1]), 0.0))
        c = self.t[:-1] + 2.0 * (self.centre - self.s[:-1]) / (y[:-1] + middle)
        change, gap = np.diff(u), np.maximum(np.diff(c), 1e-300)
        first, last = self.jumps, np.append(self.jumps[1:], len(u)) - 1
        # differences of s_ddot and time to the neighbour on the side of each end; at jumps, to the opposite neighbour
        near = [(np.append(0.0, change), np.append(1.0, gap)), (np.append(change, 0.0), np.append(gap, 1.0))]
        for i, (own, other) in enumerate(zip(near, near[::-1], strict=True)):
            at, from_other = (first, last) if i == 0 else (last, first)
            is_long = at != from_other
            own[0][at] = np.where(is_long, other[0][at], 0.0)
            own[1][at] = np.where(is_long, other[1][at], 1.0)
        ends = [own[0] * (t - c) / own[1] for own, t in zip(near, (self.t[:-1], self.t[1:]), strict=True)]
        begin, end = (
            u + np.clip(offset, -np.abs(own[0]), np.abs(own[0])) for offset, own in zip(ends, near, strict=True)
        )
        return begin, end

    def grid_values(self, grid: PhaseGrid) -> np.ndarray:
        """Return the grid's rows, without margin, at the start, middle and end of each cell, (3, n - 1, m).

        Values are NaN for parts of split cells.
        """
        assert self.cell is not None
        k, y = self.cell, self.s_dot
        begin, end = self.node_accelerations()
        mean = np.sqrt(np.maximum(0.5 * (self.x[:-1] + self.x[1:]), 0.0))
        part = 0.5 * (y[:-1] + y[1:]) / (y[:-1] + mean)  # fraction of the time at the middle
        places = (
            (grid.node[k], grid.s[k], y[:-1], begin),
            (grid.middle[k], 0.5 * (grid.s[k] + grid.s[k + 1]), mean, (1.0 - part) * begin + part * end),
            (grid.node[k + 1], grid.s[k + 1], y[1:], end),
        )
        values = np.stack([combine(rows, v, u) - _margin(grid, s)[:, None] for rows, s, v, u in places])
        values[:, self.is_cut] = np.nan
        return values

    def between(self, parts: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return s, s_dot and s_ddot at fractions (m,) of the time of given cells, each (m, number of cells)."""
        begin, end = (item[cells] for item in self.node_accelerations())
        part, y = parts[:, None], self.s_dot
        dt, y0, y1 = np.diff(self.t)[cells], y[:-1][cells], y[1:][cells]
        s = self.s[:-1][cells] + dt * part * (y0 + 0.5 * part * (y1 - y0))
        return s, y0 + part * (y1 - y0), (1.0 - part) * begin + part * end

    def excess(self, rows: LimitRows, cells: np.ndarray) -> np.ndarray:
        """Return the largest excess over each limit in cells (a mask), relative to its half range, (n - 1, m).

        It is evaluated at quarters of each cell's time; ends and middles of unsplit cells are left to
        `grid_values`.
        """
        out = np.full((len(self.piece), len(rows.names)), -np.inf)
        samples = ((np.array([0.25, 0.75]), ~self.is_cut), (np.linspace(0.0, 1.0, 5), self.is_cut))
        for i in np.unique(self.piece):
            for parts, mask in samples:
                mine = np.flatnonzero((self.piece == i) & mask & cells)
                if len(mine):
                    s, y, u = (item.reshape(-1) for item in self.between(parts, mine))
                    table = combine(rows.evaluate(s, int(i))[1], y, u)
                    out[mine] = np.max(table.reshape(len(parts), len(mine), -1), axis=0)
        return out

    @property
    def is_cut(self) -> np.ndarray:
        """Mask of the parts of split grid cells; all cells if there is no grid."""
        if self.cell is None:
            return np.ones(len(self.piece), dtype=bool)
        is_new = np.diff(self.cell) > 0
        return ~(np.append(is_new, True) & np.append(True, is_new))


def _margin(grid: PhaseGrid, s: np.ndarray) -> np.ndarray:
    return np.zeros(len(s)) if grid.margin is None else np.asarray(grid.margin(s))


def find_law(profile: Profile) -> Law:
    """Return the time law of a profile.

    Raises
    ------
    SolverError
        If the motion comes to rest before the end.
    """
    s, x, cell, centre, kind, row = find_cells(profile, profile.grid.limit_curve[3])
    piece = profile.grid.piece[cell]
    speed = np.sqrt(np.maximum(x, 0.0))
    total = speed[:-1] + speed[1:]
    if np.any(total <= 0.0):
        k = int(np.argmin(total))
        raise SolverError(f"the motion comes to rest at s = {s[k]:.6g}; is the load too large for the limits there?")
    t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(s) / total)])
    kind, row = smooth_labels(kind, row)
    change = (np.diff(kind) != 0) | (np.diff(row) != 0)
    is_jump = (
        (np.diff(kind) != 0) | (np.diff(piece) != 0) | np.isin(s[1:-1], profile.grid.rows.dynamics.solved.shape.kinks)
    )
    starts, jumps = (np.append(0, np.flatnonzero(item) + 1) for item in (change, is_jump))
    return Law(s, x, t, piece, centre, kind, row, starts, jumps, cell)


def find_switches(law: Law, points: list[SwitchPoint], names: tuple[str, ...]) -> tuple[SwitchPoint, ...]:
    """Return the switching points between the arcs of the plan, with their kinds."""
    found = []
    reach = 2.0 * np.max(np.diff(law.s))
    for k in law.starts[1:]:
        before, after = law.kind[k - 1], law.kind[k]
        if before == after:
            kind = "other limit"
        elif before > after and SLIDING not in (before, after):
            kind = "crossing"
        else:
            near = [point for point in points if abs(point.s - law.s[k]) <= reach]
            kind = min(near, key=lambda item: abs(item.s - law.s[k])).kind if near else "limit curve"
        found.append(SwitchPoint(float(law.s[k]), float(law.s_dot[k]), kind, names[law.row[k]]))
    return tuple(found)
