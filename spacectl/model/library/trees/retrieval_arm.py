"""The arm that retrieves a satellite (Sadigh 1995, section 8.3): rigid for planning, flexible for flight."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.environment import CircularOrbit, Environment, FreeSpace
from spacectl.model.joints import Fixed, Revolute
from spacectl.model.library.rods import slender_rod
from spacectl.model.part import Part
from spacectl.model.sensors import Attitude, Position, Velocity
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["retrieval_arm"]


def retrieval_arm(
    *,
    flexible: bool = False,
    period: float | None = 104.72 * 60.0,
    shoulder_offset: float = 1.0,
    link_length: float = 8.13,
    link_mass: float = 80.0,
    stiffness: float = 1e5,
    damping: float = 0.01,
    modes: int = 1,
    payload_mass: float = 4000.0,
    payload_offset: float = 1.0,
    torque_limits: tuple[float, float, float] = (800.0, 800.0, 400.0),
) -> System:
    """Return a planar three-joint arm on an orbiter that holds a satellite (Sadigh 1995, section 8.3, Tables 8.1, 8.2).

    The orbiter has a fixed position and attitude in the orbit frame (x radial, y along track, z orbit
    normal), as the source assumes. Joints are ``shoulder``, ``elbow``, ``wrist``, relative angles about z;
    torques act between neighbours. Sensors: ``payload`` (position of the satellite's centre of mass),
    ``payload_velocity``, and ``attitude``, which is zero when the satellite's grip points along +x, that is
    where ``shoulder + elbow + wrist = pi`` (Eq 8.32 there).

    Parameters
    ----------
    flexible : bool
        Links as beams with in-plane bending (coordinates ``upper.eta1``, ``lower.eta1``), or as slender rigid rods.
    period : float or None
        Period of the circular orbit [s]; None for free space.
    shoulder_offset : float
        d, from the orbiter's centre of mass to the shoulder along x [m].
    link_length, link_mass : float
        Length [m] and mass [kg] of each link.
    stiffness, damping : float
        EI of the links [N m^2] and their modal damping ratio.
    modes : int
        Bending modes of each link.
    payload_mass : float
        Mass of the satellite [kg]. The source does not publish its inertia, which does not matter at constant attitude;
        here it is that of a uniform sphere of radius `payload_offset`.
    payload_offset : float
        R, from the wrist to the satellite's centre of mass [m].
    torque_limits : tuple of float
        Limits of shoulder, elbow and wrist [N m] (Eq 8.31).
    """
    if len(torque_limits) != 3:
        raise ModelError(f"retrieval_arm: {len(torque_limits)} torque limits, expected three: shoulder, elbow, wrist")
    environment: Environment = FreeSpace() if period is None else CircularOrbit(period=period)
    orbiter = RigidBody(name="orbiter", mass=1e5, inertia=(9.68e6, 1.29e6, 10.1e6))
    round_inertia = 0.4 * payload_mass * payload_offset**2
    satellite = RigidBody(
        name="satellite",
        mass=payload_mass,
        inertia=(round_inertia, round_inertia, round_inertia),
        com=(payload_offset, 0.0, 0.0),
        frames=(Frame(name="body", at=(payload_offset, 0.0, 0.0), rotation=rotation_about("z", np.pi)),),
    )
    links = [
        _beam(name, link_length, link_mass, stiffness, damping, modes)
        if flexible
        else slender_rod(name, link_length, link_mass)
        for name in ("upper", "lower")
    ]
    joints = ("shoulder", "elbow", "wrist")
    return System(
        name=f"retrieval arm ({'flexible' if flexible else 'rigid'})",
        environment=environment,
        parts=(
            Part(orbiter, on="world", joint=Fixed(name="orbit_hold")),
            Part(links[0], on="orbiter", at=(shoulder_offset, 0.0, 0.0), joint=Revolute(name="shoulder", axis="z")),
            Part(links[1], on="upper.tip", joint=Revolute(name="elbow", axis="z")),
            Part(satellite, on="lower.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=tuple(
            JointTorque(joint=joint, limit=limit) for joint, limit in zip(joints, torque_limits, strict=True)
        ),
        sensors=(
            Position(name="payload", on="satellite.body"),
            Velocity(name="payload_velocity", on="satellite.body"),
            Attitude(name="attitude", on="satellite.body"),
        ),
    )


def _beam(name: str, length: float, mass: float, stiffness: float, damping: float, modes: int) -> Beam:
    return Beam(
        name=name, length=length, mass=mass, EI=stiffness, bending=("y",), modes=modes, shapes="modes", damping=damping
    )
