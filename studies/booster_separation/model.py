"""A Soyuz-like carrier at the separation of its four strap-on boosters (Aslanov, Kruglov and Yuditsev, section 5).

Axes of the core: x forward, y and z across. Booster k stands at the angle 90 degrees k about x; its own frame has x
forward along its axis, y away from the core and z across, and lies at its centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import BodyForce, Frame, Free, FreeSpace, Part, PointOnPlane, RigidBody, System, Thruster

BOOSTERS = ("b1", "b2", "b3", "b4")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study: rounded public figures of the Soyuz family; values that are not public are marked as assumed."""

    core_mass: float = 97000.0  # [kg], core with 60 t of its propellant left, third stage, payload, fairing
    core_centre: float = -2.0  # [m], centre of mass of the core from the plane of the ball joints, along x; assumed
    core_inertia_axial: float = 1.3e5  # [kg m^2], assumed
    core_inertia_across: float = 8.0e6  # [kg m^2], assumed
    core_radius: float = 1.03  # [m], at the ball joints and behind them
    core_thrust: float = 9.9e5  # [N], RD-108 in vacuum
    booster_mass: float = 4200.0  # [kg], 3800 kg empty and unusable propellant
    booster_length: float = 19.6  # [m]
    booster_radius: float = 1.34  # [m], at the base
    booster_centre: float = 12.4  # [m], centre of mass behind the ball joint
    booster_inertia_axial: float = 3.5e3  # [kg m^2], assumed
    booster_inertia_across: float = 1.2e5  # [kg m^2], assumed
    booster_tilt: float = 0.05  # [rad], of its axis against the core's, nose inwards
    thrust_offset: float = 0.4  # [m], of the ball joint from the thrust line, towards the core; assumed
    thrust: float = 1.0e6  # [N], RD-107 in vacuum
    thrust_cant: float = 0.02  # [rad], of the thrust against the axis, pushing the base away from the core; assumed
    tail_off: float = 0.225  # [s], time in which the thrust falls to 1/e after the cut-off; assumed
    slide: float = 0.005  # [m], after which the nozzle of the oxygen tank opens; "several millimetres" in the paper
    nozzle_thrust: float = 4.0e3  # [N], at the nose, away from the core; assumed
    nozzle_time: float = 1.2  # [s], for which it is open; assumed
    spread: float = 0.15  # [1], standard deviation of the tail-off times in the campaign; assumed
    seed: int = 1


def angle_of(k: int) -> float:
    """Return the angle of booster k about x [rad]."""
    return 0.5 * np.pi * k


def turn(k: int, tilt: float) -> np.ndarray:
    """Return the axes of booster k in axes of the core: turned about x to its place, then tilted inwards about its own z."""
    a, c, s = angle_of(k), np.cos(tilt), np.sin(tilt)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(a), -np.sin(a)], [0.0, np.sin(a), np.cos(a)]])
    about_z = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return about_x @ about_z


def ball_in_core(parameters: Parameters, k: int) -> np.ndarray:
    """Return the ball joint of booster k in the core's frame (at its centre of mass)."""
    radial = turn(k, 0.0)[:, 1]
    return np.array([-parameters.core_centre, 0.0, 0.0]) + parameters.core_radius * radial


def ball_in_booster(parameters: Parameters) -> np.ndarray:
    """Return the same point in the booster's frame: ahead of the centre of mass, offset from the thrust line to the core."""
    return np.array([parameters.booster_centre, -parameters.thrust_offset, 0.0])


def build(parameters: Parameters) -> System:
    """Return five free bodies; each booster has three points on planes: n1 backwards, n2 outwards, n3 across.

    Aslanov, Kruglov and Yuditsev, Eq 43.
    """
    p = parameters
    core = RigidBody(
        name="core", mass=p.core_mass, inertia=(p.core_inertia_axial, p.core_inertia_across, p.core_inertia_across)
    )
    back = p.booster_centre - p.booster_length
    parts = [Part(core, joint=Free(name="core"))]
    constraints: list[Any] = []
    actuators: list[Any] = [BodyForce(name="core_engine", on="core", direction="x")]
    for k, name in enumerate(BOOSTERS):
        body = RigidBody(
            name=name,
            mass=p.booster_mass,
            inertia=(p.booster_inertia_axial, p.booster_inertia_across, p.booster_inertia_across),
            frames=(Frame(name="base", at=(back, 0.0, 0.0)), Frame(name="ball", at=tuple(ball_in_booster(p)))),
        )
        parts.append(Part(body, joint=Free(name=name)))
        axes = turn(k, 0.0)
        for row, normal in (("n1", -axes[:, 0]), ("n2", axes[:, 1]), ("n3", axes[:, 2])):
            constraints.append(
                PointOnPlane(
                    name=f"{name}_{row}", a="core", b=name, at_a=tuple(ball_in_core(p, k)), at_b=tuple(ball_in_booster(p)),
                    normal=tuple(np.round(normal, 15)),
                )
            )  # fmt: skip
        cant = (np.cos(p.thrust_cant), np.sin(p.thrust_cant), 0.0)
        actuators.append(Thruster(name=f"{name}_engine", on=f"{name}.base", direction=cant))
        actuators.append(Thruster(name=f"{name}_nozzle", on=f"{name}.ball", direction="y"))
    return System(
        name="booster separation",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def start(parameters: Parameters, eom: Any) -> np.ndarray:
    """Return the state at rest in the frame that flies with the carrier at cut-off."""
    named: dict[str, float] = {}
    for k, name in enumerate(BOOSTERS):
        R = turn(k, parameters.booster_tilt)
        place = ball_in_core(parameters, k) - R @ ball_in_booster(parameters)
        w = 0.5 * np.sqrt(max(1.0 + np.trace(R), 0.0))
        if w > 1e-6:
            axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)
        else:  # half a turn about an axis in the plane x-y of the core: its square root from the diagonal
            axis = np.sqrt(np.maximum(0.5 * (1.0 + np.diag(R)), 0.0))
            axis *= np.array([1.0, np.sign(R[0, 1] + R[1, 0]), np.sign(R[0, 2] + R[2, 0])])
        named |= {f"{name}.q{letter}": value for letter, value in zip("wxyz", (w, *axis), strict=True)}
        named |= {f"{name}.{letter}": value for letter, value in zip("xyz", place, strict=True)}
    return eom.state(**named)
