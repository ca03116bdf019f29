"""The arm holds the tether's attachment on the local horizontal by an artificial constraint (Sadigh 1995, Figure 1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl import Figure, Line, ModelError, Panel, Simulation, Study, StudyResult, add_noise, library, simulate

from .laws import Horizontal, design, form_horizontal

Orbiter = library.TetherOrbiter

WEIGHTS = (1, 5, 25)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    orbit_rate: float = 1e-3  # [rad/s]
    satellite_mass: float = 500.0  # [kg]
    length: float = 100.0  # [m]
    swing: float = 0.01  # [rad], tether off the vertical at the start
    orbits: float = 4.0  # [1]
    frequency: float = 20.0  # [1], of the decay of constraint errors, in orbital rates
    push: float = 1e-5  # [rad/s], initial rate of the elbow after a disturbance
    number_error: float = 0.2  # [1], of the satellite's mass in the design model
    noise_angle: float = 1e-5  # [rad]
    noise_rate: float = 1e-7  # [rad/s]


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Examine three weights, a disturbed start with and without error feedback, the domain, a wrong mass, noise."""
    for name in ("orbit_rate", "satellite_mass", "length", "swing", "frequency", "orbits"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    data = Orbiter(rate=parameters.orbit_rate, satellite_mass=parameters.satellite_mass)
    omega, end = parameters.frequency * data.rate, parameters.orbits * 2.0 * np.pi / data.rate
    system = form_horizontal(data, parameters.length)
    progress(0.1, "three weights")
    free = np.linalg.eigvals(np.asarray(system.model.A))
    metrics: dict[str, Any] = {"adequacy": system.adequacy, "free_poles": pairs(free)}
    runs = {}
    for k in WEIGHTS:
        law, poles = design(system, k, frequency=omega)
        runs[k] = fly(system, law, system.start(parameters.swing), end)
        metrics |= {
            f"poles_k{k}": pairs(poles),
            f"horizontal_max_error_k{k}": height_error(system, runs[k]),
            f"libration_decay_k{k}": decay(runs[k], data.rate),
            f"travel_k{k}": float(np.ptp(runs[k]["end.y"])),
        }
    progress(0.5, "disturbed start")
    x0 = system.start(parameters.swing)
    x0[system.eom.states.index("elbow_dot")] += parameters.push
    pushed = {w: fly(system, design(system, 1.0, frequency=w)[0], x0, 0.5 * end) for w in (0.0, omega)}
    metrics |= {
        "horizontal_max_error_disturbed": height_error(system, pushed[0.0]),
        "horizontal_max_error_disturbed_feedback": height_error(system, pushed[omega]),
        "horizontal_final_error_disturbed_feedback": abs(float(pushed[omega]["end.x"][-1]) - system.height),
    }
    progress(0.7, "largest swing, wrong mass, noise")
    for k in (5,) if quick else WEIGHTS:
        metrics[f"largest_swing_k{k}"] = find_reach(system, k, omega, end, steps=3 if quick else 6)
    for sign in (-1.0, 1.0):
        mass = (1.0 + sign * parameters.number_error) * data.satellite_mass
        assumed = form_horizontal(replace(data, satellite_mass=mass), parameters.length)
        sim = fly(system, design(assumed, 1.0, frequency=omega)[0], system.start(parameters.swing), end)
        word = "light" if sign < 0.0 else "heavy"
        metrics |= {
            f"wrong_mass_{word}_arrives": sim.outcome.is_success,
            f"wrong_mass_{word}_horizontal_error": height_error(system, sim),
        }
    noise = {name: parameters.noise_angle for name in Orbiter.JOINTS} | {
        f"{name}_dot": parameters.noise_rate for name in Orbiter.JOINTS
    }
    noisy_law = add_noise(design(system, 5.0, frequency=omega, period=1.0)[0], noise, seed=1, on="states")
    noisy = fly(system, noisy_law, system.start(parameters.swing), 0.1 * end if quick else end, method="rk45")
    metrics["noise_horizontal_error"] = height_error(system, noisy)
    figures = (draw_runs(system, runs, data.rate), draw_pushed(system, pushed, data.rate))
    notes = (
        f"The attachment stays within {metrics['horizontal_max_error_k5']:.0e} m of the horizontal, and the "
        "libration decays with "
        f"all weights. The domain of attraction is small: with k = 5 it ends at {metrics['largest_swing_k5']:.3f} rad; beyond, "
        "the arm extends to its full length along the line.",
    )
    return StudyResult(
        metrics=metrics, simulations={f"k{k}": sim for k, sim in runs.items()}, figures=figures, notes=notes
    )


def fly(system: Horizontal, law: Any, x0: np.ndarray, end: float, method: str = "dop853") -> Simulation:
    """Simulate the nonlinear closed loop, as far as it is feasible."""
    return simulate(
        system.eom, law, x0=x0, t_span=(0.0, end), grid=1001, rtol=1e-9, atol=1e-12, method=method, max_steps=200_000,
        check=False,
    )  # fmt: skip


def height_error(system: Horizontal, sim: Simulation) -> float:
    """Return the largest distance of the arm's end from the line [m]."""
    return float(np.max(np.abs(sim["end.x"] - system.height)))


def decay(sim: Simulation, rate: float) -> float:
    """Return the largest swing in the last orbit over that of the first."""
    swing, orbit = np.abs(Orbiter.libration(sim.x)), 2.0 * np.pi / rate
    return float(np.max(swing[sim.t > sim.t[-1] - orbit]) / np.max(swing[sim.t < orbit]))


def find_reach(system: Horizontal, k: float, omega: float, end: float, *, steps: int) -> float:
    """Return the largest swing from which the loop returns [rad], by doubling and bisection."""
    law, _ = design(system, k, frequency=omega)

    def returns(swing: float) -> bool:
        sim = fly(system, law, system.start(swing), end)
        return sim.outcome.is_success and abs(float(Orbiter.libration(sim.x)[-1])) < 0.5 * swing

    low, high = 0.0, 1e-3
    while high < 1.0 and returns(high):
        low, high = high, 2.0 * high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if returns(middle) else (low, middle)
    return low


def pairs(poles: Any) -> list[list[float]]:
    """Return sorted pairs (re, im)."""
    return [[float(pole.real), float(pole.imag)] for pole in sorted(poles, key=lambda s: (-s.real, s.imag))]


def draw_runs(system: Horizontal, runs: dict[int, Simulation], rate: float) -> Figure:
    """Draw tether, position along the line, distance from it, torques."""
    styles = {1: "dotted", 5: "solid", 25: "dashed"}
    axis: dict[str, Any] = {"x_label": "orbits", "x_unit": "1"}

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t * rate / (2 * np.pi), y=values(sim), label=f"k = {k}", style=styles[k])
            for k, sim in runs.items()
        )

    return Figure(
        name="horizontal",
        title="Attachment on the local horizontal",
        caption="The arm's end moves along the line only, and thereby damps the libration.",
        panels=(
            Panel(
                lines=lines(lambda s: Orbiter.libration(s.x)),
                y_label="tether",
                unit="rad",
                **axis,
            ),
            Panel(lines=lines(lambda s: s["end.y"]), y_label="end of arm, along track", unit="m", **axis),
            Panel(
                lines=lines(lambda s: np.abs(s["end.x"] - system.height) + 1e-16),
                y_label="distance from the line",
                unit="m",
                log_y=True,
                **axis,
            ),
            Panel(lines=lines(lambda s: s.column("u", "elbow")), y_label="elbow torque", unit="N m", **axis),
        ),
    )


def draw_pushed(system: Horizontal, pushed: dict[float, Simulation], rate: float) -> Figure:
    """Draw the distance from the line after a disturbed start."""
    return Figure(
        name="disturbed",
        title="Disturbed start: distance from the line",
        caption="Without error feedback (the law of the thesis) the attachment drifts from the line; with error "
        "feedback it returns.",
        panels=(
            Panel(
                lines=tuple(
                    Line(
                        x=sim.t * rate / (2 * np.pi),
                        y=1e3 * (sim["end.x"] - system.height),
                        label="with error feedback" if w else "law of the thesis",
                        style="solid" if w else "dashed",
                    )
                    for w, sim in pushed.items()
                ),
                y_label="distance from the line",
                unit="mm",
                x_label="orbits",
                x_unit="1",
            ),
        ),
    )


STUDY = Study(
    question="Can the arm damp a tether's libration while it keeps the attachment on the local horizontal?",
    parameters=Parameters(),
    run=run,
)
