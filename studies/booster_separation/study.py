"""Separation of four strap-on boosters from a Soyuz-like core: reactions, events, paths, and a safety map.

Aslanov, Kruglov and Yuditsev, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spacectl import ModelError, PublishedResult, Shape, Study, StudyResult

from .clearance import Clearance, measure
from .figures import draw_campaign, draw_map, draw_paths, draw_reactions
from .model import BOOSTERS, Parameters
from .separation import Carrier, event_times, form_carrier

SOURCE = "Aslanov, Kruglov and Yuditsev, section 5, Figure 8"
FIRST, SECOND = "lambda 1 is zero", "lambda 2 is zero"
PATTERNS = {
    "one booster": (1.0, 0.0, 0.0, 0.0),
    "two neighbours": (1.0, 1.0, 0.0, 0.0),
    "two opposite": (1.0, 0.0, 1.0, 0.0),
    "three boosters": (1.0, 1.0, 1.0, 0.0),
}


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate the nominal separation, its event times, the map over asymmetries and a campaign."""
    check(parameters)
    progress(0.0, "forming the equations, nominal separation")
    carrier = form_carrier(parameters)
    sim = carrier.separate(grid=301, rtol=1e-10, atol=1e-10)
    nominal = measure(parameters, carrier.eom, sim)
    metrics: dict[str, Any] = {
        "first_reaction_zero": np.min(event_times(sim, FIRST)),
        "nozzle_opening": np.min(event_times(sim, "nozzle opens")),
        "second_reaction_zero": np.min(event_times(sim, SECOND)),
        "least_clearance": nominal.least,
        "recontact": nominal.recontact,
        "turn_rate_at_release": turn_rate(carrier, sim),
    }
    progress(0.15, "accuracy of event times")
    metrics |= check_events(carrier, sim)
    progress(0.25, "safety map")
    changes = np.array([-0.4, 0.4, 0.8] if quick else np.linspace(-0.6, 1.2, 13))
    names = tuple(PATTERNS) if not quick else ("one booster", "two opposite")
    found = {name: sweep(carrier, PATTERNS[name], changes) for name in names}
    for name, values in found.items():
        metrics[f"least_clearance_{name.replace(' ', '_')}"] = np.min(values["least"])
        metrics[f"core_turn_{name.replace(' ', '_')}"] = np.max(values["turn"])
    progress(0.6, "campaign")
    runs, spread = campaign(carrier, 4 if quick else 100)
    least = np.array([item.least for item in runs])
    metrics |= {
        "campaign_least_clearance": np.min(least),
        "campaign_clearance_5_percent": np.quantile(least, 0.05),
        "campaign_part_with_recontact": float(np.mean([item.recontact > 1e-3 for item in runs])),
    }
    tails = parameters.tail_off * np.array([0.8, 1.0, 1.2] if quick else np.linspace(0.5, 1.6, 12))
    firsts = [float(np.min(event_times(carrier.separate([tail] * 4), FIRST))) for tail in tails]
    metrics["first_event_slope"] = np.polyfit(tails, firsts, 1)[0]
    progress(0.95, "drawing")
    figures = (
        draw_reactions(sim),
        draw_paths(parameters, carrier.eom, sim),
        draw_map(changes, found),
        draw_campaign(least, spread, {"tail": tails, "first": firsts}),
    )
    return StudyResult(
        metrics=metrics,
        simulations={"nominal": sim},
        figures=figures,
        shapes=shapes_of(parameters),
        notes=findings(metrics),
        printed=published_results(metrics),
    )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with the statements on Figure 8 (Aslanov, Kruglov and Yuditsev), whose data are not published."""
    first, second = metrics["first_reaction_zero"], metrics["second_reaction_zero"]
    return (
        PublishedResult(what="first reaction is zero", source=SOURCE, printed=0.7, ours=first, unit="s",
                        within=0.05,
                        remark="the data of the carrier are not published; the time is proportional to the assumed tail-off"),
        PublishedResult(what="second reaction is zero", source=SOURCE, printed="later",
                        ours=f"{second - first:.3f} s later", holds=second > first, criterion="second time above the first"),
    )  # fmt: skip


def findings(metrics: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    return (
        f"The first reaction vanishes {metrics['first_reaction_zero']:.3f} s after cut-off. The booster then slides; its "
        f"nozzle opens at {metrics['nozzle_opening']:.3f} s and pushes the nose away. "
        f"From 0.25 s after the release on, the boosters stay at least {metrics['least_clearance']:.2f} m from the core. "
        f"If one booster tails off at a different rate, the clearance is at least "
        f"{metrics['least_clearance_one_booster']:.2f} m.",
    )


def shapes_of(parameters: Parameters) -> dict[str, Any]:
    """Return shapes for the replay: boosters as cones, and an upper stage ahead of the joints that has no dynamics."""
    p = parameters
    ball, tail = -p.core_centre, -p.core_centre - p.booster_length
    core = (
        Shape.bar((tail, 0.0, 0.0), (ball + 8.0, 0.0, 0.0), 2.0 * p.core_radius),
        Shape.bar((ball + 8.0, 0.0, 0.0), (ball + 14.0, 0.0, 0.0), 2.66),
        Shape.bar((ball + 14.0, 0.0, 0.0), (ball + 21.0, 0.0, 0.0), 3.0),
        Shape.bar((ball + 21.0, 0.0, 0.0), (ball + 25.0, 0.0, 0.0), 3.0, kind="cone"),
    )
    base, width = p.booster_centre - p.booster_length, 2.0 * p.booster_radius
    booster = (
        Shape.bar((base, 0.0, 0.0), (base + 4.0, 0.0, 0.0), width),
        Shape.bar((base + 4.0, 0.0, 0.0), (p.booster_centre, 0.0, 0.0), width, kind="cone"),
    )
    return {"core": core, **dict.fromkeys(BOOSTERS, booster)}


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("core_mass", "core_thrust", "booster_mass", "booster_length", "booster_centre", "thrust", "tail_off", "slide",
                 "nozzle_thrust", "nozzle_time"):  # fmt: skip
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")


def turn_rate(carrier: Carrier, sim: Any) -> float:
    """Return the rate at which the base of booster 1 swings out at its release [rad/s]."""
    release = next(item for item in sim.transitions if item.guard == f"b1: {SECOND}")
    return -float(np.asarray(release.x_before)[carrier.eom.states.index("b1.wz")])


def check_events(carrier: Carrier, sim: Any) -> dict[str, float]:
    """Compare event times with a run at 1e-12 and between grids; return also the change of state at a release."""
    tight = carrier.separate(grid=2, rtol=1e-12, atol=1e-12)
    coarse = carrier.separate(grid=7, rtol=1e-10, atol=1e-10)
    guards = (FIRST, "nozzle opens", SECOND)
    times = [np.sort(np.concatenate([event_times(item, guard) for guard in guards])) for item in (sim, tight, coarse)]
    jumps = [np.max(np.abs(np.asarray(item.x_after) - np.asarray(item.x_before))) for item in sim.transitions]
    return {
        "event_time_error": np.max(np.abs(times[0] - times[1])),
        "event_time_grid_difference": np.max(np.abs(times[0] - times[2])),
        "release_jump": np.max(jumps),
    }


def sweep(carrier: Carrier, pattern: tuple[float, ...], changes: np.ndarray) -> dict[str, np.ndarray]:
    """Return least clearances and largest rotations of the core for other tail-off times of the boosters in a pattern."""
    base = carrier.parameters.tail_off
    runs = [fly(carrier, base * (1.0 + change * np.array(pattern))) for change in changes]
    return {"least": np.array([item.least for item in runs]), "turn": np.array([item.core_turn for item in runs])}


def fly(carrier: Carrier, tails: Any) -> Clearance:
    """Return the clearances of one separation."""
    return measure(carrier.parameters, carrier.eom, carrier.separate(tails, grid=121))


def campaign(carrier: Carrier, count: int) -> tuple[list[Clearance], np.ndarray]:
    """Return the clearances of random separations, and the ranges of their tail-off times."""
    generator = np.random.default_rng(carrier.parameters.seed)
    factors = np.exp(carrier.parameters.spread * generator.normal(size=(count, len(BOOSTERS))))
    tails = carrier.parameters.tail_off * factors
    return [fly(carrier, row) for row in tails], np.ptp(tails, axis=1)


STUDY = Study(
    question=(
        "At what time do the boosters of a Soyuz-like launcher separate, and how large is the clearance if "
        "their thrusts tail off unevenly?"
    ),
    parameters=Parameters(),
    run=run,
)
