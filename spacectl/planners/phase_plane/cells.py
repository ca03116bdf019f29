"""Cells of a profile: their active limits, and the crossings of curves within cells."""

from __future__ import annotations

import numpy as np

from spacectl.planners.phase_plane.grid import Curve
from spacectl.planners.phase_plane.profile import TOUCH, Profile

__all__ = ["ACCELERATION", "DECELERATION", "SLIDING", "find_cells", "smooth_labels"]

ACCELERATION, SLIDING, DECELERATION = 1, 0, -1


def find_cells(profile: Profile, pair: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return nodes, values, grid cells, centres, kinds and rows of the cells of a profile.

    A cell in which two curves, or a curve and the limit curve, cross is split in two.
    """
    grid, x = profile.grid, profile.x
    cells = np.flatnonzero(np.diff(grid.s) > 0.0)
    kind, row = _labels(profile, cells, pair)
    s, values = [*grid.s[cells], grid.s[-1]], [*x[cells], x[-1]]
    centre, cell = list(_centres(profile, cells, np.array(kind), np.array(row))), [int(item) for item in cells]
    for i in _special(profile, cells, np.array(kind))[::-1]:
        k = int(cells[i])
        labels = [_label(profile, int(profile.owner[k + j]), k, pair) for j in (0, 1)]
        crossing = _curve_at_limit(profile, k)
        if crossing is None:
            split = _crossing(profile, k)
        else:
            split, labels = _limit_crossing(profile, profile.curves[crossing], k, pair)
        if split is None:
            kind[i], row[i] = _owner_label(profile, k, labels)
            continue
        s.insert(i + 1, grid.s[k] + split[0] * (grid.s[k + 1] - grid.s[k]))
        values.insert(i + 1, split[1])
        cell.insert(i, k)
        centre[i] = 0.5 * (grid.s[k] + grid.s[k + 1])
        centre.insert(i, centre[i])
        (kind[i], row[i]), second = labels
        kind.insert(i + 1, second[0])
        row.insert(i + 1, second[1])
    return tuple(np.array(item) for item in (s, values, cell, centre, kind, row))


def _special(profile: Profile, cells: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Return the cells whose ends belong to different curves, or in which a curve meets the limit curve."""
    x, cap = profile.x, profile.cap
    is_mixed = profile.owner[cells] != profile.owner[cells + 1]
    is_low = (x < cap * (1.0 - 1e-9))[cells] | (x < cap * (1.0 - 1e-9))[cells + 1]
    return np.flatnonzero(is_mixed | ((kind == SLIDING) & is_low))


def _curve_at_limit(profile: Profile, k: int) -> int | None:
    """Return the curve that meets the limit curve in cell k, if one does."""
    a, b = int(profile.owner[k]), int(profile.owner[k + 1])
    if a == b:
        return a if a >= 0 else None
    if a >= 0 > b and profile.curves[a].is_forward and profile.curves[a].last > k:
        return a
    if b >= 0 > a and not profile.curves[b].is_forward and profile.curves[b].first <= k:
        return b
    return None


def _limit_crossing(
    profile: Profile, curve: Curve, k: int, pair: np.ndarray
) -> tuple[tuple[float, float] | None, list[tuple[int, int]]]:
    """Return where in cell k a curve meets the limit curve, and the labels before and after that point."""
    cap = profile.cap
    row, slide = (int(curve.row[k + 1 if curve.is_forward else k]), (SLIDING, _bound_row(pair, k)))
    first, last = (curve.x[k], curve.free[k + 1]) if curve.is_forward else (curve.free[k], curve.x[k + 1])
    gap = (cap[k] - first, cap[k + 1] - last)  # of opposite signs: the free curve crosses the cap
    part = float(gap[0] / (gap[0] - gap[1])) if gap[0] != gap[1] else 0.0
    free = (ACCELERATION if curve.is_forward else DECELERATION, row)
    labels = [free, slide] if curve.is_forward else [slide, free]
    if not 1e-6 < part < 1.0 - 1e-6:
        return None, labels
    return (part, float(cap[k] + part * (cap[k + 1] - cap[k]))), labels


def _centres(profile: Profile, cells: np.ndarray, kind: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return the middles of the cells; for stiff ones (see phase_plane.c), the end at which their row is imposed."""
    grid, x = profile.grid, profile.x
    h = np.diff(grid.s)[cells]
    a, b, c, _ = grid.middle[cells, row].T
    y = np.sqrt(np.maximum(np.where(kind > 0, x[cells], x[cells + 1]), 1e-300))
    is_stiff = (np.abs(a) <= 2.0 * h * np.abs(b + 0.5 * c / y)) & (kind != SLIDING)
    ends = np.where(kind > 0, grid.s[cells + 1], grid.s[cells])
    return np.where(is_stiff, ends, 0.5 * (grid.s[cells] + grid.s[cells + 1]))


def _labels(profile: Profile, cells: np.ndarray, pair: np.ndarray) -> tuple[list[int], list[int]]:
    """Return kinds and rows of the cells from the curve that owns the end of each."""
    kind, row = np.zeros(len(cells), dtype=int), np.zeros(len(cells), dtype=int)
    owner = profile.owner[cells + 1]
    for i in np.unique(owner):
        mine = owner == i
        at = cells[mine]
        if i >= 0:
            curve = profile.curves[i]
            to = at + 1 if curve.is_forward else at
            row[mine] = np.where(curve.is_capped[to], -1, curve.row[to])
            kind[mine] = ACCELERATION if curve.is_forward else DECELERATION
        is_sliding = (row[mine] < 0) | (i < 0)
        kind[mine] = np.where(is_sliding, SLIDING, kind[mine])
        row[mine] = np.where(is_sliding, np.maximum(pair[at, 0], 0), row[mine])
    return kind.tolist(), row.tolist()


def _label(profile: Profile, owner: int, k: int, pair: np.ndarray) -> tuple[int, int]:
    """Return the kind and row of a curve in cell k."""
    if owner < 0:
        return SLIDING, _bound_row(pair, k)
    curve = profile.curves[owner]
    to = k + 1 if curve.is_forward else k
    row = int(curve.row[to])
    if row < 0 or curve.is_capped[to]:
        return SLIDING, _bound_row(pair, k)
    return (ACCELERATION if curve.is_forward else DECELERATION), row


def _bound_row(pair: np.ndarray, k: int) -> int:
    return int(max(pair[min(k, len(pair) - 1)][0], 0))


def _owner_label(profile: Profile, k: int, labels: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the label of the curve, of the two at the ends of cell k, to which the cell belongs."""
    a, b = int(profile.owner[k]), int(profile.owner[k + 1])
    if a == b or a < 0:
        return labels[1]
    first = profile.curves[a]
    is_first = first.first <= k and k + 1 <= first.last and _coincide(first.x[k + 1], profile.x[k + 1])
    return labels[0] if is_first else labels[1]


def _coincide(a: float, b: float) -> bool:
    return abs(a - b) <= TOUCH * max(abs(a), abs(b))


def _crossing(profile: Profile, k: int) -> tuple[float, float] | None:
    """Return the fraction of cell k at which the curves of its ends cross, and x there, or None."""
    a, b = int(profile.owner[k]), int(profile.owner[k + 1])
    if a < 0 or b < 0:
        return None
    first, second = profile.curves[a], profile.curves[b]
    if not (first.first <= k and k + 1 <= first.last and second.first <= k and k + 1 <= second.last):
        return None
    before, after = second.x[k] - first.x[k], first.x[k + 1] - second.x[k + 1]
    total = before + after
    if not total > 0.0 or before < 1e-6 * total or after < 1e-6 * total:
        return None
    part = float(before / total)
    return part, float(first.x[k] + part * (first.x[k + 1] - first.x[k]))


def smooth_labels(kind: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels with isolated cells, between two cells of equal labels, relabelled like their neighbours."""
    label = 10000 * kind + row
    alone = np.flatnonzero((label[:-2] == label[2:]) & (label[1:-1] != label[:-2])) + 1
    kind, row = kind.copy(), row.copy()
    kind[alone], row[alone] = kind[alone - 1], row[alone - 1]
    return kind, row
