"""A cantilever plate turns about its clamped edge (Sadigh 1995, section 5.5.4): stiffening of each mode by rotation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    Figure,
    Guard,
    Line,
    ModelError,
    Panel,
    Part,
    PublishedResult,
    Revolute,
    Simulation,
    Study,
    StudyResult,
    System,
    form_equations,
    simulate,
)

from .plates import by_quadrature, plate, products, spin_squares, triangles


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. Published are ratios only, for nu = 0.3 and l_r = 1."""

    length: float = 1.0  # [m], from the axis outwards
    width: float = 1.0  # [m], along the axis
    thickness: float = 0.005  # [m]
    E: float = 7.0e10  # [Pa]
    nu: float = 0.3  # [1]
    density: float = 2700.0  # [kg/m^3]
    fastest: float = 2.0  # [1], largest rate over the first frequency at rest
    modes: int = 10  # [1], of the converged plate
    elements: int = 20  # [1], along each edge of the finite-element plate
    ramp: float = 2.0  # [s], spin-up of the history


PUBLISHED = {"bending_constant": 12.48, "torsion_factor": 9.24, "stiffening": 0.21}


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compute the constants by two methods, figure 5.11 with corrected curves, and a spin-up."""
    check(parameters)
    progress(0.0, "constants")
    metrics, first = constants(parameters)
    rates = first * np.linspace(0.0, parameters.fastest, 5 if quick else 21)
    progress(0.2, "frequencies over the rate")
    bodies = {
        "conventional": products(parameters, order="premature"),
        "line": products(parameters, shortening="line"),
        "energy": products(parameters),
        "converged": plate(parameters, modes=4 if quick else parameters.modes),
        "elements": triangles(parameters, 14 if quick else parameters.elements, 4 if quick else parameters.modes),
    }
    squares = {}
    for k, (name, body) in enumerate(bodies.items()):
        progress(0.2 + 0.1 * k, name)
        squares[name] = spin_squares(body, rates)[:, :2] / first**2
    progress(0.7, "spin-up")
    sims = {order: spin_up(parameters, order, first) for order in ("consistent", "premature")}
    metrics |= compare(squares, rates / first)
    lost = [event.time for event in sims["premature"].events]
    metrics["premature_lost_at"] = float(lost[0]) if lost else None
    metrics["consistent_largest"] = float(np.max(np.abs(sims["consistent"]["plate.eta1"])))
    figures = (draw(rates / first, squares), draw_squares(rates / first, squares), draw_spin_up(sims))
    return StudyResult(
        metrics=metrics, simulations=sims, figures=figures, notes=notes(metrics), printed=published_results(metrics)
    )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with the constants of Sadigh (1995), section 5.5.4."""
    why = "ours by quadrature of the beam functions in closed form"
    rows = (
        ("first squared frequency over D / (rho h l1^4)", "Sadigh (1995), Eq 5.51", "bending_constant", f"1.8751^4; {why}"),
        ("factor of (1 - nu) l_r^2 in torsion", "Sadigh (1995), Eq 5.51", "torsion_factor",
         f"the second shape must be psi_c1 psi_f2, Eq 5.49 prints psi_c2; {why}"),
        ("gain of the squared frequency over the squared rate", "Sadigh (1995), Eq 5.50", "stiffening",
         f"with line integrals, both modes; {why}"),
    )  # fmt: skip
    return tuple(
        PublishedResult(
            what=what,
            source=source,
            printed=PUBLISHED[key],
            ours=metrics[key],
            within=last_digit(PUBLISHED[key]),
            independent=metrics[f"{key}_equations"],
            independent_by="the toolbox's equations",
            remark=remark,
        )  # fmt: skip
        for what, source, key, remark in rows
    )


def last_digit(value: float) -> float:
    """Return half of the last digit of a published number, relative to the number."""
    return 0.5 * 10.0 ** -len(f"{value}".partition(".")[2]) / abs(value)


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in Parameters.__dataclass_fields__:
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")


