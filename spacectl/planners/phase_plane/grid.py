"""The grid of a phase plane: limit rows at nodes and cell middles, and the kernels that evaluate them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.planners.paths.limit_rows import LimitRows
from spacectl.planners.phase_plane import reference
from spacectl.planners.phase_plane.reference import phase_library

__all__ = ["Curve", "Margin", "PhaseGrid", "form_grid"]


CLOSE = 0.05  #: fraction of a cell within which a new node replaces an old one
DECAY = 0.02  #: decay length of a margin, as a fraction of the path length


@dataclass(frozen=True)
class Curve:
    """A curve of the phase plane: ``x = s_dot^2`` at nodes `first` to `last`, and the active row of each step.

    `free` is the x that the rows alone allow; it exceeds x where the limit curve is active. `stop` is 0 at
    the end of the grid, 1 where no feasible step below the limit curve exists, 2 at zero speed.
    """

    first: int
    last: int
    x: np.ndarray
    free: np.ndarray
    row: np.ndarray
    is_forward: bool
    stop: int
    stop_row: int

    @property
    def is_capped(self) -> np.ndarray:
        """Mask of the nodes where the limit curve is active."""
        return self.x < self.free * (1.0 - 1e-12)


@dataclass(frozen=True, eq=False)
class Margin:
    """Margin of every limit as a fraction of its half range, piecewise linear in s."""

    s: np.ndarray
    values: np.ndarray

    def __call__(self, s: Any) -> np.ndarray:
        return np.interp(s, self.s, self.values)

    def raised(self, s: np.ndarray, excess: np.ndarray, factor: float) -> Margin:
        """Return the margin increased by `factor` times the excess of each cell, decaying to both sides.

        Near zero-inertia points, a margin m(s) changes s_dot^2 by m and s_ddot by m'. The decay length is
        therefore a fraction of the path: if it scaled with the cells, small margins on fine grids would cause
        large s_ddot.
        """
        need = np.maximum(np.append(excess, 0.0), np.append(0.0, excess))
        k, level = s / (DECAY * s[-1]), np.log(np.maximum(need, 1e-12))
        left = np.maximum.accumulate(level + k) - k
        right = (np.maximum.accumulate((level - k)[::-1]))[::-1] + k
        return Margin(s, self(s) + factor * np.exp(np.maximum(left, right)))


@dataclass(frozen=True, eq=False)
class PhaseGrid:
    """Nodes s (n,) with their pieces of the path, and rows at nodes (n, m, 4) and cell middles (n - 1, m, 4).

    At a break of the path two nodes have the same s, one for each side.
    """

    rows: LimitRows
    s: np.ndarray
    piece: np.ndarray
    node: np.ndarray
    middle: np.ndarray
    jump: np.ndarray
    margin: Any = None

    def tightened(self, margin: Margin) -> PhaseGrid:
        """Return the grid with each limit reduced by a margin."""
        node, middle = self.node.copy(), self.middle.copy()
        node[:, :, 3] += margin(self.s)[:, None]
        middle[:, :, 3] += margin(0.5 * (self.s[:-1] + self.s[1:]))[:, None]
        return replace(self, node=node, middle=middle, margin=margin)

    @cached_property
    def limit_curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Smallest and largest feasible speed at each node, and the pairs of active rows."""
        return find_limit_curve(self.node)

    def check(self, x: np.ndarray, first: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the feasible range of x after each step of a profile from node `first`, and its active rows."""
        library, n, m = phase_library(), len(x), self.node.shape[1]
        s, node, middle = self.s[first : first + n], self.node[first : first + n], self.middle[first : first + n - 1]
        if library is None:
            return reference.check(s, node, middle, x)
        low, high = np.empty(n - 1), np.empty(n - 1)
        row_low, row_high = np.empty(n - 1, dtype=np.int32), np.empty(n - 1, dtype=np.int32)
        arrays = (s, node, middle, np.ascontiguousarray(x), low, high, row_low, row_high)
        library.sc_check(n, m, *[item.ctypes.data for item in arrays])
        return low, high, row_low, row_high

    def integrate(self, start: int, x0: float, direction: int, cap: np.ndarray, slack: float = 1e-9) -> Curve:
        """Integrate the curve of largest speed through (s[start], x0), forward or backward, below the cap."""
        n, m = self.node.shape[:2]
        x, free, row = np.full(n, np.inf), np.full(n, np.inf), np.full(n, -1, dtype=np.int32)
        library = phase_library()
        if library is None:
            last, stop, stop_row = reference.integrate(
                self.s, self.node, self.middle, cap, start, x0, direction, slack, x, free, row
            )
        else:
            stop_codes = (ctypes.c_int * 2)()
            arrays = [item.ctypes.data for item in (self.s, self.node, self.middle, cap)]
            ends = [ctypes.addressof(stop_codes), ctypes.addressof(stop_codes) + ctypes.sizeof(ctypes.c_int)]
            last = library.sc_integrate(
                n, m, *arrays, start, x0, direction, slack, x.ctypes.data, free.ctypes.data, row.ctypes.data, *ends
            )
            stop, stop_row = stop_codes[0], stop_codes[1]
        first, end = (start, last) if direction > 0 else (last, start)
        return Curve(first, end, x, free, row, direction > 0, stop, stop_row)

    def insert(self, extra: np.ndarray, piece: np.ndarray, rows: np.ndarray) -> PhaseGrid:
        """Return the grid with additional nodes, which replace nearby ones; their `rows` are without margin."""
        order = np.argsort(extra)
        at, where, new = extra[order], piece[order], rows[order].copy()
        right = np.clip(np.searchsorted(self.s, at), 1, len(self.s) - 1)
        clearance = CLOSE * (self.s[right] - self.s[right - 1])
        fixed = np.append(self.rows.dynamics.solved.shape.kinks, self.rows.dynamics.solved.breaks)
        is_new = np.array([np.min(np.abs(fixed - s)) > h for s, h in zip(at, clearance, strict=True)], dtype=bool)
        is_new &= np.append(True, np.diff(at) > clearance[1:])
        if not np.any(is_new):
            return self
        at, where, new, clearance = at[is_new], where[is_new], new[is_new], clearance[is_new]
        nearest = np.clip(np.searchsorted(self.s, at), 1, len(self.s) - 1)
        nearest = np.where(at - self.s[nearest - 1] < self.s[nearest] - at, nearest - 1, nearest)
        replaced = nearest[np.abs(self.s[nearest] - at) <= clearance]
        new[:, :, 3] += 0.0 if self.margin is None else self.margin(at)[:, None]
        remaining = np.delete(np.arange(len(self.s)), replaced)
        places = np.searchsorted(self.s[remaining], at)
        s, pieces = np.insert(self.s[remaining], places, at), np.insert(self.piece[remaining], places, where)
        node = np.insert(self.node[remaining], places, new, axis=0)
        source = np.insert(remaining, places, -9)  # previous index of each node
        is_old = (source[:-1] >= 0) & (source[1:] == source[:-1] + 1)
        middle = np.empty((len(s) - 1, *self.middle.shape[1:]))
        middle[is_old] = self.middle[source[:-1][is_old]]
        changed = np.flatnonzero(~is_old)
        middle[changed] = _middles(self.rows, s, pieces, changed, self.margin)
        jump = np.insert(self.jump[remaining], places, False)
        return replace(self, s=s, piece=pieces, node=np.ascontiguousarray(node), middle=middle, jump=jump)

    def split(self, parts: np.ndarray) -> PhaseGrid:
        """Return the grid with cell k split into parts[k] equal cells; only for grids without margin."""
        cell = np.repeat(np.arange(len(parts)), parts)
        part = np.arange(len(cell)) - np.repeat(np.cumsum(parts) - parts, parts)
        s = np.append(self.s[cell] + part / parts[cell] * np.diff(self.s)[cell], self.s[-1])
        piece = np.append(self.piece[cell], self.piece[-1])
        jump = np.append(self.jump[cell] & (part == 0), self.jump[-1])
        node, middle = self.node[np.append(cell, len(parts))], self.middle[cell]
        new, cut = np.flatnonzero(part > 0), np.flatnonzero(parts[cell] > 1)
        node[new] = rows_at(self.rows, s[new], piece[new])
        middle[cut] = rows_at(self.rows, 0.5 * (s[cut] + s[cut + 1]), piece[cut])
        return replace(self, s=s, piece=piece, node=node, middle=middle, jump=jump)


def rows_at(rows: LimitRows, s: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Return rows (n, m, 4) at points of several pieces."""
    out = np.empty((len(s), len(rows.names), 4))
    for i in np.unique(piece):
        out[piece == i] = rows.evaluate(s[piece == i], int(i))[1]
    return out


def find_limit_curve(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the limit curve of rows (n, m, 4), as `PhaseGrid.limit_curve` does."""
    library = phase_library()
    if library is None:
        return reference.limit_curve(rows)
    n, m = rows.shape[:2]
    low, high = np.empty(n), np.empty(n)
    pair_low, pair_high = np.empty((n, 2), dtype=np.int32), np.empty((n, 2), dtype=np.int32)
    arrays = (np.ascontiguousarray(rows), low, high, pair_low, pair_high)
    library.sc_limit_curve(n, m, *[item.ctypes.data for item in arrays])
    return low, high, pair_low, pair_high


def form_grid(rows: LimitRows, n: int, rests: tuple[bool, bool]) -> PhaseGrid:
    """Return a grid of about n cells, spaced quadratically near ends at rest.

    Parameters
    ----------
    rows : LimitRows
        The limits along the path.
    n : int
        Number of cells.
    rests : pair of bool
        Whether the motion begins and ends at rest.
    """
    breaks = rows.dynamics.solved.breaks
    s, piece = _nodes(breaks, rows.dynamics.solved.shape.kinks, n, rests)
    node = np.empty((len(s), len(rows.names), 4))
    V = np.empty((len(s), rows.dynamics.eom.n_v))
    middle = np.zeros((len(s) - 1, len(rows.names), 4))
    for i in range(len(breaks) - 1):
        mine = np.flatnonzero(piece == i)
        at = s[mine]
        both = np.empty(2 * len(at) - 1)
        both[0::2], both[1::2] = at, 0.5 * (at[:-1] + at[1:])
        motion, found = rows.evaluate(both, i)
        node[mine], middle[mine[:-1]], V[mine] = found[0::2], found[1::2], motion.V[0::2]
    jump = np.zeros(len(s), dtype=bool)
    twice = np.flatnonzero(np.diff(s) == 0.0)
    for k in twice:
        jump[k] = jump[k + 1] = bool(np.max(np.abs(V[k + 1] - V[k])) > 1e-7 * max(np.max(np.abs(V[k])), 1e-300))
    return PhaseGrid(rows, s, piece, node, middle, jump)


def _nodes(breaks: np.ndarray, kinks: np.ndarray, n: int, rests: tuple[bool, bool]) -> tuple[np.ndarray, np.ndarray]:
    xi = np.linspace(0.0, 1.0, n + 1)
    shapes: dict[tuple[bool, bool], Any] = {
        (True, True): 0.5 - 0.5 * np.cos(np.pi * xi),
        (True, False): 1.0 - np.cos(0.5 * np.pi * xi),
        (False, True): np.sin(0.5 * np.pi * xi),
        (False, False): xi,
    }
    raw = breaks[0] + (breaks[-1] - breaks[0]) * shapes[rests]
    for kink in kinks:
        nearest = int(np.argmin(np.abs(raw[1:-1] - kink))) + 1
        raw[nearest] = kink
    s, piece = [], []
    for i, (begin, end) in enumerate(zip(breaks[:-1], breaks[1:], strict=True)):
        inside = raw[1:-1][(raw[1:-1] > begin) & (raw[1:-1] < end)]
        clearance = 0.2 * (end - begin) / (len(inside) + 1)
        before, after = (clearance if i > 0 else 0.0), (clearance if end < breaks[-1] else 0.0)
        inside = inside[(inside - begin > before) & (end - inside > after)]
        if len(inside) < 7:  # short pieces have at least eight cells
            inside = np.linspace(begin, end, 9)[1:-1]
        s += [begin, *inside, end]
        piece += [i] * (len(inside) + 2)
    return np.array(s), np.array(piece)


def _middles(rows: LimitRows, s: np.ndarray, piece: np.ndarray, cells: np.ndarray, margin: Any) -> np.ndarray:
    out = np.zeros((len(cells), len(rows.names), 4))
    for i in np.unique(piece[cells]):
        mine = (piece[cells] == i) & (piece[cells + 1] == i)
        if np.any(mine):
            at = 0.5 * (s[cells[mine]] + s[cells[mine] + 1])
            out[mine] = rows.evaluate(at, int(i))[1]
    if margin is not None:
        out[:, :, 3] += margin(0.5 * (s[cells] + s[cells + 1]))[:, None]
    return out
