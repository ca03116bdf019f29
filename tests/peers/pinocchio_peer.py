"""The same tree in Pinocchio: forward accelerations by its articulated-body algorithm.

Joints of several coordinates become chains of massless one-axis joints (Universal, Cylindrical, Planar); Spherical
and Free use Pinocchio's own, whose quaternions are scalar last and whose free-flyer speeds are (linear, angular), both
in body axes. With position p and speeds p_dot in the parent's axes and R = R_JF, ``v_lin = R' p_dot``, so
``p_ddot = R (v_lin_dot + omega x v_lin)``, and a force conjugate to p_dot becomes R' times it.
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
    import pinocchio as pin
except ImportError:  # an optional package; `why_not` says so, and a test counts the comparisons that were made
    pin = None

__all__ = ["accelerate", "build", "why_not"]

Named = Mapping[str, float]
_CHAINS: dict[str, tuple[tuple[str, int, int], ...]] = {
    # joint model, which axis, which coordinate of ours, from the parent outwards
    "Revolute": (("RevoluteUnaligned", 0, 0),),
    "Prismatic": (("PrismaticUnaligned", 0, 0),),
    "Universal": (("RevoluteUnaligned", 0, 0), ("RevoluteUnaligned", 1, 1)),
    "Cylindrical": (("RevoluteUnaligned", 0, 0), ("PrismaticUnaligned", 0, 1)),
    "Planar": (("PrismaticUnaligned", 0, 1), ("PrismaticUnaligned", 1, 2), ("RevoluteUnaligned", 2, 0)),
}


def why_not(system: System) -> str | None:
    """Why Pinocchio cannot express the system, or None if it can."""
    if pin is None:
        return "Pinocchio is not installed; install spacectl[crosscheck]"
    if isinstance(system.environment, FreeSpace | UniformGravity):
        return None
    return f"Pinocchio has an inertial root and uniform gravity, not {type(system.environment).__name__}"


@dataclass
class _Built:
    model: Any
    entries: list[tuple[int, Link, int]]  # joint number, link, coordinate of ours (-1: the whole joint)
    joints: list[int]  # joint that carries each link
    placements: list[Any]  # link's body frame in that joint's frame


def build(system: System) -> _Built:
    model = pin.Model()
    environment = system.environment
    model.gravity.linear = np.asarray(environment.g) if isinstance(environment, UniformGravity) else np.zeros(3)
    built = _Built(model, [], [], [])
    for link in read_links(system, rings=False):
        parent = built.joints[link.parent] if link.parent >= 0 else 0
        frame = built.placements[link.parent] if link.parent >= 0 else pin.SE3.Identity()
        X_J = frame * pin.SE3(link.R_PJ, link.p_PJ)
        X_FB = pin.SE3(link.R_BF, link.p_BF).inverse()
        if link.kind == "Fixed":
            joint, X_B = parent, X_J * X_FB
        else:
            joint, X_B = _add_joints(built, link, parent, X_J), X_FB
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), X_B)
        built.joints.append(joint)
        built.placements.append(X_B)
    return built


def _add_joints(built: _Built, link: Link, parent: int, X_J: Any) -> int:
    if link.kind in ("Spherical", "Free"):
        kind = pin.JointModelSpherical() if link.kind == "Spherical" else pin.JointModelFreeFlyer()
        joint = built.model.addJoint(parent, kind, X_J, link.joint)
        built.entries.append((joint, link, -1))
        return int(joint)
    joint = parent
    for name, axis, coordinate in _CHAINS[link.kind]:
        kind = _joint_model(name, link.axes[axis])
        joint = built.model.addJoint(joint, kind, X_J, link.joint + link.speeds[coordinate])
        X_J = pin.SE3.Identity()
        built.entries.append((joint, link, coordinate))
    return int(joint)


def _joint_model(name: str, axis: np.ndarray) -> Any:
    """A joint about or along an axis; turning about x, y or z has a faster model of its own."""
    along = int(np.argmax(axis))
    if name == "RevoluteUnaligned" and axis[along] == 1.0:
        return (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[along]()
    return getattr(pin, f"JointModel{name}")(axis)


def accelerate(system: System, q: Named, v: Named, u: Named) -> dict[str, float]:
    """v_dot by speed name, in our speeds."""
    built, loads = build(system), read_loads(system, u)
    model = built.model
    q_pin, v_pin, tau_pin = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for joint, link, coordinate in built.entries:
        q_own = np.array([q[name] for name in link.coordinates])
        v_own = np.array([v[name] for name in link.speeds])
        tau_own = np.array([loads.tau.get(name, 0.0) for name in link.speeds])
        at_q, at_v = model.idx_qs[joint], model.idx_vs[joint]
        if coordinate >= 0:
            q_pin[at_q], v_pin[at_v], tau_pin[at_v] = q_own[coordinate], v_own[coordinate], tau_own[coordinate]
        elif link.kind == "Spherical":
            q_pin[at_q : at_q + 4] = np.roll(q_own, -1)
            v_pin[at_v : at_v + 3], tau_pin[at_v : at_v + 3] = v_own, tau_own
        else:
            R = _rotation(q_own)
            q_pin[at_q : at_q + 7] = np.concatenate([q_own[4:], np.roll(q_own[:4], -1)])
            v_pin[at_v : at_v + 6] = np.concatenate([R.T @ v_own[3:], v_own[:3]])
            tau_pin[at_v : at_v + 6] = np.concatenate([R.T @ tau_own[3:], tau_own[:3]])
    data = model.createData()
    pin.forwardKinematics(model, data, q_pin)
    a_pin = pin.aba(model, data, q_pin, v_pin, tau_pin, _outer_forces(built, data, loads))
    return _named(built, q, v_pin, a_pin)


def _outer_forces(built: _Built, data: Any, loads: Any) -> Any:
    """Forces and torques on links as wrenches at, and in the axes of, the joint frames."""
    wrenches = pin.StdVec_Force()
    wrenches.extend([pin.Force.Zero() for _ in range(built.model.njoints)])
    for i, point, force, axes in loads.forces:
        joint, X_B = built.joints[i], built.placements[i]
        push = X_B.rotation @ force if axes == "body" else data.oMi[joint].rotation.T @ force
        wrenches[joint] = wrenches[joint] + pin.Force(push, np.cross(X_B.act(point), push))
    for i, torque, axes in loads.torques:
        joint, X_B = built.joints[i], built.placements[i]
        moment = X_B.rotation @ torque if axes == "body" else data.oMi[joint].rotation.T @ torque
        wrenches[joint] = wrenches[joint] + pin.Force(np.zeros(3), moment)
    return wrenches


def _named(built: _Built, q: Named, v_pin: np.ndarray, a_pin: np.ndarray) -> dict[str, float]:
    v_dot: dict[str, float] = {}
    for joint, link, coordinate in built.entries:
        at = built.model.idx_vs[joint]
        if coordinate >= 0:
            v_dot[link.speeds[coordinate]] = float(a_pin[at])
        elif link.kind == "Spherical":
            v_dot.update(zip(link.speeds, a_pin[at : at + 3].tolist(), strict=True))
        else:
            linear, omega = v_pin[at : at + 3], v_pin[at + 3 : at + 6]
            R = _rotation(np.array([q[name] for name in link.coordinates]))
            moving = R @ (a_pin[at : at + 3] + np.cross(omega, linear))
            v_dot.update(zip(link.speeds, [*a_pin[at + 3 : at + 6].tolist(), *moving.tolist()], strict=True))
    return v_dot


def _rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q[:4]
    return np.asarray(pin.Quaternion(w, x, y, z).toRotationMatrix())
