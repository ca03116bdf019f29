"""The floating oscillator: rest to rest in minimum time without residual vibration, and the switch-time equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spacectl import (
    Figure,
    FreeSpace,
    JointForce,
    JointSpring,
    Line,
    ModelError,
    Panel,
    Part,
    Plan,
    Prismatic,
    Problem,
    PublishedResult,
    RigidBody,
    Shape,
    Simulation,
    Study,
    StudyResult,
    System,
    form_equations,
    plan_collocation,
    replay,
)

#: Appearance in the replay: at rest the masses stand 0.6 m apart, each with its half of the spring
SHAPES = {
    name: (
        Shape(kind="box", size=(0.25, 0.25, 0.25), at=(0.3 * side, 0.0, 0.0)),
        Shape.bar((0.3 * side, 0.0, 0.0), (0.0, 0.0, 0.0), width),
    )
    for name, side, width in (("first", -1.0, 0.05), ("second", 1.0, 0.03))
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    mass: float = 1.0  # [kg], of each body
    stiffness: float = 1.0  # [N/m]
    limit: float = 1.0  # [N], force on the first body
    distance: float = 1.0  # [m]
    rate_limit: float = 4.0  # [N/s], of the force in the smooth variant


def build(parameters: Parameters) -> System:
    """Return two bodies on a line with a spring between them; the force acts on the first."""

    def body(name: str) -> RigidBody:
        return RigidBody(name=name, mass=parameters.mass, inertia=(1.0, 1.0, 1.0))

    return System(
        name="two masses and a spring",
        environment=FreeSpace(),
        parts=(
            Part(body("first"), on="world", joint=Prismatic(name="x", axis="x")),
            Part(body("second"), on="first", joint=Prismatic(name="stretch", axis="x")),
        ),
        elements=(JointSpring(name="spring", joint="stretch", stiffness=parameters.stiffness),),
        actuators=(JointForce(joint="x", limit=parameters.limit),),
    )


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Plan with a discontinuous force and with a limited rate, simulate both plans and the motion after them."""
    for name in ("mass", "stiffness", "limit", "distance", "rate_limit"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    eom = form_equations(build(parameters))
    end = {"x": parameters.distance, "x_dot": 0.0, "stretch": 0.0, "stretch_dot": 0.0}
    progress(0.0, "minimum time")
    plan = plan_collocation(Problem(eom=eom, end=end, name="jumping force"))
    progress(0.4, "minimum time with a limited rate of the force")
    ends = {"inputs_start": {"x": 0.0}, "inputs_end": {"x": 0.0}}
    smooth = plan_collocation(
        Problem(eom=eom, end=end, rate_limits={"x": parameters.rate_limit}, name="smooth force", **ends)
    )
    progress(0.7, "replay")
    flights = {item.name: replay(eom, item, rest=2.0, grid=601) for item in (plan, smooth)}
    metrics = {
        "final_time": plan.final_time,
        "switch_times": list(plan.switch_times),
        "symmetry": symmetry(plan),
        "rigid_time": 2.0 * np.sqrt(2.0 * parameters.mass * parameters.distance / parameters.limit),
        "replay_error": replay_error(flights["jumping force"], plan),
        "residual_energy": residual_energy(flights["jumping force"], plan, eom),
        "smooth_time": smooth.final_time,
        "smooth_residual_energy": residual_energy(flights["smooth force"], smooth, eom),
        "mesh_error": plan.outcome.stats["mesh_error"],
    }
    return StudyResult(
        metrics=metrics,
        simulations={"jumping": flights["jumping force"], "smooth": flights["smooth force"]},
        figures=(draw(flights, (plan, smooth)),),
        notes=(
            f"Minimum time {plan.final_time:.4f} s with switches at {', '.join(f'{t:.4f}' for t in plan.switch_times)} s "
            f"(Liu and Wie: 4.218; 1.003, 2.109, 3.215).",
            f"A force whose rate is limited to {parameters.rate_limit:g} N/s takes {smooth.final_time:.4f} s.",
        ),
        plans={"jumping": plan, "smooth": smooth},
        shapes=SHAPES,
        printed=published_results(plan),
    )


def published_results(plan: Plan) -> tuple[PublishedResult, ...]:
    """Compare with Liu and Wie."""
    source = "Liu and Wie, J. Guidance 15 (1992) 597-604"
    return (
        PublishedResult(what="minimum time", source=source, printed=4.218, ours=plan.final_time, unit="s", within=2e-4),
        *(
            PublishedResult(what=f"switch {k}", source=source, printed=value, ours=ours, unit="s", within=6e-4)
            for k, (value, ours) in enumerate(zip((1.003, 2.109, 3.215), plan.switch_times, strict=False), start=1)
        ),
    )


def symmetry(plan: Plan) -> float:
    """Return the largest distance of a switch from its mirror image about half of the time [s]."""
    times = np.array(plan.switch_times)
    return float(np.abs(times + times[::-1] - plan.final_time).max())


def replay_error(sim: Simulation, plan: Plan) -> float:
    """Return the largest difference of a state between plan and simulation."""
    inside = sim.t <= plan.final_time
    return float(np.abs(sim.x[inside] - plan.x(sim.t[inside])).max())


def residual_energy(sim: Simulation, plan: Plan, eom: object) -> float:
    """Return the largest energy after the end of the plan [J]."""
    after = sim.t > plan.final_time
    energies = eom.along("energy", sim.t[after], sim.x[after], sim.u[after])  # type: ignore[attr-defined]
    return float(np.abs(energies).max())


def draw(flights: dict[str, Simulation], plans: tuple[Plan, Plan]) -> Figure:
    """Draw force, positions and stretch of both simulations."""
    styles = {"jumping force": "solid", "smooth force": "dashed"}
    force = tuple(
        Line(x=sim.t, y=sim.column("u", "x"), label=name, style=styles[name]) for name, sim in flights.items()
    )
    second = tuple(
        Line(x=sim.t, y=sim["x"] + sim["stretch"], label=f"second body, {name}", style=styles[name])
        for name, sim in flights.items()
    )
    stretch = tuple(Line(x=sim.t, y=sim["stretch"], label=name, style=styles[name]) for name, sim in flights.items())
    return Figure(
        name="maneuver",
        title="Rest to rest in minimum time",
        panels=(
            Panel(lines=force, y_label="force", unit="N"),
            Panel(lines=second, y_label="position", unit="m"),
            Panel(lines=stretch, y_label="stretch of the spring", unit="m"),
        ),
        caption=f"Three switches, symmetric about half of {plans[0].final_time:.3f} s; no vibration remains after the end.",
    )


STUDY = Study(
    question=(
        "At what times must a limited force switch so that two masses on a spring come to rest without "
        "vibration in minimum time?"
    ),
    parameters=Parameters(),
    run=run,
)
