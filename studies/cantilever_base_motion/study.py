"""A cantilever on a moving base (Sadigh 1995, sections 5.2.1, 5.5.1): constants, buckling, resonance, stabilisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import Figure, Line, ModelError, Panel, PublishedResult, Study, StudyResult

from . import constants
from .histories import growth, run_beam
from .mathieu import edges, is_stable_mathieu, largest_multiplier


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. Lengths over L, accelerations over L omega1^2."""

    weights: tuple[float, ...] = (0.0, 0.3, 0.5, 0.62, 0.65)  # [1], (g / L) / omega1^2 of figure 5.6
    shakes: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3)  # [1], (a0 / L) / omega1^2 of figure 5.7
    start: float = 0.01  # [1], first deflection of the tip over L
    periods: float = 6.0  # [1], first periods to simulate
    map_weight: float = 0.7  # [1], (g / L) / omega1^2 of the stabilisation map, beyond buckling
    map_ratio: float = 20.0  # [1], largest frequency of the base over omega1
    map_lift: float = 0.15  # [1], largest displacement of the base over L
    map_modes: int = 3  # [1], modes of the second map
    map_damping: float = 0.01  # [1], damping ratio of its modes
    grid: int = 37  # [1], points along each axis of the map


BOUND = 1.0 + 1e-6  # a solution with a multiplier above this grows; rounding and step errors of the map are below 1e-7


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compute the constants by two methods, buckling weights, histories and the stability map."""
    check(parameters)
    progress(0.0, "constants")
    metrics = compare_constants()
    progress(0.1, "histories")
    rest = {"periods": parameters.periods, "start": parameters.start}
    weights = {g: run_beam(gravity=g, **rest) for g in parameters.weights}
    shakes = {a: run_beam(amplitude=a, **rest) for a in parameters.shakes}
    metrics |= measure_histories(parameters)
    progress(0.4, "stabilisation map")
    found, chart = draw_map(parameters, 10 if quick else parameters.grid)
    metrics |= found
    progress(0.9, "runs inside and outside the map's regions")
    metrics |= check_map(parameters)
    sims = {f"weight_{g:g}".replace(".", "_"): item[0] for g, item in weights.items()}
    sims |= {f"shake_{a:g}".replace(".", "_"): item[0] for a, item in shakes.items()}
    return StudyResult(
        metrics=metrics,
        simulations=sims,
        figures=(draw_histories(weights, shakes), chart),
        notes=notes(metrics),
        printed=published_results(metrics),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("start", "periods", "map_weight", "map_ratio", "map_lift", "map_modes", "grid"):
        if not getattr(parameters, name) > 0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not parameters.map_weight > 0.64:
        raise ModelError(
            f"parameter 'map_weight': got {parameters.map_weight:g}, expected more than 0.64: below that limit, the beam is "
            "stable without excitation"
        )
    if not parameters.map_ratio > 2.0:
        raise ModelError(
            f"parameter 'map_ratio': got {parameters.map_ratio:g}, expected more than 2, where the map begins"
        )
    if min(parameters.weights + parameters.shakes) < 0.0:
        raise ModelError("parameters 'weights' and 'shakes': expected values of 0 or more")


def compare_constants() -> dict[str, Any]:
    """Return constants by quadrature (the plain keys), from the equations, as published; buckling loads; the pendulum."""
    first, second = constants.by_quadrature(), constants.by_equations()
    one, many, closed = (
        constants.critical_gravity(1),
        constants.critical_gravity(6),
        constants.critical_gravity_bessel(),
    )
    return {
        **first,
        **{f"{key}_equations": value for key, value in second.items()},
        **{f"{key}_printed": value for key, value in constants.PUBLISHED.items()},
        "constants_max_difference": max(abs(second[key] / first[key] - 1.0) for key in second),
        "critical_gravity": many,
        "critical_gravity_one_mode": one,
        "critical_gravity_bessel": closed,
        "critical_ratio": many / second["c1"],
        "pendulum_stiffness_proper": constants.pendulum_stiffness("linearised"),
        "pendulum_stiffness_premature": constants.pendulum_stiffness("premature"),
    }


def measure_histories(parameters: Parameters) -> dict[str, Any]:
    """Measure growth per first period at half and beyond the buckling weight and at parametric resonance."""
    alpha = constants.by_equations()["alpha1"]
    kwargs = {"periods": 12.0, "start": parameters.start}
    _, t, half = run_beam(gravity=0.5, **kwargs)
    _, t, heavy = run_beam(gravity=0.65, **kwargs)
    _, t, shaken = run_beam(amplitude=0.2, **kwargs)
    _, _, light = run_beam(order="premature", **kwargs)
    _, _, same = run_beam(gravity=0.65, order="premature", **kwargs)
    multiplier = largest_multiplier(1, 0.0, np.array([2.0]), np.array([0.2]))[0]
    return {
        "growth_at_half": growth(t, half),
        "growth_at_0_65": growth(t, heavy),
        "growth_at_0_65_formula": 2.0 * np.pi * np.sqrt(alpha * 0.65 - 1.0),
        "growth_at_resonance": growth(t, shaken),
        "growth_at_resonance_floquet": 2.0 * np.log(multiplier),  # two periods of the base in a first period
        "premature_change_by_gravity": np.max(np.abs(light - same)) / parameters.start,
    }


def draw_map(parameters: Parameters, size: int) -> tuple[dict[str, Any], Figure]:
    """Map where vibration along the axis stabilises a beam that would buckle: one mode (Floquet, Mathieu), and several."""
    alpha, g = constants.by_equations()["alpha1"], parameters.map_weight
    ratio, lift = np.meshgrid(
        np.linspace(2.0, parameters.map_ratio, size), np.linspace(0.0, parameters.map_lift, size + 1)[1:]
    )
    shake = lift * ratio**2
    one = largest_multiplier(1, g, ratio, shake) < BOUND
    several = largest_multiplier(parameters.map_modes, g, ratio, shake, damping=parameters.map_damping) < BOUND
    mathieu = is_stable_mathieu(alpha, g, ratio, shake)
    lifts = np.linspace(1e-3, parameters.map_lift, 400)
    low, _ = edges(alpha, g, lifts)
    shown = (low >= 2.0) & (low <= parameters.map_ratio)
    edge = Line(x=low[shown], y=lifts[shown], label="Mathieu, one mode", style="solid")

    def panel(held: np.ndarray, title: str) -> Panel:
        points = Line(x=ratio[held], y=lift[held], label="stable", style="markers")
        return Panel(
            lines=(edge, points),
            y_label="base displacement / L",
            title=title,
            x_label="base frequency / first natural frequency",
            x_unit="",
        )

    figure = Figure(
        name="stabilisation_map",
        title=f"Stabilisation of a beam of weight {g:g} (limit 0.634) by axial base motion",
        caption="Base displacement Y cos(w t) along the beam. With one mode, every excitation of sufficiently high frequency "
        "stabilises the beam. Higher modes resonate with the base and leave little of that region.",
        panels=(
            panel(one, "one mode"),
            panel(several, f"{parameters.map_modes} modes, damping ratio {parameters.map_damping:g}"),
        ),
    )
    metrics = {
        "map_points": ratio.size,
        "mathieu_agreement": np.mean(one == mathieu),
        "stabilised_fraction_one_mode": np.mean(one),
        "stabilised_fraction_several_modes": np.mean(several),
    }
    return metrics, figure


def check_map(parameters: Parameters) -> dict[str, Any]:
    """Simulate a point of the map that is stable and one that is stable with one mode only; return the growth of both."""
    found = {}
    for name, ratio, lift in (("held", 7.0, 0.06), ("lost", 12.0, 0.06)):
        damped = {"modes": parameters.map_modes, "damping": parameters.map_damping}
        _, t, tip = run_beam(gravity=0.7, amplitude=lift * ratio**2, ratio=ratio, periods=8.0, start=1e-4, **damped)
        place = np.array([ratio]), np.array([lift * ratio**2])
        rate = ratio * np.log(largest_multiplier(parameters.map_modes, 0.7, *place, damping=parameters.map_damping)[0])
        found |= {f"map_{name}_growth": growth(t, tip), f"map_{name}_growth_floquet": rate}
    return found


def draw_histories(weights: dict[float, Any], shakes: dict[float, Any]) -> Figure:
    """Draw figures 5.6 and 5.7 of Sadigh (1995)."""
    bound = 6.0 * max(abs(item[2][0]) for item in weights.values())

    def line(label: str, t: np.ndarray, tip: np.ndarray) -> Line:
        outside = np.abs(tip) > bound
        stop = int(np.argmax(outside)) if np.any(outside) else len(t)
        return Line(x=t[:stop], y=100.0 * tip[:stop], label=label)

    upper = tuple(line(f"(g/L)/w1^2 = {g:g}", t, tip) for g, (_, t, tip) in weights.items())
    lower = tuple(line(f"(a0/L)/w1^2 = {a:g}", t, tip) for a, (_, t, tip) in shakes.items())
    axes = {"y_label": "tip deflection / L", "unit": "%", "x_label": "time / first period", "x_unit": ""}
    return Figure(
        name="histories",
        title="A cantilever under its weight, and under axial base motion at twice its first frequency",
        caption="Top (Sadigh 1995, figure 5.6): the weight softens the beam; it buckles beyond 0.634, not at 0.5 as published. "
        "Bottom (figure 5.7): base motion at twice the first frequency is a parametric resonance at any amplitude.",
        panels=(Panel(lines=upper, title="weight", **axes), Panel(lines=lower, title="moving base", **axes)),
    )


def notes(metrics: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    limit = metrics["critical_gravity_bessel"] / metrics["c1_equations"]
    m = {key: f"{value:.4f}" for key, value in metrics.items() if isinstance(value, float)}
    several, one = metrics["stabilised_fraction_several_modes"], metrics["stabilised_fraction_one_mode"]
    return (
        f"The weight softens the beam until it buckles at (g/L)/omega1^2 = {limit:.4f}. Under axial base motion at twice "
        f"its first frequency (0.2 L omega1^2), its amplitude grows by {metrics['growth_at_resonance']:.3f} (logarithmic) per "
        f"period. Fast base motion stabilises a beam that would buckle in {several:.0%} of the map with several modes "
        f"({one:.0%} with one).",
        f"alpha1 is {m['alpha1']} by quadrature and {m['alpha1_equations']} from the equations; the published 2.259 is wrong.",
        f"The buckling weight is {m['critical_gravity']} EI/L^2 with six modes, {m['critical_gravity_bessel']} in closed form: "
        f"(g/L)/omega1^2 = {limit:.4f}. At 0.5 the beam is stable, not unstable as figure 5.6 of Sadigh (1995) states.",
        f"beta2 is {m['beta2']} (published 0.355), gamma1 {m['gamma1']} (published 1.405).",
        f"beta1 = {m['beta1']} belongs to the curvature energy of an inextensible beam; the Green strain gives the cubic term "
        f"{m['cubic_EA']} (EA / m L^3) q1^3, which Eq 5.40 lacks.",
    )


def last_digit(value: float) -> float:
    """Return half of the last digit of a published number, relative to the number."""
    return 0.5 * 10.0 ** -len(f"{value}".partition(".")[2]) / abs(value)


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Sadigh (1995); a number agrees if it does so within half of its last digit."""
    reason = "quadrature and the toolbox's equations agree on ours; the text does not explain the difference"
    remarks = {
        "alpha1": "the integral of the published shape is 1.571; buckling moves from (g/L)/omega1^2 = 0.443 to 0.634",
        "beta1": "correct for the curvature of an inextensible beam; the Green strain of Eq 5.40 gives another term",
        "beta2": reason,
        "gamma1": reason,
    }
    constants = [
        PublishedResult(
            what=f"constant {name}",
            source="Sadigh (1995), section 5.5.1",
            printed=metrics[f"{name}_printed"],
            ours=metrics[name],
            within=last_digit(metrics[f"{name}_printed"]),
            independent=metrics["alpha1_equations"] if name == "alpha1" else None,
            independent_by="the toolbox's equations" if name == "alpha1" else "",
            remark=remarks.get(name, ""),
        )
        for name in ("c1", "alpha1", "c2", "alpha2", "beta1", "beta2", "gamma1")
    ]
    is_stable = abs(metrics["growth_at_half"]) < 0.05
    limit = metrics["critical_gravity_bessel"] / metrics["c1_equations"]
    shaken = metrics["growth_at_resonance"] > 0.0
    return (
        *constants,
        PublishedResult(
            what="upright beam at (g/L)/omega1^2 = 0.5",
            source="Sadigh (1995), Figure 5.6",
            printed="unstable",
            ours="stable" if is_stable else "unstable",
            holds=not is_stable,
            criterion="tip grows by more than 5 % in a first period",
            independent=limit < 0.5,
            independent_by=f"buckling at {limit:.4f} by Bessel functions",
            remark="follows from alpha1",
        ),
        PublishedResult(
            what="base motion along the axis at twice the first frequency",
            source="Sadigh (1995), Figure 5.7",
            printed="grows",
            ours="grows" if shaken else "does not grow",
            holds=shaken,
            criterion="growth of the tip above 0",
        ),
    )


STUDY = Study(
    question=(
        "How do weight and longitudinal base motion change the stiffness of a cantilever, and can base "
        "excitation stabilise one that would buckle?"
    ),
    parameters=Parameters(),
    run=run,
)
