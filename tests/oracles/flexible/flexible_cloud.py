"""Lagrange's equations of a tree of rigid and flexible bodies from the positions of its points, unexpanded. numpy only.

Extends `cloud_positions`: a body may have ``flex`` (material points X, mass, Phi, Psi, G, H and slices `rotary`, as in
`flexible_points`) and a child of it a ``seat`` (the frame that carries it: at, R, Phi, Psi, G, H). The chart z has,
body by body, the joint's own and then the modal coordinates. A slice's inertia J is carried by arrows, difference vectors
``R e`` with weight lambda from ``1/2 tr(J) 1 - J = sum lambda e e'``: ``1/2 sum lambda |d/dt R e|^2`` is its energy.
Displacements are as defined, to second order; rotations and kinetic energy are exact, nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.oracles.mechanics.cloud_positions import SPEEDS, Body, _joint, exponential, points_of
from tests.oracles.mechanics.point_cloud import OFFSETS, STEP, TINY, WEIGHTS, Gravity, potential, spin_of

__all__ = ["equations", "frame_pose", "seat_pose"]


def _quadratic(A: Any, eta: np.ndarray) -> np.ndarray:
    """``eta' A_... eta`` of a field (..., m, m) at eta of shape (s, m): (s, ...)."""
    return np.einsum("...jk,sj,sk->s...", np.asarray(A), eta, eta)


def _linear(A: Any, eta: np.ndarray) -> np.ndarray:
    return np.einsum("...j,sj->s...", np.asarray(A), eta)


