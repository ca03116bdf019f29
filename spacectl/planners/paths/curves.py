"""Parametric curves of any dimension, which joint paths and task paths follow.

A curve is evaluated, with exact derivatives, at many values of its parameter s at once. It is smooth between
its `breaks`. At a break its second derivative may jump, and at a corner its direction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.interpolate import CubicSpline

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError

__all__ = ["ArcCurve", "BlendCurve", "Curve", "LineCurve", "SplineCurve"]

Points = tuple[np.ndarray, np.ndarray, np.ndarray]


def _vectors(curve: Any, *names: str) -> None:
    """Store named fields as read-only vectors of one length."""
    for name in names:
        object.__setattr__(curve, name, as_array(getattr(curve, name), None, f"{type(curve).__name__}: {name}"))
    shapes = {getattr(curve, name).shape for name in names}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        given = ", ".join(f"{name} {getattr(curve, name).shape}" for name in names)
        raise ShapeError(f"{type(curve).__name__}: {given}; expected vectors of one length")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Base of the curves: s runs from 0 to `length`."""

    @property
    def length(self) -> float:
        """Last value of s."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    @property
    def breaks(self) -> np.ndarray:
        """Ends of the smooth pieces, from 0 to `length`."""
        return np.array([0.0, self.length])

    @property
    def kinks(self) -> np.ndarray:
        """Points between the breaks where only the third derivative jumps."""
        return np.zeros(0)

    def evaluate(self, s: np.ndarray, piece: int = 0) -> Points:
        """Evaluate one smooth piece: values, first and second derivatives by s, each of shape (n, size)."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LineCurve(Curve):
    """A straight line.

    Parameters
    ----------
    start, end : vectors, shape (k,)
        End points; s is the distance from `start`.

    Examples
    --------
    >>> LineCurve(start=(0.0, 15.0), end=(0.0, 3.0)).length
    12.0
    """

    start: Any
    end: Any

    def __post_init__(self) -> None:
        _vectors(self, "start", "end")
        if not self.length > 0.0:
            raise ModelError("LineCurve: start and end are the same point; a path needs a length")

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.asarray(self.end) - np.asarray(self.start)))

    @property
    def size(self) -> int:
        return int(self.start.shape[0])

    def evaluate(self, s: np.ndarray, piece: int = 0) -> Points:
        direction = (np.asarray(self.end) - np.asarray(self.start)) / self.length
        values = np.asarray(self.start) + s[:, None] * direction
        return values, np.broadcast_to(direction, values.shape), np.zeros(values.shape)


@dataclass(frozen=True, kw_only=True)
class ArcCurve(Curve):
    """A circular arc from `start` through `via` to `end`, in their plane.

    Parameters
    ----------
    start, via, end : vectors, shape (k,)
        Three points that are not collinear; s is the arc length from `start`.

    Examples
    --------
    >>> bool(np.isclose(ArcCurve(start=(1.0, 0.0), via=(0.0, 1.0), end=(-1.0, 0.0)).length, np.pi))
    True
    """

    start: Any
    via: Any
    end: Any
    _circle: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _vectors(self, "start", "via", "end")
        a, b, c = (np.asarray(item) for item in (self.start, self.via, self.end))
        u, v = b - a, c - a
        gram = np.array([[u @ u, u @ v], [u @ v, v @ v]])
        if np.linalg.det(gram) <= 1e-12 * (u @ u) * (v @ v):
            raise ModelError("ArcCurve: start, via and end lie on a line; use LineCurve, or another point between")
        weights = np.linalg.solve(gram, 0.5 * np.array([u @ u, v @ v]))
        centre = a + weights[0] * u + weights[1] * v
        radius = float(np.linalg.norm(a - centre))
        e1 = (a - centre) / radius
        e2 = u - (u @ e1) * e1
        e2 = e2 / np.linalg.norm(e2)
        turn = [float(np.arctan2((p - centre) @ e2, (p - centre) @ e1)) % (2.0 * np.pi) for p in (b, c)]
        if turn[0] > turn[1]:
            e2, turn = -e2, [2.0 * np.pi - angle for angle in turn]
        object.__setattr__(self, "_circle", (centre, radius, e1, e2, turn[1]))

    @property
    def length(self) -> float:
        return float(self._circle[1] * self._circle[4])

    @property
    def size(self) -> int:
        return int(self.start.shape[0])

    def evaluate(self, s: np.ndarray, piece: int = 0) -> Points:
        centre, radius, e1, e2, _ = self._circle
        return _circle_points(s / radius, centre, radius, e1, e2)


def _circle_points(angle: np.ndarray, centre: Any, radius: float, e1: Any, e2: Any) -> Points:
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    radial = cosine * e1 + sine * e2
    return centre + radius * radial, cosine * e2 - sine * e1, -radial / radius


