"""The elastic line: convergence to the straight line during deployment, and slack phases."""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl import (
    ElasticTether,
    EquationsOfMotion,
    Figure,
    Guard,
    Line,
    Panel,
    Simulation,
    find_tension,
    form_equations,
    simulate,
    watch_stretch,
)

from .systems import on_elastic_line, on_straight_line

START, ANGLE, ORBITS = 200.0, 0.2, 0.5  # [m], [rad], [1]: length and angle at the start, duration of the deployment


def converge(
    rate: float, mass: float, c: float, density: float, stiffness: float, *, quick: bool
) -> tuple[dict[str, float], Figure]:
    """Return the angle of the satellite during an exponential deployment, elastic and straight, over the number of masses."""

    def length(s):  # type: ignore[no-untyped-def]
        return START * ca.exp(c * rate * s.t)

    straight = form_equations(on_straight_line(rate, mass, length, density))
    end = ORBITS * 2.0 * np.pi / rate
    reference = simulate(straight, x0={"line.first": ANGLE}, t_span=(0.0, end), rtol=1e-10, atol=1e-12)
    pull = find_tension(straight, "line", [0.0], reference.x[:1])[0, 0]
    counts = (1, 2, 4) if quick else (1, 2, 4, 8, 16)
    curves = {}
    for hardness in (stiffness, 10.0 * stiffness):
        errors = []
        for n in counts:
            system = on_elastic_line(
                rate, mass, length, density=density, masses=n, stiffness=hardness, damping=0.02 * hardness
            )
            eom = form_equations(system)
            stretched = START * (1.0 + pull / hardness)
            x0 = start_of(system.elements[0], stretched, c * rate * START)
            sim = simulate(eom, x0=x0, t_span=(0.0, end), rtol=1e-8, atol=1e-9)
            angle = np.arctan2(sim["satellite.y"], sim["satellite.x"])
            errors.append(float(np.max(np.abs(angle - reference["line.first"]))))
        curves[hardness] = errors
    soft, hard = curves[stiffness], curves[10.0 * stiffness]
    metrics = {
        "convergence_order": float(np.log2(hard[0] / hard[1])),
        "elastic_difference": hard[-1],
        "elastic_difference_soft": soft[-1],
        "single_mass_difference": hard[0],
    }
    return metrics, draw_convergence(np.array(counts, dtype=float), curves)


def start_of(line: ElasticTether, length: float, speed: float) -> dict[str, float]:
    """Return the state of the satellite at the end of a straight line that grows, and of its masses."""
    e = np.array([np.cos(ANGLE), np.sin(ANGLE), 0.0])
    ends = {f"satellite.{axis}": value for axis, value in zip("xyz", length * e, strict=True)}
    rates = {f"satellite.{axis}_dot": value for axis, value in zip("xyz", speed * e, strict=True)}
    return {**ends, **rates, **line.straight(np.zeros(3), length * e, end_rate=speed * e)}


def draw_convergence(counts: np.ndarray, curves: dict[float, list[float]]) -> Figure:
    """Draw differences over the number of masses, with a line of second order."""
    first = next(iter(curves.values()))[0]
    lines = [Line(x=counts, y=errors, label=f"E A = {hardness / 1e3:g} kN") for hardness, errors in curves.items()]
    guide = Line(x=counts, y=first / counts**2, label="order 2", style="dotted")
    return Figure(
        name="convergence",
        title="Elastic line against straight line during deployment",
        caption="The difference falls with the square of the number of masses, down to the effect of stretch "
        "and bow of the line.",
        panels=(
            Panel(
                lines=(*lines, guide),
                x_label="number of masses",
                x_unit="1",
                y_label="difference of the angle",
                unit="rad",
                log_x=True,
                log_y=True,
            ),
        ),
    )


