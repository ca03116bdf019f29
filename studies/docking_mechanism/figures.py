"""Motion, legs and forces of the two docking mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel

from .model import Parameters

__all__ = ["draw"]


def draw(found: dict[str, dict[str, Any]], parameters: Parameters) -> tuple[Figure, ...]:
    """Draw all figures."""
    return (
        motion(
            "ring",
            found["ring"],
            {"ring.x": "x", "ring.z": "z, outwards"},
            "m",
            [f"slide{k}" for k in range(1, 7)],
            "strokes",
        ),
        motion(
            "probe",
            found["probe"],
            {"gimbal.first": "gimbal, first", "gimbal.second": "gimbal, second"},
            "rad",
            ["probe", "strut1", "strut2"],
            "strokes",
        ),
        forces(found),
    )


def motion(name: str, item: dict[str, Any], places: dict[str, str], unit: str, strokes: list[str], what: str) -> Figure:
    """Draw the independent coordinates and strokes of one mechanism."""
    eom, t, x = item["eom"], np.asarray(item["sim"].t), np.asarray(item["sim"].x)

    def of(key: str) -> np.ndarray:
        return x[:, eom.states.index(key)]

    return Figure(
        name=f"{name}_motion",
        title=f"Docking {name}: response to an impulse, then retraction by its drives",
        caption="Independent coordinates above; the strokes of legs and struts follow from the closed loops.",
        panels=(
            Panel(
                lines=tuple(Line(x=t, y=of(key), label=label) for key, label in places.items()),
                y_label=f"{name}",
                unit=unit,
            ),
            Panel(lines=tuple(Line(x=t, y=of(key), label=key) for key in strokes), y_label=what, unit="m"),
        ),
    )


def forces(found: dict[str, dict[str, Any]]) -> Figure:
    """Draw force and moment on the carrier."""
    panels = []
    for name, item in found.items():
        force, moment = item["wrench"][:, 3:], item["wrench"][:, :3]
        panels.append(
            Panel(
                lines=tuple(Line(x=item["seen"], y=force[:, k], label="xyz"[k]) for k in range(3)),
                y_label=f"{name}: force",
                unit="N",
            )
        )
        panels.append(
            Panel(
                lines=tuple(Line(x=item["seen"], y=moment[:, k], label="xyz"[k]) for k in range(3)),
                y_label=f"{name}: moment",
                unit="N m",
            )
        )
    return Figure(
        name="base_wrench",
        title="Force and moment of the mechanisms on their carrier",
        caption="By the tenth step of the algorithm of Yaskevich (2018): from the accelerations of the opened tree, without "
        "multipliers.",
        panels=tuple(panels),
    )
