"""The highest profile of the phase plane: the lower envelope of curves through the characteristic points.

A curve of maximum deceleration towards a point of the limit curve, and one of maximum acceleration from it,
bound every feasible motion from above. So does the lower envelope of all such curves. Where the envelope is
feasible, it is the fastest motion. In cells where it is infeasible, further curves are added until none
remains.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.planners.phase_plane.grid import Curve, PhaseGrid
from spacectl.planners.phase_plane.points import SwitchPoint

__all__ = ["Profile", "find_profile"]

UNLIMITED = 1e99  #: s_dot^2 that represents no limit
TOUCH = 1e-8  #: relative difference of s_dot^2 within which two curves meet
ROUNDING = 1e-12  #: relative difference of s_dot^2 attributed to rounding


@dataclass
class Profile:
    """``x = s_dot^2`` at the nodes, index of the curve that owns it, cap (limit curve and ends), and curves."""

    grid: PhaseGrid
    x: np.ndarray
    owner: np.ndarray
    cap: np.ndarray
    curves: list[Curve] = field(default_factory=list)

    def add(self, start: int, x0: float, direction: int) -> None:
        """Lower the profile to a curve through (start, x0).

        Raises
        ------
        SolverError
            If the curve reaches zero speed: no motion passes that point.
        """
        curve = self.grid.integrate(start, x0, direction, self.cap)
        if curve.stop == 2:
            raise SolverError(_stop_message(self.grid, curve))
        span = slice(curve.first, curve.last + 1)
        is_lower = curve.x[span] < self.x[span] * (1.0 - 1e-13)
        self.x[span] = np.where(is_lower, curve.x[span], self.x[span])
        self.owner[span] = np.where(is_lower, len(self.curves), self.owner[span])
        self.curves.append(curve)


def _stop_message(grid: PhaseGrid, curve: Curve) -> str:
    at, name = grid.s[curve.last if curve.is_forward else curve.first], _row_name(grid, curve.stop_row)
    if curve.is_forward:
        return (
            f"the end of the path cannot be reached: the motion comes to rest at s = {at:.6g} of {grid.s[-1]:.6g}, "
            f"with {name}; raise that limit, lower the load or take another path"
        )
    return (
        f"the path cannot be followed: from rest at s = {at:.6g} the speed becomes too high for the rest of it, with {name}; "
        "raise that limit, lower the load or take another path"
    )


def _row_name(grid: PhaseGrid, row: int) -> str:
    return grid.rows.names[row] if row >= 0 else "no identifiable limit"


def find_profile(grid: PhaseGrid, points: list[SwitchPoint], begin: float | None, end: float | None) -> Profile:
    """Return the highest feasible profile.

    Parameters
    ----------
    grid : PhaseGrid
        Rows along the path, with nodes at the points.
    points : list of SwitchPoint
        Characteristic points.
    begin, end : float or None
        Speeds s_dot at the ends; None leaves it free.
    """
    low, high, pair_low, pair_high = grid.limit_curve
    _require_feasible(grid, low, high, pair_low, pair_high)
    cap = np.minimum(high, 1e100) ** 2
    for twice in np.flatnonzero(np.diff(grid.s) == 0.0):
        k = int(twice)
        cap[k] = cap[k + 1] = 0.0 if grid.jump[k] else min(cap[k], cap[k + 1])
    ends = (_end(grid, begin, 0, low, high, pair_high), _end(grid, end, -1, low, high, pair_high))
    cap[0], cap[-1] = (min(cap[k], x) for k, x in zip((0, -1), ends, strict=True))
    profile = Profile(grid, cap.copy(), np.full(len(cap), -1), cap)
    if cap[-1] < UNLIMITED:
        profile.add(len(cap) - 1, float(cap[-1]), -1)
    if profile.x[0] < UNLIMITED:
        profile.add(0, float(profile.x[0]), 1)
    for point in points:
        k = int(np.argmin(np.abs(grid.s - point.s)))
        if profile.x[k] < cap[k] * (1.0 - 1e-6):
            continue  # the profile is already lower
        profile.add(k, float(cap[k]), -1)
        profile.add(min(k + int(grid.s[min(k + 1, len(cap) - 1)] == grid.s[k]), len(cap) - 1), float(cap[k]), 1)
    if not np.all(profile.x < UNLIMITED):
        k = int(np.argmax(profile.x))
        raise SolverError(
            f"nothing limits the speed at s = {grid.s[k]:.6g}: limit every input that the path uses, or add SpeedLimits"
        )
    _repair(profile)
    _require_above(grid, profile.x, low, pair_low)
    return profile


def _end(grid: PhaseGrid, speed: float | None, k: int, low: np.ndarray, high: np.ndarray, pair: np.ndarray) -> float:
    """Return s_dot^2 at an end."""
    if speed is None:
        return float(min(high[k], 1e100) ** 2)
    where = "initial" if k == 0 else "final"
    if speed > high[k] * (1.0 + 1e-9):
        names = ", ".join(dict.fromkeys(_row_name(grid, i) for i in pair[k]))
        raise SolverError(
            f"the {where} speed s_dot = {speed:.6g} lies above the limit curve at s = {grid.s[k]:.6g}, "
            f"which allows {high[k]:.6g} ({names})"
        )
    return float(min(speed, high[k]) ** 2)


def _require_feasible(
    grid: PhaseGrid, low: np.ndarray, high: np.ndarray, pair_low: np.ndarray, pair_high: np.ndarray
) -> None:
    """Raise an error if no speed is feasible at some node."""
    bad = np.flatnonzero(low > high * (1.0 + 1e-9))
    if len(bad) == 0:
        return
    k = int(bad[0])
    rows = [i for i in dict.fromkeys([*pair_high[k], *pair_low[k]]) if i >= 0]
    names = ", ".join(grid.rows.names[i] for i in rows)
    raise SolverError(
        f"the path is not feasible at s = {grid.s[k]:.6g} at any speed, not even at rest: {names}"
        f"{describe_load(grid, k)}; raise these limits, lower the load or take another path"
    )


def describe_load(grid: PhaseGrid, k: int) -> str:
    """Describe the static load at a node if it exceeds a limit."""
    over = grid.node[k, :, 3] - (0.0 if grid.margin is None else grid.margin(grid.s[k]))
    worst = int(np.argmax(over))
    if not over[worst] > 0.0:
        return ""
    return f" ({grid.rows.names[worst]}: to hold still there takes {1.0 + over[worst]:.3g} times the limit)"


def _require_above(grid: PhaseGrid, x: np.ndarray, low: np.ndarray, pair_low: np.ndarray) -> None:
    """Raise an error if the profile is below the minimum speed somewhere (a load that cannot be held at rest)."""
    bad = np.flatnonzero(np.sqrt(np.maximum(x, 0.0)) < low * (1.0 - 1e-6) - 1e-12)
    if len(bad) == 0:
        return
    k = int(bad[0])
    rows = [i for i in dict.fromkeys(pair_low[k]) if i >= 0]
    names = ", ".join(grid.rows.names[i] for i in rows)
    raise SolverError(
        f"the load at s = {grid.s[k]:.6g} cannot be held below the speed s_dot = {low[k]:.6g}, which no motion attains there: "
        f"{names}{describe_load(grid, k)}; raise these limits or take another path"
    )


def _repair(profile: Profile) -> None:
    """Add curves in infeasible cells of the envelope: decelerations from the right, accelerations from the left.

    Cells within one curve are feasible by construction. A cell that a further curve does not lower joins two
    curves at a zero-inertia point, where the rows are imposed at either end; it is accepted.
    """
    grid, accepted = profile.grid, np.zeros(len(profile.x) - 1, dtype=bool)
    for _ in range(4 * len(grid.s)):
        x = profile.x
        low, high, _, _ = grid.check(x)
        size = ROUNDING * np.maximum(x[1:], 1e-6 * np.max(x))
        is_own = (profile.owner[:-1] == profile.owner[1:]) & (profile.owner[1:] >= 0)
        infeasible = ~is_own & ~accepted & ((low > high + size) | (x[1:] < low - size) | (x[1:] > high + size))
        if not np.any(infeasible):
            return
        before = x.copy()
        cell = _add_curve(profile, low, high, size, np.flatnonzero(infeasible))
        accepted[cell] = np.array_equal(before, profile.x)
    raise SolverError("phase plane: the profile does not converge; use more grid points")


def _largest_passable(grid: PhaseGrid, k: int, x: float) -> float:
    """Return the largest value below x at node k from which a feasible step through the cell exists."""

    def is_open(value: float) -> bool:
        low, high, _, _ = grid.check(np.array([value, 0.0]), k)
        return bool(low[0] <= high[0])

    above, drop = x, 1e-4
    while not is_open(x * (1.0 - drop)) and drop < 0.5:
        above, drop = x * (1.0 - drop), 2.0 * drop
    below = x * (1.0 - drop)
    while above - below > 1e-9 * x:
        middle = 0.5 * (above + below)
        above, below = (above, middle) if is_open(middle) else (middle, below)
    return below


def _add_curve(profile: Profile, low: np.ndarray, high: np.ndarray, size: np.ndarray, infeasible: np.ndarray) -> int:
    """Add one more curve and return its cell."""
    x = profile.x
    blocked = infeasible[low[infeasible] > high[infeasible] + size[infeasible]]
    if len(blocked):
        k = int(blocked[-1])
        lower = _largest_passable(profile.grid, k, float(x[k]))
        profile.cap[k] = min(profile.cap[k], lower)
        profile.add(k, lower, -1)
        profile.add(k, lower, 1)
        return k
    fast = infeasible[x[infeasible + 1] < low[infeasible] - size[infeasible]]
    if len(fast):
        k = int(fast[-1])
        profile.add(k + 1, float(x[k + 1]), -1)
        return k
    k = int(infeasible[0])
    profile.add(k, float(x[k]), 1)
    return k
