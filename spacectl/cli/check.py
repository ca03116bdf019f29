"""The command ``check``: forms the equations of a system file and prints names, units and sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from spacectl.cli.app import Debug, Json, app, say, say_json
from spacectl.core.labels import Labels
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.files import load_system
from spacectl.model.system import System
from spacectl.reports.page.summaries import describe_shapes
from spacectl.reports.units import format_value, pretty_unit

__all__ = ["check_command"]


@app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(help="A system as .toml or .json.")],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a system file: form its equations and print names, units and sizes."""
    system = load_system(file)
    eom = form_equations(system)
    if as_json:
        return say_json(_equations_data(system, eom))
    say(f"{system.name}: {len(system.tree)} bodies, {type(system.environment).__name__}, formulation {eom.formulation}")
    named = {
        "coordinates q": eom.labels.q,
        "speeds v": eom.labels.v,
        "inputs u": eom.labels.u,
        "outputs y": eom.labels.y,
    }
    for title, labels in named.items():
        say(f"{title} ({len(labels)})")
        for line in _label_lines(labels, eom.limits() if title == "inputs u" else None):
            say(line)
    for name, text in describe_shapes(eom.system).items():
        say(f"shapes of {name}: {text}")
    say(
        f"parameters p: {len(eom.parameters)} numbers; structure {eom.structure_hash[:12]}, content {system.content_hash()[:12]}"
    )


def _equations_data(system: System, eom: EquationsOfMotion) -> dict[str, Any]:
    """Return what `check` reports, for machines."""
    groups = {"coordinates": eom.labels.q, "speeds": eom.labels.v, "inputs": eom.labels.u, "outputs": eom.labels.y}
    named: dict[str, list[dict[str, Any]]] = {
        group: [{"name": name, "unit": unit} for name, unit in zip(labels.names, labels.units, strict=True)]
        for group, labels in groups.items()
    }
    for item, *limit in zip(named["inputs"], *eom.limits(), strict=True):
        item["limit"] = [float(value) if np.isfinite(value) else None for value in limit]
    return {
        "name": system.name,
        "environment": type(system.environment).__name__,
        "bodies": len(system.tree),
        "formulation": eom.formulation,
        **named,
        "shapes": describe_shapes(eom.system),
        "parameters": len(eom.parameters),
        "structure_hash": eom.structure_hash,
        "content_hash": system.content_hash(),
    }


def _label_lines(labels: Labels, limits: tuple[np.ndarray, np.ndarray] | None) -> list[str]:
    """Return the name, unit and (for inputs) the limits of each entry."""
    width = max((len(name) for name in labels), default=0)
    low, high = limits or (np.full(len(labels), -np.inf), np.full(len(labels), np.inf))
    lines = []
    for i, (name, unit) in enumerate(zip(labels.names, labels.units, strict=True)):
        is_limited = np.isfinite(low[i]) or np.isfinite(high[i])
        limit = f"from {format_value(float(low[i]))} to {format_value(float(high[i]))}" if is_limited else ""
        lines.append(f"  {name:<{width}}  {pretty_unit(unit):<6}  {limit}".rstrip())
    return lines
