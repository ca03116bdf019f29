"""Each benchmark by each formulation that applies: error by the benchmark's own measure, and time of the processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, Simulation, form_equations, make_consistent, simulate

from .references import ANDREWS_END, crank_angle, governor_lift, pendulum_place, relative_error
from .systems import ANDREWS_START, andrews, bricard, four_bars, governor, pendulum, swinging_rod

__all__ = ["Benchmark", "Result", "benchmarks", "energies", "energy_drift", "run_case"]

ALL = ("kane", "multipliers", "udwadia_phohomsiri", "artificial", "partitioned")
TORQUE = 0.033  # [N m], of Andrews' motor


@dataclass(frozen=True)
class Result:
    """One run: who, how accurate, how long."""

    benchmark: str
    formulation: str
    tier: str
    error: float
    drift: float
    seconds: float
    steps: int
    eom: EquationsOfMotion
    sim: Simulation


@dataclass(frozen=True)
class Benchmark:
    """A mechanism, who can serve it, how it is integrated, and what is measured.

    Parameters
    ----------
    name : str
        Short.
    system : function
        Formulation to system.
    formulations : tuple of str
        Those that apply.
    duration : float
        [s]
    start : function
        Equations to state.
    error, drift : function
        Equations and simulation to the benchmark's error, and to the drift of the energy [J].
    settings : dict
        Of `simulate`.
    """

    name: str
    system: Callable[[str], Any]
    formulations: tuple[str, ...]
    duration: float
    start: Callable[[EquationsOfMotion], np.ndarray]
    error: Callable[[EquationsOfMotion, Simulation], float]
    drift: Callable[[EquationsOfMotion, Simulation], float]
    settings: dict[str, Any]


def run_case(case: Benchmark, formulation: str, tier: str, duration: float | None = None) -> Result:
    """Form, warm up (native code is compiled once), run."""
    eom = form_equations(case.system(formulation), formulation=formulation)
    end = case.duration if duration is None else duration
    grid = np.linspace(0.0, end, 401)
    x0 = case.start(eom)
    simulate(eom, x0=x0, t_span=(0.0, 1e-6 * end), tier=tier, **case.settings)
    begin = time.process_time()
    sim = simulate(eom, x0=x0, t_span=(0.0, end), grid=grid, tier=tier, **case.settings)
    seconds = time.process_time() - begin
    steps = int(sim.outcome.stats["n_steps"])
    return Result(case.name, formulation, tier, case.error(eom, sim), case.drift(eom, sim), seconds, steps, eom, sim)


def benchmarks(rtol: float, *, windows: tuple[int, ...]) -> list[Benchmark]:
    """All five, with N-four-bar linkages of the given numbers of windows."""
    common = {"rtol": rtol, "atol": rtol}
    chains = [
        Benchmark(
            f"four-bar, N = {n}",
            lambda _, n=n: four_bars(n),
            ALL,
            10.0,
            _upright,
            lambda eom, sim, n=n: _angle_error(eom, sim, n),
            energy_drift,
            common,
        )
        for n in windows
    ]
    return [
        Benchmark(
            "pendulum",
            lambda formulation: swinging_rod() if formulation == "articulated" else pendulum(),
            ("articulated", *ALL),
            10.0,
            lambda eom: eom.state(),
            _pendulum_error,
            energy_drift,
            common,
        ),
        *chains,
        Benchmark(
            "Andrews",
            lambda _: andrews(),
            ALL,
            0.03,
            lambda eom: eom.state(**ANDREWS_START),
            _andrews_error,
            _andrews_balance,
            {"rtol": 0.01 * rtol, "atol": 1e-3 * rtol, "u": [TORQUE]},
        ),
        Benchmark(
            "Bricard",
            lambda _: bricard(),
            tuple(name for name in ALL if name != "multipliers"),  # its five rows have rank four
            10.0,
            lambda eom: eom.state(),
            energy_drift,
            energy_drift,
            common,
        ),
        Benchmark(
            "governor",
            lambda formulation: governor(is_tree=formulation in ("articulated", "kane")),
            ("articulated", *ALL),
            10.0,
            _spinning,
            _governor_error,
            lambda eom, sim: 0.0,  # its dampers dissipate
            {"rtol": 10.0 * rtol, "atol": rtol, "method": "radau"},
        ),
    ]


def energy_drift(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Largest departure of the energy from its start [J]."""
    energy = energies(eom, sim)
    return float(np.max(np.abs(energy - energy[0])))


def energies(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Energy over time [J], shape (n,)."""
    return np.asarray(eom.along("energy", sim.t, sim.x)).reshape(-1)


def _upright(eom: EquationsOfMotion) -> np.ndarray:
    return np.asarray(make_consistent(eom, eom.state(a0_dot=-1.0), hold=("a0_dot",)).x)


def _spinning(eom: EquationsOfMotion) -> np.ndarray:
    start = eom.state(spin_dot=2.0 * np.pi)
    return np.asarray(make_consistent(eom, start, hold=("spin_dot",)).x) if eom.constraint_rows else start


def _column(eom: EquationsOfMotion, sim: Simulation, name: str) -> np.ndarray:
    return np.asarray(sim.x)[:, eom.states.index(name)]


def _pendulum_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    if eom.formulation == "articulated":
        hinge = np.pi + _column(eom, sim, "hinge")
        place = np.stack([np.cos(hinge), np.sin(hinge)], axis=1)
    else:
        place = np.stack([_column(eom, sim, "point.x") - 1.0, _column(eom, sim, "point.y")], axis=1)
    return relative_error(place, pendulum_place(np.asarray(sim.t)))


def _angle_error(eom: EquationsOfMotion, sim: Simulation, windows: int) -> float:
    """Of the place of B0, the first crank's end."""
    angle, expected = np.pi / 2 + _column(eom, sim, "a0"), crank_angle(np.asarray(sim.t), windows)
    return relative_error(*(np.stack([np.cos(a), np.sin(a)], axis=1) for a in (angle, expected)))


def _andrews_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    found = np.array([_column(eom, sim, name)[-1] for name in ANDREWS_END])
    expected = np.array(list(ANDREWS_END.values()))
    return float(np.max(np.abs(found / expected - 1.0)))


def _andrews_balance(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Energy less what the motor has put in [J]."""
    energy, beta = energies(eom, sim), _column(eom, sim, "beta")
    return float(np.max(np.abs(energy - energy[0] - TORQUE * (beta - beta[0]))))


def _governor_error(eom: EquationsOfMotion, sim: Simulation) -> float:
    height = _column(eom, sim, "lift") + 0.5 if "lift" in eom.states else _column(eom, sim, "lift.z") + 0.5
    return relative_error(height, governor_lift(np.asarray(sim.t)))
