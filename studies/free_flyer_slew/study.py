"""A hub with two flexible appendages: rest to rest in minimum time, without residual vibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spacectl import (
    Beam,
    EquationsOfMotion,
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
    refly,
    replay,
    rotation_about,
)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    hub_inertia: float = 10.85  # [kg m^2], 8 slug ft^2
    hub_radius: float = 0.3048  # [m]
    length: float = 1.2192  # [m], of an appendage
    mass: float = 1.587  # [kg], of an appendage
    EI: float = 30.8  # [N m^2]
    limit: float = 40.0  # [N m], torque on the hub
    angle: float = 0.5  # [rad]
    modes: int = 1  # [1], of each appendage
    stiffness_error: float = 0.2  # [1], relative, of the plant in the robustness check


def build(parameters: Parameters, *, EI: float) -> System:
    """Return two equal cantilevers on opposite sides of a hub that turns about z."""

    def appendage(name: str, on: str) -> Part:
        beam = Beam(
            name=name, length=parameters.length, mass=parameters.mass, EI=EI, bending=("y",), modes=parameters.modes
        )
        return Part(beam, on=on)

    r, I = parameters.hub_radius, parameters.hub_inertia
    frames = (
        Frame(name="right", at=(r, 0.0, 0.0)),
        Frame(name="left", at=(-r, 0.0, 0.0), rotation=rotation_about("z", np.pi)),
    )
    hub = RigidBody(name="hub", mass=100.0, inertia=(I, I, I), frames=frames)
    return System(
        name="hub with appendages",
        environment=FreeSpace(),
        parts=(
            Part(hub, on="world", joint=Revolute(name="turn", axis="z")),
            appendage("right", "hub.right"),
            appendage("left", "hub.left"),
        ),
        actuators=(JointTorque(joint="turn", limit=parameters.limit),),
    )


def rest(parameters: Parameters, eom: EquationsOfMotion) -> dict[str, float]:
    """Return the target: turned, at rest, the right appendage straight and still. The left one follows by symmetry."""
    return {"turn": parameters.angle} | {
        name: 0.0 for name in eom.states if name != "turn" and not name.startswith("left")
    }


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate the rigid slew and the flexible slew on the flexible craft, and both with a wrong stiffness."""
    for name in ("hub_inertia", "hub_radius", "length", "mass", "EI", "limit", "angle", "modes"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    eom = form_equations(build(parameters, EI=parameters.EI))
    progress(0.0, "rigid slew")
    rigid_body = rigid_equations(parameters)
    rigid = plan_collocation(Problem(eom=rigid_body, end={"turn": parameters.angle, "turn_dot": 0.0}, name="rigid"))
    progress(0.2, "flexible slew")
    problem = Problem(eom=eom, end=rest(parameters, eom), name="flexible")
    plan = plan_collocation(problem, scheme=Radau(40), guess=refly(eom, rigid))
    progress(0.7, "flights")
    flights = {item.name: replay(eom, item, rest=1.0, grid=801) for item in (rigid, plan)}
    off = form_equations(build(parameters, EI=parameters.EI * (1.0 + parameters.stiffness_error)))
    wrong = {item.name: replay(off, item, rest=1.0, grid=801) for item in (rigid, plan)}
    times = np.array(plan.switch_times)
    metrics = {
        "final_time": plan.final_time,
        "switch_times": list(plan.switch_times),
        "symmetry": float(np.abs(times + times[::-1] - plan.final_time).max()),
        "rigid_time": rigid.final_time,
        "replay_error": replay_error(flights["flexible"], plan),
        "residual_energy": residual_energy(flights["flexible"], plan, eom),
        "rigid_residual_energy": residual_energy(flights["rigid"], rigid, eom),
        "off_residual_energy": residual_energy(wrong["flexible"], plan, off),
        "peak_deflection": float(np.abs(flights["flexible"]["right.eta1"]).max()),
        "appendage_difference": float(
            np.abs(flights["flexible"]["right.eta1"] - flights["flexible"]["left.eta1"]).max()
        ),
    }
    notes = (
        f"The torque switches at {', '.join(f'{time:.4f}' for time in times)} s. "
        f"The flexible craft takes {plan.final_time:.4f} s, the rigid one {rigid.final_time:.4f} s. "
        f"The vibration energy is {metrics['rigid_residual_energy']:.3g} J after the rigid slew and "
        f"{metrics['residual_energy']:.1g} J after the flexible one.",
        f"If the stiffness is {parameters.stiffness_error:.0%} higher than planned, "
        f"{metrics['off_residual_energy']:.2g} J remain.",
    )
    return StudyResult(
        metrics=metrics,
        simulations=flights,
        figures=(draw(flights),),
        notes=notes,
        plans={"rigid": rigid, "flexible": plan},
    )


def rigid_equations(parameters: Parameters) -> EquationsOfMotion:
    """Return the equations of the craft with straight appendages."""
    r, L = parameters.hub_radius, parameters.length
    beams = 2.0 * parameters.mass * (L**2 / 12.0 + (r + L / 2.0) ** 2)
    I = parameters.hub_inertia + beams
    part = Part(
        RigidBody(name="craft", mass=100.0, inertia=(I, I, I)), on="world", joint=Revolute(name="turn", axis="z")
    )
    torque = JointTorque(joint="turn", limit=parameters.limit)
    return form_equations(System(name="rigid craft", environment=FreeSpace(), parts=(part,), actuators=(torque,)))


def replay_error(sim: Simulation, plan: Plan) -> float:
    """Return the largest difference of a state between plan and simulation."""
    inside = sim.t <= plan.final_time
    return float(np.abs(sim.x[inside] - plan.x(sim.t[inside])).max())


def residual_energy(sim: Simulation, plan: Plan, eom: EquationsOfMotion) -> float:
    """Return the largest energy after the end of the plan [J]."""
    after = sim.t > plan.final_time
    return float(np.abs(eom.along("energy", sim.t[after], sim.x[after], sim.u[after])).max())


def draw(flights: dict[str, Simulation]) -> Figure:
    """Draw torque, angle and deflection of both simulations."""
    styles = {"flexible": "solid", "rigid": "dashed"}

    def lines(letter: str, name: str) -> tuple[Line, ...]:
        return tuple(
            Line(x=sim.t, y=sim.column(letter, name), label=f"{key} slew", style=styles[key])  # type: ignore[arg-type]
            for key, sim in flights.items()
        )

    return Figure(
        name="slew",
        title="Slew of a flexible spacecraft in minimum time",
        panels=(
            Panel(lines=lines("u", "turn"), y_label="torque", unit="N m"),
            Panel(lines=lines("x", "turn"), y_label="angle", unit="rad"),
            Panel(lines=lines("x", "right.eta1"), y_label="first mode, tip", unit="m"),
        ),
        caption="The flexible slew has more switches, symmetric about half time, and leaves the appendages at rest. The "
        "rigid slew leaves them vibrating.",
    )


STUDY = Study(
    question=(
        "At what times must the torque on a hub switch so that a slew with flexible appendages ends at rest "
        "in minimum time?"
    ),
    parameters=Parameters(),
    run=run,
)
