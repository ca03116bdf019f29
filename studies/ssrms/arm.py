"""The seven-joint arm of Sadigh (1995), section 6.4, with joints and booms elastic or rigid, and its rigid torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from spacectl import (
    Attitude,
    Beam,
    Drive,
    EquationsOfMotion,
    Frame,
    HardeningSpring,
    JointTorque,
    Labels,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    Trajectory,
    Velocity,
)

JOINTS = tuple(f"joint{i + 1}" for i in range(7))
AXES = ("x", "z", "y", "y", "y", "z", "x")  # roll, yaw, pitch, pitch, pitch, yaw, roll
PATTERN = np.array([0.0, 0.0, 1.0, -2.0, 1.0, 0.0, 0.0])  # the pitch joints move as (phi, -2 phi, phi)
BOOM_LENGTH, BOOM_MASS = 7.0, 160.0  # [m], [kg]
GEAR_SPRING = HardeningSpring(quadratic=0.07, corner=1.5, slope=0.4)  # Sadigh (1995), Eq 6.18, at the motor

# Table 6.1: mass [kg], central moments of inertia [kg m^2], and the link's end [m]: its length along the axis of its
# smallest moment of inertia
LINKS: dict[str, tuple[float, tuple[float, float, float], tuple[float, float, float]]] = {
    "link1": (207.0, (6.4, 30.6, 30.6), (1.2, 0.0, 0.0)),
    "link2": (90.0, (8.4, 8.1, 2.1), (0.0, 0.0, 0.6)),
    "link3": (90.0, (5.6, 2.1, 5.8), (0.0, 0.5, 0.0)),
    "link6": (90.0, (5.6, 2.1, 5.8), (0.0, -0.5, 0.0)),
    "link7": (90.0, (8.4, 8.1, 2.1), (0.0, 0.0, -0.6)),
    "link8": (207.0, (6.4, 30.6, 30.6), (1.2, 0.0, 0.0)),
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    payload_mass: float = 90000.0  # [kg]
    payload_inertia: tuple[float, ...] = (9.68e6, 1.29e6, 10.1e6)  # [kg m^2], central
    payload_length: float = 1.4  # [m], its centre of mass is at half of it
    ratio: float = 1700.0  # [1], of the gears
    motor_inertia: float = 2e-4  # [kg m^2]
    joint_mass: float = 90.0  # [kg], of motor and gearbox, at the joint on the link that carries it
    bending_stiffness: float = 2.5e6  # [N m^2], EI of the booms
    torsional_stiffness: float = 1.27e6  # [N m^2], GJ of the booms
    boom_radius: float = 0.18  # [m], not published: only the booms' inertia in torsion depends on it
    boom_shapes: str = (
        "modes"  # shapes of the booms: the cantilever modes of the thesis, or "auto" for the default of `Beam`
    )
    boom_modes: int = 1  # [1], bending shapes of each boom in each plane; one in the thesis
    boom_torsion: int = 1  # [1], torsion shapes of each boom; one in the thesis
    boom_damping: float = 0.0  # [1], ratio of critical damping of each boom mode; none in the thesis
    gear_damping: float = 0.0  # [N m s/rad], at the motor; none in the thesis
    angle: float = 0.6  # [rad], final phi
    duration: float = 60.0  # [s], of the motion
    start: tuple[float, ...] = (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )  # [rad], joint angles at the start, not accounted for by the torques
    rtol: float = 1e-7  # [1], of the simulations


def build_arm(numbers: Parameters, *, elastic_joints: bool, elastic_booms: bool) -> System:
    """Return the arm on a fixed station: seven joints; seven motors and six boom modes where they are elastic."""

    def link(name: str) -> RigidBody:
        mass, inertia, end = LINKS[name]
        middle = tuple(0.5 * entry for entry in end)
        return RigidBody(name=name, mass=mass, inertia=inertia, com=middle, frames=(Frame(name="tip", at=end),))

    bodies: list[Any] = [link("link1"), link("link2"), link("link3")]
    bodies += [boom(name, numbers, elastic_booms) for name in ("link4", "link5")]
    bodies += [link("link6"), link("link7"), link("link8")]
    parts = [Part(bodies[0])]
    for i, body in enumerate(bodies[1:]):
        parts.append(Part(body, on=f"{bodies[i].name}.tip", joint=Revolute(name=JOINTS[i], axis=AXES[i])))
        if numbers.joint_mass:
            housing = RigidBody(name=f"housing{i + 1}", mass=numbers.joint_mass, inertia=(0.0, 0.0, 0.0))
            parts.append(Part(housing, on=f"{bodies[i].name}.tip"))
    payload = RigidBody(
        name="payload",
        mass=numbers.payload_mass,
        inertia=numbers.payload_inertia,
        com=(0.5 * numbers.payload_length, 0.0, 0.0),
    )
    parts.append(Part(payload, on="link8.tip"))
    drives = tuple(
        Drive(
            joint=name,
            ratio=numbers.ratio,
            rotor_inertia=numbers.motor_inertia,
            spring=GEAR_SPRING,
            damping=numbers.gear_damping,
            side="motor",
        )
        for name in JOINTS
    )
    return System(
        name="seven-joint arm",
        parts=tuple(parts),
        elements=drives if elastic_joints else (),
        actuators=tuple(JointTorque(joint=f"{name}.motor" if elastic_joints else name) for name in JOINTS),
        sensors=(
            Position(name="place", on="payload"),
            Velocity(name="velocity", on="payload"),
            Attitude(name="attitude", on="payload"),
            *(Position(name=f"tip{i}", on=f"link{i}.tip", seen_from=f"link{i}") for i in (4, 5)),
        ),
    )


def boom(name: str, numbers: Parameters, is_elastic: bool) -> RigidBody | Beam:
    """Return a long boom with bending shapes along y (out of plane), then z (in plane), then torsion shapes."""
    L, m, r = BOOM_LENGTH, BOOM_MASS, numbers.boom_radius
    if is_elastic:
        return Beam(
            name=name,
            length=L,
            mass=m,
            EI=numbers.bending_stiffness,
            GJ=numbers.torsional_stiffness,
            rotary=(m / L * r**2, 0.0, 0.0),
            bending=("y", "z"),
            modes=numbers.boom_modes,
            torsion=numbers.boom_torsion,
            shapes=numbers.boom_shapes,
            damping=numbers.boom_damping,
        )
    across = m * L**2 / 12.0
    tip = Frame(name="tip", at=(L, 0.0, 0.0))
    return RigidBody(name=name, mass=m, inertia=(m * r**2, across, across), com=(0.5 * L, 0.0, 0.0), frames=(tip,))


def quintic(t: np.ndarray, numbers: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return phi and its rates, at rest with zero acceleration at both ends."""
    s, T = t / numbers.duration, numbers.duration
    value = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    rate = 30.0 * s**2 * (1.0 - s) ** 2 / T
    second = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2
    return numbers.angle * value, numbers.angle * rate, numbers.angle * second


