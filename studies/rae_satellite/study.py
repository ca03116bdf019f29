"""Booms of the RAE satellite in orbit (Sadigh 1995, section 5.5.3): effect of the satellite's motion on their stiffness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl import (
    Figure,
    Line,
    ModelError,
    Panel,
    PublishedResult,
    Simulation,
    Study,
    StudyResult,
    form_equations,
    simulate,
)

from .booms import by_equations, by_quadrature, critical_speed, critical_speed_ritz, satellite


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. Data of Sadigh (1995), section 5.5.3."""

    length: float = 228.75  # [m]
    density: float = 0.02  # [kg/m]
    EI: float = 6.033  # [N m^2]
    period: float = 13440.0  # [s], of the orbit: 224 minutes
    ydot: float = 0.235  # [m/s], along the orbit: the published buckling speed
    fast: float = 0.34  # [m/s], beyond buckling
    start: float = 1.0  # [m], first deflection of the tips of booms 1 and 3
    periods: float = 5.0  # [1], duration in first periods of the booms
    modes: int = 6  # [1], of each boom, for the buckling speed


PUBLISHED = {
    "omega1": 0.00117,
    "alpha": 0.215,
    "beta": 1340.0,
    "gamma": 1.25,
    "still": 0.74,
    "rate": 0.008,
    "acceleration": 0.01,
}
PUBLISHED_SPEED = 0.235  # [m/s]
CUBIC = 0.8177  # [1], beta1 of the inextensible curvature energy, see the study cantilever_base_motion


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compute the constants by two methods, the buckling speed, and figure 5.10."""
    for name in Parameters.__dataclass_fields__:
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    progress(0.0, "constants")
    metrics = compare_constants(parameters)
    progress(0.3, "buckling speed")
    metrics |= {
        "critical_ydot": critical_speed(parameters, 3 if quick else parameters.modes),
        "critical_ydot_one_mode": critical_speed(parameters, 1),
        "critical_ydot_ritz": critical_speed_ritz(parameters),
    }
    progress(0.6, "histories")
    sims = {
        "premature": move(parameters, "premature", parameters.ydot),
        "linearised": move(parameters, "linearised", parameters.ydot),
        "fast": move(parameters, "linearised", parameters.fast),
    }
    w1 = metrics["omega1"]
    strain = cubic_history(parameters, sims["premature"].t, w1)
    tips = {name: [sim[f"boom{k}.eta1"] for k in (1, 3)] for name, sim in sims.items()}
    softened = 1.0 - metrics["alpha_booms_2_4"] * (2.0 * np.pi / parameters.period / w1) ** 2
    metrics |= {
        "boom3_stiffness_at_ydot": 1.0 + metrics["still"] - metrics["rate"] * parameters.ydot / w1,
        "boom3_largest_at_ydot": np.max(np.abs(tips["linearised"][1])) / parameters.start,
        "boom3_growth_when_fast": np.log(np.abs(tips["fast"][1][-1]) / parameters.start),
        "boom2_static_deflection": metrics["gamma"] * parameters.ydot / w1 / softened,
    }
    return StudyResult(
        metrics=metrics,
        simulations=sims,
        figures=(draw(parameters, sims, tips, strain, w1), draw_stiffness(metrics)),
        notes=notes(parameters, metrics),
        printed=published_results(metrics),
    )


def compare_constants(parameters: Parameters) -> dict[str, Any]:
    """Return constants by quadrature (the plain keys) and from the equations; alpha from the equations."""
    first, second = by_quadrature(parameters), by_equations(parameters)
    pairs = {
        "omega1": second["omega1"],
        "beta": second["beta"],
        "gamma": second["gamma"],
        "still": second["still"][2],
        "rate": -second["rate"][2],
        "acceleration": second["acceleration"][3],
    }
    return {
        **{key: first[key] for key in pairs},
        **{f"{key}_equations": value for key, value in pairs.items()},
        **{f"{key}_printed": value for key, value in PUBLISHED.items()},
        "critical_ydot_quadrature": first["critical_ydot"],
        "critical_ydot_printed": PUBLISHED_SPEED,
        "constants_max_difference": max(abs(value / first[key] - 1.0) for key, value in pairs.items()),
        "alpha_booms_1_3": second["alpha"][0],
        "alpha_booms_2_4": second["alpha"][1],
    }


def move(parameters: Parameters, order: str, speed: float) -> Simulation:
    """Release booms 1 and 3 from a deflection while the satellite moves along the orbit at constant speed."""
    eom = form_equations(satellite(parameters, lambda t: speed * t, order))
    w1 = by_quadrature(parameters)["omega1"]
    duration = parameters.periods * 2.0 * np.pi / w1
    x0 = {"boom1.eta1": parameters.start, "boom3.eta1": parameters.start}
    grid = np.linspace(0.0, duration, 80 * round(parameters.periods) + 1)
    return simulate(eom, x0=x0, t_span=(0.0, duration), grid=grid, rtol=1e-9, atol=1e-10)


def cubic_history(parameters: Parameters, t: np.ndarray, w1: float) -> np.ndarray:
    """Integrate the first remedy of Sadigh (1995) for booms 1 and 3: premature equation and cubic spring ``beta1 q^3 / L^2``."""

    def rate(_: float, x: np.ndarray) -> list[float]:
        return [x[1], -(w1**2) * (x[0] + CUBIC * x[0] ** 3 / parameters.length**2)]

    done = solve_ivp(rate, (t[0], t[-1]), [parameters.start, 0.0], "DOP853", t_eval=t, rtol=1e-10, atol=1e-12)
    return np.asarray(done.y[0])


def draw(parameters: Parameters, sims: Any, tips: Any, strain: np.ndarray, w1: float) -> Figure:
    """Draw figure 5.10 of Sadigh (1995), at the published and beyond the correct buckling speed."""
    tau = sims["premature"].t * w1 / (2.0 * np.pi)

    def line(y: np.ndarray, label: str, style: str = "solid") -> Line:
        shown = np.abs(y) < 8.0 * parameters.start
        stop = len(y) if np.all(shown) else int(np.argmin(shown))
        return Line(x=tau[:stop], y=y[:stop], label=label, style=style)

    axes = {"y_label": "tip deflection", "unit": "m", "x_label": "time / first period", "x_unit": ""}
    early = (
        line(tips["premature"][0], "premature, booms 1 and 3", "dashed"),
        line(strain, "cubic strain energy, booms 1 and 3", "dotted"),
    )
    slow = (*early, line(tips["linearised"][0], "proper, boom 1"), line(tips["linearised"][1], "proper, boom 3"))
    fast = (*early, line(tips["fast"][0], "proper, boom 1"), line(tips["fast"][1], "proper, boom 3"))
    return Figure(
        name="booms",
        title="Booms of the RAE satellite moving along its orbit",
        caption="Sadigh (1995), figure 5.10. Coriolis acceleration tensions the upper boom and compresses the lower one, which "
        "is soft but stable at 0.235 m/s and buckles near 0.333 m/s. The premature model and a cubic strain energy lack "
        "this effect.",
        panels=(
            Panel(
                lines=slow,
                title=f"{parameters.ydot:g} m/s (published as the buckling speed: {PUBLISHED_SPEED:g} m/s)",
                **axes,
            ),
            Panel(lines=fast, title=f"{parameters.fast:g} m/s", **axes),
        ),
    )


def draw_stiffness(metrics: dict[str, Any]) -> Figure:
    """Draw the stiffness of booms 1 and 3 over the speed."""
    speed = np.linspace(0.0, 0.4, 81)
    y = speed / metrics["omega1"]
    lines = (
        Line(x=speed, y=1.0 + metrics["still"] + metrics["rate"] * y, label="boom 1"),
        Line(x=speed, y=1.0 + metrics["still"] - metrics["rate"] * y, label="boom 3"),
        Line(x=speed, y=np.ones_like(y), label="premature, both", style="dashed"),
        Line(x=[PUBLISHED_SPEED], y=[0.0], label="published buckling speed", style="markers"),
    )
    return Figure(
        name="stiffness",
        title="Stiffness of the radial booms over the satellite's speed along the orbit",
        caption="Boom 3 loses its stiffness where its line meets zero.",
        panels=(Panel(lines=lines, y_label="stiffness / that at rest", x_label="speed along the orbit", x_unit="m/s"),),
    )


def notes(parameters: Parameters, metrics: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    m = {key: f"{value:.4f}" for key, value in metrics.items() if isinstance(value, float)}
    return (
        f"Boom 3 buckles at {m['critical_ydot']} m/s along the orbit (published: {PUBLISHED_SPEED:g} m/s); at "
        f"{parameters.ydot:g} m/s its stiffness is {metrics['boom3_stiffness_at_ydot']:.0%} of that without orbital "
        "motion. Only the properly linearised theory predicts this: "
        "the speed does not enter the premature theory, with or without a cubic strain energy.",
        f"omega1 = {metrics['omega1']:.5g} rad/s and gamma = {m['gamma']} are as published. beta is {m['beta']}; the published "
        "1340 is that divided by omega1, an error of units.",
        f"alpha is {abs(metrics['alpha_booms_1_3']):.1f} for booms 1 and 3, where gravity gradient and centrifugal field cancel "
        f"across the boom, and {metrics['alpha_booms_2_4']:.1f} for 2 and 4; published 0.215 for all.",
        f"The correction terms are {m['still']}, {metrics['rate']:.5f} and {metrics['acceleration']:.5f}; published .74, "
        ".008 and .01, the last two too large by 2.259 / 1.571.",
        f"At {parameters.ydot:g} m/s the Coriolis force would bend booms 2 and 4 by {metrics['boom2_static_deflection']:.0f} m, "
        "more than their length: the case lies outside any theory of small deflections.",
    )


def last_digit(value: float) -> float:
    """Return half of the last digit of a published number, relative to the number."""
    return 0.5 * 10.0 ** -len(f"{value:g}".partition(".")[2]) / abs(value)


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Sadigh (1995); a number agrees if it does so within half of its last digit."""
    table = (
        ("first natural frequency", "Sadigh (1995), section 5.5.3", "omega1", ""),
        ("gamma", "Sadigh (1995), Eq 5.46", "gamma", ""),
        ("beta", "Sadigh (1995), Eq 5.46", "beta", "an error of units: divided by omega1"),
        ("constant term", "Sadigh (1995), Eq 5.47", "still", "inherits 2.259 in place of 1.571, and alpha"),
        ("term of y'", "Sadigh (1995), Eq 5.47", "rate", "inherits 2.259 in place of 1.571"),
        (
            "term of y''",
            "Sadigh (1995), Eq 5.47",
            "acceleration",
            "its single digit does not distinguish 2.259 from 1.571",
        ),
    )
    units = {"omega1": "rad/s", "rate": "1/m", "acceleration": "1/m"}
    rows = [
        PublishedResult(
            what=what,
            source=source,
            printed=metrics[f"{key}_printed"],
            ours=metrics[key],
            unit=units.get(key, ""),
            within=last_digit(metrics[f"{key}_printed"]),
            independent=metrics[f"{key}_equations"],
            independent_by="the toolbox's equations",
            remark=remark,
        )
        for what, source, key, remark in table
    ]
    # Hill's equations: 3 n^2 x along the radius, nothing along the orbit; a boom bends across its own axis
    booms = (("1 and 3", "1_3", 0.0), ("2 and 4", "2_4", 3.0))
    cancels = "gravity gradient and centrifugal field cancel across a radial boom and add along the orbit"
    rows += [
        PublishedResult(
            what=f"alpha of booms {which}",
            source="Sadigh (1995), Eq 5.46",
            printed=metrics["alpha_printed"],
            ours=metrics[f"alpha_booms_{key}"],
            within=last_digit(metrics["alpha_printed"]),
            independent=field,
            independent_by="Hill's equations",
            remark=cancels,
        )
        for which, key, field in booms
    ]
    slow = "at the published speed boom 3 has half of its stiffness and is stable"
    rows.append(
        PublishedResult(
            what="buckling speed of boom 3",
            source="Sadigh (1995), section 5.5.3",
            printed=metrics["critical_ydot_printed"],
            ours=metrics["critical_ydot"],
            unit="m/s",
            within=last_digit(metrics["critical_ydot_printed"]),
            independent=metrics["critical_ydot_ritz"],
            independent_by="Ritz's method with polynomials",
            remark=slow,
        )
    )
    return tuple(rows)


STUDY = Study(
    question="Does along-track motion of the RAE satellite buckle one of its booms, and which theories predict it?",
    parameters=Parameters(),
    run=run,
)