@dataclass(frozen=True, kw_only=True)
class SplineCurve(Curve):
    """A cubic spline through via points, with continuous second derivatives.

    Parameters
    ----------
    points : array, shape (m, k)
        Two or more points, in order.
    knots : array, shape (m,), optional
        Increasing values of s at the points, the first 0. Default: cumulative distances.
    ends : {"not-a-knot", "natural", "clamped"}
        End condition: continuous third derivative at the second knot, zero second or zero first derivative.

    Examples
    --------
    >>> SplineCurve(points=[[0.0], [1.0], [3.0]]).length
    3.0
    """

    points: Any
    knots: Any = None
    ends: Literal["not-a-knot", "natural", "clamped"] = "not-a-knot"
    _spline: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        points = as_array(self.points, None, "SplineCurve: points")
        if len(points.shape) != 2 or points.shape[0] < 2:
            raise ShapeError(f"SplineCurve: points have shape {points.shape}, expected (m, k) with two or more points")
        values = np.asarray(points)
        chords = np.linalg.norm(np.diff(values, axis=0), axis=1)
        knots = np.concatenate([[0.0], np.cumsum(chords)]) if self.knots is None else np.asarray(self.knots, float)
        if knots.shape != (len(values),) or knots[0] != 0.0 or not np.all(np.diff(knots) > 0.0):
            raise ModelError(
                "SplineCurve: knots must start at 0 and increase, one for each point; check whether two points coincide"
            )
        if self.ends not in ("not-a-knot", "natural", "clamped"):
            raise ModelError(f"SplineCurve: ends is {self.ends!r}, expected 'not-a-knot', 'natural' or 'clamped'")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "knots", as_array(knots, None, "SplineCurve: knots"))
        object.__setattr__(self, "_spline", CubicSpline(knots, values, bc_type=self.ends))

    @property
    def length(self) -> float:
        return float(np.asarray(self.knots)[-1])

    @property
    def size(self) -> int:
        return int(self.points.shape[1])

    @property
    def kinks(self) -> np.ndarray:
        return np.asarray(self.knots)[1:-1]

    def evaluate(self, s: np.ndarray, piece: int = 0) -> Points:
        return self._spline(s), self._spline(s, 1), self._spline(s, 2)


@dataclass(frozen=True, kw_only=True)
class BlendCurve(Curve):
    """Straight lines through via points, with corners rounded by circular arcs.

    The curvature jumps where a line meets an arc. With radius 0 the corners remain, and a plan stops at each
    of them.

    Parameters
    ----------
    points : array, shape (m, k)
        Two or more points, in order; neighbours must not coincide.
    radius : float
        Radius of the arcs, 0 or more; the arcs must fit between the corners.

    Examples
    --------
    >>> curve = BlendCurve(points=[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], radius=0.2)
    >>> curve.breaks.round(3)
    array([0.   , 0.8  , 1.114, 1.914])
    """

    points: Any
    radius: float = 0.0
    _pieces: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        points = as_array(self.points, None, "BlendCurve: points")
        if len(points.shape) != 2 or points.shape[0] < 2:
            raise ShapeError(f"BlendCurve: points have shape {points.shape}, expected (m, k) with two or more points")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", as_scalar(self.radius, "BlendCurve: radius"))
        if self.radius < 0.0:
            raise ModelError(f"BlendCurve: radius is {self.radius:g}, expected 0 or more")
        object.__setattr__(self, "_pieces", tuple(_blend(np.asarray(points), self.radius)))

    @property
    def length(self) -> float:
        return float(self.breaks[-1])

    @property
    def size(self) -> int:
        return int(self.points.shape[1])

    @property
    def breaks(self) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum([piece[0] for piece in self._pieces])])

    def evaluate(self, s: np.ndarray, piece: int = 0) -> Points:
        length, begin, shape = self._pieces[piece]
        local = s - self.breaks[piece]
        if len(shape) == 1:
            values = begin + local[:, None] * shape[0]
            return values, np.broadcast_to(shape[0], values.shape), np.zeros(values.shape)
        centre, radius, e1, e2 = shape
        return _circle_points(local / radius, centre, radius, e1, e2)


def _blend(points: np.ndarray, radius: float) -> list[tuple[float, np.ndarray, tuple[Any, ...]]]:
    """Return lines (length, start, (direction,)) and arcs (length, start, (centre, radius, e1, e2))."""
    chords = np.diff(points, axis=0)
    lengths = np.linalg.norm(chords, axis=1)
    if not np.all(lengths > 0.0):
        raise ModelError(f"BlendCurve: points {int(np.argmin(lengths))} and the next coincide; omit one")
    directions = chords / lengths[:, None]
    turns = [float(np.arccos(np.clip(a @ b, -1.0, 1.0))) for a, b in zip(directions[:-1], directions[1:], strict=True)]
    cuts = [0.0, *(radius * np.tan(0.5 * min(turn, 0.999 * np.pi)) for turn in turns), 0.0]
    pieces: list[tuple[float, np.ndarray, tuple[Any, ...]]] = []
    for i, (length, e) in enumerate(zip(lengths, directions, strict=True)):
        straight = length - cuts[i] - cuts[i + 1]
        if straight < 0.0:
            raise ModelError(
                f"BlendCurve: radius {radius:g} does not fit between points {i} and {i + 1}; make it smaller"
            )
        if straight > 0.0:
            pieces.append((straight, points[i] + cuts[i] * e, (e,)))
        if i < len(turns) and cuts[i + 1] > 0.0:
            side = directions[i + 1] - (directions[i + 1] @ e) * e
            side = side / np.linalg.norm(side)
            begin = points[i + 1] - cuts[i + 1] * e
            pieces.append((radius * turns[i], begin, (begin + radius * side, radius, -side, e)))
    return pieces
