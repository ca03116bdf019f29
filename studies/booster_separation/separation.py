"""Stages of each booster, thrust laws, and runs of the separation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    ControlLaw,
    EquationsOfMotion,
    Exit,
    Guard,
    Stage,
    StagedSimulation,
    combine_stages,
    form_equations,
    make_law,
    simulate_stages,
)

from .model import BOOSTERS, Parameters, build, start

END = 3.0  # [s] after cut-off: by then the noses have passed the core
FAST = {"rtol": 1e-8, "atol": 1e-8}


def thrust_law(parameters: Parameters, eom: EquationsOfMotion) -> ControlLaw:
    """Return the thrust of the core, constant, and of the boosters, ``thrust exp(-t / tail_off)``.

    The tail-off times are parameters of the law.
    """
    names = ("core_engine", *(f"{name}_engine" for name in BOOSTERS))
    inputs = eom.labels.u
    units = tuple(inputs.unit(name) for name in names)

    def rule(s: Any) -> list[Any]:
        return [s["core"], *(s["thrust"] * ca.exp(-s.t / s[f"tail_{name}"]) for name in BOOSTERS)]

    numbers = {"core": parameters.core_thrust, "thrust": parameters.thrust}
    numbers |= {f"tail_{name}": parameters.tail_off for name in BOOSTERS}
    return make_law(
        rule, name="tail-off", states=eom.labels.x, inputs=type(inputs)(names, units, "input"), parameters=numbers
    )


def with_tails(law: ControlLaw, tails: Sequence[float]) -> ControlLaw:
    """Return the law with other tail-off times, one per booster."""
    p = np.array(law.p)
    p[2:] = tails
    return ControlLaw(
        name=law.name, function=law.function, states=law.states, inputs=law.inputs, parameters=law.parameters, p=p
    )


def booster_stages(parameters: Parameters, name: str) -> list[Stage]:
    """Return the stages (Aslanov et al., section 5): turning about the nose, sliding on the core, nozzle open, free."""
    n1, n2, n3 = (f"{name}_n{k}" for k in (1, 2, 3))
    slack = Guard(name="lambda 1 is zero", expression=lambda s: s.reaction(n1), direction=-1)
    slid = Guard(name="nozzle opens", expression=lambda s: s.gap(n1) - parameters.slide, direction=1)
    loose = Guard(name="lambda 2 is zero", expression=lambda s: s.reaction(n2), direction=-1)
    empty = Guard(name="nozzle is empty", expression=lambda s: s.since - parameters.nozzle_time, direction=1)
    blows = {f"{name}_nozzle": parameters.nozzle_thrust}
    return [
        Stage(name="turning", active=(n1, n2, n3), exits=(Exit(guard=slack, to="sliding"),)),
        Stage(name="sliding", active=(n2, n3), exits=(Exit(guard=slid, to="pushed"), Exit(guard=loose, to="free"))),
        Stage(name="pushed", active=(n2, n3), exits=(Exit(guard=loose, to="away"),), u=blows),
        Stage(name="free", exits=(Exit(guard=slid, to="away"),)),
        Stage(name="away", u=blows, exits=(Exit(guard=empty, to="gone"),)),
        Stage(name="gone"),
    ]


@dataclass(frozen=True)
class Carrier:
    """Equations, thrust law and stages of each booster, formed once for many runs."""

    parameters: Parameters
    eom: EquationsOfMotion
    law: ControlLaw
    parts: dict[str, list[Stage]]

    def separate(self, tails: Sequence[float] | None = None, *, grid: Any = 61, **options: Any) -> StagedSimulation:
        """Simulate one separation; `tails` are the tail-off times of the four boosters [s]."""
        law = self.law if tails is None else with_tails(self.law, tails)
        stages = combine_stages(self.parts, law=law)
        x0 = start(self.parameters, self.eom)
        return simulate_stages(self.eom, stages, x0=x0, t_span=(0.0, END), grid=grid, **{**FAST, **options})


def form_carrier(parameters: Parameters) -> Carrier:
    """Return the carrier, ready to be simulated."""
    eom = form_equations(build(parameters), switchable=True)
    parts = {name: booster_stages(parameters, name) for name in BOOSTERS}
    return Carrier(parameters, eom, thrust_law(parameters, eom), parts)


def event_times(sim: StagedSimulation, guard: str) -> np.ndarray:
    """Return the times at which the guard of each booster triggered [s], shape (4,); NaN where it did not."""
    found = {item.guard: item.time for item in sim.transitions}
    return np.array([found.get(f"{name}: {guard}", np.nan) for name in BOOSTERS])
