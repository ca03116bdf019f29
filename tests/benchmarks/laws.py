"""Closed loops with regulators and estimators: native against the same law in numpy with scipy, and against no law at all.

The peer integrates the compiled right side with scipy's DOP853 and calls the law as a Python function of numpy arrays. The
open loop has the same number of steps: both are limited to the same longest step at tolerances that never bind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl import (
    Attitude,
    ControlLaw,
    EquationsOfMotion,
    LqgLaw,
    LqrLaw,
    LqrTrajectoryLaw,
    Position,
    design_kalman,
    design_lqg,
    design_lqr,
    design_lqr_along,
    form_equations,
    linearize,
    linearize_along,
    simulate,
)
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import fixed_arm

__all__ = ["make_laws", "measure_laws"]

POSTURE = {"joint2": 0.7, "joint4": -1.2, "joint6": 0.7}  # [rad]
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}
AGREEMENT = 1e-3  # of two runs at 1e-6 over ten seconds, [rad] and [rad/s]
LOOSE: dict[str, Any] = {"rtol": 1e-2, "atol": 1e3}
STEPS = (3000, 5000)  #: against the peer, against the open loop

Rate = Callable[[float, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Loop:
    """A law, its closed loop in numpy (of states and memory), and where it starts."""

    law: ControlLaw
    rate: Rate
    start: np.ndarray


def make_laws() -> tuple[EquationsOfMotion, np.ndarray, dict[str, Loop]]:
    """The seven-joint arm with sensors at its hand, its start, and laws that hold a posture."""
    sensors = (
        Position(name="hand", on="payload"),
        Attitude(name="wrist", on="payload"),
        Attitude(name="elbow", on="link3"),
    )
    eom = form_equations(replace(fixed_arm(), sensors=sensors))
    point = eom.state(**POSTURE)
    start = point + np.concatenate([0.05 * np.cos(np.arange(7)), np.zeros(7)])
    model = linearize(eom, point)
    weights = {name: 100.0 for name in eom.coordinates}
    regulator = design_lqr(model, Q=weights, R=0.1)
    grid = np.linspace(0.0, 10.0, 21)
    motion = linearize_along(eom, (grid, np.tile(point, (21, 1)), np.zeros((21, 7))))
    along = design_lqr_along(motion, Q=weights, R=0.1, terminal=0.0, rtol=1e-5)
    estimator = design_kalman(model, process=1.0, measurement=1e-4)
    y_point = eom.outputs(0.0, point, np.zeros(7))
    lqg = design_lqg(regulator, estimator, y_point=y_point)
    return (
        eom,
        start,
        {
            "LQR": Loop(regulator, _regulated(eom, regulator), start),
            "LQR along a motion": Loop(along, _along(eom, along), start),
            "LQG": Loop(lqg, _estimated(eom, lqg, y_point), np.concatenate([start, np.zeros(14)])),
        },
    )


def measure_laws(effort: Effort) -> Section:
    """Every law of `make_laws`."""
    section = Section(
        "Regulators and estimators in the closed loop",
        f"Seven-joint arm, {effort.duration:g} s in {STEPS[0]} equal steps of dop853, 201 recorded times. Peer: the same law as "
        "a Python function of numpy arrays with scipy's DOP853 on the compiled right side, in the same steps. Goals: 50 times "
        f"quicker than the peer, at most twice the time of an open-loop run ({STEPS[1]} steps both).",
    )
    eom, x0, laws = make_laws()
    span, grid = (0.0, effort.duration), np.linspace(0.0, effort.duration, 201)
    for name, loop in laws.items():
        ours: dict[str, Any] = {"eom": eom, "law": loop.law, "x0": x0, "span": span, "simulate": simulate, "grid": grid}
        peer = {"solve": solve_ivp, "rate": loop.rate, "start": loop.start, "span": span, "grid": grid}
        one = simulate(eom, loop.law, x0=x0, t_span=span, grid=grid, **TOLERANCE)
        two = solve_ivp(loop.rate, span, loop.start, "DOP853", grid, **TOLERANCE)
        apart = float(np.max(np.abs(one.x - two.y[:14].T)))
        section.figures.append(Figure(what=f"{name}: largest difference of the two", value=apart, goal=AGREEMENT))
        few, many = (
            {"max_step": effort.duration / count, **LOOSE} for count in ((20, 40) if effort.is_tiny else STEPS)
        )
        counts = [
            simulate(eom, law, x0=x0, t_span=span, grid=grid, **many).outcome.stats["n_steps"]
            for law in (loop.law, None)
        ]
        what = f"{name}: steps of the closed loop over those of the open loop"
        section.figures.append(Figure(what=what, value=counts[0] / counts[1], goal=1.1))
        run = "simulate(eom, law, x0=x0, t_span=span, grid=grid, **steps)"
        times = interleave(
            {
                "simulate": (run, {**ours, "steps": few}),
                "solve_ivp DOP853": ("solve(rate, span, start, 'DOP853', grid, **steps)", {**peer, "steps": few}),
                "closed loop": (run, {**ours, "steps": many}),
                "open loop": (run, {**ours, "law": None, "steps": many}),
            },
            effort,
        )
        section.add(name, times["simulate"], times["solve_ivp DOP853"], 50.0)
        ratio = float(np.median(times["closed loop"].seconds / times["open loop"].seconds))
        what = f"{name}: time of the closed loop over that of the open loop"
        section.figures.append(Figure(what=what, value=ratio, goal=2.0, is_timed=True))
    return section.finish()


def _regulated(eom: EquationsOfMotion, law: LqrLaw) -> Rate:
    K, point = np.asarray(law.K), law.errors.point
    x_dot = eom.x_dot
    return lambda t, x: x_dot(t, x, -K @ (x - point))


def _along(eom: EquationsOfMotion, law: LqrTrajectoryLaw) -> Rate:
    table: Any = law.reference
    x_dot = eom.x_dot

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        r = table(t)
        return x_dot(t, x, r[98:105] - r[:98].reshape(7, 14) @ (x - r[105:]))

    return rate


def _estimated(eom: EquationsOfMotion, law: LqgLaw, y_point: np.ndarray) -> Rate:
    model, L, K = law.estimator.model, np.asarray(law.estimator.L), np.asarray(law.regulator.K)
    A, B, C = np.asarray(model.A), np.asarray(model.B), np.asarray(model.C)
    sensors, p, x_dot = eom.functions["sensors"], eom.p, eom.x_dot

    def rate(t: float, s: np.ndarray) -> np.ndarray:
        x, z = s[:14], s[14:]
        y = np.asarray(sensors(t, x, p)).reshape(-1)
        u = -K @ z
        return np.concatenate([x_dot(t, x, u), A @ z + B @ u + L @ (y - y_point - C @ z)])

    return rate
