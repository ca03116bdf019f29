"""LQR laws with the weights of Sadigh (1995), section 6.3.2, poles, and the domain of attraction of the nonlinear loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    LinearModel,
    LqrLaw,
    OperatingPoint,
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


H = np.diag([1.0, 5.0, 10.0, 1.0])  # weights of pitch, shoulder, elbow, tether angle (absolute)
R = np.array([0.1, 1.0, 1.0])  # weights of the torques on spacecraft, shoulder, elbow


@dataclass(frozen=True)
class Station:
    """The system at one tether length: orbital rate [rad/s], equations, fixed point, linear model."""

    length: float
    rate: float
    eom: EquationsOfMotion
    point: OperatingPoint
    model: LinearModel

    def start(self, swing: float) -> np.ndarray:
        """Return the state at rest at the fixed point, except for the tether's angle."""
        return self.eom.state(**Orbiter.coordinates(np.array(Orbiter.FIXED_POINT) + [0.0, 0.0, 0.0, swing]))


def form_station(data: Orbiter, length: float) -> Station:
    """Form the system with trim torques by `find_operating_point`: the tether pulls beside the spacecraft's centre of mass."""
    eom = form_equations(data.system(length))
    point = find_operating_point(eom, q=Orbiter.coordinates(Orbiter.FIXED_POINT))
    return Station(length, data.rate, eom, point, linearize(eom, point))


def design_station(station: Station, k: float, *, period: float = 0.0, has_integral: bool = False) -> LqrLaw:
    """Design an LQR with the weights of Sadigh (1995): Q = (k M for the speeds, H for pitch, joints and absolute tether angle).

    Integral action (not in the thesis) weights the integrals of pitch, shoulder and elbow by H times the orbital rate squared.
    """
    M = station.eom.mass_matrix(0.0, np.asarray(station.point.x)[: station.eom.n_q])
    Q = np.zeros((8, 8))
    Q[:4, :4], Q[4:, 4:] = np.asarray(Orbiter.ABSOLUTE).T @ H @ np.asarray(Orbiter.ABSOLUTE), k * M
    integral = {name: H[i, i] * station.rate**2 for i, name in enumerate(Orbiter.JOINTS[:3])} if has_integral else None
    return design_lqr(station.model, Q=Q, R=R, integral=integral, period=period, name=f"LQR, k = {k:g}")


def pairs(poles: Any) -> list[list[float]]:
    """Return sorted pairs (re, im)."""
    return [[float(pole.real), float(pole.imag)] for pole in sorted(poles, key=lambda s: (-s.real, s.imag))]


def locked_poles(data: Orbiter, length: float) -> np.ndarray:
    """Return the poles of pitch and tether with the arm's joints welded."""
    eom = form_equations(data.system(length, is_locked=True))
    x = Orbiter.coordinates(Orbiter.FIXED_POINT)
    point = find_operating_point(eom, q={"pitch": x["pitch"], "swing": x["swing"]})
    return np.linalg.eigvals(np.asarray(linearize(eom, point).A))


def fly(station: Station, law: Any, swing: float, *, end: float, grid: int = 1001, rtol: float = 1e-9) -> Simulation:
    """Simulate the nonlinear closed loop."""
    return simulate(
        station.eom, law, x0=station.start(swing), t_span=(0.0, end), grid=grid, rtol=rtol, atol=1e-2 * rtol,
        max_steps=100_000, check=False,
    )  # fmt: skip


def decay(sim: Simulation, rate: float) -> float:
    """Return the largest tether swing in the last orbit over that of the first."""
    swing = np.abs(Orbiter.libration(sim.x))
    orbit = 2.0 * np.pi / rate
    return float(np.max(swing[sim.t > sim.t[-1] - orbit]) / np.max(swing[sim.t < orbit]))


