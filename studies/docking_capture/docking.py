"""Stages of the docking, laws that integrate the absorbed energy, and metrics of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    ControlLaw,
    EquationsOfMotion,
    Exit,
    Guard,
    Stage,
    StagedSimulation,
    form_equations,
    make_law,
    simulate_stages,
)

from .model import LEGS, Parameters, balls, build, relative_place, start


@dataclass(frozen=True)
class Docking:
    """Equations and stages, formed once for several runs."""

    parameters: Parameters
    eom: EquationsOfMotion
    laws: dict[bool, ControlLaw]
    tier: Any

    def dock(
        self, *, speed: float, is_aligned: bool = True, is_driven: bool = False, grid: int = 301
    ) -> StagedSimulation:
        """Simulate one docking: with springs and dampers alone, or with drives that add damping."""
        legs = balls(self.eom.system)
        meet = Guard(name="faces meet", expression=lambda s: s.gap("face"), direction=-1)
        stages = [
            Stage(name="approach", active=legs, exits=(Exit(guard=meet, to="captured"),)),
            Stage(name="captured", active=(*legs, "latch"), law=self.laws[is_driven]),
        ]
        x0 = start(self.parameters, self.eom, speed=speed, is_aligned=is_aligned)
        end = self.parameters.duration + self.parameters.gap / speed
        return simulate_stages(
            self.eom, stages, x0=x0, t_span=(0.0, end), grid=grid, method="adams", rtol=1e-9, atol=1e-9, tier=self.tier
        )


def form_docking(parameters: Parameters, *, tier: Any) -> Docking:
    """Form the equations and both laws; `tier` as in `simulate` (native code for these equations takes a minute to compile)."""
    eom = form_equations(build(parameters), switchable=True)
    return Docking(parameters, eom, {flag: absorb(parameters, eom, is_driven=flag) for flag in (False, True)}, tier)


def absorb(parameters: Parameters, eom: EquationsOfMotion, *, is_driven: bool) -> ControlLaw:
    """Return the forces of the drives, and as memory the energy absorbed by the dampers and by the drives."""
    added = parameters.drive_damping if is_driven else 0.0

    def rule(s: Any) -> tuple[Any, Any]:
        rates = [s[f"{leg}_dot"] for leg in LEGS]
        power = sum(rate**2 for rate in rates)
        return [-added * rate for rate in rates], [parameters.damping * power, added * power]

    memory = {"taken_by_dampers": 0.0, "taken_by_drives": 0.0}
    name = "damping by drives" if is_driven else "dampers alone"
    return make_law(rule, name=name, states=eom.labels.x, inputs=eom.labels.u, memory=memory)


def measure(docking: Docking, sim: StagedSimulation) -> dict[str, Any]:
    """Return energies, strokes and forces of a run."""
    p, eom = docking.parameters, docking.eom
    (caught,) = sim.transitions
    energy = eom.along("energy", sim.t, sim.x).reshape(-1)
    taken = np.nan_to_num(sim["taken_by_dampers"]) + np.nan_to_num(sim["taken_by_drives"])
    after = sim.t >= caught.time
    balance = energy + taken + np.where(after, caught.energy_loss, 0.0) - energy[0]
    strokes = np.array([sim[leg] for leg in LEGS])
    rates = np.array([sim[f"{leg}_dot"] for leg in LEGS])
    drives = np.array([sim.column("u", leg) for leg in LEGS])
    push = -p.stiffness * strokes - p.damping * rates + drives
    pose = [relative_place(eom, np.asarray(x)) for x in (caught.x_after, sim.x[-1])]
    latched = np.array([sim.reaction(f"latch.{k}") for k in (1, 2, 3)])
    momentum = eom.momentum(caught.time, *np.split(np.asarray(caught.x_before), [eom.n_q]))
    return {
        "capture_time": caught.time,
        "capture_energy_loss": caught.energy_loss,
        "capture_momentum_error": np.max(np.abs(np.asarray(caught.momentum_change))) / np.max(np.abs(momentum)),
        "energy_absorbed": energy[0] - energy[-1],
        "energy_by_dampers": sim["taken_by_dampers"][-1],
        "energy_by_drives": sim["taken_by_drives"][-1],
        "energy_balance_error": np.max(np.abs(balance)),
        "largest_stroke": np.max(np.abs(strokes)),
        "largest_leg_force": np.max(np.abs(push)),
        "largest_latch_force": np.max(np.linalg.norm(latched, axis=0)),
        "latch_slip": np.max(np.abs(pose[1] - pose[0])),
    }
