"""Measure where a plan exceeds a limit between grid points, and refine the grid there.

The excess of a cell is a discretisation error, of second order along arcs and of first order in cells at
their ends.
"""

from __future__ import annotations

import numpy as np

from spacectl.planners.phase_plane.grid import PhaseGrid
from spacectl.planners.phase_plane.timing import Law

__all__ = ["ENOUGH", "find_excess", "find_parts", "halves"]

COARSE = 5e-5  #: excess, relative to a limit's half range, above which a cell is split
UNUSED = 0.25  #: weight of the unused part of a limit relative to that of an excess
MAX_PARTS = 8  #: maximum number of parts of a cell in one refinement
SHORTEST = 1e-7  #: shortest cell to be split, relative to the path
ENOUGH = 2000  #: cells above which a failure is attributed to the problem, not to the grid


def find_excess(law: Law, grid: PhaseGrid, *, is_complete: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest excess over each limit in each cell, (n - 1, m), and the unused part, (n - 1,).

    Quarter points of the cells require new rows. They are checked only if no cell is to be split, or if
    `is_complete`.
    """
    values = law.grid_values(grid)
    table = np.fmax(np.max(values, axis=0), law.excess(grid.rows, law.is_cut))
    unused = -np.nan_to_num(np.min(values[:, np.arange(len(law.row)), law.row], axis=0))
    if np.max(table) <= COARSE or is_complete:
        table = np.maximum(table, law.excess(grid.rows, ~law.is_cut))
    return table, unused


def find_parts(grid: PhaseGrid, law: Law, excess: np.ndarray, unused: np.ndarray) -> np.ndarray:
    """Return the number of parts of each grid cell from the excess and the unused limits of the time law."""
    assert law.cell is not None
    worst, is_end = np.zeros(len(grid.s) - 1), np.zeros(len(grid.s) - 1, dtype=bool)
    is_end[law.cell[law.starts]] = is_end[law.cell[law.starts[1:] - 1]] = True
    np.maximum.at(worst, law.cell, np.maximum(excess, np.where(is_end[law.cell], 0.0, UNUSED * unused)))
    # s_ddot at the ends of a cell depends on its neighbours
    worst = np.max([worst, np.append(worst[1:], 0.0), np.append(0.0, worst[:-1])], axis=0)
    parts = np.where(is_end, MAX_PARTS, np.clip(np.ceil(np.sqrt(worst / COARSE)), 2, MAX_PARTS))
    is_coarse = (worst > COARSE) & (np.diff(grid.s) > SHORTEST * grid.s[-1])
    return np.where(is_coarse, parts, 1).astype(int)


def halves(grid: PhaseGrid) -> np.ndarray:
    """Return the parts that split every cell in two."""
    return np.where(np.diff(grid.s) > 0.0, 2, 1)
