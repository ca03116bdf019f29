"""Fastest motion along a path of the seven-joint arm: `plan_phase_plane` against toppra, from path to plan.

Both sides include the dynamics and all set-up: ours solves the path, evaluates the rows by generated code and checks the
plan; toppra's inverse dynamics are Pinocchio's recursion. Torques are limited, nothing else: toppra is exact only without
terms linear in the path speed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, JointPath, Plan, SplineCurve, TorqueLimits, form_equations, plan_phase_plane
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import fixed_arm, pin, pinocchio_model

__all__ = ["measure_path_timing", "our_plan", "toppra_time"]

AGREEMENT = 1e-3  # of the final time: toppra is first order in its grid
TORQUE = 200.0  # [N m]
PATHS = 3


def via_points(seed: int) -> np.ndarray:
    """Five random points of the arm."""
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (5, 7))


def our_plan(eom: EquationsOfMotion, points: np.ndarray, n: int) -> Plan:
    """From via points to a plan of n cells."""
    path = JointPath(name="spline", curve=SplineCurve(points=points), coordinates=eom.coordinates)
    return plan_phase_plane(eom, path, limits=TorqueLimits(limits=dict.fromkeys(eom.inputs, TORQUE)), points=n)


def toppra_time(model: Any, points: np.ndarray, n: int, solver: str | None = None, *, is_fine: bool = False) -> float:
    """From the same via points to toppra's trajectory on n cells; its default solver and scheme, by default."""
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("ERROR")
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    path = toppra.SplineInterpolator(knots, points)
    data = model.createData()
    more = {"discretization_scheme": constraint.DiscretizationType.Interpolation} if is_fine else {}
    limits = np.tile([-TORQUE, TORQUE], (7, 1))
    torque = constraint.JointTorqueConstraint(
        lambda q, v, a: np.array(pin.rnea(model, data, q, v, a)), limits, np.zeros(7), **more
    )
    choice = {} if solver is None else {"solver_wrapper": solver}
    instance = algorithm.TOPPRA([torque], path, gridpoints=np.linspace(0.0, knots[-1], n + 1), **choice)
    trajectory = instance.compute_trajectory(0, 0)
    return float("nan") if trajectory is None else float(trajectory.duration)


def measure_path_timing(effort: Effort) -> Section:
    """Time to a plan at 1000 cells, and agreement of the final times on a finer grid."""
    n = 100 if effort.is_tiny else 1000
    section = Section(
        f"Path timing, {n} cells",
        "A spline through five random points of the seven-joint arm, torque limits, from path to plan, with dynamics and set-up.",
    )
    eom, model = form_equations(fixed_arm()), pinocchio_model(fixed_arm())
    for seed in range(1 if effort.is_tiny else PATHS):
        points = via_points(seed)
        ours = our_plan(eom, points, 1000).final_time
        theirs = toppra_time(model, points, 4000 if effort.is_tiny else 6000, is_fine=True)
        what = f"path {seed}: final time {ours:.4f} s against toppra's on a fine grid, relative difference"
        section.figures.append(Figure(what=what, value=abs(ours / theirs - 1.0), goal=AGREEMENT))
        times = interleave(
            {
                "plan_phase_plane": (lambda p=points: our_plan(eom, p, n)),
                "toppra": (lambda p=points: toppra_time(model, p, n)),
            },
            effort if effort.is_tiny else replace(effort, repetitions=9),
        )
        section.add(f"path {seed}", times["plan_phase_plane"], times["toppra"], goal=1.0)
    return section.finish()
