"""Real robots from the package index, described in URDF, as Pinocchio reads them and as systems of ours."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.model.actuators import Actuator, JointForce, JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Free, Joint, Prismatic, Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.peers.pinocchio_peer import pin

__all__ = ["PACKAGE", "ROBOTS", "Robot", "load_robots", "to_system"]

PACKAGE = "example-robot-data==6.0.0"  #: downloaded once, 131 MB; only the descriptions are read
#: File names without ".urdf", and whether the robot floats
ROBOTS = {
    "ur5_robot": False, "z1": False, "kinova": False, "panda": False, "xarm7": False, "tiago_no_hand": False,
    "allegro_left_hand": False, "baxter": False, "solo12": True, "hyq_no_sensors": True, "centauro": True,
    "g1_29dof_rev_1_0": True, "talos_reduced": True,
}  # fmt: skip


@dataclass(frozen=True)
class Robot:
    """A robot: its model in Pinocchio and the same system, with a torque or force at every driven joint.

    Parameters
    ----------
    name : str
        Of the description.
    model : pin.Model
        As Pinocchio reads it.
    system : System
        The same bodies and joints.
    """

    name: str
    model: Any
    system: System

    def state_of_pinocchio(self, x: np.ndarray, n_q: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Pinocchio's q and v for a state of ours, and R of a floating base (else the identity)."""
        q, v, R = pin.neutral(self.model), np.array(x[n_q:]), np.eye(3)
        at = 0
        for j in range(1, self.model.njoints):
            joint, k = self.model.joints[j], self.model.idx_qs[j]
            if joint.nq == 7:
                w, xyz = x[at], x[at + 1 : at + 4]
                R = np.asarray(pin.Quaternion(w, *xyz).toRotationMatrix())
                q[k : k + 7] = [*x[at + 4 : at + 7], *xyz, w]
                v[:6] = [*R.T @ x[n_q + 3 : n_q + 6], *x[n_q : n_q + 3]]
                at += 7
            else:
                q[k : k + joint.nq] = (np.cos(x[at]), np.sin(x[at])) if joint.nq == 2 else x[at]
                at += 1
        return q, v, R


def load_robots(folder: Path, names: tuple[str, ...] = tuple(ROBOTS)) -> Iterator[Robot]:
    """Yield robots by name; their package is downloaded into `folder` if it is not there.

    Raises
    ------
    subprocess.CalledProcessError
        If it cannot be downloaded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("example_robot_data-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(next(folder.glob("example_robot_data-*.whl"))) as wheel:
        files = {Path(file).stem: file for file in wheel.namelist() if file.endswith(".urdf")}
        for name in names:
            text = wheel.read(files[name]).decode()
            root = (pin.JointModelFreeFlyer(),) if ROBOTS[name] else ()
            model = pin.buildModelFromXML(text, *root)
            yield Robot(name, model, to_system(name, model))


def to_system(name: str, model: Any) -> System:
    """Return the system of a model in Pinocchio, whose fixed joints it has merged."""
    parts: list[Part] = []
    actuators: list[Actuator] = []
    for j in range(1, model.njoints):
        inertia, X = model.inertias[j], model.jointPlacements[j]
        I_C = np.where(np.abs(inertia.inertia) > 1e-18, inertia.inertia, 0.0)  # rounding of merged bodies
        body = RigidBody(name=f"body{j}", mass=inertia.mass, inertia=I_C, com=inertia.lever)
        parent = model.parents[j]
        on = f"body{parent}" if parent else "world"
        joint = _joint(model.joints[j], f"joint{j}")
        parts.append(Part(body, on=on, at=X.translation, rotation=X.rotation, joint=joint))
        if model.joints[j].nv == 1:
            drive = JointForce if isinstance(joint, Prismatic) else JointTorque
            actuators.append(drive(joint=f"joint{j}"))
    gravity = UniformGravity(g=tuple(model.gravity.linear))
    return System(name=name, parts=tuple(parts), environment=gravity, actuators=tuple(actuators))


def _joint(joint: Any, name: str) -> Joint:
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "FreeFlyer":
        return Free(name=name)
    axis = kind[-1].lower() if kind[-1] in "XYZ" else tuple(joint.extract().axis)
    if kind.startswith("P"):
        return Prismatic(name=name, axis=axis)
    if kind.startswith("R"):
        return Revolute(name=name, axis=axis)
    raise ValueError(f"joint '{name}': {kind} has no counterpart here")
