"""Drawing of a model: its tree of bodies with joints, masses, modes, inputs and tethers, laid out for an SVG.

A chain runs straight down; several children of one body are indented.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.model.actuators import Actuator
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["draw_model"]

ROW, COLUMN, LEFT, TOP = 46, 26, 18, 24  # [px]
BOLD, THIN = 8.2, 6.6  # [px] mean width of a letter, with a margin
SHOWN = 60  # bodies; others are only counted
MODES = 4
WORDS = {
    "Loop": "loop closed", "PointOnPlane": "point held on a plane", "NoRelativeRotation": "no relative rotation",
    "JointSpring": "spring at a joint", "SpringDamper": "spring and damper",
}  # fmt: skip


def draw_model(system: System) -> dict[str, Any]:
    """Return the rows of the drawing with their places, and sentences about other parts of the system.

    Returns
    -------
    dict
        ``name``, ``environment``, ``rows`` (x, y, kind, title, detail), ``rails`` (paths), ``width``, ``height``,
        ``notes``.
    """
    order = _walk(system)
    rows: list[dict[str, Any]] = [
        {"x": LEFT, "y": TOP, "kind": "root", "title": system.environment.title, "detail": ""}
    ]
    places = {"": (LEFT, TOP)}
    rails = []
    for part, parent, column in order[:SHOWN]:
        x, y = LEFT + COLUMN * column, TOP + ROW * len(rows)
        above = places.get(parent, places[""])
        rails.append(f"M{above[0]} {above[1]} V{y} H{x}" if x > above[0] else f"M{x} {above[1]} V{y}")
        places[part.name] = (x, y)
        rows.append(
            {"x": x, "y": y, "kind": part.body.drawn_as, "title": _title(part, system), "detail": _detail(part, system)}
        )
    width = max(row["x"] + 26 + max(BOLD * len(row["title"]), THIN * len(row["detail"])) for row in rows)
    return {
        "name": system.name,
        "rows": rows,
        "rails": rails,
        "width": int(width),
        "height": TOP + ROW * (len(rows) - 1) + 24,
        "notes": _notes(system, len(order)),
    }


def _walk(system: System) -> list[tuple[Part, str, int]]:
    """Return the parts from the root outwards, each with its parent's name and its column."""
    children: dict[str, list[Part]] = {}
    names = {part.name for part in system.tree}
    for part in system.tree:
        if part.body.drawn_as:
            children.setdefault(_carrier(part, system, names), []).append(part)
    sizes: dict[str, int] = {}
    for part in reversed(system.tree):  # children before parents
        sizes[part.name] = 1 + sum(sizes.get(child.name, 0) for child in children.get(part.name, []))
    found: list[tuple[Part, str, int]] = []

    def visit(parent: str, column: int) -> None:
        carried = sorted(children.get(parent, []), key=lambda part: sizes[part.name])
        for part in carried:
            is_chain = part is carried[-1] and (
                len(carried) == 1 or (parent and sizes[part.name] >= 2 * sizes[carried[-2].name])
            )
            waiting.append((part, parent, column + (0 if is_chain else 1)))

    waiting: list[tuple[Part, str, int]] = []
    visit("", 0)
    while waiting:
        part, parent, column = waiting.pop(0)
        found.append((part, parent, column))
        queued, waiting = waiting, []
        visit(part.name, column)
        waiting += queued
    return found


def _carrier(part: Part, system: System, names: set[str]) -> str:
    """Return the name of the body that carries a part, through the hidden parts of a tether; empty for the root."""
    name = part.on.split(".")[0]
    while name in names and not system.part(name).body.drawn_as:
        name = system.part(name).on.split(".")[0]
    return name if name in names else ""


def _title(part: Part, system: System) -> str:
    if part.body.is_flexible:
        body = part.body.flexible
        hertz = body.frequencies / (2.0 * np.pi)
        shown = ", ".join(f"{value:.3g}" for value in hertz[:MODES]) + (", …" if len(hertz) > MODES else "")
        mass = format_value(float(f"{np.sum(body.material.mass):.4g}"))
        word = "mode" if body.n_modes == 1 else "modes"
        return f"{part.name}: {type(body).__name__.lower()}, {mass} kg, {body.n_modes} {word} ({shown} Hz)"
    if part.body.line:
        line: Any = next(item for item in system.point_elements if item.name == part.body.line)
        return f"{part.name}: tether, {line.start:.4g} m at the start, {line.density:.4g} kg/m"
    solid = part.body.solid
    return f"{part.name}: rigid" + ("" if solid is None else f", {format_value(solid.mass)} kg")


def _detail(part: Part, system: System) -> str:
    turning = system.part(part.on.split(".")[0]) if part.body.line else part  # its other joint is the reel
    joint: Any = turning.joint
    kind, name = type(joint).__name__.lower(), turning.joint_name
    text = kind if kind == "fixed" else f"{kind} joint '{name}'"
    axis = getattr(joint, "axis", None)
    if axis is not None and kind != "fixed":
        text += f" about {_direction(axis)}" if kind != "prismatic" else f" along {_direction(axis)}"
    if joint.motion is not None:
        text += ", prescribed motion"
    inputs = [item for item in system.actuators if any(effort.joint == name for effort in item.joint_efforts)]
    inputs += [item for item in system.actuators if part.name in _bodies(item)]
    return "; ".join([text, *(_input(item) for item in inputs)])


def _bodies(actuator: Actuator) -> set[str]:
    """Return the bodies on which an actuator acts, or that carry its parts."""
    places = [wrench.on for wrench in actuator.wrenches] + [place["on"] for _, place in actuator.parts()]
    return {on.split(".")[0] for on in places}


def _input(actuator: Actuator) -> str:
    limit = ""
    if actuator.limit is not None:
        low, high = np.asarray(actuator.limit)
        size = (
            f"±{format_value(float(high))}"
            if low == -high
            else f"{format_value(float(low))} … {format_value(float(high))}"
        )
        limit = f" {size} {pretty_unit(actuator.unit)}"
    name = actuator.input_name if actuator.parts() or not actuator.joint_efforts else ""  # else the joint's
    return " ".join(f"{actuator.title} {name}".split()) + limit


def _direction(axis: Any) -> str:
    entries = np.asarray(axis)
    for i, letter in enumerate("xyz"):
        if abs(abs(entries[i]) - 1.0) < 1e-12:
            return letter if entries[i] > 0 else f"−{letter}"
    return f"({', '.join(f'{value:.3g}' for value in entries)})"


def _notes(system: System, count: int) -> list[str]:
    notes = [f"and {count - SHOWN} more bodies"] if count > SHOWN else []
    rules: dict[str, list[str]] = {}
    for constraint in system.constraints:
        word = WORDS.get(type(constraint).__name__, "constraint")
        rules.setdefault(word if constraint.is_natural else f"{word}, maintained by actuators", []).append(
            constraint.name
        )
    notes += [f"{word}: {', '.join(names)}" for word, names in rules.items()]
    brought = {part.name for part in system.tree if part.body.drawn_as == "line"}
    kinds: dict[str, list[str]] = {}
    for element in system.elements:
        if element.name not in brought:
            kinds.setdefault(WORDS.get(type(element).__name__, type(element).__name__), []).append(element.name)
    notes += [f"{kind}: {', '.join(names)}" for kind, names in kinds.items()]
    if system.sensors:
        notes.append("sensors: " + ", ".join(sensor.name for sensor in system.sensors))
    return notes
