"""Figures of the study, after figures 3 to 5 of Aslanov, Kruglov and Yuditsev, and the orders of the errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel

FLOOR = 1e-17  # for logarithmic axes
SHOWN = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # [s], of the snapshots
STYLES = {"plain": "solid", "stabilised": "dashed", "projected": "dotted"}
WORDS = {"plain": "plain", "stabilised": "Baumgarte", "projected": "projection"}


def draw(
    shape: np.ndarray,
    t: np.ndarray,
    found: dict[str, Any],
    rows: tuple[str, ...],
    order: tuple[np.ndarray, dict[str, np.ndarray]],
    apart: dict[str, Any],
) -> tuple[Figure, ...]:
    """Draw all figures."""
    return (snapshots(t, shape), energy(t, found), drift(t, found, rows), orders(*order), chaos(apart))


def snapshots(t: np.ndarray, shape: np.ndarray) -> Figure:
    """Draw the mechanism at some times (Fig 3)."""
    lines = []
    for time in SHOWN:
        k = int(np.argmin(np.abs(t - time)))
        lines.append(Line(x=shape[k, :, 0], y=shape[k, :, 1], label=f"{time:.1f} s"))
    first = t <= 2.0
    lines.append(Line(x=shape[first, -1, 0], y=shape[first, -1, 1], label="end, 2 s", style="dotted"))
    panel = Panel(lines=tuple(lines), y_label="y", unit="m", x_label="x", x_unit="m", equal_axes=True)
    return Figure(
        name="snapshots",
        title="The mechanism swings down from rest along +x",
        caption="Joints A (origin), B, C and the free end; the motion stays in the plane of gravity.",
        panels=(panel,),
    )


def energy(t: np.ndarray, found: dict[str, Any]) -> Figure:
    """Draw energy errors (Fig 4)."""
    lines = [
        Line(x=t[1:], y=np.abs(found[name][1][1:]) + FLOOR, label=WORDS[name], style=style)
        for name, style in STYLES.items()
    ]
    return Figure(
        name="energy",
        title="Energy error with and without stabilisation",
        caption="Same method and tolerance; the mechanism conserves its energy.",
        panels=(Panel(lines=tuple(lines), y_label="energy error", unit="J", log_y=True),),
    )


def drift(t: np.ndarray, found: dict[str, Any], rows: tuple[str, ...]) -> Figure:
    """Draw position-level errors of constraints (Fig 5)."""
    panels = []
    for row, what in (("B_y", "joint B, normal y"), ("C_x", "joint C, normal x")):
        k = rows.index(row)
        lines = [
            Line(x=t[1:], y=np.abs(found[name][0][1:, k]) + FLOOR, label=WORDS[name], style=style)
            for name, style in STYLES.items()
        ]
        panels.append(Panel(lines=tuple(lines), y_label=what, unit="m", log_y=True))
    return Figure(
        name="drift",
        title="Drift of constraints 5 and 7 with and without stabilisation",
        caption="Constraint 6 of the paper (joint B, normal z) holds the links in the plane; no force acts out of the plane.",
        panels=tuple(panels),
    )


def orders(steps: np.ndarray, order: dict[str, np.ndarray]) -> Figure:
    """Draw errors over the step of a method of order 5."""
    panels = []
    for column, (what, unit) in enumerate((("largest drift", "m"), ("largest energy error", "J"))):
        lines = [
            Line(x=steps, y=values[:, column] + FLOOR, label=WORDS[name], style=STYLES[name])
            for name, values in order.items()
            if not (column == 0 and name == "projected")
        ]
        reference = order["plain"][0, column] * (steps / steps[0]) ** 5
        lines.append(Line(x=steps, y=reference, label="order 5", style="markers"))
        panels.append(
            Panel(lines=tuple(lines), y_label=what, unit=unit, x_label="step", x_unit="s", log_x=True, log_y=True)
        )
    return Figure(
        name="orders",
        title="Drift and energy error over the step, fixed steps, 3 s",
        caption="Stabilisation lowers the drift but not its order; the energy error hardly changes at short steps. "
        "With projection the drift is rounding.",
        panels=tuple(panels),
    )


def chaos(apart: dict[str, Any]) -> Figure:
    """Draw the separation of motions from two neighbouring initial states."""
    return Figure(
        name="chaos",
        title="Distance between two motions whose starts differ by 1e-10 rad/s",
        caption="From 4 s on it grows exponentially: comparisons beyond a few seconds are meaningless.",
        panels=(
            Panel(
                lines=(Line(x=apart["t"][1:], y=apart["gap"][1:], label="largest distance of centres"),),
                y_label="distance",
                unit="m",
                log_y=True,
            ),
        ),
    )
