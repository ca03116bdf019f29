"""A library of ready systems: for examples, tests and as starting points for studies."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import BodyTorque, JointTorque, ReactionWheel, Thruster
from spacectl.model.environment import CentralGravity, CircularOrbit, FreeSpace, UniformGravity
from spacectl.model.joints import Fixed, Free, Revolute, Spherical
from spacectl.model.library_artificial import flexible_line_arm, guided_arm, level_arm, line_arm, prescribed_arm
from spacectl.model.library_constrained import (
    flexible_four_bar,
    four_bar,
    momentum_flyer,
    redundant_four_bar,
    rolling_disc,
    skate,
    slider_crank,
    spatial_four_bar,
    two_arm_flyer,
)
from spacectl.model.library_docking import docking_probe, docking_ring
from spacectl.model.library_loops import differential_wrist, five_bar, four_bar_chain, geared_chain, kept_chain
from spacectl.model.library_retrieval import retrieval_arm
from spacectl.model.library_tether import TetherOrbiter
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.sensors import AngularVelocity, Attitude, Position, Velocity
from spacectl.model.system import Part, System
from spacectl.spatial.rotation import rotation_about

__all__ = [
    "CONSTRAINED",
    "LIBRARY",
    "LOOPS",
    "TetherOrbiter",
    "chain",
    "differential_wrist",
    "docking_probe",
    "docking_ring",
    "five_bar",
    "flexible_four_bar",
    "flexible_line_arm",
    "four_bar",
    "four_bar_chain",
    "free_flyer_arm",
    "geared_chain",
    "guided_arm",
    "kept_chain",
    "level_arm",
    "line_arm",
    "momentum_flyer",
    "orbiting_body",
    "pendulum",
    "planar_arm",
    "prescribed_arm",
    "redundant_four_bar",
    "retrieval_arm",
    "rolling_disc",
    "skate",
    "slider_crank",
    "spatial_four_bar",
    "spherical_pendulum",
    "two_arm_flyer",
    "wheel_spacecraft",
]


def pendulum(*, mass: float = 1.0, length: float = 1.0) -> System:
    """A uniform rod that swings about the y axis under gravity, driven at its hinge; it hangs along -z at rest."""
    inertia = mass * length**2 / 12.0
    rod = RigidBody(name="rod", mass=mass, inertia=(inertia, inertia, 0.0), com=(0.0, 0.0, -length / 2))
    return System(
        name="pendulum",
        environment=UniformGravity(),
        parts=(Part(rod, joint=Revolute(name="hinge", axis="y")),),
        actuators=(JointTorque(joint="hinge"),),
    )


def spherical_pendulum(*, mass: float = 1.0, length: float = 1.0) -> System:
    """A slender rod on a ball joint under gravity, hanging along -z at rest, with a thin third axis."""
    inertia = mass * length**2 / 12.0
    rod = RigidBody(name="rod", mass=mass, inertia=(inertia, inertia, 0.01 * inertia), com=(0.0, 0.0, -length / 2))
    return System(
        name="spherical pendulum", environment=UniformGravity(), parts=(Part(rod, joint=Spherical(name="ball")),)
    )


def planar_arm(*, lengths: tuple[float, ...] = (1.0, 1.0), mass: float = 1.0) -> System:
    """A planar arm of uniform slender links in the x-y plane, all joints about z, in free space."""
    parts, on, at = [], "world", 0.0
    for i, length in enumerate(lengths):
        inertia = mass * length**2 / 12.0
        body = RigidBody(name=f"link{i + 1}", mass=mass, inertia=(0.0, inertia, inertia), com=(length / 2, 0.0, 0.0))
        parts.append(Part(body, on=on, at=(at, 0.0, 0.0), joint=Revolute(name=f"joint{i + 1}", axis="z")))
        on, at = body.name, length
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return System(name=f"planar arm of {len(parts)}", parts=tuple(parts), actuators=actuators)


def chain(n: int = 20) -> System:
    """A chain of n revolute joints about x, y, z in turn, all driven, in free space: for long recursions."""
    parts, on = [], "world"
    for i in range(n):
        link = RigidBody(name=f"link{i + 1}", mass=1.0 + 0.01 * i, inertia=(0.10, 0.12, 0.05), com=(0.1, 0.0, 0.25))
        joint = Revolute(name=f"joint{i + 1}", axis="xyz"[i % 3])
        parts.append(Part(link, on=on, at=(0.0, 0.0, 0.5 if i else 0.0), joint=joint))
        on = link.name
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return System(name=f"chain of {n}", parts=tuple(parts), actuators=actuators)


def orbiting_body(*, inertia: tuple[float, float, float] = (80.0, 120.0, 100.0), rate: float = 1e-3) -> System:
    """A rigid body free in the frame of a circular orbit, with body torques about its axes."""
    body = RigidBody(name="body", mass=100.0, inertia=inertia)
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="body", direction=axis) for axis in "xyz")
    return System(
        name="orbiting body",
        environment=CircularOrbit(rate=rate),
        parts=(Part(body, joint=Free(name="base")),),
        actuators=torques,
    )


def wheel_spacecraft() -> System:
    """A spacecraft on its own orbit about the Earth with three wheels, two jets and an offset payload."""
    bus = RigidBody(
        name="bus",
        mass=400.0,
        inertia=(180.0, 220.0, 160.0, 4.0, -3.0, 2.0),
        frames=(Frame(name="deck", at=(0.0, 0.0, 0.8)),),
    )
    payload = RigidBody(name="payload", mass=30.0, inertia=(3.0, 3.0, 1.0), com=(0.0, 0.0, 0.3))
    wheels = tuple(ReactionWheel(name=f"wheel_{axis}", on="bus", axis=axis, inertia=0.05, limit=0.2) for axis in "xyz")
    jets = tuple(
        Thruster(name=name, on="bus", at=(-0.9, y, 0.0), direction="x", limit=5.0)
        for name, y in (("jet_left", 0.5), ("jet_right", -0.5))
    )
    return System(
        name="wheel spacecraft",
        environment=CentralGravity(),
        parts=(Part(bus, joint=Free(name="base")), Part(payload, on="bus.deck", joint=Fixed())),
        actuators=(*wheels, *jets),
        sensors=(AngularVelocity(name="gyro", on="bus", axes="bus"), Attitude(name="attitude", on="bus")),
    )


def free_flyer_arm(
    *,
    base_mass: float = 500.0,
    link_mass: float = 20.0,
    payload_mass: float = 50.0,
    reach: float = 4.0,
    torque_limit: float = 200.0,
) -> System:
    """A free-flying base with a seven-joint arm (roll-pitch-roll-pitch-roll-pitch-roll) and a payload at its end.

    Parameters
    ----------
    base_mass, link_mass, payload_mass : float
        Masses [kg]: base, each of the seven links, payload.
    reach : float
        Length of the stretched arm [m].
    torque_limit : float
        Of every joint [N m].
    """
    if not reach > 0.0:
        raise ModelError(f"free_flyer_arm: reach is {reach:g} m, expected a positive number")
    base = RigidBody(name="bus", mass=base_mass, inertia=tuple(base_mass * np.array([0.5, 0.6, 0.55])))
    parts = [Part(base, joint=Free(name="base"))]
    on, at = "bus", (0.0, 0.0, 0.9)
    length = reach / 7.0
    for i in range(7):
        across, along = link_mass * (length**2 / 12.0 + 0.5 * 0.15**2), link_mass * 0.15**2  # joint housings 0.3 m wide
        link = RigidBody(
            name=f"link{i + 1}", mass=link_mass, inertia=(across, across, along), com=(0.0, 0.0, length / 2)
        )
        parts.append(Part(link, on=on, at=at, joint=Revolute(name=f"joint{i + 1}", axis="z" if i % 2 == 0 else "y")))
        on, at = link.name, (0.0, 0.0, length)
    block = RigidBody(
        name="payload",
        mass=payload_mass,
        inertia=tuple(payload_mass * np.array([0.08, 0.1, 0.06])),
        com=(0.1, 0.0, 0.2),
    )
    parts.append(Part(block, on="link7", at=at, rotation=rotation_about("z", np.pi / 2)))
    return System(
        name="free-flyer arm",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(JointTorque(joint=f"joint{i + 1}", limit=torque_limit) for i in range(7)),
        sensors=(Position(name="hand", on="payload"), Velocity(name="hand_velocity", on="payload", seen_from="bus")),
    )


#: Every ready tree by name, at its default numbers: what cross-formulation tests run over.
LIBRARY = {
    "pendulum": pendulum,
    "spherical_pendulum": spherical_pendulum,
    "planar_arm": planar_arm,
    "orbiting_body": orbiting_body,
    "wheel_spacecraft": wheel_spacecraft,
    "free_flyer_arm": free_flyer_arm,
    "retrieval_arm": retrieval_arm,
}

#: Every ready system with constraints by name; all meet them at rest.
CONSTRAINED = {
    "four_bar": four_bar,
    "redundant_four_bar": redundant_four_bar,
    "slider_crank": slider_crank,
    "spatial_four_bar": spatial_four_bar,
    "rolling_disc": rolling_disc,
    "skate": skate,
    "two_arm_flyer": two_arm_flyer,
    "flexible_four_bar": flexible_four_bar,
    "momentum_flyer": momentum_flyer,
    "level_arm": level_arm,
    "line_arm": line_arm,
    "prescribed_arm": prescribed_arm,
    "guided_arm": guided_arm,
    "flexible_line_arm": flexible_line_arm,
}

#: Chains and mechanisms of local loops by name, for any number of loops where they take one; all meet their constraints at rest.
LOOPS = {
    "geared_chain": geared_chain,
    "four_bar_chain": four_bar_chain,
    "five_bar": five_bar,
    "differential_wrist": differential_wrist,
    "kept_chain": kept_chain,
}
