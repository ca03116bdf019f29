"""The orbiter with a two-link arm and a satellite on a tether (003 section 6.3), in the plane of the orbit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    BodyTorque,
    CircularOrbit,
    EquationsOfMotion,
    Fixed,
    Frame,
    JointTorque,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    form_equations,
)

JOINTS = ("pitch", "shoulder", "elbow", "swing")
INPUTS = ("craft", "shoulder", "elbow")
FIXED_POINT = (0.5 * np.pi, 0.25 * np.pi, 0.75 * np.pi, np.pi)  # 003 section 6.3.2: pitch, shoulder, elbow, tether


@dataclass(frozen=True)
class Data:
    """003 section 6.3.1; the orbital rate is that of section 6.2."""

    rate: float = 1e-3  # [rad/s]
    orbiter_mass: float = 1e5  # [kg]
    orbiter_inertia: tuple[float, float, float] = (9.68e6, 1.29e6, 10.1e6)  # [kg m^2]
    link_mass: float = 20.0  # [kg], each
    link_length: float = 8.13  # [m], each
    satellite_mass: float = 500.0  # [kg]


def form_orbiter(data: Data, length: float, *, is_locked: bool = False) -> EquationsOfMotion:
    """Spacecraft whose centre of mass stays at the origin of the orbit frame, arm from there, and a satellite on a straight,
    massless tether, which is a body whose mass is `length` away from its hinge.

    Angles of the tree are relative, from the local vertical on; the tether's absolute angle is the sum of all four. With
    `is_locked` the arm's joints are welded at the fixed point.
    """

    end = (data.link_length, 0.0, 0.0)

    def link(name: str) -> RigidBody:
        across = data.link_mass * data.link_length**2 / 12.0
        at = (0.5 * data.link_length, 0.0, 0.0)
        return RigidBody(
            name=name, mass=data.link_mass, inertia=(0.0, across, across), com=at, frames=(Frame(name="end", at=end),)
        )

    def joint(name: str, angle: float) -> dict[str, Any]:
        if is_locked:
            turn = np.array(
                [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
            )
            return {"joint": Fixed(), "rotation": turn}
        return {"joint": Revolute(name=name, axis="z")}

    satellite = RigidBody(name="satellite", mass=data.satellite_mass, inertia=(0.0, 0.0, 0.0), com=(length, 0.0, 0.0))
    torques = () if is_locked else tuple(JointTorque(joint=name) for name in ("shoulder", "elbow"))
    system = System(
        name="orbiter with arm and tether",
        environment=CircularOrbit(rate=data.rate),
        parts=(
            Part(
                RigidBody(name="orbiter", mass=data.orbiter_mass, inertia=data.orbiter_inertia),
                on="orbit",
                joint=Revolute(name="pitch", axis="z"),
            ),
            Part(link("upper"), on="orbiter", **joint("shoulder", FIXED_POINT[1])),
            Part(link("lower"), on="upper", at=end, **joint("elbow", FIXED_POINT[2])),
            Part(satellite, on="lower", at=end, joint=Revolute(name="swing", axis="z")),
        ),
        actuators=(BodyTorque(name="craft", on="orbiter", direction="z"), *torques),
        sensors=(Position(name="end", on="lower", at=end),),
    )
    return form_equations(system)


def relative(angles: Any) -> dict[str, float]:
    """Tree coordinates from (pitch, shoulder, elbow, absolute tether angle)."""
    pitch, shoulder, elbow, tether = angles
    return {"pitch": pitch, "shoulder": shoulder, "elbow": elbow, "swing": tether - pitch - shoulder - elbow}


def tether_angle(sim: Any) -> np.ndarray:
    """Absolute, from the local vertical [rad]."""
    return np.sum([sim.column("x", name) for name in JOINTS], axis=0)


#: (pitch, shoulder, elbow, tether) = ABSOLUTE @ (pitch, shoulder, elbow, swing)
ABSOLUTE = np.vstack([np.eye(4)[:3], np.ones(4)])
