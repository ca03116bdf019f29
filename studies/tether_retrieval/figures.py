"""Figures of the study: Sadigh (1995), Figures 6.10, 6.13 and 6.14, torque jumps, and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel, Simulation, library

from .free import free_tether
from .phases import Flight

Orbiter = library.TetherOrbiter

AXIS: dict[str, Any] = {"x_label": "orbits", "x_unit": "1"}
STYLES = ("dotted", "solid", "dashed")


def draw_free(free: dict[str, Simulation], rate: float) -> Figure:
    """Draw tether and pitch without control."""
    styles = {"station": "dotted", "exponential": "dashed", "constant": "solid", "deployment": "solid"}
    names = {
        "station": "station keeping",
        "exponential": "retrieval, exponential",
        "constant": "retrieval, constant rate",
        "deployment": "deployment, exponential",
    }

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t * rate / (2 * np.pi), y=values(sim), label=names[key], style=styles[key])
            for key, sim in free.items()
        )

    return Figure(
        name="uncontrolled",
        title="Arm locked, no torque (Sadigh 1995, Figure 6.10)",
        caption="Retrieval increases the libration, deployment reduces it; at constant length it is constant.",
        panels=(
            Panel(lines=lines(free_tether), y_label="tether", unit="rad", **AXIS),
            Panel(lines=lines(lambda sim: sim["pitch"] - Orbiter.FIXED_POINT[0]), y_label="pitch", unit="rad", **AXIS),
        ),
    )


def draw_flights(name: str, title: str, flights: dict[str, Flight], rate: float, caption: str) -> Figure:
    """Draw length, angles and torques."""

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=flight.t * rate / (2 * np.pi), y=values(flight), label=label, style=STYLES[k])
            for k, (label, flight) in enumerate(flights.items())
        )

    panels = [
        Panel(lines=lines(lambda flight: flight.length), y_label="length", unit="m", **AXIS),
        Panel(lines=lines(lambda flight: flight.tether), y_label="tether", unit="rad", **AXIS),
    ]
    for i in (1, 2):
        panels.append(
            Panel(
                lines=lines(lambda flight, i=i: flight.angles[:, i] - Orbiter.FIXED_POINT[i]),
                y_label=Orbiter.JOINTS[i],
                unit="rad",
                **AXIS,
            )
        )
    for i, word in enumerate(Orbiter.INPUTS):
        label = "spacecraft" if word == "craft" else word
        panels.append(
            Panel(lines=lines(lambda flight, i=i: flight.torques[:, i]), y_label=f"torque, {label}", unit="N m", **AXIS)
        )
    return Figure(name=name, title=title, caption=caption, panels=tuple(panels))


def draw_jumps(flights: dict[str, Flight], data: Orbiter) -> Figure:
    """Draw the jump of the torques at the start of each station keeping over the energy of the libration there."""
    found: dict[str, list[tuple[float, float]]] = {}
    for label, flight in flights.items():
        for begin, _ in flight.stations:
            at = int(np.searchsorted(flight.t, begin - 1e-6))
            speed = (flight.tether[at] - flight.tether[at - 1]) / (flight.t[at] - flight.t[at - 1])
            swing = speed**2 + 3.0 * data.rate**2 * flight.tether[at] ** 2
            energy = 0.5 * data.satellite_mass * flight.length[at] ** 2 * float(swing)
            jump = float(np.max(np.abs(flight.torques[at + 1] - flight.torques[at])))
            found.setdefault(label.split(", ")[0], []).append((energy, jump))
    words = {"gentle": "exponential, half the rate", "constant": "constant rate"}
    lines = [
        Line(x=[x for x, _ in pairs], y=[y for _, y in pairs], label=words.get(kind, kind), style="markers")
        for kind, pairs in found.items()
    ]
    return Figure(
        name="torque_jumps",
        title="Torque jumps where station keeping begins",
        caption="Starts of station keeping in one step and in several. The jump grows with the energy of the libration when the "
        "law changes, so station keeping should start early.",
        panels=(
            Panel(
                lines=tuple(lines),
                x_label="energy of the libration at the change of law",
                x_unit="J",
                y_label="largest jump of a torque",
                unit="N m",
                log_x=True,
                log_y=True,
            ),
        ),
    )


def draw_scan(lengths: dict[tuple[float, int], Flight]) -> Figure:
    """Draw largest libration, torque and motion of the arm over the length."""
    counts = sorted({steps for _, steps in lengths})

    def lines(values: Any) -> tuple[Line, ...]:
        found = []
        for k, steps in enumerate(counts):
            at = sorted(length for length, other in lengths if other == steps)
            label = f"{steps} step{'s' if steps > 1 else ''}"
            found.append(Line(x=at, y=[values(lengths[(x, steps)]) for x in at], label=label, style=STYLES[k]))
        return tuple(found)

    axis: dict[str, Any] = {"x_label": "length at the start", "x_unit": "m", "log_y": True}
    return Figure(
        name="lengths",
        title="Three quarters of the line retrieved, from several lengths",
        caption="Shorter tethers are easier to retrieve. From 300 to 500 m on the motion leaves the domain of "
        "the station-keeping law and the arm turns over.",
        panels=(
            Panel(lines=lines(lambda f: f.largest), y_label="largest libration", unit="rad", **axis),
            Panel(lines=lines(lambda f: f.arm), y_label="largest arm motion", unit="rad", **axis),
            Panel(
                lines=lines(lambda f: float(np.max(np.abs(f.torques)))), y_label="largest torque", unit="N m", **axis
            ),
        ),
    )
