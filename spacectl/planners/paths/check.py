"""Check a path before planning: singularities, self-intersections, corners and cusps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.solve import SolvedPath, solve_path

__all__ = ["PathReport", "check_path"]

NEAR = 1e-3  #: ratio of singular values below which a path is reported as nearly singular


@dataclass(frozen=True)
class PathReport:
    """Findings of `check_path`.

    Parameters
    ----------
    conditioning : float
        Smallest ratio of singular values of the path's conditions; 1 for paths given in coordinates.
    weakest : float
        The s of this minimum.
    crossings : tuple of (s1, s2)
        Self-intersections in coordinates, where s is not a function of the configuration.
    point_crossings : tuple of (s1, s2)
        Self-intersections of the curve in task space, with different coordinates.
    corners : tuple of float
        The s at which the direction jumps; the motion must stop there.
    stops : tuple of float
        The s at which q' vanishes: a cusp, at which s_dot is undefined.
    failure : str
        Why and where the path cannot be followed; empty if it can.
    """

    conditioning: float = 1.0
    weakest: float = 0.0
    crossings: tuple[tuple[float, float], ...] = ()
    point_crossings: tuple[tuple[float, float], ...] = ()
    corners: tuple[float, ...] = ()
    stops: tuple[float, ...] = ()
    failure: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether there are no findings."""
        return not self.messages

    @property
    def messages(self) -> tuple[str, ...]:
        """One sentence for each finding."""
        found = [self.failure] if self.failure else []
        if self.conditioning < NEAR and not self.failure:
            found.append(f"nearly singular at s = {self.weakest:.6g} (singular values down to {self.conditioning:.1e})")
        found += [f"crosses itself: the same coordinates at s = {a:.6g} and s = {b:.6g}" for a, b in self.crossings]
        found += [f"passes the same point at s = {a:.6g} and s = {b:.6g}" for a, b in self.point_crossings]
        found += [f"corner at s = {s:.6g}: the motion must stop there" for s in self.corners]
        found += [f"the path is stationary at s = {s:.6g} (cusp): choose another path variable" for s in self.stops]
        return tuple(found)


def check_path(eom: EquationsOfMotion, path: Path, *, points: int = 241, p: Any = None) -> PathReport:
    """Check a path for singularities, self-intersections, corners and cusps.

    Parameters
    ----------
    eom : EquationsOfMotion
        The system.
    path : Path
        The path to check.
    points : int
        Number of samples along the path.
    p : array, optional
        Run-time parameters; default the system's own.

    Returns
    -------
    PathReport
        Findings with the s of each; ``failure`` states why a path cannot be followed.
    """
    try:
        solved = solve_path(eom, path, p)
        s, q, dq, sigma, conditioning = _samples(solved, points)
    except SolverError as error:
        return PathReport(failure=str(error), conditioning=0.0)
    weakest = int(np.argmin(conditioning))
    crossings = _crossings(s, q, lambda at: _at(solved, at)[0])
    touching = _crossings(s, sigma, lambda at: _at(solved, at)[1]) if sigma.shape[1] > 1 else ()
    speed = np.linalg.norm(dq, axis=1)
    stops = tuple(float(at) for at in s[speed < 1e-9 * max(np.max(speed), 1e-300)])
    return PathReport(
        conditioning=float(conditioning[weakest]),
        weakest=float(s[weakest]),
        crossings=crossings,
        point_crossings=tuple(pair for pair in touching if not _is_among(pair, crossings, s[-1])),
        corners=find_corners(solved),
        stops=stops,
    )


def find_corners(solved: SolvedPath) -> tuple[float, ...]:
    """Return the s of the breaks at which q' jumps."""
    corners = []
    for i, at in enumerate(solved.breaks[1:-1]):
        left, right = (solved.evaluate(np.array([at]), i + k).dq[0] for k in (0, 1))
        if np.max(np.abs(left - right)) > 1e-7 * max(np.max(np.abs(left)), np.max(np.abs(right)), 1e-300):
            corners.append(float(at))
    return tuple(corners)


def _samples(solved: SolvedPath, points: int) -> tuple[np.ndarray, ...]:
    parts = []
    for i, (begin, end) in enumerate(zip(solved.breaks[:-1], solved.breaks[1:], strict=True)):
        n = max(4, round(points * (end - begin) / solved.length))
        s = np.linspace(begin, end, n + 1)[(1 if i else 0) :]
        found = solved.evaluate(s, i)
        parts.append((s, found.q, found.dq, solved.shape.evaluate(s, i)[0], found.conditioning))
    return tuple(np.concatenate(items) for items in zip(*parts, strict=True))


def _at(solved: SolvedPath, s: float) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return q and q', sigma and sigma' at one s."""
    piece = int(np.clip(np.searchsorted(solved.breaks, s, side="right") - 1, 0, len(solved.breaks) - 2))
    found, sigma = solved.evaluate(np.array([s]), piece), solved.shape.evaluate(np.array([s]), piece)
    return (found.q[0], found.dq[0]), (sigma[0][0], sigma[1][0])


def _crossings(s: np.ndarray, z: np.ndarray, at: Any) -> tuple[tuple[float, float], ...]:
    """Return pairs of s with equal z, by Gauss-Newton on ``z(s1) - z(s2)`` from nearby pairs of samples."""
    step = np.max(np.linalg.norm(np.diff(z, axis=0), axis=1))
    if not step > 0.0:
        return ()
    gap = np.linalg.norm(z[:, None, :] - z[None, :, :], axis=2)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(z, axis=0), axis=1))])
    is_apart = np.abs(along[:, None] - along[None, :]) > 6.0 * step
    found: list[tuple[float, float]] = []
    for i, j in np.argwhere((gap < 1.5 * step) & is_apart):
        if i < j:
            pair = _refine_crossing(s[i], s[j], at, s[-1])
            if pair is not None and abs(pair[1] - pair[0]) > 1e-3 * s[-1] and not _is_among(pair, found, s[-1]):
                found.append(pair)
    return tuple(sorted(found))


def _refine_crossing(a: float, b: float, at: Any, length: float) -> tuple[float, float] | None:
    for _ in range(12):
        (za, da), (zb, db) = at(a), at(b)
        change = np.linalg.lstsq(np.stack([da, -db], axis=1), zb - za, rcond=None)[0]
        a, b = float(np.clip(a + change[0], 0.0, length)), float(np.clip(b + change[1], 0.0, length))
        if np.max(np.abs(change)) < 1e-12 * length:
            break
    (za, _), (zb, _) = at(a), at(b)
    is_crossing = np.linalg.norm(za - zb) <= 1e-8 * max(float(np.linalg.norm(za)), 1.0)
    return (a, b) if is_crossing else None


def _is_among(pair: tuple[float, float], others: Any, length: float) -> bool:
    return any(abs(pair[0] - a) + abs(pair[1] - b) < 1e-4 * length for a, b in others)
