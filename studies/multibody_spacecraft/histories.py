"""Derived histories of a run in redundant coordinates: rates, stretch, constraint errors, ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from spacectl import EquationsOfMotion, Simulation

from .model import Parameters

RANK = 1e-9  # singular values below this fraction of the largest are zero; the smallest true one is near 0.1


@dataclass(frozen=True)
class Motion:
    """Both bodies along a run; vectors in inertial axes relative to the reference orbit, omega in body axes."""

    t: np.ndarray
    u: tuple[np.ndarray, np.ndarray]
    R: tuple[np.ndarray, np.ndarray]
    S: tuple[np.ndarray, np.ndarray]
    omega: tuple[np.ndarray, np.ndarray]
    D: np.ndarray
    D_dot: np.ndarray


def rotations(u: np.ndarray) -> np.ndarray:
    """Return rotation matrices of quaternions (n, 4), scalar first (Schutte and Udwadia, Eq 26)."""
    w, x, y, z = u.T
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def body_rates(u: np.ndarray, u_dot: np.ndarray) -> np.ndarray:
    """Return omega = 2 E u_dot (Schutte and Udwadia, Eqs 29 and 30)."""
    scalar, vector, d_scalar, d_vector = u[:, :1], u[:, 1:], u_dot[:, :1], u_dot[:, 1:]
    return 2.0 * (scalar * d_vector - d_scalar * vector - np.cross(vector, d_vector))


def motion_of(eom: EquationsOfMotion, t: np.ndarray, x: np.ndarray) -> Motion:
    """Return positions, rotations, rates, and the vector D between the ports with its rate (Eqs 33 and 35)."""
    ends = [eom.system.part(f"body{k}").body.frames[0].at for k in (1, 2)]
    R, S, omega, port, port_dot = [], [], [], [], []
    for k, a in enumerate(ends):
        q, v = x[:, 7 * k : 7 * k + 7], x[:, 14 + 7 * k : 21 + 7 * k]
        S_k, omega_k = rotations(q[:, :4]), body_rates(q[:, :4], v[:, :4])
        R.append(q[:, 4:])
        S.append(S_k)
        omega.append(omega_k)
        port.append(q[:, 4:] + S_k @ np.asarray(a))
        port_dot.append(v[:, 4:] + np.einsum("nij,nj->ni", S_k, np.cross(omega_k, np.asarray(a))))
    D, D_dot = port[0] - port[1], port_dot[0] - port_dot[1]
    return Motion(t, (x[:, :4], x[:, 7:11]), (R[0], R[1]), (S[0], S[1]), (omega[0], omega[1]), D, D_dot)


def constraint_errors(eom: EquationsOfMotion, sim: Simulation, motion: Motion) -> dict[str, np.ndarray]:
    """Return the 8 constraints, and the left-hand sides of Schutte and Udwadia, Eqs 59-62.

    e1 compares D from positions and rotations with D integrated from Eq 35 during the run. e2 compares its rate
    rate with that of a vector which stretches along an axis fixed in body 1 (and in body 2): the larger of both.
    """
    g = eom.along("residual", sim.t, sim.x)[:, : len(eom.position_rows)]
    size = np.linalg.norm(motion.D, axis=1, keepdims=True)
    stretching = np.sum(motion.D * motion.D_dot, axis=1, keepdims=True) / size
    e2 = []
    for S, omega in zip(motion.S, motion.omega, strict=True):
        axis = -S[:, :, 0]  # D points from body 2 to body 1, opposite to n
        turning = np.cross(np.einsum("nij,nj->ni", S, omega), axis)
        e2.append(stretching * axis + size * turning - motion.D_dot)
    worse = np.where(np.abs(e2[0]) > np.abs(e2[1]), e2[0], e2[1])
    return {"unit": g[:, :2], "line": g[:, 2:], "e1": motion.D - sim.z, "e2": worse}


def stretch_findings(motion: Motion, parameters: Parameters) -> dict[str, float]:
    """Return extremes of the stretch, its last contraction and the periods of its vibration, from values and derivatives."""
    size = np.linalg.norm(motion.D, axis=1)
    rate = np.sum(motion.D * motion.D_dot, axis=1) / size
    stretch = size - parameters.natural_length
    curve = CubicHermiteSpline(motion.t, stretch, rate)
    turning = curve.derivative().roots(extrapolate=False)
    turning = turning[np.isfinite(turning)]
    values = np.concatenate([curve(turning), stretch[[0, -1]]])
    crossings = curve.roots(extrapolate=False)
    rising = crossings[np.isfinite(crossings) & (curve(crossings, 1) > 0.0)]
    crests = turning[curve(turning, 2) < 0.0]
    periods = np.diff(crests)
    last = float(motion.t[-1]) if stretch[-1] < 0.0 else float(np.max(rising, initial=0.0))
    return {
        "stretch_max": float(np.max(values)),
        "stretch_min": float(np.min(values)),
        "last_contraction_time": last,
        "vibration_period_start": float(periods[0]) if periods.size else 0.0,
        "vibration_period_min": float(np.min(periods)) if periods.size else 0.0,
        "vibration_period_max": float(np.max(periods)) if periods.size else 0.0,
    }


def ranks(eom: EquationsOfMotion, sim: Simulation, *, tolerance: float | None = RANK, every: int = 100) -> np.ndarray:
    """Return ranks of A and of [M, A'] along a run (Eqs 18 and 20), shape (n, 2); tolerance None is numpy's default."""
    found = []
    for k in range(0, sim.t.size, every):
        q, v = sim.x[k, : eom.n_q], sim.x[k, eom.n_q :]
        _, M, _, A, _, _ = eom.call("terms", sim.t[k], q, v, np.zeros(eom.n_u))
        scaled = M / np.max(np.abs(M))  # both blocks of order one
        found.append([_rank(A, tolerance), _rank(np.hstack([scaled, A.T]), tolerance)])
    return np.array(found)


def _rank(A: np.ndarray, tolerance: float | None) -> int:
    return int(np.linalg.matrix_rank(A, None if tolerance is None else tolerance * np.linalg.norm(A, 2)))


def redundant_value(eom: EquationsOfMotion, sim: Simulation, every: int = 100) -> np.ndarray:
    """Return the seventh singular value of A over its largest along a run: zero if the rows are exactly dependent."""
    found = []
    for k in range(0, sim.t.size, every):
        A = eom.call("terms", sim.t[k], sim.x[k, : eom.n_q], sim.x[k, eom.n_q :], np.zeros(eom.n_u))[3]
        values = np.linalg.svd(A, compute_uv=False)
        found.append(values[6] / values[0])
    return np.array(found)
