"""Figures of the study: reactions and paths (Aslanov et al., Figures 8 and 9), the safety map, the campaign."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, Figure, Line, Panel, StagedSimulation

from .clearance import DELAY, points_in_core
from .model import Parameters


def draw_reactions(sim: StagedSimulation) -> Figure:
    """Draw the reactions at the nose of a booster (Aslanov, Kruglov and Yuditsev, Figure 8)."""
    shown = sim.t <= 1.0
    t = sim.t[shown]
    names = {"R1, backwards": "b1_n1", "R2, away from the core": "b1_n2"}
    lines = tuple(Line(x=t, y=sim.reaction(row)[shown], label=label) for label, row in names.items())
    late = (sim.t >= 0.55) & (sim.t <= 0.95)
    close = tuple(Line(x=sim.t[late], y=sim.reaction(row)[late], label=label) for label, row in names.items())
    thrust = Line(x=t, y=sim.column("u", "b1_engine")[shown], label="engine of the booster", style="dashed")
    return Figure(
        name="figure_8",
        title="Reactions at the nose of a booster",
        caption="R1 reaches zero near 0.7 s and the booster slides; R2 ends when the nozzle opens (Aslanov, Kruglov and "
        "Yuditsev, Figure 8).",
        panels=(
            Panel(lines=(*lines, thrust), y_label="force", unit="N"),
            Panel(lines=close, y_label="force", unit="N", title="the last part"),
        ),
    )


def draw_paths(parameters: Parameters, eom: EquationsOfMotion, sim: StagedSimulation) -> Figure:
    """Draw nose, centre of mass and base of two opposite boosters in the core's frame (Aslanov et al., Figure 9)."""
    points = points_in_core(parameters, eom, sim)
    across = np.hypot(points[..., 1], points[..., 2]) * np.array([1.0, 1.0, -1.0, -1.0])[None, :, None]

    def both(point: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the path of a point of booster 1 backwards in time, then of booster 3."""
        return (
            np.concatenate([across[::-1, 0, point], across[:, 2, point]]),
            np.concatenate([points[::-1, 0, point, 0], points[:, 2, point, 0]]),
        )

    lines = []
    for point, label in ((0, "noses"), (-1, "bases")):
        x, y = both(point)
        lines.append(Line(x=x, y=y, label=label))
    for row in [int(np.argmin(np.abs(sim.t - t))) for t in (0.0, 0.8, 1.5, 2.2, 3.0)]:
        label = f"axis of booster 1 at {sim.t[row]:.1f} s"
        lines.append(Line(x=across[row, 0], y=points[row, 0, :, 0], label=label, style="dotted"))
    top, bottom = 6.0, -parameters.core_centre - parameters.booster_length
    side = parameters.core_radius
    lines.append(Line(x=[-side, -side, side, side, -side], y=[bottom, top, top, bottom, bottom], label="core"))
    return Figure(
        name="figure_9",
        title="Paths of two opposite boosters, seen from the core",
        caption="The bases swing out, the noses follow when the nozzles open, and all boosters fall behind (Aslanov, Kruglov "
        "and Yuditsev, Figure 9).",
        panels=(
            Panel(
                lines=tuple(lines), y_label="along the core", unit="m", x_label="across", x_unit="m", equal_axes=True
            ),
        ),
    )


def draw_map(changes: np.ndarray, found: dict[str, dict[str, np.ndarray]]) -> Figure:
    """Draw the safety map."""
    panels = []
    for key, label, unit, title in (
        ("least", "least clearance", "m", f"to the core from {DELAY:g} s after release, and between neighbours"),
        ("turn", "rotation of the core, 3 s", "rad", "without its own control"),
    ):
        lines = tuple(Line(x=changes, y=values[key], label=name) for name, values in found.items())
        panels.append(
            Panel(lines=lines, y_label=label, unit=unit, x_label="change of the tail-off time", x_unit="1", title=title)
        )
    return Figure(
        name="safety_map",
        title="Clearance as a function of the asymmetry of the tail-off",
        caption="One booster, two neighbours, two opposite ones or three have a different tail-off time from the rest.",
        panels=tuple(panels),
    )


def draw_campaign(least: np.ndarray, spread: np.ndarray, times: dict[str, Any]) -> Figure:
    """Draw the distribution of the least clearance, and the first event over the tail-off time."""
    order = np.sort(least)
    part = (np.arange(order.size) + 0.5) / order.size
    return Figure(
        name="campaign",
        title="Random tail-off times, and the time of the first event",
        caption="Each point is one separation with four random tail-off times. The event time is proportional to the "
        "tail-off time.",
        panels=(
            Panel(lines=(Line(x=order, y=part, label="separations", style="markers"),), y_label="part below", unit="1",
                  x_label="least clearance", x_unit="m"),
            Panel(lines=(Line(x=spread, y=least, label="separations", style="markers"),), y_label="least clearance", unit="m",
                  x_label="largest less smallest tail-off time", x_unit="s"),
            Panel(lines=(Line(x=times["tail"], y=times["first"], label="R1 is zero"),), y_label="time", unit="s",
                  x_label="tail-off time", x_unit="s"),
        ),
    )  # fmt: skip