def seat_pose(seat: Mapping[str, Any], eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (s, 3, 3) and place (s, 3) of a frame on a flexible body at eta (s, m)."""
    p = np.asarray(seat["at"]) + _linear(seat["Phi"], eta) - 0.5 * _quadratic(seat["G"], eta)
    theta = _linear(seat["Psi"], eta) + 0.5 * _quadratic(seat["H"], eta)
    return exponential(theta) @ np.asarray(seat["R"]), p


def _turn(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (R @ np.asarray(p)[..., None])[..., 0]


def _poses(bodies: Sequence[Body], q: Sequence[Any], eta: Sequence[Any], z: np.ndarray) -> list[tuple[Any, Any, Any]]:
    """Rotation, origin and modal coordinates of every body at chart points z (s, n_v)."""
    placed: list[tuple[Any, Any, Any]] = []
    start = 0
    for body, own, modal in zip(bodies, q, eta, strict=True):
        stop = start + SPEEDS[body["kind"]]
        R_JF, p_JF = _joint(body, own, z[:, start:stop])
        R, p, above = placed[body["parent"]] if body["parent"] >= 0 else (np.eye(3), np.zeros(3), None)
        if "seat" in body:
            R_A, p_A = seat_pose(body["seat"], above)
            R, p = R @ R_A, p + _turn(R, p_A)
        R, p = R @ np.asarray(body["R_PJ"]), p + _turn(R, body["p_PJ"])
        R, p = R @ R_JF @ np.asarray(body["R_BF"]).T, p + _turn(R, p_JF)
        m = len(modal)
        now = np.asarray(modal, dtype=float) + z[:, stop : stop + m]
        placed.append((R, p - _turn(R, body["p_BF"]), now))
        start = stop + m
    return placed


def frame_pose(
    bodies: Sequence[Body], q: Sequence[Any], eta: Sequence[Any], i: int, seat: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and place, in the root, of a frame on flexible body i."""
    n = sum(SPEEDS[body["kind"]] + len(modal) for body, modal in zip(bodies, eta, strict=True))
    R, p, now = _poses(bodies, q, eta, np.zeros((1, n)))[i]
    R_A, p_A = seat_pose(seat, now)
    return (R @ R_A)[0], (p + _turn(R, p_A))[0]


def _places(bodies: Sequence[Body], q: Sequence[Any], eta: Sequence[Any], z: np.ndarray) -> np.ndarray:
    """All points, then all arrows, in root axes: (s, n, 3)."""
    points, arrows = [], []
    for body, (R, p, now) in zip(bodies, _poses(bodies, q, eta, z), strict=True):
        if "flex" not in body:
            points += [p + _turn(R, point) for point in points_of(body)[0]]
            continue
        flex = body["flex"]
        r = flex["X"] + _linear(flex["Phi"], now) - 0.5 * _quadratic(flex["G"], now)
        points += [p + _turn(R, r[:, k]) for k in range(r.shape[1])]
        theta = _linear(flex["Psi"], now) + 0.5 * _quadratic(flex["H"], now)
        turned = R[:, None] @ exponential(theta)
        vectors = _arrows(flex["rotary"])[0]
        arrows += [_turn(turned[:, k], vectors[k, :, a]) for k in range(len(vectors)) for a in range(3)]
    rows = [np.broadcast_to(row, (len(z), 3)) for row in points + arrows]
    return np.stack(rows, axis=1)


def _arrows(rotary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions (n, 3, 3; columns) and weights (n, 3) of the second moments of slices."""
    trace = np.trace(rotary, axis1=1, axis2=2)[:, None, None]
    values, vectors = np.linalg.eigh(0.5 * trace * np.eye(3) - rotary)
    return vectors, values


def _weights(bodies: Sequence[Body]) -> tuple[np.ndarray, int]:
    """Masses of the points, then weights of the arrows; and how many points there are."""
    points = [body["flex"]["mass"] if "flex" in body else points_of(body)[1] for body in bodies]
    arrows = [_arrows(body["flex"]["rotary"])[1].ravel() for body in bodies if "flex" in body]
    return np.concatenate([*points, *arrows]), sum(len(item) for item in points)


def _pull(gravity: Gravity | None, m: np.ndarray, n: int, r: np.ndarray) -> np.ndarray:
    """Potential; arrows count where it is quadratic in position (an orbit's gradient), and nowhere else."""
    total = potential(gravity, m[:n], r[:, :n])
    if gravity is not None and gravity["kind"] == "orbit" and n < len(m):
        total = total + potential(gravity, m[n:], r[:, n:])
    return np.asarray(total)


def equations(
    bodies: Sequence[Body], q: Sequence[Any], eta: Sequence[Any], v: Any, gravity: Gravity | None = None
) -> dict[str, np.ndarray]:
    """Terms of ``M v_dot + h = Q + tau``, and momentum; elastic forces are left to the caller.

    Parameters
    ----------
    q, eta : sequences of arrays
        Joint and modal coordinates of each body; eta of a rigid body is empty.
    v : array (n_v,)
        Speeds, body by body: joint, then modal.
    """
    v = np.asarray(v, dtype=float)
    m, n_points = _weights(bodies)
    omega, n = spin_of(gravity), len(v)
    h = STEP / max(1.0, float(np.sum(np.abs(v))))

    def place(z: np.ndarray) -> np.ndarray:
        flat = z.reshape(-1, n)
        return _places(bodies, q, eta, flat).reshape(*z.shape[:-1], len(m), 3)

    def slopes(z: np.ndarray) -> np.ndarray:
        return place(z[..., None, :] + 1j * TINY * np.eye(n)).imag / TINY

    def velocity(z: np.ndarray) -> np.ndarray:
        along = place(z[..., None, :] + (h * OFFSETS)[:, None] * v)
        relative = np.tensordot(WEIGHTS, np.moveaxis(along, -3, 0), axes=1) / h
        return relative + np.cross(omega, place(z))

    here, aside = np.zeros(n), 1j * TINY * np.eye(n)
    S = slopes(here)
    path = (h * OFFSETS)[:, None] * v
    momenta = np.einsum("sipc,p,spc->si", slopes(path), m, velocity(path))
    u = velocity(aside)
    kinetic = 0.5 * np.sum(m[:, None] * u * u, axis=(-2, -1))  # without conjugation: analytic in z
    return {
        "M": np.einsum("ipc,p,jpc->ij", S, m, S),
        "h": WEIGHTS @ momenta / h - kinetic.imag / TINY,
        "Q": -_pull(gravity, m, n_points, place(aside)).imag / TINY,
    }
