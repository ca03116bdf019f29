"""A capture latch closes on a docking ring with six legs: impulse, strokes, forces, and energy balance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spacectl import ModelError, Shape, Study, StudyResult

from .docking import form_docking, measure
from .figures import draw_energy, draw_motion, draw_speeds
from .model import Parameters

#: Appearance in the replay: the ends of two vehicles of station class that meet, their docking rings to scale
SHAPES = {
    "base": (
        Shape(kind="cylinder", size=(1.9, 1.9, 1.2), at=(0.0, 0.0, -0.7)),
        Shape(kind="ring", size=(1.6, 1.6, 0.12), at=(0.0, 0.0, -0.06)),
    ),
    "ring": Shape(kind="ring", size=(1.28, 1.28, 0.06), at=(0.0, 0.0, 0.03)),
}


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate an aligned docking with and without drives, a misaligned one, and a sweep over speeds."""
    check(parameters)
    progress(0.0, "forming the equations")
    docking = form_docking(parameters, tier="vm" if quick else "auto")
    grid = 121 if quick else 601
    progress(0.2, "docking")
    runs = {
        "aligned": docking.dock(speed=parameters.speed, grid=grid),
        "aligned, driven": docking.dock(speed=parameters.speed, is_driven=True, grid=grid),
        "misaligned": docking.dock(speed=parameters.speed, is_aligned=False, grid=grid),
    }
    metrics: dict[str, Any] = {"energy_expected": 0.5 * parameters.reduced_mass * parameters.speed**2}
    for name, sim in runs.items():
        key = {"aligned": "", "aligned, driven": "driven_", "misaligned": "misaligned_"}[name]
        metrics |= {f"{key}{item}": value for item, value in measure(docking, sim).items()}
    progress(0.6, "speeds")
    figures = [draw_motion(runs), draw_energy(docking, runs["aligned"])]
    metrics["energy_exponent"] = None
    if not quick:
        speeds = np.array([0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0]) * parameters.speed
        found = {
            name: [measure(docking, docking.dock(speed=float(speed), is_driven=flag, grid=201)) for speed in speeds]
            for name, flag in (("springs and dampers", False), ("drives damp too", True))
        }
        absorbed = [item["energy_absorbed"] for item in found["springs and dampers"]]
        metrics["energy_exponent"] = np.polyfit(np.log(speeds), np.log(absorbed), 1)[0]
        figures.append(draw_speeds(speeds, found))
    progress(0.95, "drawing")
    kept = {name.replace(", ", "_"): sim for name, sim in runs.items()}
    shapes = {**SHAPES, "target": look_of_target(parameters.target_face)}
    return StudyResult(
        metrics=metrics, simulations=kept, figures=tuple(figures), shapes=shapes, notes=findings(parameters, metrics)
    )


def findings(parameters: Parameters, metrics: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    return (
        f"At {parameters.speed:g} m/s the energy of the relative motion is {metrics['energy_expected']:.1f} J. The impulse of "
        f"the latch dissipates {metrics['capture_energy_loss']:.2f} J of it, the dampers of the legs the rest. "
        f"The stroke of the legs is {1e3 * metrics['largest_stroke']:.0f} mm, the latch force "
        f"{metrics['largest_latch_force']:.0f} N.",
        "Additional damping by the drives shortens the stroke to "
        f"{1e3 * metrics['driven_largest_stroke']:.0f} mm and raises the force to "
        f"{metrics['driven_largest_latch_force']:.0f} N.",
        f"A misaligned capture requires a stroke of {1e3 * metrics['misaligned_largest_stroke']:.0f} mm.",
    )


def look_of_target(face: float) -> tuple[Shape, ...]:
    """Return a hull whose end carries the other ring, `face` before its centre of mass [m]."""
    return (
        Shape(kind="cylinder", size=(2.0, 2.0, 0.9 * face), at=(0.0, 0.0, -0.43 * face)),
        Shape(kind="cylinder", size=(1.36, 1.36, 0.12 * face), at=(0.0, 0.0, -0.94 * face)),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in (
        "chaser_mass",
        "chaser_inertia",
        "target_mass",
        "target_inertia",
        "stiffness",
        "damping",
        "speed",
        "gap",
        "duration",
    ):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")


STUDY = Study(
    question=(
        "Which loads does a docking ring on six legs carry when its latch closes on a target, and where is "
        "the energy dissipated?"
    ),
    parameters=Parameters(),
    run=run,
)
