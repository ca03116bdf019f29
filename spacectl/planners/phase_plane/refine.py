"""Where a plan exceeds a limit between grid points, and the finer grid it asks for there.

The excess of a cell is an error of the grid: of second order along arcs, of first order in the cells at their ends.
"""

from __future__ import annotations

import numpy as np

from spacectl.planners.phase_plane.grid import PhaseGrid
from spacectl.planners.phase_plane.timing import Law

__all__ = ["ENOUGH", "find_excess", "find_parts", "halves"]

COARSE = 5e-5  #: excess, as part of a limit's half range, from which a cell is split
UNUSED = 0.25  #: weight, beside the excess, of what a cell leaves unused of its limit
MOST = 8  #: parts of a cell at once
SHORTEST = 1e-7  #: of the path: cells that are not split further
ENOUGH = 2000  #: cells on which a plan that cannot be found is believed not to exist


def find_excess(law: Law, grid: PhaseGrid, *, is_complete: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest excess over each limit in each cell of a time law, (n - 1, m), and its unused part, (n - 1,).

    Quarters of the cells, which need new rows, are looked at once nothing is left to split, or if it is to be complete.
    """
    values = law.grid_values(grid)
    table = np.fmax(np.max(values, axis=0), law.excess(grid.rows, law.is_cut))
    unused = -np.nan_to_num(np.min(values[:, np.arange(len(law.row)), law.row], axis=0))
    if np.max(table) <= COARSE or is_complete:
        table = np.maximum(table, law.excess(grid.rows, ~law.is_cut))
    return table, unused


def find_parts(grid: PhaseGrid, law: Law, excess: np.ndarray, unused: np.ndarray) -> np.ndarray:
    """Return the number of cells that each cell of the grid is to become, given excess and unused limit of the time law."""
    assert law.cell is not None
    worst, is_end = np.zeros(len(grid.s) - 1), np.zeros(len(grid.s) - 1, dtype=bool)
    is_end[law.cell[law.starts]] = is_end[law.cell[law.starts[1:] - 1]] = True
    np.maximum.at(worst, law.cell, np.maximum(excess, np.where(is_end[law.cell], 0.0, UNUSED * unused)))
    # s_ddot at the ends of a cell is found with its neighbours
    worst = np.max([worst, np.append(worst[1:], 0.0), np.append(0.0, worst[:-1])], axis=0)
    parts = np.where(is_end, MOST, np.clip(np.ceil(np.sqrt(worst / COARSE)), 2, MOST))
    is_coarse = (worst > COARSE) & (np.diff(grid.s) > SHORTEST * grid.s[-1])
    return np.where(is_coarse, parts, 1).astype(int)


def halves(grid: PhaseGrid) -> np.ndarray:
    """Return two parts of every cell."""
    return np.where(np.diff(grid.s) > 0.0, 2, 1)
