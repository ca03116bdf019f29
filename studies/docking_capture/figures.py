"""Figures of the study: motion and forces, energy balance, and dependence on the approach speed."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel, StagedSimulation

from .docking import Docking
from .model import LEGS

SHOWN = 12.0  # [s]


def _cut(sim: StagedSimulation) -> np.ndarray:
    return sim.t <= sim.transitions[0].time + SHOWN


def draw_motion(runs: dict[str, StagedSimulation]) -> Figure:
    """Draw the strokes of the legs and the forces of the latch."""
    panels = []
    for name, sim in runs.items():
        kept = _cut(sim)
        strokes = tuple(Line(x=sim.t[kept], y=sim[leg][kept], label=f"leg {k + 1}") for k, leg in enumerate(LEGS))
        panels.append(Panel(lines=strokes, y_label="stroke", unit="m", title=name))
    forces = []
    for name, sim in runs.items():
        kept = _cut(sim)
        forces.append(Line(x=sim.t[kept], y=sim.reaction("latch.3")[kept], label=name))
    panels.append(Panel(lines=tuple(forces), y_label="latch force along z", unit="N"))
    return Figure(
        name="motion",
        title="Strokes of the legs and forces of the latch",
        caption="At contact the ring takes the target's speed at once; the legs decelerate both vehicles.",
        panels=tuple(panels),
    )


def draw_energy(docking: Docking, sim: StagedSimulation) -> Figure:
    """Draw the distribution of the energy of approach over time."""
    kept, eom = _cut(sim), docking.eom
    q, v = np.split(sim.x, [eom.n_q], axis=1)
    kinetic = np.array([float(eom.call("energy", t, a, b)[0][0, 0]) for t, a, b in zip(sim.t, q, v, strict=True)])
    total = eom.along("energy", sim.t, sim.x).reshape(-1)
    caught = sim.transitions[0]
    lost = np.where(sim.t >= caught.time, caught.energy_loss, 0.0)
    taken = np.nan_to_num(sim["taken_by_dampers"])
    lines = {
        "motion, above the common one": kinetic - 0.5 * (total[0] * 2.0 - 2.0 * _relative(docking, sim)),
        "springs": total - kinetic,
        "dampers, so far": taken,
        "impulse of the capture": lost,
    }
    return Figure(
        name="energy",
        title="Distribution of the energy of approach",
        caption="The impulse dissipates less than a hundredth, because it stops the ring only; the dampers dissipate the rest.",
        panels=(
            Panel(
                lines=tuple(Line(x=sim.t[kept], y=y[kept], label=label) for label, y in lines.items()),
                y_label="energy",
                unit="J",
            ),
        ),
    )


def _relative(docking: Docking, sim: StagedSimulation) -> float:
    """Return the energy of the relative motion of the two vehicles at the start [J]."""
    speed = float(sim["target.z_dot"][0])
    return 0.5 * docking.parameters.reduced_mass * speed**2


def draw_speeds(speeds: np.ndarray, found: dict[str, list[dict[str, Any]]]) -> Figure:
    """Draw strokes, forces and energies over the speed of approach."""
    panels = []
    for key, label, unit in (
        ("largest_stroke", "largest stroke", "m"),
        ("largest_leg_force", "largest force of a leg", "N"),
        ("energy_absorbed", "energy absorbed", "J"),
    ):
        lines = tuple(Line(x=speeds, y=[item[key] for item in items], label=name) for name, items in found.items())
        panels.append(Panel(lines=lines, y_label=label, unit=unit, x_label="speed of approach", x_unit="m/s"))
    return Figure(
        name="speeds",
        title="Strokes, forces and energy over the speed of approach",
        caption="The energy grows with the square of the speed. Damping by the drives shortens the stroke and raises the force.",
        panels=tuple(panels),
    )
