"""Reeling at an exponential rate: equilibrium angles, their poles, and simulated retrievals."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import Figure, Line, Panel, Simulation, find_operating_point, form_equations, linearize, simulate

from .systems import on_straight_line


def exponential(length: float, rate: float, c: float) -> Any:
    """Return L = length exp(c rate t)."""
    return lambda s: length * ca.exp(c * rate * s.t)


def angle_of(c: float | np.ndarray) -> Any:
    """Return the equilibrium angle: ``sin 2a = -4 c / 3`` with ``L_dot = c rate L``."""
    return 0.5 * np.arcsin(-4.0 * c / 3.0)


def poles_of(c: float) -> np.ndarray:
    """Return poles over the rate: ``s^2 + 2 c s + 3 cos 2a`` in the plane, ``s^2 + 2 c s + 1 + 3 cos(a)^2`` out of it."""
    a = angle_of(c)
    return np.concatenate(
        [np.roots([1.0, 2.0 * c, 3.0 * np.cos(2.0 * a)]), np.roots([1.0, 2.0 * c, 1.0 + 3.0 * np.cos(a) ** 2])]
    )


def hold_angles(
    rate: float, mass: float, length: float, retrieval: float, *, quick: bool
) -> tuple[dict[str, float], Figure]:
    """Compare angles and poles of the equations with the closed forms, for retrieval (c < 0) and deployment."""
    given = [-retrieval, 0.3] if quick else sorted({-retrieval, *np.linspace(-0.7, 0.7, 8)})
    angles, found, errors = [], [], []
    for c in given:
        eom = form_equations(on_straight_line(rate, mass, exponential(length, rate, c)))
        point = find_operating_point(eom, free=("line.first",), guess=eom.state(**{"line.first": -0.5 * c}))
        angles.append(float(point.x[eom.states.index("line.first")]))
        poles = np.linalg.eigvals(np.asarray(linearize(eom, point).A)) / rate
        found.append(poles)
        errors.append(max(np.min(np.abs(poles - pole)) for pole in poles_of(c)))
    at = given.index(-retrieval)
    metrics = {
        "retrieval_angle": angles[at],
        "retrieval_angle_closed_form": float(angle_of(-retrieval)),
        "angle_error": float(np.max(np.abs(np.array(angles) - angle_of(np.array(given))))),
        "pole_error": float(np.max(errors)),
        "retrieval_growth": float(np.max(found[at].real)),
    }
    return metrics, draw_angles(np.array(given), np.array(angles), found)


def draw_angles(given: np.ndarray, angles: np.ndarray, found: list[np.ndarray]) -> Figure:
    """Draw equilibrium angle, growth and frequencies over the rate of reeling."""
    fine = 0.7375 * np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 201))  # beyond that the in-plane poles are real
    poles = np.array([np.sort_complex(poles_of(c)) for c in fine])
    frequency = np.sort(np.abs(poles.imag), axis=1)
    marks = [(c, pole) for c, poles_at in zip(given, found, strict=True) for pole in poles_at if pole.imag > -1e-9]
    c_marks, pole_marks = np.array([c for c, _ in marks]), np.array([pole for _, pole in marks])
    axis = {"x_label": "rate of reeling c = L_dot / (n L)", "x_unit": "1"}
    return Figure(
        name="held_angles",
        title="Exponential reeling: equilibrium angle and its poles",
        caption="Deployment (c > 0) damps both librations, retrieval (c < 0) excites them; beyond |c| = 3/4 no "
        "equilibrium exists.",
        panels=(
            Panel(
                lines=(
                    Line(x=fine, y=angle_of(fine), label="sin 2a = -4c/3"),
                    Line(x=given, y=angles, label="from the equations", style="markers"),
                ),
                y_label="angle",
                unit="rad",
                **axis,
            ),
            Panel(
                lines=(
                    Line(x=fine, y=poles.real.max(axis=1), label="both pairs: -c"),
                    Line(x=c_marks, y=pole_marks.real, label="from the equations", style="markers"),
                ),
                y_label="Re pole / n",
                unit="1",
                **axis,
            ),
            Panel(
                lines=(
                    Line(x=fine, y=frequency[:, 0], label="in the plane"),
                    Line(x=fine, y=frequency[:, -1], label="out of the plane", style="dashed"),
                    Line(x=c_marks, y=np.abs(pole_marks.imag), label="from the equations", style="markers"),
                ),
                y_label="Im pole / n",
                unit="1",
                **axis,
            ),
        ),
    )


def fly_retrieval(
    rate: float, mass: float, length: float, c: float, constant: float, start: float
) -> tuple[dict[str, float], dict[str, Simulation], Figure]:
    """Simulate station keeping, exponential and constant-rate retrieval without control (Sadigh 1995, Figure 6.10)."""
    end = 0.85 * length / constant / rate  # the constant rate leaves 15 % of the line
    profiles = {
        "station": length,
        "exponential": exponential(length, rate, -c),
        "constant": lambda s: length - constant * rate * s.t,
    }
    flights = {}
    for name, profile in profiles.items():
        eom = form_equations(on_straight_line(rate, mass, profile))
        x0 = {"line.first": start, "line.second": 1e-3}
        flights[name] = simulate(eom, x0=x0, t_span=(0.0, end), grid=401, rtol=1e-10, atol=1e-12)
    metrics = {f"{name}_largest_angle": float(np.max(np.abs(sim["line.first"]))) for name, sim in flights.items()}
    return (
        metrics | {"flown_growth": growth(rate, mass, length, c)},
        flights,
        draw_flights(flights, length, rate, c, constant),
    )


def growth(rate: float, mass: float, length: float, c: float) -> float:
    """Return the growth rate of a small out-of-plane swing in a simulated retrieval over the orbital rate; expected: c."""
    eom = form_equations(on_straight_line(rate, mass, exponential(length, rate, -c)))
    a = angle_of(-c)
    sim = simulate(eom, x0={"line.first": a, "line.second": 1e-5}, t_span=(0.0, 5.0 / rate), rtol=1e-10, atol=1e-14)
    swing, speed = sim["line.second"], sim["line.second_dot"] / rate
    stiffness = 1.0 + 3.0 * np.cos(a) ** 2 - c**2
    envelope = swing**2 + (speed - c * swing) ** 2 / stiffness  # of exp(c t) psi, psi a plain oscillation
    return float(0.5 * np.log(envelope[-1] / envelope[0]) / (sim.t[-1] * rate))


def draw_flights(flights: dict[str, Simulation], length: float, rate: float, c: float, constant: float) -> Figure:
    """Draw in-plane angle and length of the three histories."""
    names = {
        "station": "station keeping",
        "exponential": f"exponential, c = -{c:g}",
        "constant": f"constant, {constant:g} m/rad",
    }
    styles = {"station": "dotted", "exponential": "dashed", "constant": "solid"}
    lengths = {
        "station": lambda t: np.full(t.size, length),
        "exponential": lambda t: length * np.exp(-c * rate * t),
        "constant": lambda t: length - constant * rate * t,
    }

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t * rate / (2.0 * np.pi), y=values(name, sim), label=names[name], style=styles[name])
            for name, sim in flights.items()
        )

    axis = {"x_label": "orbits", "x_unit": "1"}
    return Figure(
        name="retrieval",
        title="Retrieval without control",
        caption="Every retrieval increases the swing; at a constant rate, -c grows without bound towards the end.",
        panels=(
            Panel(lines=lines(lambda _, sim: sim["line.first"]), y_label="in-plane angle", unit="rad", **axis),
            Panel(lines=lines(lambda name, sim: lengths[name](sim.t)), y_label="length", unit="m", **axis),
        ),
    )
