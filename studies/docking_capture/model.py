"""A chaser with a docking ring on six legs R2-P1-R3, a target, and a latch that holds the ring to the target's face."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl import Constraint, EquationsOfMotion, Frame, Free, Part, RigidBody, System, library

LEGS = tuple(f"slide{k}" for k in range(1, 7))


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. Assumed, of the size of vehicles that serve a station."""

    chaser_mass: float = 8000.0  # [kg]
    chaser_inertia: float = 9000.0  # [kg m^2], about each axis
    target_mass: float = 12000.0  # [kg]
    target_inertia: float = 20000.0  # [kg m^2], about each axis
    target_face: float = 2.0  # [m], from its centre of mass to the mating plane
    stiffness: float = 4000.0  # [N/m], of each leg
    damping: float = 900.0  # [N s/m], of each leg
    drive_damping: float = 1500.0  # [N s/m], that each drive adds while it is controlled
    speed: float = 0.1  # [m/s], of approach
    gap: float = 0.05  # [m], between the faces at the start
    offset: float = 0.05  # [m], sideways, in the misaligned capture
    tilt: float = 0.05  # [rad], likewise
    drift: float = 0.02  # [m/s], sideways, likewise
    spin: float = 0.005  # [rad/s], about the tilt's axis, likewise
    duration: float = 30.0  # [s]

    @property
    def reduced_mass(self) -> float:
        """Reduced mass of the two vehicles [kg], the chaser with its mechanism."""
        chaser = self.chaser_mass + 24.0 + 6.0 * 3.0
        return chaser * self.target_mass / (chaser + self.target_mass)


def build(parameters: Parameters) -> System:
    """Return ring, legs and target. The latch constrains rates only, so that it closes in whatever pose the faces meet."""
    inertia, mass = parameters.target_inertia, parameters.target_mass
    ring = library.docking_ring(
        base_mass=parameters.chaser_mass,
        base_inertia=3 * (parameters.chaser_inertia,),
        stiffness=parameters.stiffness,
        damping=parameters.damping,
    )
    frames = (Frame(name="face", at=(0.0, 0.0, -parameters.target_face)),)
    target = RigidBody(name="target", mass=mass, inertia=3 * (inertia,), frames=frames)
    return replace(
        ring,
        name="docking",
        parts=(*ring.parts, Part(target, joint=Free(name="target"))),
        constraints=(*ring.constraints, Constraint(name="latch", rule=latch), Constraint(name="face", rule=face)),
    )


def latch(s: Any) -> list[Any]:
    """Return the rates of the target relative to the ring at the ring's face: the six rates vanish after capture."""
    arm, spin = s.position("ring.face") - s.position("target.face"), s.angular_velocity("target.face")
    slip = s.velocity("target.face") + ca.cross(spin, arm) - s.velocity("ring.face")
    return [slip, spin - s.angular_velocity("ring.face")]


def face(s: Any) -> Any:
    """Return the gap between the faces along the ring's axis; it is monitored and exerts no force."""
    return (s.rotation("ring.face").T @ (s.position("target.face") - s.position("ring.face")))[2]


def balls(system: System) -> tuple[str, ...]:
    """Return the constraints that close the legs, in all stages."""
    return tuple(item.name for item in system.constraints if item.name.startswith("ball"))


def start(parameters: Parameters, eom: EquationsOfMotion, *, speed: float, is_aligned: bool) -> np.ndarray:
    """Return the start: the chaser rests, the target approaches along -z; misaligned: offset, tilted, drifting and turning."""
    rest = eom.placements(0.0, np.asarray(eom.x_rest)[: eom.n_q])
    names = [part.body.name for part in eom.system.tree]
    height = rest[names.index("ring"), 11] + 0.06  # of the ring's face
    named = {"target.z": height + parameters.gap + parameters.target_face, "target.z_dot": -speed}
    if not is_aligned:
        half = 0.5 * parameters.tilt
        named |= {"target.qw": np.cos(half), "target.qy": np.sin(half), "target.wy": parameters.spin}
        # the face's centre is `offset` beside the axis
        named |= {
            "target.x": parameters.offset + parameters.target_face * np.sin(parameters.tilt),
            "target.z": height + parameters.gap + parameters.target_face * np.cos(parameters.tilt),
            "target.x_dot": -parameters.drift,
        }
    return eom.state(**named)


def relative_place(eom: EquationsOfMotion, x: np.ndarray) -> np.ndarray:
    """Return position and rotation matrix (by rows) of the target in the ring's axes, shape (12,): constant after capture."""
    places = eom.placements(0.0, x[: eom.n_q])
    names = [part.body.name for part in eom.system.tree]
    ring, target = places[names.index("ring")], places[names.index("target")]
    R = ring[:9].reshape(3, 3)
    return np.concatenate([R.T @ (target[9:] - ring[9:]), (R.T @ target[:9].reshape(3, 3)).reshape(-1)])
