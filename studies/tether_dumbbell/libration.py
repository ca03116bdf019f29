"""Libration of a tethered satellite: small and large swings, and the tension that a straight line requires."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipk

from spacectl import (
    EquationsOfMotion,
    Figure,
    Guard,
    Line,
    Panel,
    find_tension,
    form_equations,
    linearize,
    modes,
    simulate,
)

from .systems import on_straight_line, two_bodies

TOLERANCES = {"rtol": 1e-11, "atol": 1e-13}


def librate(rate: float, mass: float, length: float, density: float, *, quick: bool) -> tuple[dict[str, float], Figure]:
    """Return frequencies of small swings, periods of large ones, and the least tension in them."""
    eom = form_equations(on_straight_line(rate, mass, length))
    small = np.sort(np.asarray(modes(linearize(eom, eom.state())).frequency)) / rate
    metrics = {"in_plane_over_orbital_rate": small[0], "out_of_plane_over_orbital_rate": small[1]}
    metrics |= free_dumbbell(rate, mass, length, density)
    amplitudes = np.radians([20.0, 60.0, 75.0] if quick else [5.0, 15.0, 30.0, 45.0, 55.0, 65.0, 75.0, 82.0])
    weight = mass * rate**2 * length
    quarters, drifts, least = [], [], []
    for amplitude in amplitudes:
        quarter, drift = quarter_period(eom, rate, amplitude)
        quarters.append(quarter)
        drifts.append(drift / (1.5 * weight * length))
        least.append(least_tension(eom, rate, amplitude))
    expected = np.array([ellipk(np.sin(a) ** 2) / (np.sqrt(3.0) * rate) for a in amplitudes])
    slack = brentq(lambda a: least_tension(eom, rate, a), 1.1, 1.2, xtol=1e-9)
    metrics |= {
        "libration_period_error": float(np.max(np.abs(np.array(quarters) / expected - 1.0))),
        "jacobi_drift": float(np.max(drifts)),
        "slack_amplitude": slack,
        "slack_amplitude_closed_form": brentq(least_tension_closed_form, 1.1, 1.2, xtol=1e-12),
        "least_tension_error": float(
            np.max(np.abs(np.array(least) / weight - [least_tension_closed_form(a) for a in amplitudes]))
        ),
    }
    return metrics, draw(amplitudes, np.array(quarters) * rate / (2.0 * np.pi), np.array(least) / weight, slack)


def free_dumbbell(rate: float, mass: float, length: float, density: float) -> dict[str, float]:
    """Return frequencies if the mother is as light as the satellite and the line has mass: the same two."""
    eom = form_equations(two_bodies(rate, 0.5 * mass, mass, length, density))
    total = 1.5 * mass + density * length
    x = eom.state(**{"mother.x": -length * (mass + 0.5 * density * length) / total})
    found = np.asarray(modes(linearize(eom, x)).frequency) / rate
    near = {
        name: float(found[np.argmin(np.abs(found - value))]) for name, value in (("in", np.sqrt(3.0)), ("out", 2.0))
    }
    return {"free_in_plane_over_orbital_rate": near["in"], "free_out_of_plane_over_orbital_rate": near["out"]}


def quarter_period(eom: EquationsOfMotion, rate: float, amplitude: float) -> tuple[float, float]:
    """Return the time from rest at the amplitude to the vertical, and the drift of the Jacobi integral [J]."""
    vertical = Guard(name="vertical", expression=lambda s: s["line.first"], direction=-1)
    sim = simulate(eom, x0={"line.first": amplitude}, t_span=(0.0, 10.0 / rate), guards=[vertical], **TOLERANCES)
    energy = eom.along("energy", sim.t, sim.x).ravel()
    return float(sim.t[-1]), float(np.ptp(energy))


def least_tension(eom: EquationsOfMotion, rate: float, amplitude: float) -> float:
    """Return the least tension of the straight line [N] in the half swing opposite to the orbital motion."""

    def tension(angle: float) -> float:
        speed = -rate * np.sqrt(3.0 * max(np.sin(amplitude) ** 2 - np.sin(angle) ** 2, 0.0))
        x = eom.state(**{"line.first": angle, "line.first_dot": speed})
        return float(find_tension(eom, "line", [0.0], [x])[0, 0])

    return float(
        minimize_scalar(tension, bounds=(0.3 * amplitude, amplitude), method="bounded", options={"xatol": 1e-7}).fun
    )


def least_tension_closed_form(amplitude: float) -> float:
    """Return the same over ``m rate^2 L``: least value of ``(theta' + 1)^2 - 1 + 3 cos(theta)^2`` on the swing."""

    def tension(angle: float) -> float:
        speed = -np.sqrt(3.0 * max(np.sin(amplitude) ** 2 - np.sin(angle) ** 2, 0.0))
        return float((speed + 1.0) ** 2 - 1.0 + 3.0 * np.cos(angle) ** 2)

    return float(
        minimize_scalar(tension, bounds=(0.3 * amplitude, amplitude), method="bounded", options={"xatol": 1e-9}).fun
    )


def draw(amplitudes: np.ndarray, quarters: np.ndarray, least: np.ndarray, slack: float) -> Figure:
    """Draw period and least tension over amplitude, simulated and in closed form."""
    fine = np.linspace(np.radians(2.0), np.radians(84.0), 120)
    period = 4.0 * ellipk(np.sin(fine) ** 2) / (2.0 * np.pi * np.sqrt(3.0))
    tension = [least_tension_closed_form(a) for a in fine]
    return Figure(
        name="libration",
        title="In-plane libration of a tethered satellite",
        caption=(
            f"Large swings are slower. Beyond {np.degrees(slack):.1f} degrees a straight line would have to "
            "push in the half swing opposite to the orbital motion: a real line goes slack."
        ),
        panels=(
            Panel(
                lines=(
                    Line(x=fine, y=period, label="elliptic integral"),
                    Line(x=amplitudes, y=4.0 * quarters, label="simulated", style="markers"),
                    Line(x=fine[[0, -1]], y=[1.0 / np.sqrt(3.0)] * 2, label="small swings, 1/√3", style="dotted"),
                ),
                x_label="amplitude",
                x_unit="rad",
                y_label="period / orbital period",
                unit="1",
            ),
            Panel(
                lines=(
                    Line(x=fine, y=tension, label="closed form"),
                    Line(x=amplitudes, y=least, label="from the equations", style="markers"),
                    Line(x=fine[[0, -1]], y=[0.0, 0.0], label="slack", style="dotted"),
                ),
                x_label="amplitude",
                x_unit="rad",
                y_label="least tension / m n² L",
                unit="1",
            ),
        ),
    )
