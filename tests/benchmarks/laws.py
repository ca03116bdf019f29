"""Closed loops with regulators and estimators: native against the same law in numpy with scipy, and against no law at all.

The peer integrates `eom.x_dot` (or, as a harder peer, the compiled plant) with scipy's DOP853 and calls the law as a Python
function of numpy arrays. The open loop has the same number of steps: both are limited to the same longest step at
tolerances that never bind.
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
from tests.benchmarks.attitude import add_attitude_filter
from tests.benchmarks.law_timing import LOOSE, Peer, time_against_open_loop, time_against_peer
from tests.benchmarks.measure import Effort
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import fixed_arm

__all__ = ["make_laws", "measure_laws"]

POSTURE = {"joint2": 0.7, "joint4": -1.2, "joint6": 0.7}  # [rad]
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}
MARKERS = (("payload", (0.3, 0.1, 0.0)), ("payload", (0.0, 0.2, 0.3)), ("link4", (0.2, 0.0, 0.1)))  # body, place [m]
AGREEMENT = 1e-3  # of two runs at 1e-6 over ten seconds, [rad] and [rad/s]
STEPS = (1000, 3000)  #: against the peer: a usual run, and one in which what a run costs once counts little
OPEN_STEPS = 5000  #: against the open loop

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
        *(Position(name=f"marker{k}", on=on, at=at) for k, (on, at) in enumerate(MARKERS)),
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
    laws = {
        "LQR": Loop(regulator, _regulated(eom, regulator), start),
        "LQR along a motion": Loop(along, _along(eom, along), start),
    }
    for name, used in (("hand and two attitudes", ("hand", "wrist", "elbow")), ("three markers", ("marker",))):
        measured = tuple(item for item in eom.labels.y.names if item.startswith(used))
        seen = linearize(eom, point, outputs=measured)
        y_point = dict(zip(eom.labels.y.names, eom.outputs(0.0, point, np.zeros(7)), strict=True))
        y_point = {item: y_point[item] for item in measured}
        estimator = design_kalman(seen, process=1.0, measurement=1e-4)
        lqg = design_lqg(design_lqr(seen, Q=weights, R=0.1), estimator, y_point=y_point)
        rate = _estimated(eom, lqg, np.array(list(y_point.values())))
        laws[f"LQG, {name}"] = Loop(lqg, rate, np.concatenate([start, np.zeros(14)]))
    return eom, start, laws


def measure_laws(effort: Effort) -> Section:
    """Every law of `make_laws`."""
    section = Section(
        "Regulators and estimators in the closed loop",
        f"Seven-joint arm, {effort.duration:g} s in equal steps of dop853, 201 recorded times. Peer: the same law as a Python "
        "function of numpy arrays with scipy's DOP853 on `eom.x_dot`, or on `eom.compiled()`, in the same steps. Goals: 50 "
        f"times faster than the first, at most twice the time of an open-loop run ({OPEN_STEPS} steps both).",
    )
    eom, x0, laws = make_laws()
    span, grid = (0.0, effort.duration), np.linspace(0.0, effort.duration, 201)
    options: dict[str, Any] = {"x0": x0, "t_span": span, "grid": grid}
    lengths, most = ((20,), 40) if effort.is_tiny else (STEPS, OPEN_STEPS)
    for name, loop in laws.items():
        one = simulate(eom, loop.law, **options, **TOLERANCE)
        two = solve_ivp(loop.rate, span, loop.start, "DOP853", grid, **TOLERANCE)
        apart = float(np.max(np.abs(one.x - two.y[:14].T)))
        section.figures.append(Figure(what=f"{name}: largest difference of the two", value=apart, goal=AGREEMENT))
        steps = lengths if name == "LQR" else lengths[:1]
        time_against_peer(
            section,
            name,
            eom,
            loop.law,
            options,
            _peer(loop.rate, loop.start, span, grid),
            effort,
            steps,
            peer_name="scipy",
        )
        many = {**options, "max_step": effort.duration / most, **LOOSE}
        time_against_open_loop(section, name, eom, loop.law, many, many, effort)
    quick = _regulated(eom, laws["LQR"].law, eom.compiled().x_dot)
    time_against_peer(
        section, "LQR", eom, laws["LQR"].law, options, _peer(quick, x0, span, grid), effort, lengths,
        peer_name="scipy, compiled plant", goal=None,
    )  # fmt: skip
    add_attitude_filter(section, effort)
    return section.finish()


def _peer(rate: Rate, start: np.ndarray, span: tuple[float, float], grid: np.ndarray) -> Peer:
    return lambda step: lambda: solve_ivp(rate, span, start, "DOP853", grid, max_step=step, **LOOSE)


def _regulated(eom: EquationsOfMotion, law: Any, compiled: Any = None) -> Rate:
    K, point = np.asarray(law.K), law.errors.point
    if compiled is not None:
        return lambda t, x: compiled(t, x, -K @ (x - point))
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
    rows = list(eom.labels.y.indices(law.measurements.names))

    def rate(t: float, s: np.ndarray) -> np.ndarray:
        x, z = s[:14], s[14:]
        y = np.asarray(sensors(t, x, p)).reshape(-1)[rows]
        u = -K @ z
        return np.concatenate([x_dot(t, x, u), A @ z + B @ u + L @ (y - y_point - C @ z)])

    return rate
