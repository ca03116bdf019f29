"""Laws designed with wrong parameters, or that read noisy states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, Simulation, add_noise, simulate

from .arm import ERRORS, Data, Maneuver, consistent_state, form_arm, tracking_law

UNCERTAIN = ("hand_mass", "link_mass", "rigidity")  # parameters that may be wrong in the design model


@dataclass(frozen=True)
class Noise:
    """Standard deviations of one sample of each state that the law reads."""

    angle: float  # [rad]
    rate: float  # [rad/s]
    deflection: float  # [m]
    deflection_rate: float  # [m/s]

    def by_state(self, eom: EquationsOfMotion) -> dict[str, float]:
        """Return the standard deviations by state, for `add_noise`."""
        found = {}
        for name in eom.states:
            is_rate, is_elastic = name.endswith("_dot"), ".eta" in name
            elastic = self.deflection_rate if is_rate else self.deflection
            rigid = self.rate if is_rate else self.angle
            found[name] = elastic if is_elastic else rigid
        return found


@dataclass(frozen=True)
class Robustness:
    """Errors of the constrained output for each set of wrong parameters: (names and factors, histories)."""

    names: list[str]
    t: np.ndarray
    errors: list[np.ndarray]
    open_errors: list[np.ndarray]

    @property
    def largest(self) -> float:
        """Largest error with error feedback [m or rad]."""
        return float(max(np.max(np.abs(item)) for item in self.errors))

    @property
    def final(self) -> float:
        """Largest error at the end with error feedback [m or rad]."""
        return float(max(np.abs(item[-1]) for item in self.errors))

    @property
    def largest_open(self) -> float:
        """Largest error without error feedback [m or rad]."""
        return float(max(np.max(np.abs(item)) for item in self.open_errors))


def try_wrong_numbers(
    eom: EquationsOfMotion,
    data: Data,
    maneuver: Maneuver,
    *,
    frequency: float,
    error: float,
    duration: float,
    quick: bool,
) -> Robustness:
    """Simulate laws designed for arms whose masses and stiffness are off by `error` either way, on the true arm."""
    signs = [(-1, -1, -1)] if quick else list(product((1, -1), repeat=len(UNCERTAIN)))
    names: list[str] = []
    errors: list[np.ndarray] = []
    open_errors: list[np.ndarray] = []
    t = np.linspace(0.0, duration, round(100 * duration) + 1)
    for corner in signs:
        factors = {name: 1.0 + error * sign for name, sign in zip(UNCERTAIN, corner, strict=True)}
        believed = form_arm(replace(data, **{name: getattr(data, name) * factor for name, factor in factors.items()}))
        names.append(", ".join(f"{name} {factor:.1f}" for name, factor in factors.items()))
        for omega, found in ((frequency, errors), (0.0, open_errors)):
            law = tracking_law(believed, maneuver, frequency=omega)
            sim = simulate(
                eom, law, x0=consistent_state(law, maneuver.start), t_span=(0.0, duration), grid=t, check=False
            )
            history = np.full(t.size, np.nan)
            history[: len(sim.t)] = ERRORS[maneuver.name](sim)[: t.size]
            found.append(np.where(np.isnan(history), history[len(sim.t) - 1], history))
    return Robustness(names, t, errors, open_errors)


def run_noisy(
    eom: EquationsOfMotion,
    maneuver: Maneuver,
    *,
    frequency: float,
    period: float,
    noise: Noise,
    seed: int,
    duration: float,
) -> dict[str, Simulation]:
    """Simulate the sampled law without and with noise on every state that it reads."""
    quiet: Any = tracking_law(eom, maneuver, frequency=frequency, period=period)
    x0 = consistent_state(quiet, maneuver.start)
    noisy = add_noise(quiet, noise.by_state(eom), seed=seed, on="states")
    grid = np.arange(0.0, duration + 0.25 * period, 2.5 * period)  # samples and times between them
    options: dict[str, Any] = {"x0": x0, "t_span": (0.0, float(grid[-1])), "grid": grid, "method": "rk45", "rtol": 1e-8}
    return {"sampled": simulate(eom, quiet, **options), "noisy": simulate(eom, noisy, **options)}
