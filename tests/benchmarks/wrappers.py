"""Closed loops with each wrapper: native against the same law as a Python callable in scipy, and against no law at all.

The peer is what most people write: the law in numpy with its memory, and scipy's integrator from sample to sample (or with
the memory in the state) on the compiled right-hand side. The open loop has the same number of steps: it is stopped at the
times of the samples, or limited to the step that the closed loop took on average.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl import (
    Accessor,
    ControlLaw,
    EquationsOfMotion,
    add_dead_zone,
    add_delay,
    add_low_pass,
    add_noise,
    add_notch,
    form_equations,
    library,
    limit_rate,
    make_law,
    prevent_windup,
    quantize,
    saturate,
    simulate,
)
from tests.benchmarks.law_timing import FASTER, PEER_REPETITIONS, time_against_open_loop
from tests.benchmarks.measure import Candidate, Effort, Timing, interleave
from tests.benchmarks.report import Figure, Section

__all__ = ["CONTINUOUS", "SAMPLED", "measure_wrappers"]

PERIOD = 0.01  # [s]
START = {"joint1": 0.4, "joint2": -0.3}
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6, "method": "rk45"}
AGREEMENT = 1e-4  # of two runs at 1e-6 over some hundred samples

Wrap = Callable[[ControlLaw], ControlLaw]
SAMPLED: dict[str, Wrap] = {
    "bare": lambda law: law,
    "saturate": lambda law: saturate(law, 0.5),
    "dead zone": lambda law: add_dead_zone(law, 0.02),
    "quantize": lambda law: quantize(law, 0.01),
    "rate limit": lambda law: limit_rate(law, 5.0),
    "delay of 3": lambda law: add_delay(law, 3 * PERIOD),
    "low-pass": lambda law: add_low_pass(law, 80.0),
    "notch": lambda law: add_notch(law, 40.0),
    "noise": lambda law: add_noise(law, 0.001, seed=1, on="inputs"),
    "anti-windup": lambda law: prevent_windup(law, 0.5),
}
CONTINUOUS: dict[str, Wrap] = {
    "bare": lambda law: law,
    "saturate": lambda law: saturate(law, 0.5),
    "dead zone": lambda law: add_dead_zone(law, 0.02),
    "rate limit": lambda law: limit_rate(law, 5.0, bandwidth=100.0),
    "delay, order 3": lambda law: add_delay(law, 3 * PERIOD),
    "low-pass": lambda law: add_low_pass(law, 80.0),
    "notch": lambda law: add_notch(law, 40.0),
    "anti-windup": lambda law: prevent_windup(law, 0.5, rate=5.0),
}


def measure_wrappers(effort: Effort) -> Section:
    """Every wrapper around a PID law of a two-link arm, sampled and continuous."""
    section = Section(
        "Wrappers in the closed loop",
        f"Two-link arm, PD law with integrals, {effort.duration:g} s, rk45 at 1e-6, 201 recorded times; sampled at "
        f"{1 / PERIOD:g} Hz, or continuous. Peer: the same law as a Python function with scipy's RK45. Goals: 50 times "
        "faster than the peer, at most twice the time of an open-loop run with as many steps.",
    )
    eom = form_equations(library.planar_arm())
    for period, wrappers in ((PERIOD, SAMPLED), (0.0, CONTINUOUS)):
        for name, wrap in wrappers.items():
            label = f"{name}, {'sampled' if period else 'continuous'}"
            _measure(section, eom, label, wrap(_law(eom, period)), effort)
    return section.finish()


def _law(eom: EquationsOfMotion, period: float) -> ControlLaw:
    """PD with integrals of both angles."""

    def rule(s: Accessor) -> tuple[Any, Any]:
        u = -3.0 * s.x[:2] - 2.0 * s.x[2:] - 0.2 * s.z
        return u, (s.z + period * s.x[:2] if period else s.x[:2])

    memory = {"integral.joint1": 0.0, "integral.joint2": 0.0}
    return make_law(rule, name="PID", states=eom.labels.x, inputs=eom.labels.u, memory=memory, period=period)


def _measure(section: Section, eom: EquationsOfMotion, name: str, law: ControlLaw, effort: Effort) -> None:
    grid = np.linspace(0.0, effort.duration, 201)
    options: dict[str, Any] = {"x0": START, "t_span": (0.0, effort.duration), "grid": grid, **TOLERANCE}
    closed = simulate(eom, law, **options)
    steps = closed.outcome.stats["n_steps"]
    if law.is_sampled:
        same: dict[str, Any] = {"stops": PERIOD * np.arange(1, round(effort.duration / PERIOD))}
    else:
        same = {"max_step": effort.duration / steps}
    # every period costs a sampled peer the same, so that a second of it can be scaled; steps of a continuous one vary
    seconds = min(effort.duration, 1.0) if law.is_sampled else effort.duration
    make = _sampled_peer if law.is_sampled else _continuous_peer
    early = min(effort.duration, 1.0)  # where the loop still moves
    ours = simulate(eom, law, **{**options, "t_span": (0.0, early), "grid": [early]}).x[-1]
    what = f"{name}: state after {early:g} s against the peer"
    section.figures.append(
        Figure(what=what, value=float(np.max(np.abs(ours - make(eom, law, early)()))), goal=AGREEMENT)
    )
    peer = make(eom, law, seconds)
    few = replace(effort, repetitions=min(effort.repetitions, PEER_REPETITIONS))
    candidates: dict[str, Candidate] = {
        f"simulate, {name}": lambda: simulate(eom, law, **options),
        "Python law, scipy RK45": peer,
    }
    mine, other = interleave(candidates, few, time.process_time).values()
    scaled = Timing(other.name, other.seconds * effort.duration / seconds, other.calls)
    section.add(name, mine, scaled, FASTER)
    time_against_open_loop(section, name, eom, law, options, {**options, **same}, effort)


def _sampled_peer(eom: EquationsOfMotion, law: ControlLaw, duration: float) -> Callable[[], np.ndarray]:
    """The law's function called from Python, scipy from sample to sample."""
    p, x0, x_dot = np.asarray(law.p), eom.state(**START), eom.compiled().x_dot
    count = round(duration / PERIOD)

    def run() -> np.ndarray:
        x, z = x0, np.asarray(law.z0)
        for k in range(count):
            u, _, z_next = law.function(k * PERIOD, x, [], z, [], p)
            held, z = np.asarray(u).reshape(-1), np.asarray(z_next).reshape(-1)
            rule = lambda t, s, held=held: x_dot(s, held)  # noqa: E731
            x = solve_ivp(rule, (0.0, PERIOD), x, method="RK45", rtol=1e-6, atol=1e-6, first_step=PERIOD).y[:, -1]
        return x

    return run


def _continuous_peer(eom: EquationsOfMotion, law: ControlLaw, duration: float) -> Callable[[], np.ndarray]:
    """State and memory in one vector, the law's function called from Python."""
    p, x_dot, n_x = np.asarray(law.p), eom.compiled().x_dot, eom.n_x
    start = np.concatenate([eom.state(**START), np.asarray(law.z0)])

    def rule(t: float, s: np.ndarray) -> np.ndarray:
        u, z_dot, _ = law.function(t, s[:n_x], [], s[n_x:], [], p)
        return np.concatenate([x_dot(s[:n_x].copy(), np.asarray(u).reshape(-1)), np.asarray(z_dot).reshape(-1)])

    return lambda: solve_ivp(rule, (0.0, duration), start, method="RK45", rtol=1e-6, atol=1e-6).y[:n_x, -1]
