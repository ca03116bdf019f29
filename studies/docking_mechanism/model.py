"""The two docking mechanisms on free carriers, their loads, and the formulations of their equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, System, close_loops, form_equations, library

__all__ = ["Parameters", "form_both", "probe_system", "ring_system", "start_of"]


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study."""

    carrier_mass: float = 7000.0  # [kg]
    carrier_inertia: float = 12000.0  # [kg m^2], about each axis
    stiffness: float = 1500.0  # [N/m], of each leg and strut
    damping: float = 100.0  # [N s/m]
    blow: float = 0.25  # [m/s], speed of the ring or the probe at the start, sideways and inwards
    pull: float = 30.0  # [N], of each drive that retracts ring or probe afterwards
    pull_after: float = 0.6  # [s]
    duration: float = 1.6  # [s]
    samples: int = 2000  # positions at which closed forms and Newton's method are compared


def ring_system(parameters: Parameters) -> System:
    """Return the peripheral ring on six legs R2-P1-R3."""
    return library.docking_ring(
        stiffness=parameters.stiffness,
        damping=parameters.damping,
        base_mass=parameters.carrier_mass,
        base_inertia=(parameters.carrier_inertia,) * 3,
    )


def probe_system(parameters: Parameters) -> System:
    """Return the probe on legs R1-R2-R3 with nested struts."""
    return library.docking_probe(
        stiffness=parameters.stiffness,
        damping=parameters.damping,
        base_mass=parameters.carrier_mass,
        base_inertia=(parameters.carrier_inertia,) * 3,
    )


def form_both(system: System) -> dict[str, EquationsOfMotion]:
    """Form the equations by sequential partitioning and as the augmented system."""
    return {name: form_equations(system, formulation=name) for name in ("partitioned", "multipliers")}


def start_of(eom: EquationsOfMotion, parameters: Parameters) -> np.ndarray:
    """Return the state at rest except for the initial speed of the ring or the head of the probe."""
    blow = parameters.blow
    if "ring.x_dot" in eom.speeds:
        given: dict[str, Any] = {"ring.z_dot": -blow, "ring.x_dot": 0.6 * blow, "ring.wy": 0.4 * blow / 0.6}
    else:
        given = {"probe_dot": -blow, "gimbal.first_dot": 0.8 * blow, "gimbal.second_dot": 1.2 * blow}
    return np.asarray(close_loops(eom, eom.state(**given)).x)
