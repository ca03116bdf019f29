"""Errors by each benchmark's own measure, from joint coordinates or from those of the bodies; and energies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spacectl import EquationsOfMotion, Simulation

from .references import (
    ANDREWS_END,
    GOVERNOR_REFERENCE,
    crank_motion,
    governor_lift,
    pendulum_place,
    relative_error,
)
from .systems import ANDREWS_START

__all__ = [
    "TORQUE",
    "andrews_angles",
    "andrews_balance",
    "andrews_error",
    "crank_error",
    "crank_turn",
    "energies",
    "energy_drift",
    "governor_error",
    "governor_height",
    "governor_reference_error",
    "no_drift",
    "pendulum_error",
    "pendulum_track",
]

TORQUE = 0.033  # [N m], of Andrews' motor
_CARRIERS = {  # joints of Andrews' mechanism: body, and the body that carries it
    "beta": ("k1", ""),
    "theta": ("k2", "k1"),
    "gamma": ("k3", ""),
    "delta": ("k5", ""),
    "phi": ("k4", "k5"),
    "epsilon": ("k7", ""),
    "omega": ("k6", "k7"),
}


def column(eom: EquationsOfMotion, sim: Simulation, name: str) -> np.ndarray:
    """Return one state over time."""
    return np.asarray(sim.x)[:, eom.states.index(name)]


def _turn(eom: EquationsOfMotion, sim: Simulation, body: str) -> np.ndarray:
    """Return the rotation about z since the start of a body that moves freely [rad]."""
    if not body:
        return np.zeros(len(sim.t))
    half = np.arctan2(column(eom, sim, f"{body}.qz"), column(eom, sim, f"{body}.qw"))
    turned = 2.0 * np.unwrap(half)
    return turned - turned[0]


def energies(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the energy over time [J], shape (n,)."""
    return np.asarray(eom.along("energy", sim.t, sim.x)).reshape(-1)


def energy_drift(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the largest deviation of the energy from its initial value [J]."""
    energy = energies(eom, sim)
    return float(np.max(np.abs(energy - energy[0])))


def no_drift(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return NaN, for systems that dissipate energy."""
    return 0.0


def pendulum_track(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the position of the mass [m], shape (n, 2)."""
    if "hinge" in eom.states:
        angle = np.pi + column(eom, sim, "hinge")
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if "bob.x" in eom.states:
        angle = np.pi + _turn(eom, sim, "bob")
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.stack([column(eom, sim, "point.x") - 1.0, column(eom, sim, "point.y")], axis=1)


def pendulum_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the error of the position of the mass."""
    return relative_error(pendulum_track(eom, sim), pendulum_place(np.asarray(sim.t)))


def crank_turn(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the angle of the first crank from the x axis [rad]."""
    turned = column(eom, sim, "a0") if "a0" in eom.states else _turn(eom, sim, "crank0")
    return np.pi / 2 + turned


def crank_error(windows: int) -> Callable[[EquationsOfMotion, Simulation], float]:
    """Return the error of position and velocity of B0, the end of the first crank."""

    def error(eom: EquationsOfMotion, sim: Simulation) -> float:
        rate = column(eom, sim, "a0_dot" if "a0_dot" in eom.states else "crank0.wz")
        found, expected = (crank_turn(eom, sim), rate), crank_motion(np.asarray(sim.t), windows)
        return relative_error(*(_end(angle, speed) for angle, speed in (found, expected)))

    return error


def _end(angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return position [m] and velocity [m/s] of the end of a crank, shape (n, 4)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c, s, -s * rate, c * rate], axis=1)


def andrews_angles(eom: EquationsOfMotion, sim: Simulation) -> dict[str, np.ndarray]:
    """Return the seven angles over time [rad]."""
    if "beta" in eom.states:
        return {name: column(eom, sim, name) for name in ANDREWS_END}
    return {
        name: ANDREWS_START[name] + _turn(eom, sim, body) - _turn(eom, sim, carrier)
        for name, (body, carrier) in _CARRIERS.items()
    }


def andrews_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the relative error of the seven angles at the end."""
    found = andrews_angles(eom, sim)
    return max(abs(float(found[name][-1]) / value - 1.0) for name, value in ANDREWS_END.items())


def andrews_balance(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the energy less the work of the motor [J]."""
    energy, beta = energies(eom, sim), andrews_angles(eom, sim)["beta"]
    return float(np.max(np.abs(energy - energy[0] - TORQUE * (beta - beta[0]))))


def governor_height(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the height of the slider [m]."""
    if "slider.z" in eom.states:
        return column(eom, sim, "slider.z")
    return 0.5 + column(eom, sim, "lift" if "lift" in eom.states else "lift.z")


def governor_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the error of the slider's height relative to the reduced equations."""
    return relative_error(governor_height(eom, sim), governor_lift(np.asarray(sim.t)))


def governor_reference_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the error of the slider's height relative to the library's reference at its 31 times [1]; it has six digits."""
    times = np.linspace(0.0, 3.0, len(GOVERNOR_REFERENCE))
    height = np.interp(times, np.asarray(sim.t), governor_height(eom, sim))
    return relative_error(height, np.array(GOVERNOR_REFERENCE))
