"""Figures of the study: Sadigh (1995), Figures 6.2 to 6.7, the fourth capture, the postures, attitude by joint torques."""

from __future__ import annotations

import numpy as np

from spacectl import EquationsOfMotion, Figure, Line, Panel, Simulation

from .capture import Capture
from .model import JOINTS, Parameters
from .postures import CLEAR, Search, separation

Runs = dict[str, tuple[EquationsOfMotion, Simulation]]
SHOWN = 36.0  # [s] after the fourth capture
STYLES = {"case 1": "solid", "case 2": "dotted", "case 3": "dashed"}


def pitch_of(eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the pitch of the spacecraft [rad]."""
    return sim["pitch" if "pitch" in eom.coordinates else "base.angle"]


def skeleton(
    parameters: Parameters, eom: EquationsOfMotion, sim: Simulation, row: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return spacecraft centre, shoulder, elbow, wrist, satellite centre at one time (links drawn straight)."""
    angles = np.cumsum([pitch_of(eom, sim)[row], *(sim[name][row] for name in JOINTS)])
    lengths = (parameters.shoulder_offset, parameters.link_length, parameters.link_length, parameters.satellite_offset)
    base = complex(sim["base.x"][row], sim["base.y"][row]) if "base.x" in eom.coordinates else 0j
    points = np.cumsum([base, *(length * np.exp(1j * angle) for length, angle in zip(lengths, angles, strict=True))])
    return points.real, points.imag


def draw_motion(parameters: Parameters, runs: Runs) -> Figure:
    """Draw Figure 6.2 of Sadigh (1995)."""
    panels = []
    for name in ("case 1", "case 3"):
        eom, sim = runs[name]
        rows = [int(np.argmin(np.abs(sim.t - t))) for t in np.linspace(0.0, sim.t[-1], 5)]
        lines = []
        for row in rows:
            x, y = skeleton(parameters, eom, sim, row)
            lines.append(Line(x=y, y=x, label=f"{sim.t[row]:.0f} s"))
        lines.append(Line(x=y[[0, -1]], y=x[[0, -1]], label="centres of mass at the end", style="markers"))
        held = "spacecraft" if name == "case 1" else "whole system"
        panels.append(
            Panel(
                lines=tuple(lines), y_label="radial", unit="m", x_label="along track", x_unit="m", equal_axes=True,
                title=f"{name}: the {held}'s centre of mass is on the orbit",
            )
        )  # fmt: skip
    return Figure(
        name="figure_6_2",
        title="Free motion after a smooth capture",
        caption="The satellite's own spin folds the arm and brings it closer, without any torque (Sadigh 1995, Figure 6.2).",
        panels=tuple(panels),
    )


def angle_panel(runs: Runs, names: tuple[str, ...], joints: tuple[str, ...] = ("pitch", *JOINTS)) -> tuple[Panel, ...]:
    """Return panels of pitch and joint angles."""
    panels = []
    for joint in joints:
        lines = []
        for name in names:
            eom, sim = runs[name]
            values = pitch_of(eom, sim) if joint == "pitch" else sim[joint]
            lines.append(Line(x=sim.t, y=values, label=name, style=STYLES.get(name, "solid")))
        panels.append(Panel(lines=tuple(lines), y_label=joint, unit="rad"))
    return tuple(panels)


def tip_panel(sim: Simulation) -> Panel:
    """Return a panel of the deflections of the links' tips."""
    lines = tuple(Line(x=sim.t, y=sim[f"{name}_tip.y"], label=name) for name in ("upper", "lower"))
    return Panel(lines=lines, y_label="tip deflection", unit="m")


def place_panel(sim: Simulation) -> Panel:
    """Return a panel of the displacement of the spacecraft from its position at capture."""
    lines = tuple(
        Line(x=sim.t, y=sim[f"base.{axis}"] - sim[f"base.{axis}"][0], label=label)
        for axis, label in (("x", "radial"), ("y", "along track"))
    )
    return Panel(lines=lines, y_label="displacement of the spacecraft", unit="m")


def torque_panel(sim: Simulation, title: str) -> Panel:
    """Return a panel of the torques of all actuators."""
    names = [str(name) for name in sim.dataset["input"].values]
    return Panel(
        lines=tuple(Line(x=sim.t, y=sim.column("u", name), label=name) for name in names),
        y_label="torque", unit="N m", title=title,
    )  # fmt: skip


def draw_free(runs: Runs) -> Figure:
    """Draw Figure 6.3 of Sadigh (1995)."""
    return Figure(
        name="figure_6_3",
        title="Free motion after a smooth capture",
        caption="Flexible links (case 2) move as rigid ones (case 1); the motion with a free base (case 3) "
        "differs. Sadigh (1995), Figure 6.3.",
        panels=(
            *angle_panel(runs, ("case 1", "case 2", "case 3")),
            tip_panel(runs["case 2"][1]),
            place_panel(runs["case 3"][1]),
        ),
    )


def draw_controlled(runs: Runs) -> tuple[Figure, ...]:
    """Draw Figures 6.4 to 6.7 of Sadigh (1995)."""
    return (
        Figure(
            name="figure_6_4",
            title="Feedback linearisation, cases 1 and 3",
            caption="The spin stops and the posture is maintained, pitch to rounding; in case 3 the spacecraft "
            "returns without jets.",
            panels=(*angle_panel(runs, ("case 1", "case 3"), JOINTS), place_panel(runs["case 3"][1])),
        ),
        Figure(
            name="figure_6_5",
            title="Torques of feedback linearisation",
            caption="The attitude torque carries the reaction of the shoulder.",
            panels=tuple(torque_panel(runs[name][1], name) for name in ("case 1", "case 3")),
        ),
        Figure(
            name="figure_6_6",
            title="LQR with flexible links, case 2",
            caption="Joint torques also damp the links' vibration.",
            panels=(*angle_panel(runs, ("case 2",)), tip_panel(runs["case 2"][1])),
        ),
        Figure(
            name="figure_6_7",
            title="Torques of the LQR, case 2",
            panels=(torque_panel(runs["case 2"][1], ""),),
            caption="The wrist stops the spin at once; the other joints follow slowly.",
        ),
        Figure(
            name="joints_alone",
            title="Attitude by joint torques alone",
            caption="Pitch (to rounding), elbow and wrist are controlled; the shoulder takes the momentum and drifts.",
            panels=(*angle_panel(runs, ("joints alone",), JOINTS), torque_panel(runs["joints alone"][1], "")),
        ),
    )


def draw_capture(capture: Capture) -> Figure:
    """Draw the fourth capture."""
    sim = capture.sim
    caught = sim.transitions[0].time
    shown = sim.t <= caught + SHOWN
    t = sim.t[shown]

    def lines(values: dict[str, np.ndarray]) -> tuple[Line, ...]:
        return tuple(Line(x=t, y=value[shown], label=label) for label, value in values.items())

    angles = {name: sim[name] - sim[name][0] for name in ("base.angle", "shoulder", "elbow")}
    forces = {f"along the link's {axis}": sim.reaction(f"grapple.{axis}") for axis in "xy"}
    inputs = {name: sim.column("u", name) for name in ("attitude", *JOINTS)}
    rows = (
        Panel(lines=lines(angles), y_label="angle, from its start", unit="rad"),
        Panel(lines=lines({"satellite": sim["satellite.angle_dot"]}), y_label="spin", unit="rad/s"),
        Panel(
            lines=lines({name: sim[f"{name}_tip.y"] for name in ("upper", "lower")}), y_label="tip deflection", unit="m"
        ),
        Panel(lines=lines(forces), y_label="grapple force", unit="N"),
        Panel(lines=lines(inputs), y_label="torque", unit="N m"),
    )
    return Figure(
        name="capture_with_speed",
        title="Capture with a relative speed at the grapple point",
        caption=f"At {caught:.2f} s the speeds jump; the impulse bends the links, and the gains change with the stage.",
        panels=rows,
    )


def draw_postures(
    parameters: Parameters, search: Search, sims: dict[str, tuple[EquationsOfMotion, Simulation]]
) -> Figure:
    """Draw distances over the postures, and the best posture over time."""
    lines = []
    for k, side in enumerate(("+x", "-x")):
        best = np.nanmin(np.where(np.isnan(search.distance[k]), 1e3, search.distance[k]), axis=0)
        kept = best < 1e3
        lines.append(
            Line(x=search.axes[kept], y=best[kept], label=f"elbow on the {side} side, best pitch", style="markers")
        )
    lines.append(
        Line(x=[search.best[1] % (2.0 * np.pi)], y=[search.best_distance], label="after local search", style="markers")
    )
    histories = [Line(x=sim.t, y=separation(parameters, eom, sim.x), label=name) for name, (eom, sim) in sims.items()]
    return Figure(
        name="postures",
        title="Approach postures, free motion of case 3",
        caption=f"The grapple axis determines the effect of the spin; the distance of the centres is at least {CLEAR:g} m.",
        panels=(
            Panel(lines=tuple(lines), y_label="distance at the end", unit="m", x_label="grapple axis", x_unit="rad"),
            Panel(lines=tuple(histories), y_label="distance", unit="m", title="in time"),
        ),
    )
