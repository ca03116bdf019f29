"""What is the shortest time in which a flexible arm can retrieve a satellite? (003 section 8.3)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Maneuver,
    ModelError,
    Plan,
    PublishedResult,
    Requirement,
    Shape,
    Study,
    StudyResult,
    compare_maneuvers,
    draw_phase_plane,
    fly_plan,
    plan_near_minimum_time,
    plan_phase_plane,
    plan_reachability,
    shape_motion,
)

from .figures import draw_arrival, draw_coordinates, draw_paths, draw_payload, draw_residuals
from .maneuver import (
    Case,
    arrival_frequency,
    form_case,
    form_default_shapes,
    plan_flexible_path,
    plan_free_path,
    readings,
)

#: Looks in the replay: the satellite as the sphere of its inertia, of the orbiter only the part that carries the arm
SHAPES = {
    "orbiter": Shape(kind="box", size=(2.0, 4.0, 3.0), at=(0.0, -1.0, 0.0)),
    "satellite": Shape(kind="ellipsoid", size=(2.0, 2.0, 2.0), at=(1.0, 0.0, 0.0)),
}


@dataclass(frozen=True)
class Parameters:
    """Numbers of the study; each can be set on the command line."""

    payload_mass: float = 4000.0  # [kg]
    link_mass: float = 80.0  # [kg]
    link_length: float = 8.13  # [m]
    stiffness: float = 1e5  # [N m^2], EI of the links
    damping: float = 0.01  # [1], ratio of the links' modes
    orbit_period: float = 6283.2  # [s], 104.72 min
    shoulder_torque: float = 800.0  # [N m]
    elbow_torque: float = 800.0  # [N m]
    wrist_torque: float = 400.0  # [N m]
    begin: float = 15.0  # [m], along track
    end: float = 3.0  # [m]
    fraction: float = 0.8  # [1], of the torques for the plan when vibration is suppressed during the maneuver
    settle_time: float = 15.0  # [s]
    frequency_error: float = 0.1  # [1], of the links' frequencies, both ways


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """The line by two planners, flown in three ways; the free path, shaped and optimal for the flexible arm; other readings."""
    for name in ("payload_mass", "link_mass", "link_length", "stiffness", "orbit_period", "settle_time"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    numbers = {
        "payload_mass": parameters.payload_mass, "link_mass": parameters.link_mass, "period": parameters.orbit_period,
        "link_length": parameters.link_length, "stiffness": parameters.stiffness, "damping": parameters.damping,
        "torque_limits": (parameters.shoulder_torque, parameters.elbow_torque, parameters.wrist_torque),
    }  # fmt: skip
    case = form_case(numbers, begin=parameters.begin, end=parameters.end)
    progress(0.05, "the line by two planners")
    points = 500 if quick else 2000
    line = plan_phase_plane(case.rigid, case.path, points=points)
    second = plan_reachability(case.rigid, case.path, points=points)
    progress(0.2, "flown by the flexible arm")
    flown = fly_line(case, parameters)
    other = form_default_shapes(case)
    beside = fly_plan(other, line, settle_time=parameters.settle_time, name="line, default shapes")
    progress(0.5, "the free path")
    free = plan_free_path(case, line)
    shaped = shape_motion(case.flexible, case.rigid, free, "ZVD")
    progress(0.6, "the free path of the flexible arm")
    optimal = plan_flexible_path(case, free, cells=300 if quick else 1500, restarts=0 if quick else 3)
    plain, calm, best = (
        fly_plan(case.flexible, plan, settle_time=parameters.settle_time, name=f"free path, {name}")
        for name, plan in (("after", free), ("shaped", shaped), ("flexible", optimal))
    )
    progress(0.8, "wrong frequencies")
    table = compare_maneuvers(
        case.flexible, [*flown.values(), plain, calm, best], frequency_error=parameters.frequency_error
    )
    others = {} if quick else readings(numbers, begin=parameters.begin, end=parameters.end)
    runs = {**flown, "free_after": plain, "free_shaped": calm, "free_flexible": best}
    metrics = {
        "line_time": line.final_time,
        "line_switch_time": line.switch_times[0],
        "line_time_second_solver": second.final_time,
        "line_switch_time_second_solver": second.switch_times[0],
        "line_elbow_use": least_use(line, "elbow", parameters.elbow_torque),
        "line_elbow_use_second_solver": least_use(second, "elbow", parameters.elbow_torque),
        "free_path_time": free.final_time,
        "free_path_gain": 1.0 - best.plan.final_time / line.final_time,
        "near_minimum_after_time": arrival(flown["after"]),
        "near_minimum_during_time": arrival(flown["during"]),
        "near_minimum_shaped_time": arrival(flown["shaped"]),
        "free_shaped_time": calm.plan.final_time,
        "free_shaped_arrival_time": arrival(calm),
        "free_shaped_residual_energy": calm.flight.residual_energy,
        "flexible_optimal_time": best.plan.final_time,
        "flexible_optimal_arrival_time": arrival(best),
        "flexible_optimal_residual_energy": best.flight.residual_energy,
        "line_residual_energy": flown["after"].flight.residual_energy,
        "line_shaped_residual_energy": flown["shaped"].flight.residual_energy,
        "line_residual_energy_default": beside.flight.residual_energy,
        "locked_frequency": arrival_frequency(case.flexible, line),
        "locked_frequency_default": arrival_frequency(other, line),
        "peak_deflection": max(item.flight.peak_deflection for item in runs.values()),
        "neighbourhood": flown["after"].neighbourhood,
        "attitude_error": float(np.max(np.abs(best.simulation["attitude.s3"]))),
        "max_limit_violation": max(0.0, *(item.flight.limit_violation for item in runs.values())),
        **{f"residual_energy_soft_{name}": table[item.name].soft.residual_energy for name, item in runs.items()},
        **{f"residual_energy_stiff_{name}": table[item.name].stiff.residual_energy for name, item in runs.items()},
        **{f"line_time_{name.replace(' ', '_')}": pair[0] for name, pair in others.items()},
        **{f"line_switch_{name.replace(' ', '_')}": pair[1] for name, pair in others.items()},
    }  # fmt: skip
    return StudyResult(
        metrics=metrics,
        simulations={name: item.simulation for name, item in reversed(runs.items())},  # the best first
        figures=(
            draw_phase_plane(line, title="Phase plane of the line", s_unit="m"),
            draw_coordinates(flown["after"]),
            draw_payload(flown["after"], "line", "The line, bang-bang, settled after (003 Figure 8.5)"),
            draw_payload(best, "free", "The free path of the flexible arm in minimum time"),
            draw_arrival(optimal),
            draw_payload(calm, "shaped", "The free path, shaped"),
            draw_paths({"line": flown["after"], "free path, flexible": best}),
            draw_residuals({item.name: item for item in runs.values()}),
        ),
        plans={"line": line, "free path": free, "free path, shaped": shaped, "free path, flexible": optimal},
        laws={"after": flown["after"].law},
        systems={"flexible arm": case.flexible.system},
        shapes=SHAPES,
        printed=printed(metrics),
        requirements=(Requirement(metric="max_limit_violation", relation="<=", bound=1e-9),),
        notes=notes(metrics, table.tabulate()),
    )


def fly_line(case: Case, parameters: Parameters) -> dict[str, Maneuver]:
    """Vibration suppressed after the plan, during it, and not excited."""
    return {
        strategy: plan_near_minimum_time(
            case.flexible,
            case.path,
            strategy=strategy,
            settle_time=parameters.settle_time,
            fraction=parameters.fraction if strategy == "during" else None,
        )  # fmt: skip
        for strategy in ("after", "during", "shaped")
    }


def least_use(plan: Plan, name: str, limit: float) -> float:
    """Smallest share of an input's limit that a plan uses, apart from a hundredth of its time about switches and ends."""
    t, u = np.asarray(plan.u.t), np.abs(np.asarray(plan.u.values)[:, plan.u.labels.index(name)])
    apart = np.min(np.abs(t[:, None] - np.array([t[0], *plan.switch_times, t[-1]])), axis=1)
    return float(np.min(u[apart > 5e-3 * t[-1]]) / limit)


