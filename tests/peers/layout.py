"""Reads a `System` into plain numbers that every peer understands: links in tree order and loads for given inputs.

Only the data of the descriptions are used, none of the package's formulas; the conventions (placements, names of
coordinates and speeds) are written down here a second time, from the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.model.actuators import BodyForce, BodyTorque, JointTorque, ReactionWheel
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["COORDINATES", "SPEEDS", "Link", "Loads", "read_links", "read_loads"]

QUATERNION, RATES = (".qw", ".qx", ".qy", ".qz"), (".wx", ".wy", ".wz")
COORDINATES: dict[str, tuple[str, ...]] = {
    "Fixed": (),
    "Revolute": ("",),
    "Prismatic": ("",),
    "Universal": (".first", ".second"),
    "Cylindrical": (".angle", ".slide"),
    "Spherical": QUATERNION,
    "Planar": (".angle", ".x", ".y"),
    "Free": (*QUATERNION, ".x", ".y", ".z"),
}
SPEEDS: dict[str, tuple[str, ...]] = {
    kind: RATES if kind == "Spherical" else (*RATES, ".x_dot", ".y_dot", ".z_dot") if kind == "Free"
    else tuple(f"{suffix}_dot" for suffix in suffixes)
    for kind, suffixes in COORDINATES.items()
}  # fmt: skip
RING_MASS = 1e-2  # part of its carrier's mass given to the ring that stands for a wheel; any positive number will do
RING_TRANSVERSE = 0.6  # its transverse inertia over J; a flat ring has 0.5, a longer one more


@dataclass(frozen=True)
class Link:
    """A body with its joint: frame J in the parent body, frame F in the body, axes as in `tests.oracles`."""

    name: str
    joint: str
    kind: str
    parent: int
    R_PJ: np.ndarray
    p_PJ: np.ndarray
    R_BF: np.ndarray
    p_BF: np.ndarray
    axes: tuple[np.ndarray, ...]
    mass: float
    com: np.ndarray
    inertia: np.ndarray

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates."""
        return tuple(self.joint + suffix for suffix in COORDINATES[self.kind])

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of its speeds."""
        return tuple(self.joint + suffix for suffix in SPEEDS[self.kind])


@dataclass(frozen=True)
class Loads:
    """What the inputs do: generalised forces by speed name, forces and torques on links."""

    tau: dict[str, float]
    forces: tuple[tuple[int, np.ndarray, np.ndarray, str], ...]  # link, point (body axes), force, "body" or "world"
    torques: tuple[tuple[int, np.ndarray, str], ...]


def read_links(system: System, *, rings: bool) -> tuple[Link, ...]:
    """All bodies, parents first, wheels included.

    Parameters
    ----------
    rings : bool
        False: a wheel is a massless body with the inertia J a a'. True: a ring with mass and transverse inertia, both
        taken from its carrier, at the carrier's centre of mass (where a wheel sits has no effect).
    """
    links: list[Link] = []
    index = {name: -1 for name in system.environment.root_names}
    for part in system.tree:
        links.append(_read_part(part, system, index))
        index[part.name] = len(links) - 1
        if rings and not isinstance(part.body, RigidBody):
            _make_ring(links)
    return tuple(links)


def _read_part(part: Part, system: System, index: Mapping[str, int]) -> Link:
    R, p = _frame(part.on, system)
    kind, joint, body = type(part.joint).__name__, part.joint, part.body
    if isinstance(body, RigidBody):
        mass, com, inertia = body.mass, np.asarray(body.com), np.asarray(body.inertia)
    else:
        mass, com = 0.0, np.zeros(3)
        inertia = body.spin_inertia * np.outer(body.axis, body.axis)
    return Link(
        name=part.name, joint=part.joint_name, kind=kind, parent=index[part.on.split(".")[0]],
        R_PJ=R @ np.asarray(part.rotation), p_PJ=p + R @ np.asarray(part.at),
        R_BF=np.asarray(part.child_rotation), p_BF=np.asarray(part.child_at),
        axes=_axes(kind, joint), mass=mass, com=com, inertia=inertia,
    )  # fmt: skip


def _axes(kind: str, joint: Any) -> tuple[np.ndarray, ...]:
    if kind in ("Revolute", "Prismatic", "Cylindrical"):
        return (np.asarray(joint.axis),)
    if kind == "Universal":
        return np.asarray(joint.first), np.asarray(joint.second)
    if kind == "Planar":
        order = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}[joint.normal]
        return tuple(np.eye(3)[i] for i in order)
    return ()


def _frame(name: str, system: System) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and origin, in its body, of the frame addressed as "body" or "body.frame"."""
    if "." in name:
        owner, own = name.split(".")
        for frame in system.part(owner).body.frames:
            if frame.name == own:
                return np.asarray(frame.rotation), np.asarray(frame.at)
    return np.eye(3), np.zeros(3)


def _make_ring(links: list[Link]) -> None:
    """Turn the last link, a massless rotor, into a ring and take what it needs from its carrier."""
    rotor = links[-1]
    carrier = links[rotor.parent]
    spin = float(np.trace(rotor.inertia))
    axis = rotor.axes[0]  # in J and F
    axis_P = rotor.R_PJ @ axis
    mass = RING_MASS * carrier.mass
    transverse = RING_TRANSVERSE * spin
    ring = rotor.inertia + transverse * (np.eye(3) - np.outer(axis, axis))
    links[-1] = replace(rotor, mass=mass, inertia=ring, p_PJ=carrier.com, p_BF=np.zeros(3))
    rest = carrier.inertia - transverse * (np.eye(3) - np.outer(axis_P, axis_P))
    links[rotor.parent] = replace(carrier, mass=carrier.mass - mass, inertia=rest)


def read_loads(system: System, u: Mapping[str, float]) -> Loads:
    """Loads of the inputs u (by input name)."""
    index = {part.name: i for i, part in enumerate(system.tree)}
    tau: dict[str, float] = {}
    forces: list[tuple[int, np.ndarray, np.ndarray, str]] = []
    torques: list[tuple[int, np.ndarray, str]] = []
    for actuator in system.actuators:
        value = u[actuator.input_name]
        if isinstance(actuator, JointTorque):
            speed = f"{actuator.joint}.{actuator.component}" if actuator.component else f"{actuator.joint}_dot"
            tau[speed] = tau.get(speed, 0.0) + value
        elif isinstance(actuator, ReactionWheel):
            tau[f"{actuator.input_name}_dot"] = value
        elif isinstance(actuator, BodyForce | BodyTorque):
            R, p = _frame(actuator.on, system)
            body = index[actuator.on.split(".")[0]]
            along = value * np.asarray(actuator.direction)
            load = R @ along if actuator.axes == "body" else along
            if isinstance(actuator, BodyForce):
                forces.append((body, p + R @ np.asarray(actuator.at), load, actuator.axes))
            else:
                torques.append((body, load, actuator.axes))
    return Loads(tau, tuple(forces), tuple(torques))
