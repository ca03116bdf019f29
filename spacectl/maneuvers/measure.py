"""Measures of a simulated maneuver: arrival time, residual vibration, deflection and effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.tangent import subtract_states
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.simulation.results.simulation import Simulation

__all__ = ["Flight", "flexible_bodies", "measure_flight", "motion_energy", "scale_stiffness", "strain_stiffness"]


@dataclass(frozen=True, kw_only=True)
class Flight:
    """Measures of a simulated maneuver.

    Parameters
    ----------
    plan_time : float
        End of the plan [s].
    arrival_time : float or None
        Time from which the motion stays within the tolerances of the target [s]; None if it does not within the run.
    residual_energy : float
        Kinetic and strain energy relative to the target at rest, at the end of the plan [J].
    final_energy : float
        The same at the end of the run [J].
    peak_energy : float
        Largest during the motion [J].
    peak_deflection : float
        Largest displacement of a frame of a flexible body from its undeformed position [m].
    peak_effort : float
        Largest input over its limit [1]; 0 without limits.
    limit_violation : float
        Largest excess of an input over its limit, relative to the limit [1]; at most 0 for a plant that clips.
    asked_effort : float
        Largest commanded input over its limit [1]; above 1 if the plant has clipped it.
    """

    plan_time: float
    arrival_time: float | None
    residual_energy: float
    final_energy: float
    peak_energy: float
    peak_deflection: float
    peak_effort: float
    limit_violation: float
    asked_effort: float


def measure_flight(
    eom: EquationsOfMotion,
    sim: Simulation,
    target: Any,
    plan_time: float,
    *,
    settled: float = 1e-4,
    tolerance: float = 1e-3,
    p: Any = None,
    factor: float = 1.0,
) -> Flight:
    """Measure a simulation that should end at rest at a target.

    The motion has arrived when its energy stays below `settled` of its largest value and every coordinate that
    is not modal stays within `tolerance` of the target.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    sim : Simulation
        The flight; its times must resolve the vibration (ten per period or more).
    target : array, shape (n_x,)
        Target state, at rest.
    plan_time : float
        End of the plan [s].
    settled, tolerance : float
        As above [1], [rad or m].
    p : array, optional
        Run-time parameters of the flight.
    factor : float
        Stiffness of the flexible bodies over that of the system (`scale_stiffness`).
    """
    t, x = np.asarray(sim.t), np.asarray(sim.x)
    energy = motion_energy(eom, t, x, target, p=p, factor=factor)
    peak = float(np.max(energy))
    rigid = _rigid_errors(eom, x, target)
    is_there = (energy <= settled * peak) & (np.max(np.abs(rigid), axis=1, initial=0.0) <= tolerance)
    outside = np.flatnonzero(~is_there)
    arrived = 0 if not outside.size else int(outside[-1]) + 1
    low, high = eom.limits(p)
    asked, used = (_over_limits(np.asarray(item), low, high) for item in (sim.u_commanded, sim.u))
    return Flight(
        plan_time=plan_time,
        arrival_time=float(max(t[arrived], plan_time)) if arrived < t.size else None,
        residual_energy=float(np.interp(plan_time, t, energy)),
        final_energy=float(energy[-1]),
        peak_energy=peak,
        peak_deflection=_deflection(eom, x),
        peak_effort=used,
        limit_violation=used - 1.0 if used else 0.0,
        asked_effort=asked,
    )


def motion_energy(
    eom: EquationsOfMotion, t: Any, x: Any, target: Any, *, p: Any = None, factor: float = 1.0
) -> np.ndarray:
    """Return ``1/2 v' M v + 1/2 d_eta' K d_eta`` over a history [J], shape (n,); d_eta from the target, speeds from rest."""
    x, goal = np.asarray(x, dtype=float), np.asarray(target, dtype=float)
    v = x[:, eom.n_q :]
    M = eom.along("mass_matrix", t, x, None, p)
    energy = 0.5 * np.einsum("ni,nij,nj->n", v, np.asarray(M).reshape(len(v), eom.n_v, eom.n_v), v)
    for body, at in flexible_bodies(eom).items():
        d = x[:, at] - goal[at]
        energy += 0.5 * factor * np.einsum("ni,ij,nj->n", d, strain_stiffness(eom, body), d)
    return energy


def scale_stiffness(eom: EquationsOfMotion, factor: float, p: Any = None) -> np.ndarray:
    """Return run-time parameters with the stiffness of every flexible body times `factor`: frequencies change by its root."""
    if not factor > 0.0:
        raise ModelError(f"scale_stiffness: factor is {factor:g}, expected a positive number")
    vector = np.array(eom.parameters.of(p), dtype=float)
    for body in flexible_bodies(eom):
        name = f"{body}.stiffness"
        if name in eom.parameters.names:
            vector[eom.parameters.where(name)] *= factor
    return vector


def flexible_bodies(eom: EquationsOfMotion) -> Mapping[str, list[int]]:
    """Return the positions in x of the modal coordinates of each flexible body."""
    bodies = eom.system.flexible_bodies
    return {body.name: [eom.states.index(f"{body.name}.{mode}") for mode in body.modal_names] for body in bodies}


def strain_stiffness(eom: EquationsOfMotion, name: str) -> np.ndarray:
    """Return the stiffness matrix of a flexible body, shape (m, m)."""
    return _body(eom, name).elasticity


def _body(eom: EquationsOfMotion, name: str) -> FlexibleBody:
    return eom.system.part(name).body.flexible


def _rigid_errors(eom: EquationsOfMotion, x: np.ndarray, target: Any) -> np.ndarray:
    """Return the errors of the coordinates that are not modal, shape (n, k)."""
    errors = np.asarray(subtract_states(eom, x, target))[:, : eom.n_v]
    modal = {eom.states[k] for places in flexible_bodies(eom).values() for k in places}
    kept = [k for k, speed in enumerate(eom.speeds) if speed.removesuffix("_dot") not in modal]
    return errors[:, kept]


def _over_limits(u: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Return the largest input over its limit on its own side; 0 without limits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(np.isfinite(high) & (high > 0.0), u / high, 0.0)
        below = np.where(np.isfinite(low) & (low < 0.0), u / low, 0.0)
    return float(np.max(np.maximum(above, below), initial=0.0))


def _deflection(eom: EquationsOfMotion, x: np.ndarray) -> float:
    """Return the largest first-order displacement of a frame of a flexible body [m]."""
    largest = 0.0
    for name, places in flexible_bodies(eom).items():
        body = _body(eom, name)
        for frame in body.frames:
            shapes = body.shapes_at(np.asarray(frame.at))
            if shapes is not None:
                largest = max(largest, float(np.max(np.linalg.norm(x[:, places] @ shapes.Phi.T, axis=1), initial=0.0)))
    return largest