def rigid_torques(eom: EquationsOfMotion, numbers: Parameters, *, knots: int = 601) -> Trajectory:
    """Return torques of motors or joints that move the rigid arm along (phi, -2 phi, phi), by inverse dynamics.

    G maps joint rates to all speeds (gears rigid, boom modes at rest). Then ``r tau = G' (M G q_ddot + h)`` includes the
    rotors' reflected inertia and the coupling of a rotor to the link that carries it.
    """
    is_geared = "joint1.motor" in eom.coordinates
    ratio = numbers.ratio if is_geared else 1.0
    G = np.zeros((eom.n_v, 7))
    for i, name in enumerate(JOINTS):
        G[eom.speeds.index(f"{name}_dot"), i] = 1.0
        if is_geared:
            G[eom.speeds.index(f"{name}.motor_dot"), i] = ratio
    move = G @ PATTERN
    t = np.linspace(0.0, numbers.duration, knots)
    torques = np.empty((knots, 7))
    for k, (phi, rate, second) in enumerate(zip(*quintic(t, numbers), strict=True)):
        q = move * phi
        torques[k] = G.T @ (eom.mass_matrix(0.0, q) @ move * second + eom.bias(0.0, q, move * rate)) / ratio
    labels = Labels(tuple(f"torque{i + 1}" for i in range(7)), ("N m",) * 7, "torque")
    return Trajectory(t=t, values=torques, rates=CubicSpline(t, torques)(t, 1), labels=labels)
