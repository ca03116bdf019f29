"""Two links in minimum time: a published benchmark, with jumping torques and around an obstacle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spacectl import (
    Figure,
    Frame,
    FreeSpace,
    JointTorque,
    Line,
    ModelError,
    Panel,
    Part,
    Plan,
    Problem,
    Radau,
    Revolute,
    RigidBody,
    Simulation,
    Study,
    StudyResult,
    System,
    form_equations,
    plan_collocation,
    replay,
)


@dataclass(frozen=True)
class Parameters:
    """Numbers of the study; each can be set on the command line."""

    length: float = 1.0  # [m], of each link
    mass: float = 1.0  # [kg], of each link
    tip_mass: float = 1.0  # [kg]
    limit: float = 1.0  # [N m], of both torques
    elbow: float = 0.5  # [rad], at both ends
    turn: float = 0.522  # [rad], of the shoulder
    shoulder_speed: float = 0.3  # [rad/s], bound of the second plan


def build(parameters: Parameters) -> System:
    """Uniform links, the second with the tip mass."""
    L, m, tip = parameters.length, parameters.mass, parameters.tip_mass
    centre = (m / 2.0 + tip) * L / (m + tip)
    about_centre = m * L**2 / 12.0 + m * (centre - L / 2.0) ** 2 + tip * (L - centre) ** 2
    thin = 1e-3 * m * L**2  # about the links' own axes, which do not turn
    upper = RigidBody(
        name="upper", mass=m, com=(L / 2.0, 0.0, 0.0), inertia=(thin, m * L**2 / 12.0, m * L**2 / 12.0),
        frames=(Frame(name="tip", at=(L, 0.0, 0.0)),),
    )  # fmt: skip
    lower = RigidBody(name="lower", mass=m + tip, com=(centre, 0.0, 0.0), inertia=(thin, about_centre, about_centre))
    return System(
        name="two links",
        environment=FreeSpace(),
        parts=(
            Part(upper, on="world", joint=Revolute(name="shoulder", axis="z")),
            Part(lower, on="upper.tip", joint=Revolute(name="elbow", axis="z")),
        ),
        actuators=(JointTorque(joint="shoulder", limit=parameters.limit), JointTorque(joint="elbow", limit=parameters.limit)),
    )


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """The benchmark, and the same with a bound on the shoulder's speed."""
    for name in ("length", "mass", "tip_mass", "limit", "shoulder_speed"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    eom = form_equations(build(parameters))
    start = {"elbow": parameters.elbow}
    end = {"shoulder": parameters.turn, "elbow": parameters.elbow, "shoulder_dot": 0.0, "elbow_dot": 0.0}
    progress(0.0, "minimum time")
    free = plan_collocation(Problem(eom=eom, start=start, end=end, name="free"), scheme=Radau(30))
    progress(0.4, "with a bound on the shoulder's speed")
    bound = {"shoulder_dot": (-parameters.shoulder_speed, parameters.shoulder_speed)}
    slow = plan_collocation(Problem(eom=eom, start=start, end=end, bounds=bound, name="bounded"), scheme=Radau(30))
    progress(0.8, "replay")
    flights = {plan.name: replay(eom, plan, grid=401) for plan in (free, slow)}
    metrics = {
        "final_time": free.final_time,
        "switch_times": list(free.switch_times),
        "replay_error": miss(flights["free"], free),
        "bounded_time": slow.final_time,
        "bounded_arcs": len(slow.arcs),
        "bounded_speed": float(np.abs(flights["bounded"]["shoulder_dot"]).max()),
        "bounded_replay_error": miss(flights["bounded"], slow),
    }
    notes = tuple(f"{plan.name}: {arc.begin:.4f} to {arc.end:.4f} s, {arc.limit}." for plan in (free, slow) for arc in plan.arcs)
    return StudyResult(
        metrics=metrics,
        simulations=flights,
        figures=(draw(flights),),
        notes=notes,
        plans={plan.name: plan for plan in (free, slow)},
    )


def miss(sim: Simulation, plan: Plan) -> float:
    """Largest difference of a state between plan and flight."""
    return float(np.abs(sim.x - plan.x(sim.t)).max())


def draw(flights: dict[str, Simulation]) -> Figure:
    """Torques and speeds."""
    styles = {"free": "solid", "bounded": "dashed"}

    def lines(letter: str, name: str) -> tuple[Line, ...]:
        return tuple(Line(x=sim.t, y=sim.column(letter, name), label=key, style=styles[key]) for key, sim in flights.items())  # type: ignore[arg-type]

    return Figure(
        name="torques",
        title="Two links in minimum time",
        panels=(
            Panel(lines=lines("u", "shoulder"), y_label="shoulder torque", unit="N m"),
            Panel(lines=lines("u", "elbow"), y_label="elbow torque", unit="N m"),
            Panel(lines=lines("x", "shoulder_dot"), y_label="shoulder speed", unit="rad/s"),
            Panel(lines=lines("x", "elbow_dot"), y_label="elbow speed", unit="rad/s"),
        ),
        caption="Both torques jump between their limits; with a bound on the shoulder's speed, its torque holds that speed for a while.",
    )


STUDY = Study(
    question="How soon can two torque-limited links turn their load, and what limits each moment of it?",
    parameters=Parameters(),
    run=run,
)
