"""An arm on an orbiter damps the libration of a tethered satellite by moving the point of attachment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import ModelError, PublishedResult, Study, StudyResult, check_controllability, library

from .figures import draw_histories, draw_noise, draw_poles, draw_reach, draw_wrong
from .laws import (
    Station,
    decay,
    design_station,
    find_reach,
    fly,
    fly_wrong,
    form_station,
    locked_poles,
    pairs,
    run_noisy,
    try_wrong_numbers,
)

Orbiter = library.TetherOrbiter

WEIGHTS = (1, 25, 50)
LENGTHS = (100, 1000)  # [m]


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    orbit_rate: float = 1e-3  # [rad/s], Sadigh (1995), section 6.2
    satellite_mass: float = 500.0  # [kg], Sadigh (1995), section 6.3
    link_length: float = 8.13  # [m], Sadigh (1995), section 6.3
    swing_100: float = 0.1  # [rad], tether off the vertical at the start, 100 m; not published
    swing_1000: float = 0.004  # [rad], the same for 1000 m
    orbits: float = 4.0  # [1], of the histories
    number_error: float = 0.2  # [1], of the design model
    period: float = 1.0  # [s], of the sampled law
    noise_angle: float = 1e-4  # [rad]
    noise_rate: float = 1e-6  # [rad/s]
    seed: int = 1


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compute poles, histories, the domain of attraction; test laws with wrong parameters and noise."""
    check(parameters)
    data = Orbiter(
        rate=parameters.orbit_rate, satellite_mass=parameters.satellite_mass, link_length=parameters.link_length
    )
    end = parameters.orbits * 2.0 * np.pi / data.rate
    metrics: dict[str, Any] = {}
    poles: dict[tuple[int, int], Any] = {}
    kept: dict[str, Any] = {}
    stations: dict[int, Station] = {}
    figures = []
    for i, length in enumerate(LENGTHS):
        progress(0.3 * i, f"{length} m: poles and histories")
        station = stations[length] = form_station(data, float(length))
        control = check_controllability(station.model)
        swing = parameters.swing_100 if length == 100 else parameters.swing_1000
        runs = {}
        for k in WEIGHTS:
            law = design_station(station, k)
            runs[k] = fly(station, law, swing, end=end)
            poles[(length, k)] = law.poles
            metrics |= {
                f"poles_L{length}_k{k}": pairs(law.poles),
                f"riccati_residual_L{length}_k{k}": law.residual,
                f"libration_decay_L{length}_k{k}": decay(runs[k], data.rate),
                f"largest_torque_L{length}_k{k}": np.max(np.abs(np.asarray(runs[k].u) - np.asarray(station.point.u))),
                f"largest_arm_motion_L{length}_k{k}": largest_motion(runs[k]),
            }
        metrics |= {
            f"trim_L{length}": list(station.point.u),
            f"is_controllable_L{length}": bool(control.is_controllable),
            f"open_loop_free_L{length}": pairs(np.linalg.eigvals(np.asarray(station.model.A))),
            f"open_loop_locked_L{length}": pairs(locked_poles(data, float(length))),
        }
        figures.append(draw_histories(station, runs, swing, data.rate))
        kept |= {f"L{length}_k{k}": sim for k, sim in runs.items()}
    figures.insert(0, draw_poles(poles, {n: metrics[f"open_loop_locked_L{n}"] for n in LENGTHS}, data.rate))
    reach = measure_reach(data, stations, metrics, progress, quick=quick)
    figures.append(draw_reach(reach))
    progress(0.9, "wrong parameters and noise")
    for length in LENGTHS:
        found = try_wrong_numbers(data, stations[length], 25.0, parameters.number_error, quick=quick)
        metrics |= {f"wrong_numbers_{key}_L{length}": value for key, value in found.items()}
    wrong = fly_wrong(data, stations[100], 25.0, parameters.number_error, parameters.swing_100, end=2.0 * end)
    figures.append(draw_wrong(wrong, parameters.number_error, data.rate))
    for name, sim in wrong.items():
        metrics[f"wrong_numbers_final_offset_{name}_L100"] = final_offset(sim)
    noisy = {
        length: run_noisy(
            stations[length], 25.0, period=parameters.period, angle=parameters.noise_angle, rate=parameters.noise_rate,
            seed=parameters.seed, end=0.05 * end if quick else end,
        )
        for length in LENGTHS
    }  # fmt: skip
    for length, sim in noisy.items():
        metrics[f"noise_tether_rms_L{length}"] = np.sqrt(np.mean(Orbiter.libration(sim.x) ** 2))
    figures.append(draw_noise(noisy, data.rate))
    return StudyResult(
        metrics=metrics,
        simulations=kept,
        figures=tuple(figures),
        notes=notes(metrics, parameters),
        printed=published_results(metrics),
    )


