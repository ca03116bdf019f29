"""Figures of the study: Sadigh (1995), Figures 8.4 and 8.5, the paths, and the residual vibration."""

from __future__ import annotations

import numpy as np

from spacectl import Band, Figure, Line, Maneuver, Panel, Plan

JOINTS = ("shoulder", "elbow", "wrist")
STYLES = ("solid", "dashed", "dotted")


def draw_coordinates(maneuver: Maneuver) -> Figure:
    """Draw joint angles and deflections over time (Sadigh 1995, Figure 8.4)."""
    sim, plan = maneuver.simulation, maneuver.plan
    t = np.asarray(plan.x.t)
    joints = [Line(x=sim.t, y=sim[name], label=name) for name in JOINTS]
    planned = Line(x=t, y=plan.x.column("elbow"), label="elbow, planned", style="dotted")
    tips = [
        Line(x=sim.t, y=sim[f"{link}.eta1"], label=f"{link} link", style=style)
        for link, style in zip(("upper", "lower"), STYLES, strict=False)
    ]
    return Figure(
        name="coordinates",
        title="Coordinates of the flexible arm along the line (Sadigh 1995, Figure 8.4)",
        caption="Link deflections follow the joint torques, reverse at the switch and spring back when the plan ends; "
        "then feedback damps the vibration.",
        panels=(
            Panel(lines=(*joints, planned), y_label="joint angle", unit="rad"),
            Panel(lines=tuple(tips), y_label="tip deflection", unit="m"),
        ),
    )


def draw_payload(maneuver: Maneuver, name: str, title: str) -> Figure:
    """Draw the position of the payload and the torques (Sadigh 1995, Figure 8.5)."""
    sim = maneuver.simulation
    u = {joint: sim.column("u", joint) for joint in JOINTS}
    low, high = sim.equations.limits()
    bands = (Band(low=float(min(low)), high=float(max(high)), label="largest limit"),)
    return Figure(
        name=f"payload_{name}",
        title=title,
        caption=f"End of the plan: {maneuver.plan.final_time:.2f} s; residual energy: {maneuver.flight.residual_energy:.2g} J.",
        panels=(
            Panel(
                lines=(
                    Line(x=sim.t, y=sim["payload.y"], label="along track"),
                    Line(x=sim.t, y=sim["payload.x"], label="radial", style="dashed"),
                ),
                y_label="payload",
                unit="m",
            ),
            Panel(
                lines=tuple(
                    Line(x=sim.t, y=u[joint], label=joint, style=s) for joint, s in zip(JOINTS, STYLES, strict=True)
                ),
                y_label="torque",
                unit="N m",
                bands=bands,
            ),
        ),
    )


def draw_arrival(plan: Plan, before: float = 1.2) -> Figure:
    """Draw the last torques of a plan and the deflections of the links."""
    t = np.linspace(plan.final_time - before, plan.final_time, 1201)
    u, x = plan.u(t), plan.x(t)
    joints = [
        Line(x=t, y=u[:, plan.u.labels.index(name)], label=name, style=style)
        for name, style in zip(JOINTS, STYLES, strict=True)
    ]
    tips = [
        Line(x=t, y=x[:, plan.x.labels.index(f"{link}.eta1")], label=f"{link} link", style=style)
        for link, style in zip(("upper", "lower"), STYLES, strict=False)
    ]
    return Figure(
        name="arrival",
        title="Final phase of the motion of the flexible arm",
        caption="In the last tenth of a second the torques of shoulder and elbow reverse and return: the links, bent by braking, "
        "are straight and at rest when the plan ends.",
        panels=(
            Panel(lines=tuple(joints), y_label="torque", unit="N m"),
            Panel(lines=tuple(tips), y_label="tip deflection", unit="m"),
        ),
    )


def draw_paths(maneuvers: dict[str, Maneuver]) -> Figure:
    """Draw the path of the payload, seen along the orbit normal."""
    lines = tuple(
        Line(x=item.simulation["payload.y"], y=item.simulation["payload.x"], label=name, style=style)
        for (name, item), style in zip(maneuvers.items(), STYLES, strict=False)
    )
    return Figure(
        name="paths",
        title="Path of the satellite in the orbit plane",
        caption="The free path deviates from the line so that shoulder and elbow both work at their limits.",
        panels=(Panel(lines=lines, y_label="radial", unit="m", x_label="along track", x_unit="m", equal_axes=True),),
    )


def draw_residuals(maneuvers: dict[str, Maneuver]) -> Figure:
    """Draw the residual energy over the end of each plan."""
    lines = tuple(
        Line(x=[item.plan.final_time], y=[max(item.flight.residual_energy, 1e-9)], label=name, style="markers")
        for name, item in maneuvers.items()
    )
    return Figure(
        name="residuals",
        title="Time and residual energy of all variants",
        caption="A bang-bang plan of the rigid arm leaves the links bent. Shaped timing takes half a second longer and leaves "
        "almost no energy; the plan of the flexible arm itself takes a twentieth of a second longer.",
        panels=(
            Panel(lines=lines, y_label="residual energy", unit="J", x_label="end of the plan", x_unit="s", log_y=True),
        ),
    )
