"""Accelerations of a tree of rigid bodies from a cloud of point masses and nothing else. numpy only.

Every body is replaced by a few point masses with the same mass, centre of mass and inertia (`cloud_positions`, which
also defines bodies, coordinates and the chart z). The only mechanics used are the positions of the points, their
kinetic energy and their potential. Lagrange's equations

    d/dt (dL/dw) - dL/dz = tau,    L(z, w) = 1/2 sum m |r_dot + Omega x r|^2 - V(r),    w = z_dot

are formed by complex steps (first derivatives) and an eighth-order central stencil (derivatives along the motion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.oracles.mechanics.cloud_positions import Body, Mark, masses_of, poses, positions

__all__ = ["accelerations", "energy", "equations", "momentum", "potential", "reactions", "spin_of"]

TINY = 1e-40  # imaginary step: its square is far below rounding, so complex-step derivatives have no truncation error
OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4], dtype=float)
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])  # slope, error h^8 / 630
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])  # at -4 ... 4
STEP = 0.05  # of the stencil, times 1 / sum |w|: truncation (2 * 0.05)^8 / 630 = 2e-11, rounding 1e-15 / 0.05^2 = 4e-13

Gravity = Mapping[str, Any]


def spin_of(gravity: Gravity | None) -> np.ndarray:
    """Angular velocity of the root frame: the gravity's "rate" about z, if it has one."""
    return np.array([0.0, 0.0, gravity.get("rate", 0.0) if gravity else 0.0])


def potential(gravity: Gravity | None, masses: np.ndarray, r: np.ndarray) -> Any:
    """Potential energy of point masses at r, shape (..., n_points, 3); an analytic function of r.

    Kinds: "uniform" (g), "central" (mu, point-wise inverse-square law about the root origin; with a "rate" the root
    turns), "orbit" (rate; the first-order gradient of a centre far away on the -x axis, ``-1/2 n^2 (3 x^2 - r^2)``
    for unit mass, in the turning frame).
    """
    if gravity is None:
        return np.zeros(r.shape[:-2])
    kind = gravity["kind"]
    square = np.sum(r * r, axis=-1)
    if kind == "uniform":
        return -np.sum(masses * (r @ np.asarray(gravity["g"], dtype=float)), axis=-1)
    if kind == "central":
        return -gravity["mu"] * np.sum(masses / np.sqrt(square), axis=-1)
    if kind == "orbit":
        stretch = 3.0 * r[..., 0] ** 2 - square
        return -0.5 * gravity["rate"] ** 2 * np.sum(masses * stretch, axis=-1)
    raise ValueError(f"gravity kind {kind!r}: expected uniform, central or orbit")


class _Motion:
    """Positions of points along chart motions, and their derivatives by differences."""

    def __init__(self, bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None, step: float):
        self.bodies, self.q, self.gravity = bodies, q, gravity
        self.v = np.asarray(v, dtype=float)
        self.m = masses_of(bodies)
        self.omega = spin_of(gravity)
        self.h = step / max(1.0, float(np.sum(np.abs(self.v))))

    def slopes(self, z: np.ndarray, marks: Sequence[Mark] | None = None) -> np.ndarray:
        """dr/dz by complex steps, shape (..., n_v, n_points, 3)."""
        steps = z[..., None, :] + 1j * TINY * np.eye(len(self.v))
        return positions(self.bodies, self.q, steps, marks).imag / TINY

    def velocity(self, z: np.ndarray) -> np.ndarray:
        """Inertial velocities ``d/ds r(z + s v) + Omega x r``, analytic in z."""
        along = positions(self.bodies, self.q, z[..., None, :] + (self.h * OFFSETS)[:, None] * self.v)
        relative = np.tensordot(WEIGHTS, np.moveaxis(along, -3, 0), axes=1) / self.h
        return relative + np.cross(self.omega, positions(self.bodies, self.q, z))

    def kinetic(self, z: np.ndarray) -> np.ndarray:
        """1/2 sum m u.u, without conjugation (analytic in z)."""
        u = self.velocity(z)
        return 0.5 * np.sum(self.m[:, None] * u * u, axis=(-2, -1))


def equations(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None = None, *, step: float = STEP
) -> dict[str, np.ndarray]:
    """Terms of ``M v_dot + h = Q + tau``.

    Returns
    -------
    dict
        ``M`` (n, n) mass matrix; ``h`` (n,) velocity terms, with Coriolis and centrifugal terms of a turning root;
        ``Q`` (n,) generalised gravity forces.
    """
    motion = _Motion(bodies, q, v, gravity, step)
    n, m = len(motion.v), motion.m
    here = np.zeros(n)
    slopes = motion.slopes(here)
    M = np.einsum("ipc,p,jpc->ij", slopes, m, slopes)
    path = (motion.h * OFFSETS)[:, None] * motion.v
    momenta = np.einsum("sipc,p,spc->si", motion.slopes(path), m, motion.velocity(path))  # dT/dw along the motion
    aside = 1j * TINY * np.eye(n)
    h = WEIGHTS @ momenta / motion.h - motion.kinetic(aside).imag / TINY
    Q = -np.asarray(potential(gravity, m, positions(bodies, q, aside))).imag / TINY
    return {"M": M, "h": h, "Q": Q}