def constants(parameters: Parameters) -> tuple[dict[str, Any], float]:
    """Return the constants of Eqs 5.50, 5.51 by quadrature (plain keys), from the equations, as published; first frequency."""
    ours = by_quadrature(parameters.nu)
    body = products(parameters, shortening="line")
    bend = parameters.E * parameters.thickness**3 / (12.0 * (1.0 - parameters.nu**2))
    unit = bend / (parameters.density * parameters.thickness * parameters.length**4)
    first, second = np.diag(body.elasticity) / np.diag(body.modal_mass)
    ratio = (1.0 - parameters.nu) * (parameters.length / parameters.width) ** 2
    rate = np.sqrt(first)
    at_rest, spun = spin_squares(body, np.array([0.0, rate]))
    equations = {
        "bending_constant": first / unit,
        "torsion_factor": (second / first - 1.0) / ratio,
        "stiffening": (spun[0] - at_rest[0]) / rate**2,
    }
    metrics: dict[str, Any] = dict(ours)
    metrics |= {f"{key}_equations": value for key, value in equations.items()}
    metrics |= {f"{key}_printed": value for key, value in PUBLISHED.items()}
    metrics["constants_max_difference"] = max(abs(equations[key] / value - 1.0) for key, value in ours.items())
    return metrics, rate


def compare(squares: dict[str, np.ndarray], ratio: np.ndarray) -> dict[str, float]:
    """Return the growth of the squared frequencies with the squared rate, and a comparison with finite elements."""
    growth = {name: (values[-1] - values[0]) / ratio[-1] ** 2 for name, values in squares.items()}
    frequencies = {name: np.sqrt(np.maximum(values, 0.0)) for name, values in squares.items()}
    miss = np.abs(frequencies["elements"] / frequencies["converged"] - 1.0)
    return {
        "stiffening_torsion_line": float(growth["line"][1]),
        "stiffening_torsion_energy": float(growth["energy"][1]),
        "stiffening_converged": float(growth["converged"][0]),
        "stiffening_torsion_converged": float(growth["converged"][1]),
        "stiffening_elements": float(growth["elements"][0]),
        "stiffening_torsion_elements": float(growth["elements"][1]),
        "elements_max_difference": float(np.max(miss)),
        "first_ratio_converged": float(frequencies["converged"][0, 0]),
    }


def spin_up(parameters: Parameters, order: str, first: float) -> Simulation:
    """Simulate a smooth spin-up to twice the first frequency; end where the edge has moved by a tenth of the length."""
    rate, T = 2.0 * first, parameters.ramp
    slow = T / (2.0 * np.pi)

    def turned(s: Any) -> Any:
        t = s.t
        return ca.if_else(t < T, rate / T * (0.5 * t * t + slow**2 * (ca.cos(t / slow) - 1.0)), rate * (t - 0.5 * T))

    body = plate(parameters, modes=2, order=order, damping=0.005)
    hub = Revolute(name="hub", axis="y", prescribed=turned)
    eom = form_equations(System(name=f"spin-up, {order}", parts=(Part(body, joint=hub),)))
    bound = (0.1 * parameters.length) ** 2
    lost = Guard(name="lost", expression=lambda s: s["plate.eta1"] ** 2 - bound, direction=1, is_failure=True)
    duration = 1.25 * T
    grid = np.linspace(0.0, duration, 1001)
    x0 = {"plate.eta2": 1e-4 * parameters.length}
    is_sound = order != "premature"  # which is expected to diverge
    settings: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-12, "check": is_sound}
    return simulate(eom, x0=x0, t_span=(0.0, duration), grid=grid, stops=[T], guards=[lost], **settings)


STYLES = {
    "conventional": ("conventional theory (premature)", "dotted"),
    "line": ("two products, line integrals (Sadigh)", "solid"),
    "energy": ("two products, least energy", "dashed"),
    "converged": ("converged modes, least energy", "solid"),
    "elements": ("finite elements", "markers"),
}


