"""A satellite on a tether: libration, deployment, retrieval, effect of the line's mass, and slack phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import ModelError, PublishedResult, Study, StudyResult

from .elastic import converge, go_slack
from .libration import librate
from .momentum import reel_in_free_space
from .retrieval import fly_retrieval, hold_angles


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    orbit_rate: float = 1e-3  # [rad/s], as in Sadigh (1995), section 6.2
    satellite_mass: float = 500.0  # [kg], Sadigh (1995), section 6.3
    length: float = 500.0  # [m], Sadigh (1995), section 6.3
    retrieval: float = 0.22  # [1], -L_dot / (orbit_rate L) of the exponential retrieval, Sadigh (1995), section 6.3
    constant_rate: float = 46.0  # [m], length retrieved per radian of the orbit, Sadigh (1995), section 6.3
    start_angle: float = 0.1  # [rad], in-plane angle at the start of the histories
    deployment: float = 0.3  # [1], L_dot / (orbit_rate L) where elastic and straight line are compared
    line_density: float = 0.05  # [kg/m], of the massive lines
    stiffness: float = 2e4  # [N], E A of the elastic line
    swing: float = 1.4  # [rad], amplitude of the swing that makes the line slack
    slack_masses: int = 8  # [1], point masses of the line that goes slack


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Answer five questions, each by two methods."""
    check(parameters)
    rate, mass, length = parameters.orbit_rate, parameters.satellite_mass, parameters.length
    progress(0.0, "libration")
    swing, swing_figure = librate(rate, mass, length, parameters.line_density, quick=quick)
    progress(0.2, "angles and poles of exponential reeling")
    held, held_figure = hold_angles(rate, mass, length, parameters.retrieval, quick=quick)
    progress(0.35, "retrieval")
    flown, flights, flown_figure = fly_retrieval(
        rate, mass, length, parameters.retrieval, parameters.constant_rate, parameters.start_angle
    )
    progress(0.5, "reeling in free space")
    free, free_figure = reel_in_free_space(parameters.line_density, parameters.stiffness, quick=quick)
    progress(0.65, "elastic line against straight line")
    close, close_figure = converge(
        rate, mass, parameters.deployment, parameters.line_density, parameters.stiffness, quick=quick
    )
    progress(0.85, "slack line")
    loose, loose_sim, loose_figure = go_slack(
        rate,
        mass,
        length,
        parameters.line_density,
        parameters.stiffness,
        parameters.swing,
        masses=2 if quick else parameters.slack_masses,
    )
    notes = (
        f"The satellite librates at {swing['in_plane_over_orbital_rate']:.9f} (in the plane) and "
        f"{swing['out_of_plane_over_orbital_rate']:.9f} (out of it) times the orbital rate; a straight "
        f"line would have to push once it swings beyond "
        f"{swing['slack_amplitude'] * 57.29578:.2f} degrees. Reeled in without control, the libration grows at "
        f"{held['retrieval_growth']:.3g} orbital rates.",
        f"The elastic line converges to the straight one with order {close['convergence_order']:.2f} in the number of masses; "
        f"the remaining difference is its stretch.",
        "The initial angles of Figure 6.10 of Sadigh (1995) are not published, and it shows the motion with a manipulator. The "
        "histories here are those of the tether alone, from the given start_angle.",
    )
    return StudyResult(
        metrics={**swing, **held, **flown, **free, **close, **loose},
        simulations={**flights, "slack": loose_sim},
        figures=(swing_figure, held_figure, flown_figure, free_figure, close_figure, loose_figure),
        notes=notes,
        printed=published_results({**swing, **held, **flown}),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in (
        "orbit_rate",
        "satellite_mass",
        "length",
        "retrieval",
        "constant_rate",
        "deployment",
        "stiffness",
        "swing",
    ):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    for name, limit in (("retrieval", 0.75), ("deployment", 0.75), ("swing", 1.57), ("start_angle", 1.0)):
        if not getattr(parameters, name) < limit:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected less than {limit:g}")
    if not parameters.line_density > 0.0 or parameters.slack_masses < 1:
        raise ModelError(
            "parameters 'line_density' and 'slack_masses': expected a line with mass, density > 0 and masses >= 1"
        )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Sadigh (1995), who describes retrieval in words; the start of Figure 6.10 is not published."""
    grows = metrics["retrieval_growth"] > 0.0
    return (
        PublishedResult(
            what="retrieval without control",
            source="Sadigh (1995), section 6.3.3",
            printed="unstable",
            ours=f"grows at {metrics['retrieval_growth']:.3g} orbital rates",
            holds=grows,
            criterion="growth rate above 0",
        ),
        PublishedResult(
            what="station keeping without control",
            source="Sadigh (1995), section 9.1",
            printed="marginally stable",
            ours=f"librates at {metrics['in_plane_over_orbital_rate']:.6g} orbital rates, undamped",
            holds=abs(metrics["in_plane_over_orbital_rate"] - np.sqrt(3.0)) < 1e-6,
            criterion="libration at sqrt(3) orbital rates, to 1e-6",
        ),
    )


STUDY = Study(
    question="How does a tethered satellite librate, how can it be reeled in, and when does its line go slack?",
    parameters=Parameters(),
    run=run,
)
