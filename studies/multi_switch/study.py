"""A path with many switches: a satellite is carried around a corner in minimum time (Sadigh 1995, Figure 8.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Band,
    BlendCurve,
    EquationsOfMotion,
    Figure,
    Line,
    ModelError,
    Panel,
    Plan,
    Shape,
    Simulation,
    Study,
    StudyResult,
    TaskPath,
    draw_phase_plane,
    form_equations,
    library,
    make_law,
    plan_phase_plane,
    plan_reachability,
    simulate,
)

#: Appearance in the replay: of the orbiter only the part that carries the arm, the satellite as the sphere of its inertia
SHAPES = {
    "orbiter": Shape(kind="box", size=(2.0, 4.0, 3.0), at=(0.0, -1.0, 0.0)),
    "satellite": Shape(kind="ellipsoid", size=(2.0, 2.0, 2.0), at=(1.0, 0.0, 0.0)),
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    begin: float = 15.0  # [m], initial y of the satellite, on the local horizontal (Sadigh 1995, Table 8.2)
    corner: float = 7.0  # [m], y of the corner
    reach: float = 6.0  # [m], x of the berth
    radius: float = 1.0  # [m], of the turn
    payload_mass: float = 4000.0  # [kg], Sadigh (1995), Table 8.1
    points: int = 1000  # [1], cells of the phase plane


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Plan by two solvers, draw the phase plane, simulate the plan."""
    check(parameters)
    eom = form_equations(library.retrieval_arm(payload_mass=parameters.payload_mass))
    path = corner_path(parameters)
    progress(0.0, "phase plane")
    plan = plan_phase_plane(eom, path, points=parameters.points)
    progress(0.3, "second solver")
    second = plan_reachability(eom, path, points=700 if quick else parameters.points)
    progress(0.7, "replay")
    flown = fly(eom, plan)
    turns = [item for item in plan.notes["switches"] if item.kind != "other limit"]
    metrics = {
        "final_time": plan.final_time,
        "final_time_second_solver": second.final_time,
        "time_difference": abs(second.final_time / plan.final_time - 1.0),
        "switches": len(turns),
        "switch_times": [time_at(plan, item.s) for item in turns],
        "switch_kinds": [item.kind for item in turns],
        "switch_time_difference": max(abs(time_at(second, item.s) - time_at(plan, item.s)) for item in turns)
        / plan.final_time,
        "limit_changes": len(plan.arcs) - 1,
        "max_limit_violation": plan.notes["max_limit_violation"],
        "margin": plan.notes["margin"],
        "replay_position_error": position_error(eom, plan, flown),
    }
    return StudyResult(
        metrics=metrics,
        simulations={"replay": flown},
        shapes=SHAPES,
        figures=(draw_phase_plane(plan, s_unit="m", title="Phase plane of the corner"), draw(eom, plan, second, flown)),
        notes=(
            f"The plan has {len(turns)} switches between largest acceleration and largest deceleration; the limiting actuator "
            f"changes {len(plan.arcs) - 1} times in all.",
            f"Second solver: {second.final_time:.4f} s against {plan.final_time:.4f} s.",
        ),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters that do not define a corner."""
    if not 0.0 < parameters.radius < min(parameters.begin - parameters.corner, parameters.reach):
        raise ModelError(
            f"parameter 'radius': got {parameters.radius:g} m, expected above 0 and below both legs "
            f"({parameters.begin - parameters.corner:g} and {parameters.reach:g} m)"
        )


def corner_path(parameters: Parameters) -> TaskPath:
    """Return the path along the local horizontal, a turn, and outward to the berth; the satellite keeps its attitude."""
    corners = [(0.0, parameters.begin, 0.0), (0.0, parameters.corner, 0.0), (parameters.reach, parameters.corner, 0.0)]
    return TaskPath(
        name="corner",
        curve=BlendCurve(points=corners, radius=parameters.radius),
        outputs=("payload.x", "payload.y", "attitude.s3"),
        at={"shoulder": 1.175, "elbow": 0.79, "wrist": 1.175},  # Sadigh (1995), Table 8.2
    )


def fly(eom: EquationsOfMotion, plan: Plan) -> Simulation:
    """Simulate the planned torques on the equations of motion, open loop."""
    law = make_law(lambda s: s.r, name="replay", states=eom.labels.x, inputs=eom.labels.u, reference=plan.u)
    return simulate(eom, law, x0=plan.x(0.0), t_span=(0.0, plan.final_time), grid=401)


def time_at(plan: Plan, s: float) -> float:
    """Return the time at which a plan passes s."""
    assert plan.s is not None
    return float(np.interp(s, plan.s.column("s"), np.asarray(plan.s.t)))


def position_error(eom: EquationsOfMotion, plan: Plan, flown: Simulation) -> float:
    """Return the largest distance of the satellite from the plan."""
    reference = plan.x(flown.t)
    planned, reached = (eom.along("sensors", flown.t, x)[:, :3] for x in (reference, flown.x))
    return float(np.max(np.linalg.norm(planned - reached, axis=1)))


def draw(eom: EquationsOfMotion, plan: Plan, second: Plan, flown: Simulation) -> Figure:
    """Draw torques over their limits, speed along the path by both solvers, and the distance from the plan."""
    t, limits = np.asarray(plan.u.t), eom.limits()[1]
    torques = tuple(
        Line(x=t, y=plan.u.column(name) / limit, label=name) for name, limit in zip(eom.inputs, limits, strict=True)
    )
    assert plan.s is not None and second.s is not None
    speeds = (
        Line(x=np.asarray(plan.s.t), y=plan.s.column("s_dot"), label="phase plane"),
        Line(x=np.asarray(second.s.t), y=second.s.column("s_dot"), label="second solver", style="dashed"),
    )
    planned, reached = (eom.along("sensors", flown.t, x)[:, :3] for x in (plan.x(flown.t), flown.x))
    error = Line(x=flown.t, y=1e3 * np.linalg.norm(planned - reached, axis=1), label="open loop")
    panels: tuple[Any, ...] = (
        Panel(lines=torques, y_label="torque over limit", bands=(Band(low=-1.0, high=1.0),)),
        Panel(lines=speeds, y_label="path speed", unit="m/s"),
        Panel(lines=(error,), y_label="distance of the satellite from the plan", unit="mm"),
    )
    caption = (
        "One of the torques is at its limit at every time; at each switch all of them jump. In an open-loop simulation the "
        "satellite stays on the path."
    )
    return Figure(name="corner", title="Around a corner in minimum time", panels=panels, caption=caption)


STUDY = Study(
    question="What is the minimum-time motion along a path that requires several switches?",
    parameters=Parameters(),
    run=run,
)
