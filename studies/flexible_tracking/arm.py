"""The flexible arm of Sadigh (1995), section 7.3.2, its two tracking laws, and its disturbances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Beam,
    Constraint,
    EquationsOfMotion,
    Frame,
    JointTorque,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    design_pd,
    find_locked_frequencies,
    form_equations,
    make_consistent,
)

JOINTS = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class Data:
    """Data of Sadigh (1995), Table 7.1, and the share of the hand's mass at its tip; the rest is a uniform rod."""

    link_length: float = 0.8  # [m]
    link_mass: float = 2.51  # [kg]
    rigidity: float = 930.0  # [N m^2]
    damping: float = 0.02  # [1], of the one mode of each link
    hand_mass: float = 5.0  # [kg]
    hand_length: float = 0.15  # [m]
    tip_share: float = 1.0  # [1], not published
    shapes: str = "modes"  # of the links: the cantilever mode of Sadigh (1995), or "auto" for the default of `Beam`
    modes: int = 1  # [1], shapes of each link


@dataclass(frozen=True)
class Maneuver:
    """Angles of shoulder, elbow and wrist at both ends [rad], and gains of shoulder and elbow."""

    name: str
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    kp: tuple[float, float]  # [N m/rad]
    kd: tuple[float, float]  # [N m s/rad]


LINE = Maneuver("line", (0.1253, 2.8909, 1.6961), (0.5421, 1.8964, 1.7503), (120.0, 80.0), (22.0, 16.0))  # Table 7.2
LEVEL = Maneuver("level", (-1.15, 2.9436, 1.348), (0.3483, 2.0742, 0.7190), (30.0, 20.0), (11.0, 8.0))  # Table 7.3


def form_arm(data: Data) -> EquationsOfMotion:
    """Return the equations of two beams of one mode each and a rigid hand; X axis as in Sadigh (1995), Figure 7.2."""
    rod, tip = data.hand_mass * (1.0 - data.tip_share), data.hand_mass * data.tip_share
    com = data.hand_length * (0.5 * rod + tip) / data.hand_mass
    across = rod * (data.hand_length**2 / 12.0 + (com - 0.5 * data.hand_length) ** 2)
    across += tip * (data.hand_length - com) ** 2
    hand = RigidBody(
        name="hand",
        mass=data.hand_mass,
        com=(com, 0.0, 0.0),
        inertia=(0.0, across, across),
        frames=(Frame(name="tip", at=(data.hand_length, 0.0, 0.0)),),
    )

    def link(name: str) -> Beam:
        return Beam(
            name=name, length=data.link_length, mass=data.link_mass, EI=data.rigidity, damping=data.damping,
            modes=data.modes, shapes=data.shapes,
        )  # fmt: skip

    system = System(
        name="flexible arm",
        parts=(
            Part(link("upper"), joint=Revolute(name="shoulder", axis="z")),
            Part(link("lower"), on="upper.tip", joint=Revolute(name="elbow", axis="z")),
            Part(hand, on="lower.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=tuple(JointTorque(joint=name) for name in JOINTS),
        sensors=(Position(name="tip", on="hand.tip"), Position(name="wrist_at", on="lower.tip")),
    )
    return form_equations(system)


def locked_frequency(data: Data) -> float:
    """Return the lowest natural frequency with the joints locked at the start of the line [rad/s]."""
    eom = form_arm(data)
    return float(find_locked_frequencies(eom, eom.state(**dict(zip(JOINTS, LINE.start, strict=True))))[0])


def constraint_of(maneuver: Maneuver) -> Constraint:
    """Return the constraint of Sadigh (1995), Eq 7.9 (tip on the Y axis) or Eq 7.12 (hand along -X), enforced by the wrist."""
    rules = {"line": lambda s: s.position("hand.tip")[0], "level": lambda s: s.rotation("hand")[1, 0]}
    return Constraint(name=maneuver.name, rule=rules[maneuver.name], kind=Artificial(by=("wrist",)))


def tracking_law(
    eom: EquationsOfMotion,
    maneuver: Maneuver,
    *,
    frequency: float,
    rise: float = 0.0,
    period: float = 0.0,
    joints: tuple[str, ...] = JOINTS[:2],
) -> ArtificialConstraintTracking:
    """Return PD control of shoulder and elbow (Sadigh 1995, Eq 7.11) with the constraint enforced by the wrist.

    With ``rise`` = 0 the reference of the PD law is the goal from the start (the thesis); otherwise it moves there along a
    polynomial of fifth degree in that time [s]. Of `joints`, only the shoulder remains if the second line of Eq 7.11 is
    taken literally: its tau_3 is the torque of the wrist, which enforces the constraint, and the elbow has no torque.
    """
    n = len(joints)

    def reference(s: Any) -> list[Any]:
        if rise == 0.0:
            return list(maneuver.goal[:n])
        tau = ca.fmin(s.t / rise, 1.0)
        shape = tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2)
        return [a + (b - a) * shape for a, b in zip(maneuver.start[:n], maneuver.goal[:n], strict=True)]

    pd = design_pd(
        eom, kp=maneuver.kp[:n], kd=maneuver.kd[:n], inputs=joints, reference=reference, period=period, name="PD"
    )
    return ArtificialConstraintTracking(eom, constraints=(constraint_of(maneuver),), others=pd, frequency=frequency)


def consistent_state(law: ArtificialConstraintTracking, angles: tuple[float, ...]) -> np.ndarray:
    """Return the arm at rest with these joint angles, straight links, and the wrist angle that satisfies the constraint."""
    eom = law.constrained
    guess = eom.state(**dict(zip(JOINTS, angles, strict=True)))
    return np.array(make_consistent(eom, guess, hold=tuple(name for name in eom.coordinates if name != "wrist")).x)


def push(law: ArtificialConstraintTracking, t: float, x: np.ndarray, impulse: float) -> np.ndarray:
    """Return the state just after an impulse along the constraint: ``M (v+ - v) = J' P``.

    For the line, P is in N s, at the tip along X; for the orientation, in N m s.
    """
    eom = law.constrained
    q, v = x[: eom.n_q], x[eom.n_q :]
    J = np.asarray(eom.functions["constraints"](t, q, v, eom.p)[2])
    after = x.copy()
    after[eom.n_q :] += np.linalg.solve(eom.mass_matrix(t, q), J[0] * impulse)
    return after


def line_error(sim: Any) -> np.ndarray:
    """Return the distance of the tip from the Y axis [m], signed."""
    return np.asarray(sim["tip.x"])


def level_error(sim: Any) -> np.ndarray:
    """Return the angle of the hand from the -X direction [rad]."""
    return np.arctan2(-(sim["tip.y"] - sim["wrist_at.y"]), -(sim["tip.x"] - sim["wrist_at.x"]))


ERRORS = {"line": line_error, "level": level_error}