def accelerations(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None = None, *, tau: Any = None,
    forces: Sequence[tuple[int, Any, Any, str]] = (), torques: Sequence[tuple[int, Any, str]] = (), step: float = STEP,
) -> np.ndarray:  # fmt: skip
    """v_dot, shape (n_v,).

    Parameters
    ----------
    tau : array, shape (n_v,)
        Generalised forces conjugate to the speeds.
    forces : sequence of (body, point in body axes [m], force [N], "body" or "world")
    torques : sequence of (body, torque [N m], "body" or "world")
        A torque acts as a couple: two opposite forces on points of the body one metre from its origin.
    """
    terms = equations(bodies, q, v, gravity, step=step)
    total = terms["Q"] - terms["h"] + (0.0 if tau is None else np.asarray(tau, dtype=float))
    motion = _Motion(bodies, q, v, gravity, step)
    for i, point, force in _pushes(bodies, q, len(motion.v), forces, torques):
        total = total + motion.slopes(np.zeros(len(motion.v)), [(i, point)])[:, 0, :] @ force
    return np.linalg.solve(terms["M"], total)


def _pushes(
    bodies: Sequence[Body], q: Sequence[Any], n: int, forces: Sequence[tuple[int, Any, Any, str]],
    torques: Sequence[tuple[int, Any, str]],
) -> list[tuple[int, Any, np.ndarray]]:  # fmt: skip
    """All loads as forces in root axes on points: (body, point in body axes, force)."""
    R = [np.asarray(R_NB) for R_NB, _ in poses(bodies, q, np.zeros(n))]
    pushes = [(i, point, R[i] @ force if axes == "body" else np.asarray(force)) for i, point, force, axes in forces]
    for i, torque, axes in torques:
        moment = np.asarray(torque, dtype=float) if axes == "body" else R[i].T @ torque
        arm = np.cross(moment, np.eye(3)[np.argmin(np.abs(moment))])
        arm = arm / max(float(np.linalg.norm(arm)), 1e-300)  # across the torque; its length is 1 unless the torque is 0
        push = R[i] @ np.cross(moment, arm) / 2.0
        pushes += [(i, arm, push), (i, -arm, -push)]
    return pushes


def energy(bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None = None) -> float:
    """``w dL/dw - L``: kinetic plus potential energy, and the Jacobi integral in a turning frame."""
    motion = _Motion(bodies, q, v, gravity, STEP)
    here = np.zeros(len(motion.v))
    r, u = positions(bodies, q, here), motion.velocity(here)
    carried = np.cross(motion.omega, r)
    kinetic = 0.5 * np.sum(motion.m[:, None] * ((u - carried) ** 2 - carried**2))
    return float(kinetic + potential(gravity, motion.m, r))


def momentum(bodies: Sequence[Body], q: Sequence[Any], v: Any, gravity: Gravity | None = None) -> np.ndarray:
    """(angular about the root origin, linear), inertial velocities, root axes, shape (6,)."""
    motion = _Motion(bodies, q, v, gravity, STEP)
    here = np.zeros(len(motion.v))
    mu = motion.m[:, None] * motion.velocity(here)
    return np.concatenate([np.sum(np.cross(positions(bodies, q, here), mu), axis=0), np.sum(mu, axis=0)])


def reactions(
    bodies: Sequence[Body], q: Sequence[Any], v: Any, v_dot: Any, gravity: Gravity | None = None, *,
    forces: Sequence[tuple[int, Any, Any, str]] = (), torques: Sequence[tuple[int, Any, str]] = (),
) -> np.ndarray:  # fmt: skip
    """Wrench that each joint passes to its body, (moment, force) about the origin and in the axes of F, shape (n, 6).

    Newton's law for all points outboard of the joint: the joint gives what mass times acceleration needs beyond
    gravity and the other loads. Point accelerations come from positions along ``z(s) = s v + 1/2 s^2 v_dot``.
    """
    motion = _Motion(bodies, q, v, gravity, STEP)
    here, s = np.zeros(len(motion.v)), motion.h * np.arange(-4.0, 5.0)
    path = positions(bodies, q, s[:, None] * motion.v + 0.5 * s[:, None] ** 2 * np.asarray(v_dot, dtype=float))
    r, u = path[4], motion.velocity(here)
    carried = np.cross(motion.omega, r)
    a = np.tensordot(SECOND, path, axes=1) / motion.h**2 + np.cross(motion.omega, 2.0 * u - carried)
    steps = r[:, None, :] + 1j * TINY * np.eye(3)  # each point moved along each axis
    field = -np.asarray(potential(gravity, np.ones(1), steps[..., None, :])).imag / TINY
    needed = motion.m[:, None] * (a - field)
    owner = np.concatenate([np.full(len(masses_of([body])), i) for i, body in enumerate(bodies)])
    placed = poses(bodies, q, here)
    loads = _pushes(bodies, q, len(here), forces, torques)
    pushes = [(i, placed[i][1] + placed[i][0] @ point, force) for i, point, force in loads]
    wrenches = []
    for k, body in enumerate(bodies):
        outboard = _outboard(bodies, k)
        origin = placed[k][1] + placed[k][0] @ np.asarray(body["p_BF"])
        mine = np.isin(owner, outboard)
        force, moment = np.sum(needed[mine], axis=0), np.sum(np.cross(r[mine] - origin, needed[mine]), axis=0)
        for _, point, push in (item for item in pushes if item[0] in outboard):
            force, moment = force - push, moment - np.cross(point - origin, push)
        R_NF = placed[k][0] @ np.asarray(body["R_BF"])
        wrenches.append(np.concatenate([R_NF.T @ moment, R_NF.T @ force]))
    return np.array(wrenches)


def _outboard(bodies: Sequence[Body], k: int) -> list[int]:
    """Body k and all bodies that it carries."""
    found = [k]
    for i in range(k + 1, len(bodies)):
        if bodies[i]["parent"] in found:
            found.append(i)
    return found
