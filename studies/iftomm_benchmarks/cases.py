"""Each benchmark by each applicable formulation: error by the benchmark's own measure, and processor time.

Every formulation is tried; if one does not apply, its reason is listed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    ModelError,
    Simulation,
    SolverError,
    System,
    absolute_state,
    form_equations,
    make_consistent,
    simulate,
)

from . import measures
from .systems import ANDREWS_START, andrews, bricard, four_bars, governor, pendulum, swinging_rod

__all__ = ["FORMULATIONS", "Benchmark", "Method", "Refusal", "Result", "benchmarks", "run_case"]


@dataclass(frozen=True)
class Method:
    """A formulation, its coordinates, and its evaluation: `vm` its own solver from Python, `native` compiled code."""

    formulation: str
    coordinates: str = "joint"
    tier: str = "native"

    def __str__(self) -> str:
        return self.formulation if self.coordinates == "joint" else f"{self.formulation}, absolute"


FORMULATIONS = (
    *(Method(name) for name in ("articulated", "kane", "multipliers", "udwadia_phohomsiri", "artificial")),
    *(Method(name) for name in ("partitioned", "embedded")),
    *(Method(name, "absolute") for name in ("multipliers", "udwadia_phohomsiri")),
)


@dataclass(frozen=True)
class Result:
    """One run: method, accuracy, time."""

    benchmark: str
    method: Method
    error: float
    drift: float
    seconds: float
    steps: int
    eom: EquationsOfMotion
    sim: Simulation


@dataclass(frozen=True)
class Refusal:
    """A formulation that does not apply, with its reason."""

    benchmark: str
    method: Method
    reason: str


@dataclass(frozen=True)
class Benchmark:
    """A mechanism, its integration, and its measures.

    Parameters
    ----------
    name : str
        Short.
    system : function
        Function of the method that returns the system.
    duration : float
        [s]
    start : function
        Function of the equations in joint coordinates that returns the state.
    error, drift : function
        Functions of equations and simulation: the benchmark's error, and the drift of the energy [J].
    settings : dict
        Settings of `simulate`.
    """

    name: str
    system: Callable[[Method], System]
    duration: float
    start: Callable[[EquationsOfMotion], np.ndarray]
    error: Callable[[EquationsOfMotion, Simulation], float]
    drift: Callable[[EquationsOfMotion, Simulation], float]
    settings: dict[str, Any]


def run_case(case: Benchmark, method: Method, duration: float | None = None) -> Result | Refusal:
    """Form the equations, compile and run; return the reason if the formulation does not apply or does not finish."""
    end = case.duration if duration is None else duration
    try:
        eom, x0 = _prepared(case, method)
        simulate(eom, x0=x0, t_span=(0.0, 1e-6 * end), tier=method.tier, **case.settings)
    except (ModelError, SolverError) as error:
        return Refusal(case.name, method, _reason(str(error)))
    begin = time.process_time()
    grid = np.linspace(0.0, end, 401)
    try:
        sim = simulate(eom, x0=x0, t_span=(0.0, end), grid=grid, tier=method.tier, **case.settings)
    except SolverError as error:
        return Refusal(case.name, method, _reason(str(error)))
    seconds = time.process_time() - begin
    steps = int(sim.outcome.stats["n_steps"])
    return Result(case.name, method, case.error(eom, sim), case.drift(eom, sim), seconds, steps, eom, sim)


def _prepared(case: Benchmark, method: Method) -> tuple[EquationsOfMotion, np.ndarray]:
    """Return the equations and their initial state, found in joint coordinates."""
    system = case.system(method)
    eom = form_equations(system, formulation=method.formulation, coordinates=method.coordinates)
    if method.coordinates == "joint":
        return eom, case.start(eom)
    joints = form_equations(system)
    return eom, absolute_state(joints, eom, case.start(joints))


def _reason(message: str) -> str:
    """Return the reason in an error message, without the name of the system and the advice."""
    if "are not finite" in message:
        return "its constraint equations are dependent, so the augmented matrix is singular"
    return message.split("': ", 1)[-1].split(";")[0]


def benchmarks(rtol: float, *, windows: tuple[int, ...]) -> list[Benchmark]:
    """Return all five benchmarks, with N-four-bar linkages of the given numbers of windows."""
    common = {"rtol": rtol, "atol": rtol}
    stiff = {"rtol": 10.0 * rtol, "atol": rtol, "method": "radau"}
    tight = {"rtol": 0.01 * rtol, "atol": 1e-3 * rtol, "u": [measures.TORQUE]}
    chains = [
        Benchmark(
            f"four-bar, N = {n}",
            lambda _, n=n: four_bars(n),
            10.0 if n == 2 else 20.0,  # the port's chain of 2, the library's of 40
            _upright,
            measures.crank_error(n),
            measures.energy_drift,
            common,
        )
        for n in windows
    ]
    return [
        Benchmark(
            "pendulum", _pendulum, 10.0, lambda eom: eom.state(), measures.pendulum_error, measures.energy_drift, common
        ),
        *chains,
        Benchmark(
            "Andrews",
            lambda _: andrews(),
            0.03,
            lambda eom: eom.state(**ANDREWS_START),
            measures.andrews_error,
            measures.andrews_balance,
            tight,
        ),
        Benchmark(
            "Bricard",
            lambda _: bricard(),
            10.0,
            lambda eom: eom.state(),
            measures.energy_drift,
            measures.energy_drift,
            common,
        ),
        Benchmark("governor", _governor, 10.0, _spinning, measures.governor_error, measures.no_drift, stiff),
    ]


def _pendulum(method: Method) -> System:
    """Return a point in absolute coordinates, as the benchmark requires; a hinge for trees and for absolute coordinates."""
    is_hinged = method.formulation == "articulated" or method.coordinates == "absolute"
    return swinging_rod() if is_hinged else pendulum()


def _governor(method: Method) -> System:
    """Return a tree for formulations of trees (its joints are constraints in absolute coordinates), else a guided slider."""
    is_tree = method.formulation in ("articulated", "kane", "embedded") or method.coordinates == "absolute"
    return governor(is_tree=is_tree)


def _upright(eom: EquationsOfMotion) -> np.ndarray:
    return np.asarray(make_consistent(eom, eom.state(a0_dot=-1.0), hold=("a0_dot",)).x)


def _spinning(eom: EquationsOfMotion) -> np.ndarray:
    start = eom.state(spin_dot=2.0 * np.pi)
    return np.asarray(make_consistent(eom, start, hold=("spin_dot",)).x) if eom.constraint_rows else start
