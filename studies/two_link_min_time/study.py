"""Two links in minimum time: a published benchmark, with discontinuous torques and with torques of limited rate."""

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
    PublishedResult,
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
    """Parameters of the study; each can be set on the command line."""

    length: float = 1.0  # [m], of each link
    mass: float = 1.0  # [kg], of each link
    tip_mass: float = 1.0  # [kg]
    limit: float = 1.0  # [N m], of both torques
    elbow: float = 0.5  # [rad], at both ends
    turn: float = 0.522  # [rad], of the shoulder
    rate_limit: float = 5.0  # [N m/s], of both torques in the second plan


def build(parameters: Parameters) -> System:
    """Return uniform links, the second with the tip mass."""
    L, m, tip = parameters.length, parameters.mass, parameters.tip_mass
    centre = (m / 2.0 + tip) * L / (m + tip)
    about_centre = m * L**2 / 12.0 + m * (centre - L / 2.0) ** 2 + tip * (L - centre) ** 2
    thin = 1e-3 * m * L**2  # about the links' own axes, about which they do not rotate
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
        actuators=(
            JointTorque(joint="shoulder", limit=parameters.limit),
            JointTorque(joint="elbow", limit=parameters.limit),
        ),
    )


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Plan the benchmark, and the same with torques of limited rate."""
    for name in ("length", "mass", "tip_mass", "limit", "rate_limit"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    eom = form_equations(build(parameters))
    start = {"elbow": parameters.elbow}
    end = {"shoulder": parameters.turn, "elbow": parameters.elbow, "shoulder_dot": 0.0, "elbow_dot": 0.0}
    progress(0.0, "minimum time")
    free = plan_collocation(Problem(eom=eom, start=start, end=end, name="free"), scheme=Radau(30))
    progress(0.4, "with torques of limited rate")
    rates = dict.fromkeys(eom.inputs, parameters.rate_limit)
    still = dict.fromkeys(eom.inputs, 0.0)
    smooth = plan_collocation(
        Problem(eom=eom, start=start, end=end, rate_limits=rates, inputs_start=still, inputs_end=still, name="smooth"),
        scheme=Radau(30),
    )
    progress(0.8, "replay")
    flights = {plan.name: replay(eom, plan, grid=401) for plan in (free, smooth)}
    metrics = {
        "final_time": free.final_time,
        "switch_times": list(free.switch_times),
        "replay_error": replay_error(flights["free"], free),
        "smooth_time": smooth.final_time,
        "smooth_replay_error": replay_error(flights["smooth"], smooth),
    }
    notes = (
        f"The load is turned in {free.final_time:.4f} s with {len(free.switch_times)} switches; at every moment both torques are "
        "at a limit (see the plan).",
        f"With the rates of both torques limited it takes {smooth.final_time:.4f} s.",
    )
    return StudyResult(
        metrics=metrics,
        simulations=flights,
        figures=(draw(flights),),
        notes=notes,
        plans={plan.name: plan for plan in (free, smooth)},
        printed=(
            PublishedResult(
                what="minimum time",
                source="Luus, Iterative Dynamic Programming (2000)",
                printed=2.98,
                ours=free.final_time,
                unit="s",
                within=2e-3,
            ),
        ),
    )


def replay_error(sim: Simulation, plan: Plan) -> float:
    """Return the largest difference of a state between plan and simulation."""
    return float(np.abs(sim.x - plan.x(sim.t)).max())


def draw(flights: dict[str, Simulation]) -> Figure:
    """Draw torques and speeds."""
    styles = {"free": "solid", "smooth": "dashed"}

    def lines(letter: str, name: str) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t, y=sim.column(letter, name), label=key, style=styles[key])  # type: ignore[arg-type]
            for key, sim in flights.items()
        )

    return Figure(
        name="torques",
        title="Two links in minimum time",
        panels=(
            Panel(lines=lines("u", "shoulder"), y_label="shoulder torque", unit="N m"),
            Panel(lines=lines("u", "elbow"), y_label="elbow torque", unit="N m"),
            Panel(lines=lines("x", "shoulder_dot"), y_label="shoulder speed", unit="rad/s"),
            Panel(lines=lines("x", "elbow_dot"), y_label="elbow speed", unit="rad/s"),
        ),
        caption="Both torques jump between their limits; torques of limited rate take slightly longer.",
    )


STUDY = Study(
    question=(
        "What is the minimum time in which two torque-limited links turn their load, and which limit is active when?"
    ),
    parameters=Parameters(),
    run=run,
)