def largest_motion(sim: Any) -> float:
    """Return the largest motion of pitch, shoulder and elbow from the fixed point [rad]."""
    return float(max(np.max(np.abs(sim.column("x", Orbiter.JOINTS[i]) - Orbiter.FIXED_POINT[i])) for i in range(3)))


def final_offset(sim: Any) -> float:
    """Return the offset of pitch, shoulder, elbow and tether from the fixed point at the end [rad]."""
    return float(np.max(np.abs(Orbiter.absolute_angles(sim.x)[-1] - Orbiter.FIXED_POINT)))


def measure_reach(
    data: Orbiter,
    stations: dict[int, Station],
    metrics: dict[str, Any],
    progress: Callable[[float, str], None],
    *,
    quick: bool,
) -> dict[tuple[float, int], float]:
    """Return the largest initial swing that decays, by length and weight; add it to the metrics."""
    found = {}
    for length in LENGTHS if quick else (100, 200, 400, 700, 1000):
        progress(0.5 + 0.4 * length / 1000.0, f"{length} m: domain of attraction")
        station = stations.get(length) or form_station(data, float(length))
        for k in (25,) if quick else WEIGHTS:
            law = design_station(station, k)
            found[(float(length), k)] = find_reach(station, law, data.rate, steps=3 if quick else 6)
            metrics[f"largest_swing_L{length}_k{k}"] = found[(float(length), k)]
    return found


def notes(metrics: dict[str, Any], parameters: Parameters) -> tuple[str, ...]:
    """Return the findings as sentences."""
    ratio = metrics["largest_swing_L100_k25"] / metrics["largest_swing_L1000_k25"]
    rest = [metrics[f"wrong_numbers_rest_offset_L{length}"] for length in LENGTHS]
    decays = [value for key, value in metrics.items() if key.startswith("libration_decay_L")]
    damped = sum(value < 1.0 for value in decays)
    return (
        f"The arm damps the libration with {damped} of {len(decays)} laws. With k = 25 the nonlinear loop returns from swings up "
        f"to {metrics['largest_swing_L100_k25']:.2g} rad at 100 m and {metrics['largest_swing_L1000_k25']:.2g} rad at 1000 m.",
        "Orbital rate, shoulder offset and initial angles are not published: the rate is that of section 6.2, the shoulder "
        f"is at the centre of mass, the tether starts {parameters.swing_100:g} rad (100 m) and {parameters.swing_1000:g} rad "
        "(1000 m) off the vertical.",
        "The fixed point needs constant torques. With the arm's joints locked it is marginal; with free joints at trim it is "
        "unstable; with each of the three weights all poles are in the left half plane and the libration decays.",
        f"At 1000 m the nonlinear loop returns only from swings {ratio:.0f} times smaller than at 100 m (k = 25): the arm can "
        "shift the attachment by metres, the satellite is off by length times angle. Shorter tethers are easier to control.",
        f"Parameters wrong by {100 * parameters.number_error:.0f} % leave the linear loops stable, but the wrong trim torque "
        f"moves pitch and joints by up to {rest[0]:.2f} rad (100 m) and {rest[1]:.2f} rad (1000 m, by the linear model, which "
        "is not valid for such angles). Integral action on pitch, shoulder and elbow removes the offset.",
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("orbit_rate", "satellite_mass", "link_length", "swing_100", "swing_1000", "period"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not 2.0 <= parameters.orbits <= 100.0:
        raise ModelError(
            f"parameter 'orbits': got {parameters.orbits:g}, expected 2 to 100 (decay is measured over orbits)"
        )
    if not 0.0 <= parameters.number_error < 0.9:
        raise ModelError(f"parameter 'number_error': got {parameters.number_error:g}, expected 0 to 0.9")


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Sadigh (1995): three weights and two lengths, all of which are said to be stable."""
    rows = []
    for length in (100, 1000):
        for k in (1, 25, 50):
            slowest = max(pole[0] for pole in metrics[f"poles_L{length}_k{k}"])
            decay = metrics[f"libration_decay_L{length}_k{k}"]
            rows.append(
                PublishedResult(
                    what=f"LQR law, {length} m, k = {k}",
                    source="Sadigh (1995), section 6.3.2, Figures 6.11, 6.12",
                    printed="asymptotically stable",
                    ours=f"slowest pole {slowest:.2g} 1/s, swing falls to {100 * decay:.2g} %",
                    holds=slowest < 0.0 and decay < 1.0,
                    criterion="all poles left of 0, and the swing decays in the nonlinear run",
                )
            )
    return tuple(rows)


STUDY = Study(
    question="Can the arm that holds a tether damp its libration, and up to which amplitude?",
    parameters=Parameters(),
    run=run,
)
