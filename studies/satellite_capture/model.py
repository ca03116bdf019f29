"""The spacecraft, its two-link arm and the spinning satellite (Sadigh 1995, section 6.2): as a tree, and before capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Beam,
    BodyTorque,
    CircularOrbit,
    Constraint,
    EquationsOfMotion,
    Frame,
    JointTorque,
    Loop,
    Part,
    Planar,
    Position,
    Revolute,
    RigidBody,
    System,
)

JOINTS = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. As in Sadigh (1995), section 6.2, unless noted."""

    spacecraft_mass: float = 10000.0  # [kg]
    spacecraft_inertia: float = 40000.0  # [kg m^2], about the orbit normal; half of it about each other axis
    satellite_mass: float = 1000.0  # [kg]
    satellite_inertia: float = 500.0  # [kg m^2], likewise
    link_mass: float = 20.0  # [kg]
    link_length: float = 8.13  # [m]
    link_stiffness: float = 8810.0  # [N m^2]
    link_damping: float = 0.0  # [1], of the links' modes
    link_shapes: str = (
        "modes"  # shapes of the links: the cantilever mode of Sadigh (1995), or "auto" for the default of `Beam`
    )
    link_modes: int = 1  # [1], bending shapes of each link; one in Sadigh (1995)
    shoulder_offset: float = 1.0  # [m], along +x of the spacecraft
    satellite_offset: float = 1.0  # [m], from the wrist to the satellite's centre of mass
    orbit_rate: float = 1e-3  # [rad/s]
    distance: float = 16.0  # [m], of the satellite along track
    spin: float = 0.5  # [rev/min], about +z, relative to the orbit frame
    frequency: float = 0.2  # [rad/s], of the controlled errors; not published
    damping: float = 1.0  # [1], likewise
    approach_speed: float = 0.05  # [m/s], of the grapple point in the fourth case; not in Sadigh (1995)
    rate_limit: float = 0.1  # [rad/s], of the joints at capture, for the best posture; not in Sadigh (1995)
    duration: float = 100.0  # [s]

    @property
    def spin_rate(self) -> float:
        """Spin [rad/s]."""
        return self.spin * 2.0 * np.pi / 60.0

    @property
    def total_mass(self) -> float:
        """Mass of the whole system [kg]."""
        return self.spacecraft_mass + self.satellite_mass + 2.0 * self.link_mass


def _round(name: str, mass: float, inertia: float, **more: Any) -> RigidBody:
    """Return a body that is symmetric about the orbit normal, so that gravity gradients exert no torque on it."""
    return RigidBody(name=name, mass=mass, inertia=(0.5 * inertia, 0.5 * inertia, inertia), **more)


def _link(parameters: Parameters, name: str, *, is_flexible: bool) -> Any:
    length, mass = parameters.link_length, parameters.link_mass
    if is_flexible:
        return Beam(
            name=name, length=length, mass=mass, EI=parameters.link_stiffness, bending=("y",),
            modes=parameters.link_modes, shapes=parameters.link_shapes, damping=parameters.link_damping,
        )  # fmt: skip
    inertia = mass * length**2 / 12.0
    frames = (Frame(name="tip", at=(length, 0.0, 0.0)), Frame(name="mid", at=(0.5 * length, 0.0, 0.0)))
    return RigidBody(name=name, mass=mass, inertia=(0.0, inertia, inertia), com=(0.5 * length, 0.0, 0.0), frames=frames)


