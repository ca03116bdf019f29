"""Constrained motion of a tree of rigid bodies as a cloud of point masses, by Gauss's principle. numpy only.

Among all accelerations that the conditions allow, nature takes those with the least ``sum m |a - f/m|^2``. Conditions are
written with positions of marked points only (points that coincide, stay on a line, do not slip); their slopes come from
complex steps and their rates from the eighth-order stencil of `point_cloud`, so that nothing here knows of joints in loops,
Jacobians or multipliers.

A condition is a function ``(place, move)``: ``place(body, point)`` gives root components of a point of a body (body -1 is
the root) at chart points of any shape, ``move(body, point)`` its velocity. It returns a stack of expressions (..., k) that
shall vanish, all of one level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.oracles.mechanics.cloud_positions import Body, poses
from tests.oracles.mechanics.point_cloud import OFFSETS, STEP, TINY, WEIGHTS, Gravity, equations

__all__ = ["accelerations", "closing_forces", "meeting", "on_plane", "residuals", "rolls"]

Condition = Callable[..., Any]
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


def meeting(a: int, point_a: Any, b: int, point_b: Any) -> Condition:
    """A point of one body coincides with a point of another."""
    return lambda place, move: place(b, point_b) - place(a, point_a)


def on_plane(a: int, point_a: Any, tip_a: Any, b: int, point_b: Any) -> Condition:
    """A point of b stays on the plane through a point of a, normal to the line from there to its tip."""

    def condition(place: Any, move: Any) -> Any:
        normal = place(a, tip_a) - place(a, point_a)
        return np.sum(normal * (place(b, point_b) - place(a, point_a)), axis=-1)[..., None]

    return condition


def rolls(body: int, radius: float) -> Condition:
    """The lowest point of a disc (centre at the origin, axis y) does not slip: horizontal velocity of the material point."""

    def condition(place: Any, move: Any) -> Any:
        axis = place(body, (0.0, 1.0, 0.0)) - place(body, (0.0, 0.0, 0.0))
        lowest = axis[..., 2:3] * axis - np.array([0.0, 0.0, 1.0])
        lowest = radius * lowest / np.sqrt(np.sum(lowest * lowest, axis=-1))[..., None]
        return move(body, lowest, "world")[..., :2]

    return condition


class _Places:
    """Positions and velocities of points at chart points z for chart speeds v."""

    def __init__(self, bodies: Sequence[Body], q: Sequence[Any], z: np.ndarray, v: np.ndarray, h: float):
        self.bodies, self.q, self.z, self.v, self.h = bodies, q, z, v, h
        self.here = poses(bodies, q, z)
        self.path = poses(bodies, q, z[..., None, :] + (h * OFFSETS)[:, None] * v[..., None, :])

    def place(self, body: int, point: Any) -> Any:
        point = np.asarray(point)
        if body < 0:
            return np.broadcast_to(point, (*self.z.shape[:-1], 3))
        R, p = self.here[body]
        return p + (R @ point[..., None])[..., 0]

    def move(self, body: int, point: Any, axes: str = "body") -> Any:
        """Velocity of a material point, given in body axes or as a distance from the origin in root axes."""
        point = np.asarray(point)
        if axes == "world":
            point = (np.swapaxes(self.here[body][0], -1, -2) @ point[..., None])[..., 0]
        R, p = self.path[body]
        along = p + (R @ point[..., None, :, None])[..., 0]
        return np.tensordot(WEIGHTS, np.moveaxis(along, -2, 0), axes=1) / self.h


def _values(conditions: Sequence[Condition], places: _Places) -> np.ndarray:
    return np.concatenate([np.asarray(item(places.place, places.move)) for item in conditions], axis=-1)


def residuals(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, holds: Sequence[Condition], slides: Sequence[Condition] = ()
) -> np.ndarray:
    """Open conditions at position level (`holds`), then rates (of `holds` and `slides`)."""
    speeds = np.asarray(v, dtype=float)
    h = STEP / max(1.0, float(np.sum(np.abs(speeds))))
    here = _Places(bodies, q, np.zeros(speeds.size), speeds, h)
    rows = []
    if holds:
        path = _Places(bodies, q, (h * OFFSETS)[:, None] * speeds, np.broadcast_to(speeds, (8, speeds.size)), h)
        rows = [_values(holds, here), WEIGHTS @ _values(holds, path) / h]
    return np.concatenate([*rows, *([_values(slides, here)] if slides else [])])


def _rows(
    bodies: Sequence[Body],
    q: Sequence[Any],
    v: np.ndarray,
    holds: Sequence[Condition],
    slides: Sequence[Condition],
    h: float,
) -> tuple[np.ndarray, np.ndarray]:
    """``C w_dot = c`` of conditions on positions (`holds`) and on velocities (`slides`)."""
    n = v.size
    C, c = [], []
    if holds:
        aside = _Places(bodies, q, 1j * TINY * np.eye(n), np.zeros((n, n)), h)
        C.append(_values(holds, aside).imag.T / TINY)
        s = h * np.arange(-4.0, 5.0)
        path = _Places(bodies, q, s[:, None] * v, np.zeros((9, n)), h)
        c.append(-SECOND @ _values(holds, path) / h**2)
    if slides:
        unit = _Places(bodies, q, np.zeros((n, n)), np.eye(n), STEP)
        C.append(_values(slides, unit).T)
        path = _Places(bodies, q, (h * OFFSETS)[:, None] * v, np.broadcast_to(v, (8, n)), h)
        c.append(-WEIGHTS @ _values(slides, path) / h)
    return np.vstack(C), np.concatenate(c)


def accelerations(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None = None, *, tau: Any = 0.0,
    holds: Sequence[Condition] = (), slides: Sequence[Condition] = (), step: float = STEP,
) -> np.ndarray:  # fmt: skip
    """v_dot, shape (n_v,), of least constraint in the sense of Gauss."""
    speeds = np.asarray(v, dtype=float)
    terms = equations(bodies, q, speeds, gravity, step=step)
    force = terms["Q"] - terms["h"] + tau
    C, c = _rows(bodies, q, speeds, holds, slides, step / max(1.0, float(np.sum(np.abs(speeds)))))
    U, size, V = np.linalg.svd(C)
    rank = int(np.sum(size > 1e-7 * size[0]))  # slopes are exact to rounding; dependent ones are far below
    met, free = V[:rank].T @ ((U[:, :rank].T @ c) / size[:rank]), V[rank:].T
    least = np.linalg.solve(free.T @ terms["M"] @ free, free.T @ (force - terms["M"] @ met))
    return met + free @ least


def closing_forces(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, v_dot: Any, gravity: Gravity | None = None, *, tau: Any = 0.0,
    holds: Sequence[Condition] = (), step: float = STEP,
) -> np.ndarray:  # fmt: skip
    """Forces that keep the conditions `holds`, conjugate to their entries (least size, if not unique)."""
    speeds = np.asarray(v, dtype=float)
    terms = equations(bodies, q, speeds, gravity, step=step)
    C, _ = _rows(bodies, q, speeds, holds, (), step / max(1.0, float(np.sum(np.abs(speeds)))))
    missing = terms["M"] @ np.asarray(v_dot) + terms["h"] - terms["Q"] - tau
    found: np.ndarray = np.linalg.lstsq(C.T, missing, rcond=1e-9)[0]
    return found
