"""The attitude filter with its regulator, sampled, in the closed loop of a free body: a part of the benchmark of laws."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl import ControlLaw, EquationsOfMotion, design_attitude_filter, design_lqr, linearize, simulate
from tests.benchmarks.law_timing import FASTER, PEER_REPETITIONS, time_against_open_loop
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.controllers.plants import measured_body

__all__ = ["add_attitude_filter"]

NAME = "attitude filter, sampled"
PERIOD = 0.5  # [s]
ATTITUDE = ("base.rx", "base.ry", "base.rz", "base.wx", "base.wy", "base.wz")
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}
AGREEMENT = 1e-9  # of two runs in nearly the same steps


def add_attitude_filter(section: Section, effort: Effort) -> None:
    """Against the law's function called from Python with scipy from sample to sample, and against no law."""
    eom = measured_body()
    law = _law(eom)
    end = PERIOD * (20 if effort.is_tiny else 400)
    options: dict[str, Any] = {"x0": _start(eom), "t_span": (0.0, end), "grid": 201, "method": "rk45", **TOLERANCE}
    peer = _peer(eom, law, round(end / PERIOD))
    apart = float(np.max(np.abs(simulate(eom, law, **options).x[-1] - peer())))
    section.figures.append(Figure(what=f"{NAME}: difference of the two at the end", value=apart, goal=AGREEMENT))
    few = replace(effort, repetitions=min(effort.repetitions, PEER_REPETITIONS))
    times = interleave({"simulate": lambda: simulate(eom, law, **options), "scipy": peer}, few, time.process_time)
    section.add(f"{NAME}, {round(end / PERIOD)} samples", times["simulate"], times["scipy"], FASTER)
    opened = {**options, "stops": PERIOD * np.arange(1, round(end / PERIOD))}
    time_against_open_loop(section, NAME, eom, law, options, opened, effort)


def _law(eom: EquationsOfMotion) -> ControlLaw:
    weights = dict(zip(ATTITUDE, [1.0, 1.0, 1.0, 50.0, 50.0, 50.0], strict=True))
    regulator = design_lqr(linearize(eom, eom.state()), Q=weights, R=0.01, reduction=ATTITUDE, period=PERIOD)
    return design_attitude_filter(
        regulator, joint="base", gyro=("gyro.wx", "gyro.wy", "gyro.wz"), attitude=("star.s1", "star.s2", "star.s3"),
        gyro_noise=2e-4, bias_noise=1e-6, attitude_noise=2e-3, attitude_deviation=0.1, bias_deviation=1e-3,
    )  # fmt: skip


def _start(eom: EquationsOfMotion) -> np.ndarray:
    return eom.state(**{"base.qx": 0.2, "base.qy": -0.1, "base.wz": 0.01})


def _peer(eom: EquationsOfMotion, law: ControlLaw, count: int) -> Callable[[], np.ndarray]:
    p, x_dot, x0 = np.asarray(law.p), eom.compiled().x_dot, _start(eom)
    rows = list(eom.labels.y.indices(law.measurements.names))
    places, none = list(eom.labels.u.indices(law.inputs.names)), np.zeros(eom.n_u)
    low, high = eom.limits()

    def run() -> np.ndarray:
        x, z, held = x0, np.asarray(law.z0), np.zeros(eom.n_u)
        for k in range(count):
            y = eom.outputs(k * PERIOD, x, none)[rows]
            u, _, z_next = law.function(k * PERIOD, x, y, z, [], p)
            held[places], z = np.asarray(u).reshape(-1), np.asarray(z_next).reshape(-1)
            applied = np.clip(held, low, high)
            rule = lambda t, s, u=applied: x_dot(t, s, u)  # noqa: E731
            x = solve_ivp(rule, (0.0, PERIOD), x, method="RK45", first_step=PERIOD, **TOLERANCE).y[:, -1]
            x[:4] /= np.linalg.norm(x[:4])
        return x

    return run
