"""Systems whose right-hand side is piecewise linear, each with its exact motion from matrix exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from spacectl import Drive, JointForce, JointTorque, Part, Prismatic, Revolute, RigidBody, SpringDamper, System
from spacectl.controllers.regulators.pd import design_pd
from spacectl.dynamics.form import form_equations

INERTIA = (1.0, 1.0, 1.0)


def follow(pieces: Callable[[np.ndarray, int], int], rates: Any, x0: Any, end: float, *, panel: float) -> np.ndarray:
    """State at `end` of ``x_dot = A x + b`` with (A, b) of the mode that ``pieces(x, mode) -> mode`` returns.

    A mode is left at the first sign of change in panels of the given length, located to rounding.
    """
    x, t, mode = np.array(x0, dtype=float), 0.0, pieces(np.array(x0, dtype=float), 0)
    while t < end:
        A, b = rates[mode]
        big = np.block([[np.array(A), np.array(b)[:, None]], [np.zeros((1, x.size + 1))]])

        def at(h: float, begin: np.ndarray = x, big: np.ndarray = big) -> np.ndarray:
            return (expm(h * big) @ np.append(begin, 1.0))[:-1]

        h = min(panel, end - t)
        target = pieces(at(h), mode)
        if target != mode:
            h = brentq(lambda h: 0.5 - (pieces(at(h), mode) == mode), 0.0, h, xtol=1e-15, rtol=8.9e-16)  # noqa: B023
            target = pieces(at(h + 1e-15), mode)
        x, t, mode = at(h), t + h, target
    return x


def slider(element: SpringDamper) -> Any:
    """A mass of 1 kg on a slide, tied by an element to the world."""
    part = Part(RigidBody(name="b", mass=1.0, inertia=INERTIA), joint=Prismatic(name="slide", axis="x"))
    system = System(
        name="slider", parts=(part,), elements=(element,), actuators=(JointForce(joint="slide", name="push"),)
    )
    return form_equations(system)


def string() -> tuple[Any, None, dict[str, Any], np.ndarray]:
    """A mass thrown by a constant force into a string of 1 m: parabola and harmonic motion in turn."""
    k, push, end = 30.0, 1.0, 20.0
    eom = slider(SpringDamper(name="s", on_a="world", on_b="b", stiffness=k, length=1.0, tension_only=True))
    free, taut = ([[0, 1], [0, 0]], [0, push]), ([[0, 1], [-k, 0]], [0, push + k])
    exact = follow(lambda x, _: int(x[0] > 1.0), (free, taut), [0.3, 0.0], end, panel=0.02)
    return eom, None, {"x0": [0.3, 0.0], "u": [push], "t_span": (0.0, end)}, exact


def stops() -> tuple[Any, None, dict[str, Any], np.ndarray]:
    """A free mass between two stiff stops."""
    k, end = 400.0, 20.0
    eom = slider(
        SpringDamper(name="s", on_a="world", on_b="b", length=1.0, shortest=0.5, longest=1.5, stop_stiffness=k)
    )
    rates = [([[0, 1], [-k if at else 0, 0]], [0, k * at]) for at in (0.0, 1.5, 0.5)]
    exact = follow(lambda x, _: 1 if x[0] > 1.5 else 2 if x[0] < 0.5 else 0, rates, [1.0, 0.4], end, panel=0.01)
    return eom, None, {"x0": [1.0, 0.4], "t_span": (0.0, end)}, exact


def backlash(damping: float = 0.0) -> tuple[Any, None, dict[str, Any], np.ndarray]:
    """A motor that swings against its load through a gap; with damping the torque jumps where the gap closes."""
    k, load, motor, gap, end = 50.0, 2.0, 0.5, 0.1, 20.0
    part = Part(RigidBody(name="b", mass=1.0, inertia=(load,) * 3), joint=Revolute(name="j", axis="z"))
    drive = Drive(joint="j", rotor_inertia=motor, stiffness=k, damping=damping, backlash=gap)
    actuator = JointTorque(joint="j.motor", name="torque")
    eom = form_equations(System(name="geared", parts=(part,), elements=(drive,), actuators=(actuator,)))
    rates = []
    for side in (0.0, 1.0, -1.0):  # free; motor ahead; load ahead: torque = k (d - side gap / 2) + damping d_dot
        on = abs(side)
        gain = np.array([-k, k, -damping, damping]) * on
        A = np.vstack([[0, 0, 1, 0], [0, 0, 0, 1], gain / load, -gain / motor])
        shift = -k * side * gap / 2
        rates.append((A, [0, 0, shift / load, -shift / motor]))

    def side_of(x: np.ndarray, _: int) -> int:
        d = x[1] - x[0]
        return 1 if d > gap / 2 else 2 if d < -gap / 2 else 0

    x0 = [0.0, 0.0, 0.0, 1.0]
    return eom, None, {"x0": x0, "t_span": (0.0, end)}, follow(side_of, rates, x0, end, panel=0.01)


def limited(limit: float = 1.0) -> tuple[Any, Any, dict[str, Any], np.ndarray]:
    """A continuous PD law whose torque reaches its limit."""
    kp, kd, end = 9.0, 0.6, 12.0
    part = Part(RigidBody(name="b", mass=1.0, inertia=INERTIA), joint=Revolute(name="j", axis="z"))
    eom = form_equations(
        System(name="limited", parts=(part,), actuators=(JointTorque(joint="j", name="torque", limit=limit),))
    )
    law = design_pd(eom, kp=kp, kd=kd)
    double = [[0, 1], [0, 0]]
    rates = [([[0, 1], [-kp, -kd]], [0, 0]), (double, [0, limit]), (double, [0, -limit])]

    def side_of(x: np.ndarray, _: int) -> int:
        u = -kp * x[0] - kd * x[1]
        return 1 if u > limit else 2 if u < -limit else 0

    x0 = [1.0, 0.0]
    return eom, law, {"x0": x0, "t_span": (0.0, end)}, follow(side_of, rates, x0, end, panel=0.01)


SYSTEMS: dict[str, Callable[[], tuple[Any, Any, dict[str, Any], np.ndarray]]] = {
    "string": string,
    "stops": stops,
    "backlash": backlash,
    "damped backlash": lambda: backlash(damping=1.0),
    "limited": limited,
}