def find_reach(station: Station, law: LqrLaw, rate: float, *, steps: int) -> float:
    """Return the largest initial swing (by bisection) from which tether and arm return: the size of the domain of attraction."""
    end = 6.0 * 2.0 * np.pi / rate
    goal = np.asarray(station.point.x)[:4]

    def returns(swing: float) -> bool:
        sim = fly(station, law, swing, end=end, grid=301, rtol=1e-8)
        if not sim.outcome.is_success:
            return False
        off = np.max(np.abs(np.asarray(sim.x)[:, :4] - goal), axis=1)
        # compare the last orbit with the first; there is no other equilibrium within 0.1 rad
        return bool(np.max(off[-50:]) < min(0.5 * np.max(off[:50]), 0.1))

    low, high = 0.0, 1e-3
    while high < 1.5 and returns(high):
        low, high = high, 2.0 * high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if returns(middle) else (low, middle)
    return low


def off_by(data: Orbiter, length: float, factors: tuple[float, ...]) -> Station:
    """Return the system with the satellite's mass, the orbiter's inertia and the length multiplied by factors."""
    mass, inertia, longer = factors
    first, second, third = (inertia * item for item in data.orbiter_inertia)
    changed = replace(data, satellite_mass=mass * data.satellite_mass, orbiter_inertia=(first, second, third))
    return form_station(changed, longer * length)


def try_wrong_numbers(data: Orbiter, station: Station, k: float, error: float, *, quick: bool) -> dict[str, float]:
    """Apply the law (gain and trim) to linear models of systems that differ from the design model.

    Return the slowest pole, the offset due to the wrong trim, and the slowest pole with integral action, which
    removes the offset of pitch and joints.
    """
    law, better = design_station(station, k), design_station(station, k, has_integral=True)
    C = np.zeros((len(better.memory), 8))
    for row, name in enumerate(better.memory.names):
        C[row, Orbiter.JOINTS.index(name.removeprefix("integral."))] = 1.0
    slowest, rest, integral = [], [], []
    corners = [(1.0 + error,) * 3] if quick else list(product((1.0 - error, 1.0 + error), repeat=3))
    for factors in corners:
        true = off_by(data, station.length, factors)
        A, B = np.asarray(true.model.A), np.asarray(true.model.B)
        closed = A - B @ np.asarray(law.K)
        slowest.append(np.max(np.linalg.eigvals(closed).real))
        push = B @ (np.asarray(station.point.u) - np.asarray(true.point.u))
        rest.append(np.max(np.abs(np.linalg.solve(closed, -push)[:3])))
        top = np.hstack([A - B @ np.asarray(better.K), -B @ np.asarray(better.K_integral)])
        whole = np.vstack([top, np.hstack([C, np.zeros((len(C), len(C)))])])
        integral.append(np.max(np.linalg.eigvals(whole).real))
    return {
        "slowest_pole": float(np.max(slowest)),
        "rest_offset": float(np.max(rest)),
        "slowest_pole_integral": float(np.max(integral)),
    }


def fly_wrong(
    data: Orbiter, station: Station, k: float, error: float, swing: float, *, end: float
) -> dict[str, Simulation]:
    """Simulate the nonlinear loops with a heavier satellite and a longer tether, without and with integral action."""
    true = off_by(data, station.length, (1.0 + error, 1.0, 1.0 + error))
    return {
        name: fly(true, design_station(station, k, has_integral=has_integral), swing, end=end)
        for name, has_integral in (("plain", False), ("integral", True))
    }


def run_noisy(
    station: Station, k: float, *, period: float, angle: float, rate: float, seed: int, end: float
) -> Simulation:
    """Simulate a sampled law that reads noisy angles and rates, from the fixed point."""
    law = design_station(station, k, period=period)
    deviations = {name: angle for name in Orbiter.JOINTS} | {f"{name}_dot": rate for name in Orbiter.JOINTS}
    noisy = add_noise(law, deviations, seed=seed, on="states")
    return simulate(
        station.eom, noisy, x0=station.start(0.0), t_span=(0.0, end), grid=1001, method="rk45", rtol=1e-7, atol=1e-9
    )
