"""The systems that are measured, and the same ones in Pinocchio and MuJoCo, built for speed.

Unlike `tests.peers`, which maps any tree, these builders take revolute chains only and give the peer its fastest
joint (Pinocchio's JointModelRX, RY, RZ instead of the one with any axis), so that ratios are not won by a slow peer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.library import free_flyer_arm
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about
from tests.peers.layout import read_links
from tests.peers.mujoco_peer import mujoco  # None where it is not installed
from tests.peers.pinocchio_peer import pin

__all__ = ["fixed_arm", "generic_chain", "mujoco", "mujoco_model", "pin", "pinocchio_model", "random_states"]


def generic_chain(n: int) -> System:
    """A chain of n driven revolute joints without any zero in its numbers: nothing for generated code to leave out."""
    rng = np.random.default_rng(n)
    parts, on = [], "world"
    for i in range(n):
        edges = rng.uniform(0.2, 0.6, 3)
        mass = rng.uniform(2.0, 4.0)
        moments = mass / 12.0 * (np.sum(edges**2) - edges**2)  # of a block
        turn = _rotation(rng)
        inertia = turn @ np.diag(moments) @ turn.T
        body = RigidBody(name=f"link{i + 1}", mass=mass, inertia=inertia, com=rng.uniform(-0.1, 0.3, 3))
        joint = Revolute(name=f"joint{i + 1}", axis="xyz"[i % 3])
        parts.append(Part(body, on=on, at=rng.uniform(0.1, 0.5, 3), rotation=_rotation(rng), joint=joint))
        on = body.name
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return System(name=f"generic chain of {n}", parts=tuple(parts), actuators=actuators)


def _rotation(rng: np.random.Generator) -> np.ndarray:
    angles = rng.uniform(0.3, 1.2, 3)
    turns = [np.asarray(rotation_about(axis, angle)) for axis, angle in zip("zyx", angles, strict=True)]
    return np.asarray(turns[0] @ turns[1] @ turns[2])


def fixed_arm() -> System:
    """The seven-joint arm of `free_flyer_arm` with its payload, on a base that does not move, without torque limits."""
    free = free_flyer_arm()
    parts = [replace(part, on="world") if part.on == "bus" else part for part in free.parts if part.name != "bus"]
    actuators = tuple(JointTorque(joint=f"joint{i + 1}") for i in range(7))
    return System(name="fixed arm", parts=tuple(parts), actuators=actuators)


def pinocchio_model(system: System) -> Any:
    """A revolute tree in free space as `pin.Model`, coordinates in our order; Fixed bodies are merged, as we do."""
    aligned = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    model = pin.Model()
    model.gravity.linear = np.zeros(3)
    joints: list[int] = []
    frames: list[Any] = []
    for link in read_links(system, rings=False):
        parent = joints[link.parent] if link.parent >= 0 else 0
        placement = (frames[link.parent] if link.parent >= 0 else pin.SE3.Identity()) * pin.SE3(link.R_PJ, link.p_PJ)
        frame = pin.SE3(link.R_BF, link.p_BF).inverse()
        if link.kind == "Fixed":
            joint, frame = parent, placement * frame
        else:
            along = int(np.argmax(link.axes[0]))
            if link.kind != "Revolute" or link.axes[0][along] != 1.0:
                raise ValueError(
                    f"joint '{link.joint}': expected Revolute about x, y or z, got {link.kind} {link.axes}"
                )
            joint = model.addJoint(parent, aligned[along](), placement, link.joint)
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), frame)
        joints.append(int(joint))
        frames.append(frame)
    return model


def mujoco_model(system: System) -> Any:
    """A revolute tree in free space as `MjModel`, coordinates in our order, without contacts and limits."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = np.zeros(3)
    for flag in ("CONTACT", "CONSTRAINT", "EQUALITY", "FRICTIONLOSS", "LIMIT", "ACTUATION", "SENSOR"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0))
    bodies: list[Any] = []
    for link in read_links(system, rings=False):
        parent = bodies[link.parent] if link.parent >= 0 else spec.worldbody
        moments, axes = np.linalg.eigh(link.inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        body = parent.add_body(
            name=link.name, pos=link.p_PJ, quat=_quaternion(link.R_PJ), mass=link.mass,
            ipos=link.com, iquat=_quaternion(axes), inertia=moments, explicitinertial=True,
        )  # fmt: skip
        if link.kind == "Revolute":
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, name=link.joint, axis=link.axes[0])
        bodies.append(body)
    return spec.compile()


def _quaternion(R: np.ndarray) -> np.ndarray:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
    return quaternion


def random_states(n: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles within a turn, rates and torques: (q, v, u), each of shape (count, n)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, (count, n)), rng.normal(size=(count, n)), rng.normal(size=(count, n))
