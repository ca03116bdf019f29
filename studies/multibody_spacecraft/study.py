"""Two bodies joined by a spring tumble through three orbits: 14 coordinates, 8 constraints.

Schutte and Udwadia (2010), section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    ModelError,
    PublishedResult,
    Simulation,
    SolverError,
    Study,
    StudyResult,
    form_equations,
    simulate,
)

from .figures import draw
from .histories import Motion, constraint_errors, motion_of, ranks, redundant_value, stretch_findings
from .model import (
    Parameters,
    form_redundant,
    gravity_law,
    redundant_system,
    slide,
    start_redundant,
    start_tree,
    tree_system,
)

PUBLISHED = {"rtol": 1e-10, "atol": 1e-13, "method": "rk45"}  # as published


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate in redundant coordinates, compare with a tree, and measure the effect of stabilisation."""
    check(parameters)
    if quick:
        parameters = replace(parameters, duration=min(parameters.duration, 600.0))
    progress(0.0, "forming the equations")
    eom = form_redundant(parameters)
    refusal = kkt_error(parameters)
    progress(0.1, "three orbits in redundant coordinates")
    grid = np.linspace(0.0, parameters.duration, 2 * round(parameters.duration) + 1)
    sim = fly(eom, parameters, grid)
    motion = motion_of(eom, sim.t, sim.x)
    errors = constraint_errors(eom, sim, motion)
    progress(0.4, "the tree of eight speeds")
    trees = compare_with_trees(parameters, sim.x[-1], motion)
    progress(0.6, "drift without stabilisation")
    coarse = np.linspace(0.0, parameters.duration, 2001)
    drifting = drifts(eom, parameters, coarse, motion)
    seen = ranks(eom, sim, every=max(1, sim.t.size // 100))
    metrics = {
        "max_constraint_error": max(float(np.max(np.abs(value))) for value in errors.values()),
        "final_relative_position": motion.R[1][-1] - motion.R[0][-1],
        "final_omega1": motion.omega[0][-1],
        "final_omega2": motion.omega[1][-1],
        **stretch_findings(motion, parameters),
        "rank_A": int(np.min(seen[:, 0])),
        "rank_Mhat": int(np.min(seen[:, 1])),
        "rank_changes": int(np.sum(np.any(np.diff(seen, axis=0) != 0, axis=1))),
        **{f"max_error_{key}": np.max(np.abs(value)) for key, value in errors.items()},
        **trees,
        **drifting["metrics"],
        "kkt_refused": bool(refusal),
        "orbit_period": parameters.period,
    }
    progress(0.95, "drawing")
    return StudyResult(
        metrics=metrics,
        simulations={"redundant": sim},
        figures=draw(motion, errors, drifting["errors"], parameters),
        notes=(
            f"The error of the eight constraints is {metrics['max_constraint_error']:.0e}; {metrics['rank_A']} are independent. "
            f"The spring vibrates with an initial period of {metrics['vibration_period_start']:.1f} s; its largest stretch is "
            f"{1e3 * metrics['stretch_max']:.2f} mm.",
            f"The form with Lagrange multipliers (Schutte and Udwadia, Eq 23) is rejected: {refusal}.",
        ),
        printed=published_results(metrics),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("stiffness", "natural_length", "mu", "orbit_radius", "duration", "rtol"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not slide(parameters) > 0.0:
        raise ModelError(
            f"parameter 'distance': got {parameters.distance:g}, expected more than 2 m, where the ports would meet"
        )


def fly(eom: EquationsOfMotion, parameters: Parameters, grid: np.ndarray, **options: Any) -> Simulation:
    """Simulate in redundant coordinates from the published start; options change tolerances, gravity or projection."""
    kind = options.pop("kind", "difference")
    settings = {"rtol": parameters.rtol, "atol": 1e-2 * parameters.rtol, **options}
    x0 = start_redundant(eom, parameters, absolute=kind == "absolute")
    law = gravity_law(eom, parameters, kind=kind)
    return simulate(eom, law, x0=x0, t_span=(0.0, parameters.duration), grid=grid, **settings)


def kkt_error(parameters: Parameters) -> str:
    """Return the error message of the multiplier form for the same data; empty if it finds accelerations."""
    eom = form_redundant(parameters, "multipliers")
    try:
        eom.x_dot(0.0, start_redundant(eom, parameters), np.zeros(eom.n_u))
    except SolverError as error:
        return str(error)
    return ""


def compare_with_trees(parameters: Parameters, x: np.ndarray, motion: Motion) -> dict[str, float]:
    """Return the largest differences of the final state from a tree of eight speeds, and the effects of simplifications."""
    eom = form_equations(tree_system(parameters))
    relative = motion.R[1][-1] - motion.R[0][-1]
    found: dict[str, float] = {}
    span = {"t_span": (0.0, parameters.duration), "grid": 2, "rtol": parameters.rtol, "atol": 1e-2 * parameters.rtol}
    for kind in ("difference", "gradient"):
        end = simulate(eom, gravity_law(eom, parameters, kind=kind), x0=start_tree(parameters), **span).x[-1]
        y = eom.outputs(parameters.duration, end, np.zeros(eom.n_u))
        v = end[eom.n_q :]
        if kind == "difference":
            off = [y[:3] - motion.R[0][-1], y[3:6] - motion.R[1][-1]]
            found["tree_position_difference"] = float(np.max(np.abs(off)))
            found["tree_omega_difference"] = float(np.max(np.abs(v[:3] - motion.omega[0][-1])))
            found["tree_velocity_difference"] = float(np.max(np.abs(v[3:6] - x[18:21])))
        else:
            found["gradient_position_difference"] = float(np.max(np.abs(y[3:6] - y[:3] - relative)))
    orbit = form_equations(tree_system(parameters, with_gravity_torque=True))
    end = simulate(orbit, x0=start_tree(parameters, in_orbit_frame=True), **span).x[-1]
    (place,) = orbit.call("placements", parameters.duration, end[: orbit.n_q])
    gap = place[1, -3:] - place[0, -3:]
    angle = parameters.rate * parameters.duration
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    found["gravity_torque_position_difference"] = float(np.max(np.abs(turn @ gap - relative)))
    return found


def drifts(eom: EquationsOfMotion, parameters: Parameters, grid: np.ndarray, motion: Motion) -> dict[str, Any]:
    """Return constraint errors at the published tolerances: relative and absolute coordinates, with and without projection."""
    cases: dict[str, dict[str, Any]] = {
        "relative, plain": {"project": False},
        "relative, projected": {},
        "absolute, plain": {"project": False, "kind": "absolute"},
        "absolute, projected": {"kind": "absolute"},
    }
    relative = motion.R[1][-1] - motion.R[0][-1]
    errors, metrics = {}, {}
    inertial = form_equations(redundant_system(parameters, axes="inertial"), formulation="udwadia_phohomsiri")
    for name, options in cases.items():
        sim = fly(eom, parameters, grid, **{**PUBLISHED, **options})
        g = eom.along("residual", sim.t, sim.x)[:, : len(eom.position_rows)]
        key = name.replace(", ", "_")
        errors[name] = (sim.t, np.max(np.abs(g[:, 2:]), axis=1))
        end = motion_of(eom, sim.t[-1:], sim.x[-1:])
        metrics[f"drift_{key}"] = float(np.max(np.abs(g)))
        metrics[f"position_error_{key}"] = float(np.max(np.abs(end.R[1][0] - end.R[0][0] - relative)))
        if name == "absolute, plain":
            metrics["redundant_value_body_axes"] = float(np.max(redundant_value(eom, sim)))
            metrics["redundant_value_inertial_axes"] = float(np.max(redundant_value(inertial, sim)))
            metrics["default_rank_inertial_axes"] = int(np.max(ranks(inertial, sim, tolerance=None)[:, 0]))
    return {"errors": errors, "metrics": metrics}


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Schutte and Udwadia: curves, an approximate period, and the time of contractions."""
    shortest = metrics["vibration_period_min"] or None  # 0 in a run that is too short
    early = metrics["last_contraction_time"] < metrics["orbit_period"]
    return (
        PublishedResult(
            what="period of the vibration",
            source="Schutte and Udwadia (2010), section 3, Fig. 8",
            printed=32.0,
            ours=shortest,
            unit="s",
            within=0.016,
            remark=f"the shortest; it varies with the relative spin angle up to {metrics['vibration_period_max']:.4g} s",
        ),
        PublishedResult(
            what="contractions of the spring",
            source="Schutte and Udwadia (2010), section 3",
            printed="only in the first orbit",
            ours=f"the last at {metrics['last_contraction_time']:.4g} s, orbit {metrics['orbit_period']:.4g} s",
            holds=early,
            criterion="the last contraction lies before the end of the first orbit",
        ),
    )


STUDY = Study(
    question=(
        "Do two bodies on a spring in orbit satisfy 8 dependent constraints in 14 coordinates, and how do they move?"
    ),
    parameters=Parameters(),
    run=run,
)
