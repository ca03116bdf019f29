"""The phase plane of a plan as a figure (Sadigh 1995, Figures 8.1, 8.2)."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure, Line, Panel, Region
from spacectl.planners.phase_plane.plan_phase_plane import PhasePlane
from spacectl.planners.plan import Plan

__all__ = ["draw_phase_plane"]


def draw_phase_plane(plan: Plan, *, name: str = "phase_plane", title: str = "", s_unit: str = "1") -> Figure:
    """Draw s_dot over s: the plan, the curves of its construction, switches, and the infeasible region.

    Parameters
    ----------
    plan : Plan
        A plan made by `plan_phase_plane`.
    name, title : str
        Name and title of the figure.
    s_unit : str
        Unit of the path variable, for example ``"m"``.

    Raises
    ------
    ModelError
        If the plan was made without a phase plane.
    """
    plane = plan.notes.get("phase_plane")
    if not isinstance(plane, PhasePlane):
        raise ModelError(f"plan '{plan.name}' has no phase plane; make it with plan_phase_plane")
    top = 1.45 * float(np.max(plane.s_dot))
    limit = np.minimum(plane.limit_speed, 10.0 * top)
    lines = [Line(x=plane.s, y=plane.s_dot, label="plan"), *_limit_lines(plane, top), *_curve_lines(plane, top)]
    switches = [item for item in plane.switches if item.kind != "other limit"]
    reach = 1e-6 * float(plane.s[-1])
    others = [p for p in plane.points if p.s_dot <= top and all(abs(p.s - q.s) > reach for q in switches)]
    for marks, label in ((switches, "switch"), (others, "characteristic point")):
        if marks:
            lines.append(Line(x=[p.s for p in marks], y=[p.s_dot for p in marks], label=label, style="markers"))
    region = Region(x=plane.limit_s, low=limit, high=np.full(len(limit), 20.0 * top), label="not feasible")
    regions = [region]
    if np.any(plane.least_speed > 0.0):
        regions.append(Region(x=plane.limit_s, low=np.zeros(len(limit)), high=plane.least_speed, label="load not held"))
    unit = "" if s_unit == "1" else s_unit
    panel = Panel(
        lines=tuple(lines),
        y_label="path speed",
        unit=f"{unit or '1'}/s",
        x_label="path variable s",
        x_unit=unit,
        regions=tuple(regions),
    )
    caption = (
        f"The fastest motion takes {plan.final_time:.4g} s with {len(switches)} switch{'' if len(switches) == 1 else 'es'}; "
        "it follows the largest or the smallest acceleration that the limits leave, below the velocity limit curve."
    )
    return Figure(name=name, title=title or f"Phase plane of {plan.name}", panels=(panel,), caption=caption)


def _limit_lines(plane: PhasePlane, top: float) -> list[Line]:
    """Return the visible part of the limit curve."""
    inside = plane.limit_speed <= top
    return _stretches([(plane.limit_s, plane.limit_speed, inside)], "velocity limit", "dashed")


def _curve_lines(plane: PhasePlane, top: float) -> list[Line]:
    """Return the parts of the construction curves that lie above the plan."""
    parts = []
    for s, s_dot in plane.curves:
        away = (s_dot > np.interp(s, plane.s, plane.s_dot) * (1.0 + 1e-3)) & (s_dot <= top)
        parts.append((s, s_dot, away))
    return _stretches(parts, "curves of the construction", "dotted")


def _stretches(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], label: str, style: str) -> list[Line]:
    """Return a line for each contiguous part in which a mask is true; the first has the label."""
    lines: list[Line] = []
    for s, value, mask in parts:
        places = np.flatnonzero(mask)
        for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
            if len(part) > 2:
                lines.append(Line(x=s[part], y=value[part], label="" if lines else label, style=style))
    return lines
