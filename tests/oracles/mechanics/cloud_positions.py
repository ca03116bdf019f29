"""Point masses in place of rigid bodies, and their positions in a tree of joints. numpy only.

Turns mass properties into clouds of point masses (`cloud`), and joint coordinates plus a local chart z into the
positions of all points (`positions`). All formulas are analytic in z, so that `point_cloud` can take complex steps.
The chart is added to joint displacements; a quaternion joint turns by ``R = R0 exp(z~)``, so that at z = 0 the rates
of z are the speeds (child axes) and its second rates are their derivatives.

A body is a dict: ``parent`` (index, -1 for the root), ``R_PJ, p_PJ`` (joint frame J in the parent), ``R_BF, p_BF``
(joint frame F in the body), ``kind``, ``axes`` (unit vectors), ``mass, com, inertia`` (about com, body axes). The
axes are: Revolute, Prismatic, Cylindrical (axis,); Universal (first, second); Planar (e1, e2, normal). A coordinate
list q holds one array a body: angles before displacements, scalar-first unit quaternions before positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any

import numpy as np

__all__ = ["SPEEDS", "Body", "cloud", "masses_of", "poses", "positions"]

SPEEDS = {
    "Fixed": 0, "Revolute": 1, "Prismatic": 1, "Universal": 2, "Cylindrical": 2, "Spherical": 3, "Planar": 3, "Free": 6,
}  # fmt: skip

Body = Mapping[str, Any]
Mark = tuple[int, Any]  # index of a body and a point in its axes


def cloud(mass: float, com: Any, inertia: Any, corners: str = "octahedron") -> tuple[np.ndarray, np.ndarray]:
    """Positive point masses with the given mass, centre of mass and inertia.

    The second moment ``P = 1/2 tr(I) 1 - I = sum m d d'`` is not negative when the triangle inequality holds. With its
    eigenpairs (lambda, e): six points ``com +- sqrt(3 lambda / m) e`` of m/6 ("octahedron", no third moments), or
    four points at the corners of a deformed "tetrahedron" of m/4 each (third moments not zero).

    Returns
    -------
    points, weights : arrays, shape (n, 3) [m] and (n,) [kg]
    """
    inertia = np.asarray(inertia, dtype=float)
    values, vectors = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    root = vectors * np.sqrt(np.clip(values, 0.0, None) / mass)  # columns sqrt(lambda / m) e
    if corners == "octahedron":
        directions = np.sqrt(3.0) * np.vstack([np.eye(3), -np.eye(3)])
    else:
        directions = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    n = len(directions)
    return np.asarray(com, dtype=float) + directions @ root.T, np.full(n, mass / n)


def exponential(xi: np.ndarray) -> np.ndarray:
    """exp(xi~) for small (also complex) rotation vectors, shape (..., 3), by the series in the square of the angle."""
    square = np.sum(xi * xi, axis=-1)[..., None, None]
    sine = sum((-square) ** k / factorial(2 * k + 1) for k in range(12))
    versine = sum((-square) ** k / factorial(2 * k + 2) for k in range(12))
    skew = _skew(xi)
    return np.eye(3) + sine * skew + versine * (skew @ skew)


def turn(axis: Any, angle: np.ndarray) -> np.ndarray:
    """Rotation about a unit axis, angles of any shape, also complex."""
    n = np.asarray(axis, dtype=float)
    c, s = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return c * np.eye(3) + s * _skew(n) + (1.0 - c) * np.outer(n, n)


def from_quaternion(q: Any) -> np.ndarray:
    """Rotation matrix of a scalar-first unit quaternion: ``(w^2 - e'e) 1 + 2 e e' + 2 w e~``."""
    w, e = q[0], np.asarray(q[1:4], dtype=float)
    return (w * w - e @ e) * np.eye(3) + 2.0 * np.outer(e, e) + 2.0 * w * _skew(e)


def _skew(a: np.ndarray) -> np.ndarray:
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def _joint(body: Body, q: Any, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of F in J at the chart point z, shape (..., n)."""
    kind, axes = body["kind"], [np.asarray(axis, dtype=float) for axis in body.get("axes", ())]
    still, level = np.zeros((*z.shape[:-1], 3)), np.broadcast_to(np.eye(3), (*z.shape[:-1], 3, 3))
    if kind == "Fixed":
        return level, still
    if kind == "Spherical":
        return from_quaternion(q) @ exponential(z), still
    if kind == "Free":
        return from_quaternion(q[:4]) @ exponential(z[..., :3]), np.asarray(q[4:7]) + z[..., 3:]
    c = np.asarray(q, dtype=float) + z
    if kind == "Revolute":
        return turn(axes[0], c[..., 0]), still
    if kind == "Prismatic":
        return level, c[..., 0:1] * axes[0]
    if kind == "Cylindrical":
        return turn(axes[0], c[..., 0]), c[..., 1:2] * axes[0]
    if kind == "Universal":
        return turn(axes[0], c[..., 0]) @ turn(axes[1], c[..., 1]), still
    if kind == "Planar":
        return turn(axes[2], c[..., 0]), c[..., 1:2] * axes[0] + c[..., 2:3] * axes[1]
    raise ValueError(f"joint kind {kind!r}: expected one of {sorted(SPEEDS)}")


def poses(bodies: Sequence[Body], q: Sequence[Any], z: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rotation R_NB and origin of every body frame in the root, at chart points z of shape (..., n_v)."""
    placed: list[tuple[np.ndarray, np.ndarray]] = []
    start = 0
    for body, own in zip(bodies, q, strict=True):
        stop = start + SPEEDS[body["kind"]]
        R_JF, p_JF = _joint(body, own, z[..., start:stop])
        R, p = placed[body["parent"]] if body["parent"] >= 0 else (np.eye(3), np.zeros(3))
        R, p = R @ np.asarray(body["R_PJ"]), p + R @ np.asarray(body["p_PJ"])  # J
        R, p = R @ R_JF, p + (R @ p_JF[..., None])[..., 0]  # F
        R = R @ np.asarray(body["R_BF"]).T  # B
        placed.append((R, p - R @ np.asarray(body["p_BF"])))
        start = stop
    return placed


def positions(
    bodies: Sequence[Body], q: Sequence[Any], z: np.ndarray, marks: Sequence[Mark] | None = None
) -> np.ndarray:
    """Root components of all mass points (or of the `marks`: body index, point), shape (..., n_points, 3)."""
    placed = poses(bodies, q, z)
    if marks is None:
        marks = [(i, point) for i, body in enumerate(bodies) for point in points_of(body)[0]]
    rows = [placed[i][1] + placed[i][0] @ np.asarray(point) for i, point in marks]
    return np.stack([np.broadcast_to(row, (*z.shape[:-1], 3)) for row in rows], axis=-2)


def points_of(body: Body) -> tuple[np.ndarray, np.ndarray]:
    if "points" in body:
        return np.asarray(body["points"]), np.asarray(body["weights"])
    return cloud(body["mass"], body["com"], body["inertia"])


def masses_of(bodies: Sequence[Body]) -> np.ndarray:
    return np.concatenate([points_of(body)[1] for body in bodies])
