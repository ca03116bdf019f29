"""Figures of the study: Sadigh (1995), Figures 7.3 to 7.6, and additional results."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Band, Figure, Line, Panel, Simulation

from .arm import ERRORS, JOINTS, LINE, Maneuver
from .before import Diagnosis
from .readings import Reading
from .robust import Robustness

FLOOR = 1e-12  # value that a logarithmic axis shows for zero


def draw_run(maneuver: Maneuver, sim: Simulation) -> Figure:
    """Draw coordinates, tip and torques of the nominal run."""
    t = sim.t
    is_line = maneuver is LINE
    angles = [Line(x=t, y=sim.column("x", name), label=name) for name in JOINTS]
    bending = [Line(x=t, y=1e3 * sim[f"{link}.eta1"], label=f"{link} link") for link in ("upper", "lower")]
    tip = [Line(x=t, y=sim[f"tip.{axis}"], label=axis.upper()) for axis in "xy"]
    return Figure(
        name="line_run" if is_line else "orientation_run",
        title="Tip along the Y axis (Sadigh 1995, Figures 7.3, 7.4)"
        if is_line
        else "Hand parallel to X (Sadigh 1995, Figures 7.5, 7.6)",
        caption=(
            "The wrist holds the tip on X = 0 while the links bend; shoulder and elbow are under PD control."
            if is_line
            else "The wrist holds the direction. The tip is not constrained and leaves the Y axis between both ends."
        ),
        panels=(
            Panel(lines=tuple(angles), y_label="joint angle", unit="rad"),
            Panel(lines=tuple(bending), y_label="tip deflection", unit="mm"),
            Panel(lines=tuple(tip), y_label="tip of the hand", unit="m"),
            Panel(
                lines=tuple([Line(x=t, y=sim.column("u", name), label=name) for name in JOINTS[:2]]),
                y_label="torque",
                unit="N m",
            ),
            Panel(lines=tuple([Line(x=t, y=sim.column("u", "wrist"), label="wrist")]), y_label="torque", unit="N m"),
        ),
    )


def draw_disturbed(maneuver: Maneuver, histories: dict[str, Simulation], frequency: float) -> Figure:
    """Draw the constrained output after a push."""
    is_line = maneuver is LINE
    error_of = ERRORS[maneuver.name]
    unit, scale = ("mm", 1e3) if is_line else ("mrad", 1e3)
    names = {"disturbed": "law of the thesis", "disturbed_feedback": f"with error feedback, {frequency:g} rad/s"}
    styles = {"disturbed": "dashed", "disturbed_feedback": "solid"}
    begin = float(histories["disturbed_feedback"].t[0])
    whole = [
        Line(x=histories[key].t, y=scale * error_of(histories[key]), label=names[key], style=styles[key])
        for key in names
    ]
    sizes = [
        Line(x=sim.t, y=scale * np.abs(error_of(sim)) + FLOOR, label=names[key], style=styles[key])
        for key, sim in ((key, histories[key]) for key in names)
    ]
    return Figure(
        name="line_pushed" if is_line else "orientation_pushed",
        title=f"{'Error of the tip' if is_line else 'Error of the direction'} after a push at {begin:g} s",
        caption="Without error feedback the speed across the path persists; with it the error decays as designed.",
        panels=(
            Panel(lines=tuple(whole), y_label="error", unit=unit),
            Panel(lines=tuple(sizes), y_label="size of the error", unit=unit, log_y=True),
        ),
    )


def draw_before(before: dict[str, Diagnosis]) -> Figure:
    """Draw adequacy of the wrist and the slowest pole along the path."""
    axis: dict[str, Any] = {"x_label": "fraction of the path in joint space", "x_unit": "1"}
    styles = {"line": "solid", "orientation": "dashed"}
    return Figure(
        name="before",
        title="Before the run: adequacy of the wrist and stability of the free motion",
        caption="The wrist is adequate at all postures of both paths, and with the PD law all free motion decays.",
        panels=(
            Panel(
                lines=tuple(
                    [Line(x=d.share, y=d.adequacy, label=word, style=styles[word]) for word, d in before.items()]
                ),
                y_label="adequacy (scaled J M^-1 B_c)",
                unit="1",
                **axis,
            ),
            Panel(
                lines=tuple(
                    [Line(x=d.share, y=d.slowest, label=word, style=styles[word]) for word, d in before.items()]
                ),
                y_label="slowest pole, real part",
                unit="1/s",
                **axis,
            ),
        ),
    )


def draw_readings(scan: list[Reading]) -> Figure:
    """Draw the distance of the wrist from the line, which must stay within the reach of the hand."""
    lines = []
    for item in scan:
        kind = "quintic reference, 1.5 s" if item.rise else "step"
        inside = np.abs(item.sim["wrist_at.x"]) < 0.2
        lines.append(
            Line(
                x=item.sim.t[inside],
                y=item.sim["wrist_at.x"][inside],
                label=f"{100 * item.tip_share:.0f} % of the mass at the tip, {kind}",
                style="dotted" if item.rise else "solid" if item.is_kept else "dashed",
            )
        )
    return Figure(
        name="readings",
        title="Distance of the wrist from the line, for several mass distributions of the hand",
        caption="Dashed: the wrist leaves the reach of 0.15 m, and the constraint can no longer be satisfied.",
        panels=(
            Panel(
                lines=tuple(lines),
                y_label="wrist from the Y axis",
                unit="m",
                bands=(Band(low=-0.15, high=0.15, label="reach"),),
            ),
        ),
    )


def draw_robustness(perturbed: dict[str, Robustness], error: float) -> Figure:
    """Draw errors of laws with wrong parameters, with feedback."""
    panels = []
    for word, item in perturbed.items():
        unit = "mm" if word == "line" else "mrad"
        largest = np.max(np.abs(item.errors), axis=0)
        open_loop = np.max(np.abs(item.open_errors), axis=0)
        panels.append(
            Panel(
                lines=tuple(
                    [
                        Line(x=item.t, y=1e3 * largest + 1e-4, label="with error feedback"),
                        Line(x=item.t, y=1e3 * open_loop + 1e-4, label="law of the thesis", style="dashed"),
                    ]
                ),
                y_label=f"largest error, {word}",
                unit=unit,
                log_y=True,
            )
        )
    return Figure(
        name="wrong_numbers",
        title=f"Masses and stiffness of the design model wrong by {100 * error:.0f} % either way",
        caption="Largest of all combinations. Feedback bounds the error and removes it at rest; without it the output is lost.",
        panels=tuple(panels),
    )


def draw_noise(noisy: dict[str, Simulation]) -> Figure:
    """Draw the tip's error with the sampled law, and the wrist's torque."""
    names = {"noisy": "sampled, with noise", "sampled": "sampled"}
    return Figure(
        name="noise",
        title="Tip along the Y axis: sampled law and noisy states",
        caption="Holding the torque between samples causes tens of micrometres of error in fast motion; noise adds about ten.",
        panels=(
            Panel(
                lines=tuple(
                    [Line(x=noisy[key].t, y=1e6 * noisy[key]["tip.x"], label=label) for key, label in names.items()]
                ),
                y_label="distance of the tip from the line",
                unit="micrometre",
            ),
            Panel(
                lines=tuple(
                    [
                        Line(x=noisy[key].t, y=noisy[key].column("u", "wrist"), label=label)
                        for key, label in names.items()
                    ]
                ),
                y_label="wrist torque",
                unit="N m",
            ),
        ),
    )
