"""Retrieval in steps: reeling with modified feedback linearisation, station keeping with LQR between the steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    EquationsOfMotion,
    ModifiedFeedbackLinearization,
    Simulation,
    add_noise,
    design_lqr,
    find_operating_point,
    form_equations,
    library,
    linearize,
    simulate,
)

Orbiter = library.TetherOrbiter


H = np.diag([1.0, 5.0, 10.0, 1.0])  # as in tether_stationkeeping
R = np.array([0.1, 1.0, 1.0])
K_WEIGHT = 25.0


@dataclass(frozen=True)
class Reeling:
    """Lengths [m] at both ends and the profile between them: exponential or at a constant rate, in the same time."""

    start: float
    end: float
    rate: float  # [1], |L_dot| / (orbital rate L) of the exponential profile
    kind: str = "exponential"

    def duration(self, orbit_rate: float) -> float:
        """[s]"""
        return abs(float(np.log(self.end / self.start))) / (self.rate * orbit_rate)

    def length(self, orbit_rate: float, t: Any) -> Any:
        """Return the length at time t from the beginning, for numbers or symbols."""
        if self.kind == "constant":
            return self.start + (self.end - self.start) * t / self.duration(orbit_rate)
        sign = 1.0 if self.end > self.start else -1.0
        exp = ca.exp if isinstance(t, ca.SX) else np.exp
        return self.start * exp(sign * self.rate * orbit_rate * t)

    def profile(self, orbit_rate: float) -> Callable[[Any], Any]:
        """Return the length as a function for a tether."""
        return lambda s: self.length(orbit_rate, s.t)


@dataclass(frozen=True)
class Flight:
    """Histories of all phases: time [s], length [m], angles (4), torques (3), and starts of station keeping."""

    t: np.ndarray
    length: np.ndarray
    angles: np.ndarray
    torques: np.ndarray
    stations: tuple[tuple[float, float], ...]
    is_complete: bool

    @property
    def largest(self) -> float:
        """Largest libration [rad]."""
        return float(np.max(np.abs(self.tether)))

    @property
    def final(self) -> float:
        """Largest libration in the last tenth of the last station keeping [rad]."""
        begin, end = self.stations[-1]
        return float(np.max(np.abs(self.tether[self.t > end - 0.1 * (end - begin)])))

    @property
    def jump(self) -> float:
        """Largest jump of a torque at a start of station keeping [N m]."""
        jumps = [0.0]
        for begin, _ in self.stations:
            at = int(np.searchsorted(self.t, begin - 1e-6))  # last record of the reeling; the next is the same time
            jumps.append(float(np.max(np.abs(self.torques[at + 1] - self.torques[at]))))
        return max(jumps)

    @property
    def arm(self) -> float:
        """Largest motion of pitch, shoulder and elbow [rad]."""
        return float(np.max(np.abs(self.angles[:, :3] - np.array(Orbiter.FIXED_POINT[:3]))))

    @property
    def tether(self) -> np.ndarray:
        """Angle of the tether from the downward vertical [rad]."""
        return self.angles[:, 3] - Orbiter.FIXED_POINT[3]


def start_state(eom: EquationsOfMotion, swing: float) -> np.ndarray:
    """Return the state at rest at the fixed point, except for the tether's angle."""
    return eom.state(**Orbiter.coordinates(np.array(Orbiter.FIXED_POINT) + [0.0, 0.0, 0.0, swing]))


@cache
def reel(data: Orbiter, reeling: Reeling) -> EquationsOfMotion:
    """Form the equations with the length a function of time."""
    return form_equations(data.system(reeling.profile(data.rate)))


@cache
def station(data: Orbiter, length: float) -> tuple[EquationsOfMotion, Any]:
    """Return the equations and the LQR law at a constant length."""
    eom = form_equations(data.system(length))
    point = find_operating_point(eom, q=Orbiter.coordinates(Orbiter.FIXED_POINT))
    Q = np.zeros((8, 8))
    Q[:4, :4] = np.asarray(Orbiter.ABSOLUTE).T @ H @ np.asarray(Orbiter.ABSOLUTE)
    Q[4:, 4:] = K_WEIGHT * eom.mass_matrix(0.0, np.asarray(point.x)[: eom.n_q])
    return eom, design_lqr(linearize(eom, point), Q=Q, R=R, name="station keeping")


def retrieval_law(
    eom: EquationsOfMotion, frequency: float, weight: Any = "inverse mass", period: float = 0.0
) -> ModifiedFeedbackLinearization:
    """Design the law of Sadigh (1995), Eqs 6.11-6.15, about the fixed point, critically damped."""
    return ModifiedFeedbackLinearization(
        eom,
        frequency=frequency,
        damping=1.0,
        reference=Orbiter.coordinates(Orbiter.FIXED_POINT),
        weight=weight,
        period=period,
    )


def fly_steps(
    data: Orbiter,
    reeling: Reeling,
    *,
    steps: int,
    swing: float,
    frequency: float,
    rest: float,
    assumed: Orbiter | None = None,
    noise: dict[str, float] | None = None,
    period: float = 0.0,
) -> Flight:
    """Reel in `steps` pieces of equal time, each followed by station keeping; `rest` [s] is its total time.

    Laws are designed for the model `assumed`, by default the true one; with `noise` the reeling law is sampled and noisy.
    """
    eom = reel(data, reeling)
    model = data if assumed is None else assumed
    law: Any = retrieval_law(eom if assumed is None else reel(model, reeling), frequency, period=period)
    if noise is not None:
        law = add_noise(law, noise, seed=1, on="states")
    total = reeling.duration(data.rate)
    x, clock = start_state(eom, swing), 0.0
    pieces: list[tuple[np.ndarray, np.ndarray, Simulation]] = []
    stations = []
    options: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10, "max_steps": 100_000, "check": False}
    for k in range(steps):
        span = (total * k / steps, total * (k + 1) / steps)
        sim = simulate(eom, law, x0=x, t_span=span, grid=301, **options)
        pieces.append((clock + sim.t - span[0], np.asarray(reeling.length(data.rate, sim.t)), sim))
        clock, x = clock + span[1] - span[0], np.array(sim.x[-1])
        length = float(reeling.length(data.rate, span[1]))
        if not sim.outcome.is_success:
            break
        held, _ = station(data, length)
        sim = simulate(held, station(model, length)[1], x0=x, t_span=(0.0, rest / steps), grid=301, **options)
        pieces.append((clock + sim.t, np.full(sim.t.size, length), sim))
        stations.append((clock, clock + rest / steps))
        clock, x = clock + rest / steps, np.array(sim.x[-1])
        if not sim.outcome.is_success:
            break
    return Flight(
        t=np.concatenate([piece[0] for piece in pieces]),
        length=np.concatenate([piece[1] for piece in pieces]),
        angles=np.concatenate([Orbiter.absolute_angles(piece[2].x) for piece in pieces]),
        torques=np.concatenate([np.asarray(piece[2].u) for piece in pieces]),
        stations=tuple(stations),
        is_complete=len(pieces) == 2 * steps and all(piece[2].outcome.is_success for piece in pieces),
    )


def scale_masses(data: Orbiter, factor: float) -> Orbiter:
    """Return the model with the masses of satellite and orbiter multiplied by a factor."""
    first, second, third = (factor * item for item in data.orbiter_inertia)
    return replace(data, satellite_mass=factor * data.satellite_mass, orbiter_inertia=(first, second, third))