def go_slack(
    rate: float, mass: float, length: float, density: float, stiffness: float, swing: float, *, masses: int
) -> tuple[dict[str, float], Simulation, Figure]:
    """Release the satellite at a large angle: a straight line would push, a real one goes slack and snaps taut."""
    straight = form_equations(on_straight_line(rate, mass, length))
    end = 0.8 * 2.0 * np.pi / rate
    rigid = simulate(straight, x0={"line.first": swing}, t_span=(0.0, end), grid=801, rtol=1e-9, atol=1e-11)
    push = find_tension(straight, "line", rigid.t, rigid.x)[:, 0]
    system = on_elastic_line(
        rate, mass, length, density=density, masses=masses, stiffness=stiffness, damping=0.05 * stiffness
    )
    eom = form_equations(system)
    line = system.elements[0]
    where = length * (1.0 + push[0] / stiffness) * np.array([np.cos(swing), np.sin(swing), 0.0])
    x0 = {
        **dict(zip(("satellite.x", "satellite.y", "satellite.z"), where, strict=True)),
        **line.straight(np.zeros(3), where),
    }
    watch = [
        Guard(name="slack", expression=watch_stretch(eom, "line"), direction=-1, is_terminal=False),
        Guard(name="taut", expression=distance_beyond(length), direction=1, is_terminal=False),
    ]
    sim = simulate(eom, x0=x0, t_span=(0.0, end), grid=801, guards=watch, rtol=1e-8, atol=1e-9)
    pulls = find_tension(eom, "line", sim.t, sim.x)
    first = {
        name: min((e.time for e in sim.events if e.name == name), default=float("nan")) for name in ("slack", "taut")
    }
    after = first["taut"]
    metrics = {
        "straight_least_tension": float(np.min(push)),
        "slack_begins": first["slack"],
        "straight_pushes_from": first_zero(rigid.t, push),
        "taut_again": after,
        "closest_distance": float(np.min(np.hypot(sim["satellite.x"], sim["satellite.y"])[sim.t < after])),
        "snap_tension": float(np.max(pulls)),
        "slack_jacobi_rise": largest_rise(eom, sim),
        "string_jacobi_drift": undamped_drift(rate, mass, length, stiffness, swing, end),
    }
    return metrics, sim, draw_slack(rigid, push, sim, pulls, length, rate)


def first_zero(t: np.ndarray, values: np.ndarray) -> float:
    """Return the time at which a history first falls below zero, interpolated between its records."""
    k = int(np.argmax(values < 0.0))
    return float(t[k - 1] + (t[k] - t[k - 1]) * values[k - 1] / (values[k - 1] - values[k]))


def distance_beyond(length: float):  # type: ignore[no-untyped-def]
    """Return the distance of the satellite beyond the natural length, for a guard."""
    return lambda s: ca.sqrt(s["satellite.x"] ** 2 + s["satellite.y"] ** 2 + s["satellite.z"] ** 2) - length


def largest_rise(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the largest rise of the Jacobi integral between records, over its range: damping can only lower it."""
    energy = eom.along("energy", sim.t, sim.x).ravel()
    return float(max(0.0, np.max(np.diff(energy))) / np.ptp(energy))


def undamped_drift(rate: float, mass: float, length: float, stiffness: float, swing: float, end: float) -> float:
    """Return the drift of the Jacobi integral of a string without damping through slack and snaps, relative to its depth."""
    eom = form_equations(on_elastic_line(rate, mass, length, density=0.0, masses=0, stiffness=stiffness, damping=0.0))
    where = {"satellite.x": length * np.cos(swing), "satellite.y": length * np.sin(swing)}
    sim = simulate(eom, x0=where, t_span=(0.0, end), rtol=1e-11, atol=1e-11)
    energy = eom.along("energy", sim.t, sim.x).ravel()
    return float(np.ptp(energy) / (1.5 * mass * rate**2 * length**2))


def draw_slack(
    rigid: Simulation, push: np.ndarray, sim: Simulation, pulls: np.ndarray, length: float, rate: float
) -> Figure:
    """Draw paths of the satellite, tension, and distance."""
    angle = rigid["line.first"]
    orbits = sim.t * rate / (2.0 * np.pi)
    axis = {"x_label": "orbits", "x_unit": "1"}
    distance = np.hypot(sim["satellite.x"], sim["satellite.y"])
    return Figure(
        name="slack",
        title="A swing with a slack phase",
        caption=(
            "A straight line would push (negative tension). The elastic line goes slack; the satellite leaves "
            "its circle until the line snaps taut."
        ),
        panels=(
            Panel(
                lines=(
                    Line(x=length * np.cos(angle), y=length * np.sin(angle), label="straight line", style="dotted"),
                    Line(x=sim["satellite.x"], y=sim["satellite.y"], label="elastic line"),
                    Line(x=[0.0], y=[0.0], label="mother", style="markers"),
                ),
                x_label="radial",
                x_unit="m",
                y_label="along track",
                unit="m",
                equal_axes=True,
            ),
            Panel(
                lines=(
                    Line(x=orbits, y=distance / length - 1.0, label="elastic line"),
                    Line(x=orbits[[0, -1]], y=[0.0, 0.0], label="straight line", style="dotted"),
                ),
                y_label="distance / length - 1",
                unit="1",
                **axis,
            ),
            Panel(
                lines=(Line(x=orbits, y=pulls[:, -1], label="elastic line, at the satellite"),),
                y_label="tension",
                unit="N",
                **axis,
            ),
            Panel(
                lines=(
                    Line(x=rigid.t * rate / (2.0 * np.pi), y=push, label="straight line"),
                    Line(x=orbits[[0, -1]], y=[0.0, 0.0], label="none", style="dotted"),
                ),
                y_label="tension",
                unit="N",
                **axis,
            ),
        ),
    )
