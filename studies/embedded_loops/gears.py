"""A geared rotor: exact model, and the usual model with 'ratio squared times inertia on the diagonal'."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    EquationsOfMotion,
    Fixed,
    Simulation,
    System,
    design_pd,
    form_equations,
    library,
    simulate,
)

__all__ = ["arm", "diagonal_arm", "follow", "push", "reach", "reference_angle"]

_STILL = (0.0, 0.0, 0.0)


def arm(ratio: float) -> System:
    """Return a plane arm of two links in free space on a free shoulder; the elbow's motor sits on the first link."""
    system = library.geared_chain(2, ratio=ratio, twist=0.0, gravity=_STILL)
    parts = tuple(part for part in system.parts if part.name != "rotor0")
    return replace(system, parts=parts, actuators=system.actuators[1:], constraints=system.constraints[1:])


def diagonal_arm(ratio: float) -> System:
    """Return the same arm with the elbow's rotor spinning relative to the world: its inertia acts at its own joint only.

    Its mass stays on the first link, in a body that does not spin.
    """
    system = arm(ratio)
    parts = []
    for part in system.parts:
        if part.name == "rotor1":
            still = replace(part.body, name="stator", inertia=(2e-4, 2e-4, 1e-9))
            parts.append(replace(part, body=still, joint=Fixed(name="seat")))
            parts.append(replace(part, on="world", at=_STILL))
        else:
            parts.append(part)
    return replace(system, name="diagonal arm", parts=tuple(parts))


def push(system: System, torque: float, duration: float, tier: str) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a torque of the elbow's motor in both directions, from rest; return times and angles of the free shoulder."""
    eom, middle = form_equations(system), 0.5 * duration
    times = np.linspace(0.0, duration, 101)
    first = simulate(eom, u=[torque], x0=eom.state(), t_span=(0.0, middle), grid=times[:51], tier=tier)
    second = simulate(eom, u=[-torque], x0=first.x[-1], t_span=(middle, duration), grid=times[50:], tier=tier)
    return times, np.concatenate([first["joint0"], second["joint0"][1:]])


def reach(ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations of shoulder and elbow for a unit torque at the elbow (1 / ratio at its motor): exact, diagonal."""
    found = []
    for system in (arm(ratio), diagonal_arm(ratio)):
        eom = form_equations(system)
        x = eom.state(joint1=0.6, motor1=0.6 * ratio)
        v_dot = eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], [1.0 / ratio])
        found.append([v_dot[eom.speeds.index(name)] for name in ("joint0_dot", "joint1_dot")])
    return np.array(found[0]), np.array(found[1])


def follow(n: int, ratio: float, duration: float, tier: str) -> tuple[EquationsOfMotion, Simulation]:
    """Simulate a geared chain under gravity that tracks sines by PD control of its motors, in native code (`tier`)."""
    eom = form_equations(library.geared_chain(n, ratio=ratio), formulation="embedded")

    def reference(s: Any) -> list[Any]:
        return [0.3 * ratio * (1.0 - ca.cos((2.0 + 0.2 * k) * s.t)) for k in range(n)]

    law = design_pd(eom, kp=6.0, kd=0.4, reference=reference)
    return eom, simulate(eom, law, x0=eom.state(), t_span=(0.0, duration), grid=201, tier=tier)


def reference_angle(t: np.ndarray, k: int) -> np.ndarray:
    """Return the reference sine of joint k."""
    return 0.3 * (1.0 - np.cos((2.0 + 0.2 * k) * t))
