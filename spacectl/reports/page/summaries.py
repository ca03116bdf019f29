"""Tables of a report about equations, linear models, laws and plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.analysis.stability import judge_stability
from spacectl.model.attachments import find_compliances
from spacectl.planners.phase_plane.figure import draw_phase_plane
from spacectl.planners.phase_plane.plan_phase_plane import PhasePlane
from spacectl.planners.plan import Plan
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["describe_shapes", "equation_summary", "law_summary", "linear_summary", "plan_figures", "plan_summary"]

NAMES = 24  # largest number of names listed
COUNTED = 40  # bodies up to which operations are counted; functions of larger systems may not be built yet
POLES = 24
GAINS = (12, 26)  # largest table of gains: inputs, states


def equation_summary(title: str, eom: EquationsOfMotion) -> dict[str, Any]:
    """Return names, formulation, constraint equations and operation counts of equations of motion."""
    labels = eom.labels
    rows = [
        ("formulation", f"{eom.formulation} ({eom.stats.get('reason', '')})".replace(" ()", "")),
        (f"coordinates q ({eom.n_q})", _names(labels.q)),
        (f"speeds v ({eom.n_v})", _names(labels.v)),
        (f"inputs u ({eom.n_u})", _names(labels.u)),
        (f"outputs y ({eom.n_y})", _names(labels.y)),
        (f"constraint equations ({len(eom.constraint_rows)})", _shortened(list(eom.constraint_rows))),
        ("inputs that enforce constraints", _shortened(list(eom.constraint_inputs))),
        ("parameters p", f"{len(eom.parameters)} entries; structure {eom.structure_hash[:12]}"),
        ("operations of x_dot", _operations(eom)),
        *((f"shapes of {name}", text) for name, text in describe_shapes(eom.system).items()),
    ]
    return {"title": title, "rows": [row for row in rows if row[1]]}


def describe_shapes(system: Any) -> dict[str, str]:
    """Describe each flexible body: number and origin of its shapes, and static compliance at attachments."""
    known = find_compliances(system)
    found = {}
    for part in system.parts:
        if part.name in known:
            errors = [f"{item.place} {100.0 * item.error:+.2g} %" for item in known[part.name]]
            compliance = f"; static compliance against the exact one: {_shortened(errors)}" if errors else ""
            found[part.name] = f"{part.body.n_modes}, {part.body.basis}{compliance}"
    return found


def linear_summary(title: str, model: Any) -> dict[str, Any]:
    """Return sizes and poles of a linear model."""
    poles = np.asarray(model.poles)
    table = [
        [format_value(float(pole.real)), format_value(float(abs(pole.imag))), _hertz(pole), _ratio(pole)]
        for pole in poles[poles.imag >= 0.0][:POLES]
    ]
    word, pole = judge_stability(model.A)
    judged = (
        f"{'asymptotically stable' if word == 'stable' else word} (largest real part {format_value(pole.real)} 1/s)"
    )
    sizes = f"{len(model.x)} states, {len(model.u)} inputs, {len(model.y)} outputs; {judged}"
    return {"title": title, "text": sizes, "poles": table}


def law_summary(title: str, law: Any) -> dict[str, Any]:
    """Return the design of a law, and its gains."""
    rows = [("inputs", _names(law.inputs)), ("measurements", _names(law.measurements)), ("memory", _names(law.memory))]
    rows.append(("period", f"{format_value(law.period)} s" if law.period else "continuous"))
    table: dict[str, Any] | None = None
    for key, value in law.notes.items():
        array = _matrix(value)
        if key == "K" and array is not None:
            table = _gains(law, array)
        elif array is None or array.size <= 12:
            rows.append((str(key), format_value(value)))
    return {"title": title, "rows": [row for row in rows if row[1]], "gains": table}


def plan_summary(title: str, plan: Plan) -> dict[str, Any]:
    """Return final time, outcome, and arcs with their active limits."""
    arcs = [[format_value(arc.begin), format_value(arc.end), arc.limit] for arc in plan.arcs]
    notes = [
        (str(key).replace("_", " "), format_value(value))
        for key, value in plan.notes.items()
        if _is_short(value) and not (arcs and key == "phase_times")  # shown in the table of arcs
    ]
    switches = f"{len(plan.switch_times)} switch{'' if len(plan.switch_times) == 1 else 'es'}"
    message = "" if arcs and plan.outcome.is_success else plan.outcome.message
    return {
        "title": title,
        "text": f"{format_value(plan.final_time)} s, {switches}. {message}".strip(),
        "is_success": bool(plan.outcome.is_success),
        "arcs": arcs,
        "notes": notes,
    }


def plan_figures(key: str, title: str, plan: Plan) -> list[Figure]:
    """Return the phase plane of a plan along a path, and its inputs over time, with `key` as file prefix."""
    figures = []
    if isinstance(plan.notes.get("phase_plane"), PhasePlane):
        figures.append(draw_phase_plane(plan, name=f"{key}_phase_plane", title=f"{title}: phase plane"))
    elif plan.s is not None and {"s", "s_dot"} <= set(plan.s.labels.names):
        s, s_dot = (np.asarray(plan.s.values)[:, plan.s.labels.index(name)] for name in ("s", "s_dot"))
        marks = [np.interp(time, np.asarray(plan.s.t), values) for values in (s, s_dot) for time in plan.switch_times]
        half = len(plan.switch_times)
        lines = [Line(x=s, y=s_dot, label="plan")]
        if half:
            lines.append(Line(x=np.array(marks[:half]), y=np.array(marks[half:]), label="switches", style="markers"))
        panel = Panel(
            lines=tuple(lines), y_label="rate of the path variable", unit="1/s", x_label="path variable", x_unit="1"
        )
        figures.append(Figure(name=f"{key}_phase_plane", title=f"{title}: phase plane", panels=(panel,)))
    panels = tuple(_panel(plan.u, unit) for unit in dict.fromkeys(plan.u.labels.units))
    if panels:
        figures.append(Figure(name=f"{key}_inputs", title=f"{title}: planned inputs", panels=panels))
    return figures


def _panel(table: Trajectory, unit: str) -> Panel:
    t, values = np.asarray(table.t), np.asarray(table.values)
    chosen = [i for i, given in enumerate(table.labels.units) if given == unit]
    lines = tuple(Line(x=t, y=values[:, i], label=table.labels.names[i]) for i in chosen)
    return Panel(lines=lines, y_label="input", unit=unit)


def _names(labels: Any) -> str:
    return _shortened(
        [f"{name} [{pretty_unit(unit) or '1'}]" for name, unit in zip(labels.names, labels.units, strict=True)]
    )


def _shortened(names: list[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def _operations(eom: EquationsOfMotion) -> str:
    if len(eom.system.tree) > COUNTED:
        return ""
    try:
        count = int(eom.functions["x_dot"].n_instructions())
    except (RuntimeError, NotImplementedError):
        return ""
    return f"{count}" + (" (terms by callback)" if eom.constraint_rows else "")


def _hertz(pole: complex) -> str:
    return format_value(float(abs(pole)) / (2.0 * np.pi)) if abs(pole.imag) > 0.0 else ""


def _ratio(pole: complex) -> str:
    return format_value(float(-pole.real / abs(pole))) if abs(pole.imag) > 0.0 else ""


def _matrix(value: Any) -> np.ndarray | None:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array.ndim else None


def _gains(law: Any, K: np.ndarray) -> dict[str, Any] | None:
    """Return the gain matrix with names, if it is small enough to show."""
    model = getattr(law, "model", None)
    names = list(model.x.names if model is not None else law.states.names)
    if K.ndim != 2 or K.shape[0] > GAINS[0] or K.shape[1] > GAINS[1] or len(names) != K.shape[1]:
        return None
    floor = 1e-10 * float(np.max(np.abs(K), initial=0.0))  # smaller entries are rounding errors of zero gains
    rows = [
        [name, *(format_value(float(f"{value:.4g}")) if abs(value) > floor else "0" for value in row)]
        for name, row in zip(law.inputs.names, K, strict=True)
    ]
    return {"columns": names, "rows": rows}


def _is_short(value: Any) -> bool:
    """Return whether a note is a few numbers or words, not an object or a table."""
    if not isinstance(value, (str, int, float, list, tuple, Mapping, np.ndarray, type(None))):
        return False
    if isinstance(value, Mapping):
        return len(value) <= 12 and all(_is_short(item) for item in value.values())
    if isinstance(value, (list, tuple)) and not all(_is_short(item) for item in value):
        return False
    array = _matrix(value)
    return array is None or array.size <= 12
