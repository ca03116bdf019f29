"""Figures of the study: Sadigh (1995), Figures 6.11 and 6.12, poles, and additional results."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel, Simulation, library

from .laws import Station

Orbiter = library.TetherOrbiter

STYLES = {1: "dotted", 25: "solid", 50: "dashed"}


def draw_histories(station: Station, runs: dict[int, Simulation], swing: float, rate: float) -> Figure:
    """Draw angles from the fixed point, end of the arm, and torques from trim, for the three weights."""

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t * rate / (2.0 * np.pi), y=values(sim), label=f"k = {k}", style=STYLES[k])
            for k, sim in runs.items()
        )

    axis: dict[str, Any] = {"x_label": "orbits", "x_unit": "1"}
    panels = [
        Panel(
            lines=lines(lambda sim: Orbiter.libration(sim.x)),
            y_label="tether",
            unit="rad",
            **axis,
        )
    ]
    for i, name in enumerate(Orbiter.JOINTS[:3]):
        panels.append(
            Panel(
                lines=lines(lambda sim, i=i, n=name: sim.column("x", n) - Orbiter.FIXED_POINT[i]),
                y_label=name,
                unit="rad",
                **axis,
            )
        )
    for letter, word in (("y", "end of arm, along track"), ("x", "end of arm, up")):
        panels.append(Panel(lines=lines(lambda sim, n=letter: sim[f"end.{n}"]), y_label=word, unit="m", **axis))
    for i, name in enumerate(Orbiter.INPUTS):
        panels.append(
            Panel(
                lines=lines(lambda sim, i=i: np.asarray(sim.u)[:, i] - np.asarray(station.point.u)[i]),
                y_label=f"torque, {'spacecraft' if name == 'craft' else name}",
                unit="N m",
                **axis,
            )
        )
    number = "6.11" if station.length < 500.0 else "6.12"
    return Figure(
        name=f"stationkeeping_{station.length:.0f}m",
        title=f"Station keeping at {station.length:.0f} m (Sadigh 1995, Figure {number})",
        caption=f"Angles from the fixed point and torques from trim, after {swing:g} rad of tether swing. The arm follows the "
        "swing; more weight on the speeds damps it sooner, with more motion of the arm.",
        panels=tuple(panels),
    )


def draw_poles(poles: dict[tuple[int, int], Any], locked: dict[int, Any], rate: float) -> Figure:
    """Draw closed-loop poles near the origin, in orbital rates."""
    panels = []
    for length in sorted({length for length, _ in poles}):
        lines = [
            Line(
                x=[s.real / rate for s in found if abs(s) < 8.0 * rate],
                y=[s.imag / rate for s in found if abs(s) < 8.0 * rate],
                label=f"k = {k}",
                style="markers",
            )
            for (n, k), found in poles.items()
            if n == length
        ]
        lines.append(
            Line(
                x=[s[0] / rate for s in locked[length]],
                y=[s[1] / rate for s in locked[length]],
                label="arm locked, no law",
                style="markers",
            )
        )
        panels.append(
            Panel(
                lines=tuple(lines),
                title=f"{length} m",
                x_label="real part over orbital rate",
                x_unit="1",
                y_label="imaginary part over orbital rate",
                unit="1",
            )
        )
    return Figure(
        name="poles",
        title="Slow poles of the three weights",
        caption="The two librations become damped; poles beyond 8 orbital rates are not shown.",
        panels=tuple(panels),
    )


def draw_reach(reach: dict[tuple[float, int], float]) -> Figure:
    """Draw the largest swings from which the nonlinear loop returns."""
    weights = sorted({k for _, k in reach})
    lines = []
    for k in weights:
        lengths = sorted(length for length, other in reach if other == k)
        lines.append(
            Line(x=lengths, y=[max(reach[(length, k)], 1e-5) for length in lengths], label=f"k = {k}", style=STYLES[k])
        )
    return Figure(
        name="largest_swing",
        title="Largest swing at the start from which the loop returns",
        caption="The law is linear, the arm is not: after a larger swing it turns over. Longer tethers allow smaller swings.",
        panels=(
            Panel(
                lines=tuple(lines),
                x_label="tether length",
                x_unit="m",
                y_label="tether swing",
                unit="rad",
                log_x=True,
                log_y=True,
            ),
        ),
    )


def draw_noise(noisy: dict[int, Simulation], rate: float) -> Figure:
    """Draw tether and elbow torque under sensor noise."""
    axis: dict[str, Any] = {"x_label": "orbits", "x_unit": "1"}
    names = {length: f"{length} m" for length in noisy}
    return Figure(
        name="noise",
        title="Sampled law with noisy sensors, from the fixed point",
        caption="k = 25; noise affects the tether only through the arm.",
        panels=(
            Panel(
                lines=tuple(
                    Line(
                        x=sim.t * rate / (2 * np.pi),
                        y=1e3 * Orbiter.libration(sim.x),
                        label=names[length],
                    )
                    for length, sim in noisy.items()
                ),
                y_label="tether",
                unit="mrad",
                **axis,
            ),
            Panel(
                lines=tuple(
                    Line(
                        x=sim.t * rate / (2 * np.pi),
                        y=np.asarray(sim.u)[:, 2] - np.mean(np.asarray(sim.u)[:, 2]),
                        label=names[length],
                    )
                    for length, sim in noisy.items()
                ),
                y_label="elbow torque, from its mean",
                unit="N m",
                **axis,
            ),
        ),
    )


def draw_wrong(wrong: dict[str, Simulation], error: float, rate: float) -> Figure:
    """Draw offsets due to a wrong trim, without and with integral action."""
    names = {"plain": "LQR of the thesis", "integral": "with integral action"}
    styles = {"plain": "dashed", "integral": "solid"}
    axis: dict[str, Any] = {"x_label": "orbits", "x_unit": "1"}

    def lines(values: Any) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t * rate / (2.0 * np.pi), y=values(sim), label=names[key], style=styles[key])
            for key, sim in wrong.items()
        )

    return Figure(
        name="wrong_numbers",
        title=f"100 m, satellite and length {100 * error:.0f} % more than in the design model",
        caption="k = 25, angles from the fixed point. The wrong trim displaces the arm permanently; integral "
        "action removes this.",
        panels=(
            Panel(
                lines=lines(lambda sim: Orbiter.libration(sim.x)),
                y_label="tether",
                unit="rad",
                **axis,
            ),
            Panel(
                lines=lines(lambda sim: sim.column("x", "elbow") - Orbiter.FIXED_POINT[2]),
                y_label="elbow",
                unit="rad",
                **axis,
            ),
        ),
    )