def arrival(maneuver: Maneuver) -> float | None:
    """When the payload has arrived and rests [s]."""
    return maneuver.flight.arrival_time


def printed(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """What the thesis prints."""
    why = "no reading of the text gives both printed digits; two planners agree on ours, see the study's README"
    return (
        PublishedResult(what="final time of the line", source="003 section 8.3", printed=40.37, ours=metrics["line_time"],
                        unit="s", within=2e-3, remark=why),
        PublishedResult(what="switch time of the line", source="003 section 8.3", printed=14.61, ours=metrics["line_switch_time"],
                        unit="s", within=2e-3, remark=why),
        PublishedResult(what="use of the elbow", source="003 section 8.3", printed="some of its torque is not used",
                        ours=f"at least {100.0 * metrics['line_elbow_use']:.2f} % of its limit throughout",
                        holds=metrics["line_elbow_use"] < 0.999, criterion="less than 99.9 % of the limit is used at some time",
                        independent=metrics["line_elbow_use_second_solver"] < 0.999, independent_by="plan of the second solver",
                        remark="it is the elbow that limits both arcs of the line"),
        PublishedResult(what="another path", source="003 section 8.3", printed="can be shorter",
                        ours=f"{100.0 * metrics['free_path_gain']:.1f} % shorter, flown by the flexible arm",
                        holds=metrics["free_path_gain"] > 0.0, criterion="the free path takes less time than the line"),
    )  # fmt: skip


def notes(metrics: dict[str, Any], table: str) -> tuple[str, ...]:
    """The answer in sentences."""
    more = metrics["flexible_optimal_time"] - metrics["free_path_time"]
    return (
        f"In {metrics['flexible_optimal_time']:.2f} s on a free path, in {metrics['line_time']:.2f} s along the line; "
        f"{metrics['flexible_optimal_residual_energy']:.0e} and {metrics['line_residual_energy']:.1f} J of vibration are left.",
        f"Along the line the payload takes {metrics['line_time']:.2f} s with one switch at {metrics['line_switch_time']:.2f} s; "
        f"an independent solver finds {metrics['line_time_second_solver']:.2f} s.",
        f"Flown open loop, the bent links release {metrics['line_residual_energy']:.1f} J; shaped timing leaves "
        f"{metrics['line_shaped_residual_energy']:.1e} J for half a second more.",
        f"On a free path with the payload's attitude held the flexible arm takes {metrics['flexible_optimal_time']:.2f} s, "
        f"{100.0 * metrics['free_path_gain']:.1f} % less than the line and {more:.2f} s "
        f"more than a rigid arm, within all limits; {metrics['flexible_optimal_residual_energy']:.0e} J are left.",
        "The links have one cantilever mode each, as in 003. With two default shapes each, which are exact in statics, the "
        f"lowest frequency at the arrival, joints locked, is {metrics['locked_frequency_default']:.3f} rad/s, not "
        f"{metrics['locked_frequency']:.3f} rad/s, and the line leaves {metrics['line_residual_energy_default']:.1f} J.",
        "All maneuvers side by side:\n" + table,
    )


STUDY = Study(
    question="What is the shortest time in which a flexible arm can retrieve a satellite?",
    parameters=Parameters(),
    run=run,
)
