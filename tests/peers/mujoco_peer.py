"""The same tree in MuJoCo: forward accelerations by its composite-body mass matrix and recursive bias forces.

A MuJoCo body's frame is our joint frame F. Free on the root is MuJoCo's free joint (its placement and its linear
speeds are in world axes); Free deeper in the tree is three slides and a ball; Universal two hinges, Cylindrical hinge
and slide, Planar two slides and a hinge. A wheel becomes a thin ring, because MuJoCo wants positive masses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.model.environment import FreeSpace, UniformGravity
from spacectl.model.system import System
from tests.peers.layout import Link, read_links, read_loads

try:
    import mujoco
except ImportError:  # an optional package; `why_not` says so, and a test counts the comparisons that were made
    mujoco = None

__all__ = ["accelerate", "why_not"]

Named = Mapping[str, float]
_CHAINS: dict[str, tuple[tuple[str, int, int], ...]] = {
    # joint type, which axis, which coordinate of ours, in the order in which MuJoCo applies them
    "Fixed": (),
    "Revolute": (("HINGE", 0, 0),),
    "Prismatic": (("SLIDE", 0, 0),),
    "Universal": (("HINGE", 0, 0), ("HINGE", 1, 1)),
    "Cylindrical": (("HINGE", 0, 0), ("SLIDE", 0, 1)),
    "Planar": (("SLIDE", 0, 1), ("SLIDE", 1, 2), ("HINGE", 2, 0)),
}


def why_not(system: System) -> str | None:
    """Why MuJoCo cannot express the system, or None if it can."""
    if mujoco is None:
        return "MuJoCo is not installed; install spacectl[crosscheck]"
    if isinstance(system.environment, FreeSpace | UniformGravity):
        return None
    return f"MuJoCo has an inertial root and uniform gravity, not {type(system.environment).__name__}"


@dataclass
class _Entry:
    """Which of a link's coordinates and speeds stand at which place of qpos and qvel."""

    link: Link
    name: str
    q: slice
    v: slice
    turned: np.ndarray | None = None  # R_WJ for MuJoCo's free joint


def _quaternion(R: np.ndarray) -> np.ndarray:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
    return quaternion


def _build(system: System) -> tuple[Any, tuple[Link, ...], list[_Entry]]:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.fusestatic = False
    environment = system.environment
    spec.option.gravity = np.asarray(environment.g) if isinstance(environment, UniformGravity) else np.zeros(3)
    links = read_links(system, rings=True)
    entries: list[_Entry] = []
    bodies: list[Any] = []
    for link in links:
        R_FB, p_FB = _inverse(link.R_BF, link.p_BF)
        parent = bodies[link.parent] if link.parent >= 0 else spec.worldbody
        R_P, p_P = np.eye(3), np.zeros(3)  # parent body's frame in MuJoCo's frame of the parent
        if link.parent >= 0:
            R_P, p_P = _inverse(links[link.parent].R_BF, links[link.parent].p_BF)
        moments, axes = np.linalg.eigh(R_FB @ link.inertia @ R_FB.T)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        body = parent.add_body(
            name=link.name, pos=p_P + R_P @ link.p_PJ, quat=_quaternion(R_P @ link.R_PJ), mass=link.mass,
            ipos=p_FB + R_FB @ link.com, iquat=_quaternion(axes), inertia=moments, explicitinertial=True,
        )  # fmt: skip
        entries += _add_joints(body, link)
        bodies.append(body)
    return spec.compile(), links, entries


def _inverse(R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return R.T, -R.T @ p


def _add_joints(body: Any, link: Link) -> list[_Entry]:
    kinds = mujoco.mjtJoint
    if link.kind == "Free" and link.parent < 0:
        body.add_joint(type=kinds.mjJNT_FREE, name=link.joint)
        return [_Entry(link, link.joint, slice(0, 7), slice(0, 6), link.R_PJ)]
    entries = []
    chain = [(kind, link.axes[axis], at) for kind, axis, at in _CHAINS.get(link.kind, ())]
    q_at = v_at = 0
    if link.kind == "Free":
        chain, q_at, v_at = [("SLIDE", np.eye(3)[i], i) for i in range(3)], 4, 3
    for kind, axis, at in chain:
        name = f"{link.joint}/{at}"
        body.add_joint(type=getattr(kinds, f"mjJNT_{kind}"), name=name, axis=axis)
        entries.append(_Entry(link, name, slice(q_at + at, q_at + at + 1), slice(v_at + at, v_at + at + 1)))
    if link.kind in ("Spherical", "Free"):
        body.add_joint(type=kinds.mjJNT_BALL, name=f"{link.joint}/ball")
        entries.append(_Entry(link, f"{link.joint}/ball", slice(0, 4), slice(0, 3)))
    return entries


def accelerate(system: System, q: Named, v: Named, u: Named) -> dict[str, float]:
    """v_dot by speed name, in our speeds."""
    model, links, entries = _build(system)
    loads, data = read_loads(system, u), mujoco.MjData(model)
    for entry in entries:
        at_q, at_v = _addresses(model, entry)
        data.qpos[at_q] = _to_qpos(entry, np.array([q[name] for name in entry.link.coordinates])[entry.q])
        data.qvel[at_v] = _to_dofs(entry, np.array([v[name] for name in entry.link.speeds])[entry.v])
        data.qfrc_applied[at_v] = _to_dofs(entry, np.array([loads.tau.get(n, 0.0) for n in entry.link.speeds])[entry.v])
    mujoco.mj_forward(model, data)
    for i, point, torque, force, axes in [
        *((i, point, np.zeros(3), force, axes) for i, point, force, axes in loads.forces),
        *((i, np.zeros(3), torque, np.zeros(3), axes) for i, torque, axes in loads.torques),
    ]:
        number = model.body(links[i].name).id
        R_NB = data.xmat[number].reshape(3, 3) @ links[i].R_BF.T
        where = data.xpos[number] + R_NB @ (point - links[i].p_BF)
        R = R_NB if axes == "body" else np.eye(3)
        mujoco.mj_applyFT(model, data, R @ force, R @ torque, where, number, data.qfrc_applied)
    mujoco.mj_forward(model, data)
    v_dot: dict[str, float] = {}
    for entry in entries:
        own = _from_dofs(entry, data.qacc[_addresses(model, entry)[1]])
        v_dot.update(zip(entry.link.speeds[entry.v], own.tolist(), strict=True))
    return v_dot


def _addresses(model: Any, entry: _Entry) -> tuple[slice, slice]:
    joint = model.joint(entry.name)
    q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
    return slice(q, q + entry.q.stop - entry.q.start), slice(v, v + entry.v.stop - entry.v.start)


def _to_qpos(entry: _Entry, q: np.ndarray) -> np.ndarray:
    if entry.turned is None:
        return q
    quaternion = np.zeros(4)
    mujoco.mju_mulQuat(quaternion, _quaternion(entry.turned), q[:4])
    return np.concatenate([entry.link.p_PJ + entry.turned @ q[4:], quaternion])


def _to_dofs(entry: _Entry, v: np.ndarray) -> np.ndarray:
    """MuJoCo's free joint: linear first, in world axes; a rotation, so forces turn in the same way as speeds."""
    return v if entry.turned is None else np.concatenate([entry.turned @ v[3:], v[:3]])


def _from_dofs(entry: _Entry, a: np.ndarray) -> np.ndarray:
    return a if entry.turned is None else np.concatenate([a[3:], entry.turned.T @ a[:3]])