def draw(ratio: np.ndarray, squares: dict[str, np.ndarray]) -> Figure:
    """Draw figure 5.11 of Sadigh (1995): both frequencies over the rate."""
    panels = []
    for mode, title in enumerate(("first bending", "first torsion")):
        lines = []
        for name, (label, style) in STYLES.items():
            y = squares[name][:, mode]
            stable = y > 0.0
            lines.append(Line(x=ratio[stable], y=np.sqrt(y[stable]), label=label, style=style))
        panels.append(
            Panel(
                lines=tuple(lines),
                title=title,
                y_label="frequency / first at rest",
                x_label="rate / first frequency",
                x_unit="",
            )
        )
    return Figure(
        name="frequencies",
        title="Frequencies of a square cantilever plate that turns about its clamped edge",
        caption="Sadigh (1995), figure 5.11, in two panels. Conventional theory softens the plate, proper "
        "theory stiffens it. For "
        "bending all proper descriptions agree. For torsion line integrals (Eq 5.34) overestimate the stiffening, because they "
        "stretch every fibre independently.",
        panels=tuple(panels),
    )


def draw_squares(ratio: np.ndarray, squares: dict[str, np.ndarray]) -> Figure:
    """Draw squares over the squared rate; the derivatives are the stiffening constants."""
    panels = []
    for mode, title in enumerate(("first bending", "first torsion")):
        lines = [
            Line(x=ratio**2, y=squares[name][:, mode] - squares[name][0, mode], label=label, style=style)
            for name, (label, style) in STYLES.items()
            if name != "conventional"
        ]
        panels.append(
            Panel(
                lines=tuple(lines),
                title=title,
                y_label="gain of squared frequency",
                x_label="squared rate / first squared",
                x_unit="",
            )
        )
    return Figure(
        name="stiffening",
        title="Increase of the squared frequencies by rotation",
        caption="In units of the first squared frequency at rest. The gradient is the constant of Eq 5.50, published as "
        "0.21 for both modes.",
        panels=tuple(panels),
    )


def draw_spin_up(sims: dict[str, Simulation]) -> Figure:
    """Draw the first bending coordinate during the spin-up."""
    lines = tuple(
        Line(x=sim.t, y=sim["plate.eta1"], label=label, style=style)
        for sim, label, style in (
            (sims["consistent"], "consistent", "solid"),
            (sims["premature"], "premature: diverges", "dotted"),
        )
    )
    return Figure(
        name="spin_up",
        title="Spin-up to twice the first frequency",
        caption="Deflection of the outer edge in the first bending mode. The premature plate loses its "
        "stiffness during the spin-up.",
        panels=(Panel(lines=lines, y_label="deflection", unit="m", x_label="time", x_unit="s"),),
    )


def notes(m: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    return (
        f"Rotation adds {m['stiffening_converged']:.3f} of the squared rate to the squared frequency of bending and "
        f"{m['stiffening_torsion_converged']:.3f} to that of torsion (finite elements: {m['stiffening_elements']:.3f} and "
        f"{m['stiffening_torsion_elements']:.3f}). Line integrals neglect that fibres share their load, and give "
        f"{m['stiffening_torsion_line']:.3f} in torsion.",
        f"Constants: {m['bending_constant']:.4f}, {m['torsion_factor']:.4f} and {m['stiffening']:.4f}; published 12.48, "
        f"9.24 and 0.21. The second shape of Eq 5.49 "
        "must be psi_c1 psi_f2.",
        f"With line integrals torsion stiffens like bending ({m['stiffening_torsion_line']:.3f}); with least energy "
        f"and converged modes by {m['stiffening_torsion_converged']:.3f}, with finite elements by "
        f"{m['stiffening_torsion_elements']:.3f}.",
        f"Finite elements and converged modes differ by at most {m['elements_max_difference']:.2%} up to the fastest rate.",
    )


STUDY = Study(
    question=(
        "How much does rotation about its clamped edge stiffen a cantilever plate, and which terms do line "
        "integrals miss?"
    ),
    parameters=Parameters(),
    run=run,
)
