"""Attitude stability of rigid bodies in a circular orbit, at rest and spinning, and of a spinner with damping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import ModelError, PublishedResult, Study, StudyResult

from .at_rest import chart_at_rest, librations
from .flat_spin import fall_into_flat_spin
from .spinning import chart_symmetric, chart_unsymmetric


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    orbit_rate: float = 1.1e-3  # [rad/s]
    grid: int = 56  # [1], points along each axis of the chart of bodies at rest
    spin_grid: int = 48  # [1], points along each axis of the chart of symmetric spinners
    floquet_grid: int = 32  # [1], points along each axis of the chart of unsymmetric spinners
    spin_max: float = 5.0  # [1], largest spin relative to the orbit, in orbit rates
    axial_ratio: float = 1.4  # [1], of the unsymmetric spinners: axial over mean transverse moment of inertia
    libration: float = 1.0  # [rad], amplitude of the pitch libration that is simulated
    inertia: tuple[float, float, float] = (
        100.0,
        90.0,
        40.0,
    )  # [kg m^2], of the spinner about its centre of mass: z is minor
    spin: float = 1.0  # [rad/s], of the spinner about its minor axis
    nutation: float = 0.005  # [rad], between spin axis and momentum at the start
    proof_mass: float = 0.4  # [kg], of the damper, 1 m off the spin axis, sliding along it
    proof_damping: float = 0.2  # [1], damping ratio of the proof mass on its spring
    duration: float = 6000.0  # [s], of the simulated fall into flat spin


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compute three charts, the librations, and the transition to flat spin."""
    check(parameters)
    rate = parameters.orbit_rate
    size, spins, loops = (12, 10, 6) if quick else (parameters.grid, parameters.spin_grid, parameters.floquet_grid)
    progress(0.0, "chart of bodies at rest in the orbit")
    rest, rest_figure = chart_at_rest(rate, size)
    progress(0.2, "librations")
    swing, swing_sim = librations(rate, parameters.libration)
    progress(0.25, "chart of symmetric spinners")
    spun, spun_figure = chart_symmetric(rate, spins, loops, parameters.spin_max)
    progress(0.5, "chart of unsymmetric spinners by Floquet's theory")
    loose, loose_figure = chart_unsymmetric(rate, loops, parameters.spin_max, parameters.axial_ratio)
    progress(0.85, "fall into flat spin")
    flat, flat_sim, flat_figure = fall_into_flat_spin(
        inertia=parameters.inertia,
        spin=parameters.spin,
        nutation=parameters.nutation,
        mass=parameters.proof_mass,
        damping=parameters.proof_damping,
        duration=parameters.duration,
    )
    notes = (
        "The textbook conditions predict the stable bodies: "
        f"{rest['rest_agreement']:.2%} of {rest['rest_points']} at rest and {spun['spin_agreement']:.2%} of "
        f"{spun['spin_points']} spinning agree with the eigenvalues. The damped minor-axis spin ends about the axis of "
        "greatest inertia, "
        f"{np.degrees(flat['flat_final_tilt']):.2g} degrees from the momentum.",
        f"The nutation of the minor-axis spinner grows at {flat['growth_rate_eigenvalue']:.4g} 1/s (eigenvalue) and "
        f"{flat['growth_rate_simulation']:.4g} 1/s in the simulation; an energy sink estimates "
        f"{flat['growth_rate_energy_sink']:.4g} 1/s.",
    )
    return StudyResult(
        metrics={**rest, **swing, **spun, **loose, **flat},
        simulations={"libration": swing_sim, "flat_spin": flat_sim},
        figures=(rest_figure, spun_figure, loose_figure, flat_figure),
        notes=notes,
        printed=published_results({**rest, **swing, **spun, **loose, **flat}),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    sizes = ("grid", "spin_grid", "floquet_grid", "orbit_rate", "spin_max", "spin", "proof_mass", "duration")
    for name in (*sizes, "axial_ratio", "libration", "nutation", "proof_damping"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    for name, limit in (("libration", 1.5), ("axial_ratio", 2.0), ("nutation", 0.1)):
        if not getattr(parameters, name) < limit:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected less than {limit:g}")
    if len(parameters.inertia) != 3 or not parameters.inertia[2] < min(parameters.inertia[:2]):
        raise ModelError(
            "parameter 'inertia': expected three moments, the last one the smallest (a spin about the minor axis)"
        )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with the description of Explorer I by Sadigh (1995)."""
    is_flat = metrics["flat_final_tilt"] < 0.2 and metrics["flat_energy_rise"] < 1e-6
    return (
        PublishedResult(
            what="end of a damped spin about the axis of least inertia",
            source="Sadigh (1995), chapter 1 (Explorer I)",
            printed="a spin about the axis of greatest inertia",
            ours=f"major axis {np.degrees(metrics['flat_final_tilt']):.2g} degrees from the momentum",
            holds=is_flat,
            criterion="tilt below 0.2 rad at the end, and the energy never rises by more than 1e-6 of it",
        ),
    )


STUDY = Study(
    question=(
        "Which bodies are stable in a circular orbit, at rest and spinning, and where does damped spin about "
        "the minor axis end?"
    ),
    parameters=Parameters(),
    run=run,
)
