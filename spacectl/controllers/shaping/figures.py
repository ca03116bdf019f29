"""Sensitivity of input shapers as figure data: residual vibration over the frequency of the mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from spacectl.controllers.shaping.shaper import Shaper
from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure, Line, Panel

__all__ = ["draw_sensitivity"]


def draw_sensitivity(
    shapers: Iterable[Shaper],
    *,
    frequencies: Any = None,
    damping: float | None = None,
    marks: Mapping[str, float] | None = None,
    name: str = "shaper_sensitivity",
) -> Figure:
    """Draw the residual vibration of shapers over frequency (in Hz), as figure data.

    Parameters
    ----------
    shapers : iterable of Shaper
        One line each.
    frequencies : array, optional
        [rad/s]; default from 0.4 of the lowest design frequency to 1.6 of the highest.
    damping : float, optional
        Damping ratio of the mode; default that of the first design mode.
    marks : mapping of str to float, optional
        Frequencies to mark with their names [rad/s]; default the design frequencies.
    name : str
        Name of the file.

    Returns
    -------
    Figure
    """
    items = tuple(shapers)
    designed = sorted({float(w) for item in items for w in item.frequencies})
    if not items or (frequencies is None and not designed):
        raise ModelError("draw_sensitivity: give shapers with design frequencies, or frequencies=")
    w = np.linspace(0.4 * designed[0], 1.6 * designed[-1], 601) if frequencies is None else np.asarray(frequencies)
    z = damping if damping is not None else float(items[0].damping[0]) if items[0].damping.size else 0.0
    turn = 2.0 * np.pi
    lines = [Line(x=w / turn, y=item.residual(w, z), label=item.name) for item in items]
    named = marks if marks is not None else {f"design, {v / turn:.4g} Hz": v for v in designed}
    top = max(1.0, *(float(np.max(line.y)) for line in lines))
    lines += [Line(x=[v / turn] * 2, y=[0.0, top], label=label, style="dotted") for label, v in named.items()]
    panel = Panel(
        lines=tuple(lines), y_label="residual vibration", unit="1", x_label="frequency of the mode", x_unit="Hz"
    )
    caption = f"Residual vibration over that of one impulse, damping ratio {z:.3g}; dotted: design frequencies."
    return Figure(name=name, title="Sensitivity of input shapers", panels=(panel,), caption=caption)