def build(
    parameters: Parameters,
    *,
    base: str,
    is_flexible: bool = False,
    is_centred: bool = False,
    has_attitude_control: bool = True,
) -> System:
    """Return the system after capture, a tree.

    `base`: ``"held"``, the spacecraft's centre of mass stays on the orbit and only its attitude is free (cases 1, 2), or
    ``"free"`` (case 3). `is_centred`: the centre of mass of all is held on the orbit by a constraint (Sadigh 1995, Eq 6.1).
    """
    joint = Revolute(name="pitch", axis="z") if base == "held" else Planar(name="base", normal="z")
    offset = parameters.satellite_offset
    satellite = _round(
        "satellite", parameters.satellite_mass, parameters.satellite_inertia, com=(offset, 0.0, 0.0),
        frames=(Frame(name="centre", at=(offset, 0.0, 0.0)),),
    )  # fmt: skip
    return System(
        name=f"capture of a spinning satellite, {base} base",
        environment=CircularOrbit(rate=parameters.orbit_rate),
        parts=(
            *arm(parameters, joint, is_flexible),
            Part(satellite, on="lower.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=(
            *((BodyTorque(name="attitude", on="spacecraft", direction="z"),) if has_attitude_control else ()),
            *(JointTorque(joint=name) for name in JOINTS),
        ),
        constraints=(centre_constraint(parameters),) if is_centred else (),
        sensors=tip_sensors() if is_flexible else (),
    )


def tip_sensors() -> tuple[Position, ...]:
    """Return sensors at the tips of the links in the axes of their roots: y is the deflection."""
    return tuple(
        Position(name=f"{name}_tip", on=f"{name}.tip", seen_from=name, axes=name) for name in ("upper", "lower")
    )


def arm(parameters: Parameters, joint: Any, is_flexible: bool) -> tuple[Part, ...]:
    """Return spacecraft and links."""
    spacecraft = _round("spacecraft", parameters.spacecraft_mass, parameters.spacecraft_inertia)
    upper, lower = (_link(parameters, name, is_flexible=is_flexible) for name in ("upper", "lower"))
    return (
        Part(spacecraft, on="orbit", joint=joint),
        Part(
            upper, on="spacecraft", at=(parameters.shoulder_offset, 0.0, 0.0), joint=Revolute(name="shoulder", axis="z")
        ),
        Part(lower, on="upper.tip", joint=Revolute(name="elbow", axis="z")),
    )


def centre_constraint(parameters: Parameters) -> Constraint:
    """Return the constraint of the total centre of mass to the origin of the orbit frame, in the plane (Sadigh 1995, Eq 6.1)."""
    masses = {
        "spacecraft": parameters.spacecraft_mass,
        "upper.mid": parameters.link_mass,
        "lower.mid": parameters.link_mass,
        "satellite.centre": parameters.satellite_mass,
    }

    def rule(s: Any) -> list[Any]:
        total = sum(masses.values())
        return [sum(mass * s.position(frame)[k] for frame, mass in masses.items()) / total for k in (0, 1)]

    return Constraint(name="centre", rule=rule)


def build_apart(parameters: Parameters, *, is_flexible: bool) -> System:
    """Return the system before capture: the satellite moves freely; `grapple` joins it to the arm's tip when active."""
    satellite = _round("satellite", parameters.satellite_mass, parameters.satellite_inertia)
    grapple = Loop(
        name="grapple", a="lower.tip", b="satellite", at_b=(-parameters.satellite_offset, 0.0, 0.0),
        joint=Revolute(axis="z"),
    )  # fmt: skip
    return System(
        name="capture of a spinning satellite, apart",
        environment=CircularOrbit(rate=parameters.orbit_rate),
        parts=(
            *arm(parameters, Planar(name="base", normal="z"), is_flexible),
            Part(satellite, on="orbit", joint=Planar(name="satellite", normal="z")),
        ),
        actuators=(
            BodyTorque(name="attitude", on="spacecraft", direction="z"),
            *(JointTorque(joint=name) for name in JOINTS[:2]),
            JointTorque(name="wrist", joint="grapple"),
        ),
        constraints=(grapple,),
        sensors=tip_sensors() if is_flexible else (),
    )


@dataclass(frozen=True)
class Posture:
    """Positions at capture: pitch of the spacecraft, joint angles and joint rates (pitch rate zero)."""

    pitch: float
    angles: tuple[float, float, float]
    rates: tuple[float, float, float]


def find_posture(
    parameters: Parameters, *, pitch: float = 0.0, axis: float = np.pi, elbow_side: float = 1.0
) -> Posture:
    """Solve the inverse kinematics: satellite at (0, distance), velocities matched at the grapple point.

    `axis` is the direction from the wrist to the satellite's centre of mass; `elbow_side` 1 puts the elbow on the +x side
    (to the right of the line from shoulder to wrist), -1 on the other.

    Raises
    ------
    ValueError
        If the wrist is out of reach.
    """
    length = parameters.link_length
    out = parameters.satellite_offset * np.array([np.cos(axis), np.sin(axis)])
    wrist = np.array([0.0, parameters.distance]) - out
    shoulder = parameters.shoulder_offset * np.array([np.cos(pitch), np.sin(pitch)])
    line = wrist - shoulder
    reach = float(np.linalg.norm(line))
    if not 0.0 < reach < 2.0 * length:
        raise ValueError("out of reach")
    bend = np.arccos(0.5 * reach / length)
    first = np.arctan2(line[1], line[0]) - elbow_side * bend
    second = first + 2.0 * elbow_side * bend
    velocity = parameters.spin_rate * np.array([out[1], -out[0]])  # of the grapple point; the centre of mass rests
    slopes = length * np.array([[-np.sin(first), -np.sin(second)], [np.cos(first), np.cos(second)]])
    w_1, w_2 = np.linalg.solve(slopes, velocity)
    angles = (first - pitch, second - first, axis - second)
    return Posture(pitch, angles, (w_1, w_2 - w_1, parameters.spin_rate - w_2))


def start(eom: EquationsOfMotion, posture: Posture) -> np.ndarray:
    """Return the state at capture; a free base is moved so that the total centre of mass rests at the origin."""
    named = {**dict(zip(JOINTS, posture.angles, strict=True))}
    named |= {f"{name}_dot": rate for name, rate in zip(JOINTS, posture.rates, strict=True)}
    if "pitch" in eom.coordinates:
        return eom.state(pitch=posture.pitch, **named)
    x = eom.state(**{"base.angle": posture.pitch}, **named)
    return centred(eom, x)


def centred(eom: EquationsOfMotion, x: np.ndarray) -> np.ndarray:
    """Return the same posture and relative speeds with the total centre of mass at rest at the origin of the orbit frame."""
    x, n_q = x.copy(), eom.n_q
    centre = eom.center_of_mass(0.0, x[:n_q])[:2]
    rates = eom.jacobian("center_of_mass", "center_of_mass", "q", 0.0, x[:n_q])
    velocity = (rates @ eom.call("q_dot", 0.0, x[:n_q], x[n_q:])[0].reshape(-1))[:2]
    for body in ("base", "satellite"):
        for k, name in enumerate(("x", "y")):
            if f"{body}.{name}" in eom.states:
                x[eom.states.index(f"{body}.{name}")] -= centre[k]
                x[eom.states.index(f"{body}.{name}_dot")] -= velocity[k]
    return x


def centres(eom: EquationsOfMotion, sim: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of mass of spacecraft and satellite over time, each (n, 2)."""
    places = eom.along("placements", sim.t, sim.x)
    names = [part.body.name for part in eom.system.parts]
    satellite = places[:, names.index("satellite")]
    com = np.asarray(eom.system.parts[names.index("satellite")].body.com)
    centre = satellite[:, 9:11] + np.einsum("nij,j->ni", satellite[:, :9].reshape(-1, 3, 3), com)[:, :2]
    return places[:, names.index("spacecraft"), 9:11], centre


def distance(eom: EquationsOfMotion, sim: Any) -> np.ndarray:
    """Return the distance between the centres of mass of spacecraft and satellite over time [m], shape (n,)."""
    spacecraft, satellite = centres(eom, sim)
    return np.linalg.norm(satellite - spacecraft, axis=1)
