"""Figures of the study, after Sadigh (1995), figures 6.18 to 6.21, and the payload's path for all models."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel, Simulation

NAMES = ("roll 1", "yaw 2", "pitch 3", "pitch 4", "pitch 5", "yaw 6", "roll 7")
PITCH, OTHER = (2, 3, 4), (0, 1, 5, 6)


def draw(sim: Simulation, found: dict[str, Any]) -> tuple[Figure, ...]:
    """Draw all figures."""
    return (payload(sim, found), joints(sim, found), gears(sim, found), booms(sim, found), torques(sim))


def curves(t: np.ndarray, values: np.ndarray, which: tuple[int, ...], style: str = "solid") -> tuple[Line, ...]:
    """Return lines of some columns, named after their joints."""
    return tuple(Line(x=t, y=values[:, i], label=NAMES[i], style=style) for i in which)


def payload(sim: Simulation, found: dict[str, Any]) -> Figure:
    """Draw the position of the payload, and its deviation from that of the rigid arm."""
    t = sim.t
    off = {name: place - found["ideal"] for name, place in found["place"].items()}
    models = {"flexible": "solid", "joints only": "dashed", "booms only": "dotted"}
    along = [Line(x=t, y=off[name][:, 0], label=name, style=style) for name, style in models.items()]
    across = [
        Line(x=t, y=off["flexible"][:, k], label=label) for k, label in ((1, "y, out of plane"), (2, "z, in plane"))
    ]
    return Figure(
        name="payload",
        title="Payload: motion along X, and its deviation from the rigid arm's straight line",
        panels=(
            Panel(lines=(Line(x=t, y=found["place"]["flexible"][:, 0], label="flexible"),), y_label="x", unit="m"),
            Panel(lines=tuple(along), y_label="deviation in x", unit="m"),
            Panel(lines=tuple(across), y_label="deviation across", unit="m"),
        ),
        caption=(
            "The torques on a heavy payload determine its path, not the arm's shape. Bent booms change the "
            "moment arm of the elbow's "
            "torque, and so the force, by a thousandth; twisted gears only let the motors run ahead."
        ),
    )


def joints(sim: Simulation, found: dict[str, Any]) -> Figure:
    """Draw joint angles (Sadigh 1995, Figure 6.18)."""
    error = found["joints"] - found["wanted"]
    return Figure(
        name="joint_angles",
        title="Joint angles (Sadigh 1995, Figure 6.18)",
        panels=(
            Panel(lines=curves(sim.t, found["joints"], PITCH), y_label="pitch joints", unit="rad"),
            Panel(lines=curves(sim.t, error, PITCH), y_label="error, pitch", unit="rad"),
            Panel(lines=curves(sim.t, error, OTHER), y_label="error, roll and yaw", unit="rad"),
        ),
        caption=(
            "The pitch joints follow (phi, -2 phi, phi) except for the effect of boom bending. Roll and yaw, which are "
            "zero for the rigid arm, are moved by elasticity alone."
        ),
    )


def gears(sim: Simulation, found: dict[str, Any]) -> Figure:
    """Draw the deflections of the gears (Sadigh 1995, Figure 6.19)."""
    estimate = tuple(
        Line(x=sim.t, y=found["gears_estimated"][:, i], label=label, style="dotted")
        for i, label in ((2, "pitch 3, 5, steady"), (3, "pitch 4, steady"))
    )
    return Figure(
        name="joint_deflections",
        title="Elastic deflections of the gears, at their output (Sadigh 1995, Figure 6.19)",
        panels=(
            Panel(lines=curves(sim.t, found["gears"], PITCH) + estimate, y_label="pitch joints", unit="rad"),
            Panel(lines=curves(sim.t, found["gears"], (0, 1)), y_label="shoulder", unit="rad"),
            Panel(lines=curves(sim.t, found["gears"], (6, 5)), y_label="wrist", unit="rad"),
        ),
        caption=(
            "Dotted: Eq 6.18 under the motors' torques. Where a torque changes sign (17 s, 38 s) the spring has no stiffness: "
            "the gear passes through zero, and each passage excites more vibration in roll and yaw, which is undamped."
        ),
    )


def booms(sim: Simulation, found: dict[str, Any]) -> Figure:
    """Draw the deflections of the booms (Sadigh 1995, Figure 6.20)."""
    t, values = sim.t, found["booms"]
    names = ("link 4", "link 5")

    def lines(k: int) -> tuple[Line, ...]:
        return tuple(Line(x=t, y=values[:, i, k], label=name) for i, name in enumerate(names))

    estimate = tuple(
        Line(x=t, y=found["booms_estimated"][:, i], label=f"{name}, statics", style="dotted")
        for i, name in enumerate(names)
    )
    return Figure(
        name="boom_deflections",
        title="Elastic deflections of the booms, at their tips (Sadigh 1995, Figure 6.20)",
        panels=(
            Panel(lines=lines(1) + estimate, y_label="in plane, z", unit="m"),
            Panel(lines=lines(0), y_label="out of plane, y", unit="m"),
            Panel(lines=lines(2), y_label="torsion", unit="rad"),
        ),
        caption=(
            "Dotted: exact beam statics under the rigid arm's joint torques. Link 5 agrees. In link 4 tip force and tip "
            "moment nearly cancel, and one cantilever mode, too stiff for a tip moment, gives 59 % (three modes: 94 %)."
        ),
    )


def torques(sim: Simulation) -> Figure:
    """Draw motor torques (Sadigh 1995, Figure 6.21)."""
    u = np.asarray(sim.u)
    return Figure(
        name="motor_torques",
        title="Motor torques, from the rigid arm (Sadigh 1995, Figure 6.21)",
        panels=(
            Panel(lines=curves(sim.t, u, PITCH), y_label="pitch motors", unit="N m"),
            Panel(lines=curves(sim.t, u, OTHER), y_label="roll and yaw", unit="N m"),
        ),
        caption=(
            "The elbow pulls with a short moment arm and brakes with a long one; shoulder and wrist only "
            "balance the offset of the "
            "booms from the payload. The torques of roll and yaw act against the motion of the rotors' axes and the booms' mass."
        ),
    )
