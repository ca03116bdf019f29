"""Half a turn of a rigid body: about its eigenaxis, and in minimum time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    BodyTorque,
    EquationsOfMotion,
    Figure,
    FreeSpace,
    Line,
    ModelError,
    Panel,
    Part,
    Plan,
    Problem,
    PublishedResult,
    Radau,
    RigidBody,
    Shape,
    Simulation,
    Spherical,
    Study,
    StudyResult,
    System,
    Trajectory,
    form_equations,
    plan_collocation,
    replay,
)

#: Appearance in the replay: a cube whose mast and wings show which way it has turned; the inertia is that of the cube
SHAPES = {
    "body": (
        Shape(kind="box", size=(1.0, 1.0, 1.0)),
        Shape.bar((0.0, 0.0, 0.5), (0.0, 0.0, 1.2), 0.06),
        Shape(kind="cone", size=(0.4, 0.4, 0.3), at=(0.0, 0.0, 1.3)),
        Shape(kind="box", size=(2.8, 0.5, 0.04)),
    )
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    inertia: float = 1.0  # [kg m^2], equal about all axes
    limit: float = 1.0  # [N m], of each of three torques
    angle: float = np.pi  # [rad], about the body's z axis
    tilt: float = 0.3  # [1], x entry of the quaternion on the way, in the guess of the optimal slew


def build(parameters: Parameters) -> System:
    """Return a body with three equal moments of inertia and three independent torques."""
    inertia = (parameters.inertia,) * 3
    torques = tuple(
        BodyTorque(name=f"torque_{axis}", on="body", direction=axis, limit=parameters.limit) for axis in "xyz"
    )
    part = Part(RigidBody(name="body", mass=1.0, inertia=inertia), on="world", joint=Spherical(name="attitude"))
    return System(name="symmetric body", environment=FreeSpace(), parts=(part,), actuators=torques)


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Plan the eigenaxis slew and the optimal slew from a tilted guess; simulate both plans."""
    for name in ("inertia", "limit"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not 0.0 < parameters.angle <= np.pi:
        raise ModelError(f"parameter 'angle': got {parameters.angle:g}, expected more than 0 and at most pi")
    eom = form_equations(build(parameters))
    half = parameters.angle / 2.0
    end = eom.state(**{"attitude.qw": np.cos(half), "attitude.qz": np.sin(half)})
    progress(0.0, "about the eigenaxis")
    still = {f"attitude.w{axis}": (0.0, 0.0) for axis in "xy"}
    axis = plan_collocation(Problem(eom=eom, end=end, bounds=still, name="eigenaxis"))
    progress(0.4, "minimum time")
    guess = tilted(eom, parameters, axis.final_time)
    best = plan_collocation(Problem(eom=eom, end=end, name="optimal"), scheme=Radau(40), guess=guess)
    progress(0.8, "replay")
    flights = {plan.name: replay(eom, plan, grid=401) for plan in (axis, best)}
    metrics = {
        "eigenaxis_time": axis.final_time,
        "optimal_time": best.final_time,
        "saved": 1.0 - best.final_time / axis.final_time,
        "switch_times": list(best.switch_times),
        "pointing_error": max(float(np.abs(sim.x[-1] - end).max()) for sim in flights.values()),
        "axis_excursion": excursion(flights["optimal"]),
    }
    notes = (
        f"{'No' if best.final_time < axis.final_time - 1e-6 else 'No faster slew was found'}: the eigenaxis takes "
        f"{axis.final_time:.4f} s (2 sqrt(angle inertia / limit)), the optimal slew {best.final_time:.4f} s with "
        f"{len(best.switch_times)} switches; its axis deviates by up to {metrics['axis_excursion']:.2f} rad.",
    )
    return StudyResult(
        metrics=metrics,
        simulations=flights,
        figures=(draw(flights),),
        notes=notes,
        plans={"eigenaxis": axis, "optimal": best},
        shapes=SHAPES,
        printed=published_results(metrics),
    )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with Bilimoria and Wie, in units of sqrt(inertia / limit), which is 1 s by default."""
    source = "Bilimoria and Wie, J. Guidance 16 (1993) 446-452"
    return (
        PublishedResult(what="half a turn about the eigenaxis", source=source, printed=3.545, ours=metrics["eigenaxis_time"],
                        unit="s", within=2e-4),
        PublishedResult(what="half a turn in minimum time", source=source, printed=3.243, ours=metrics["optimal_time"], unit="s",
                        within=2e-4),
    )  # fmt: skip


def tilted(eom: EquationsOfMotion, parameters: Parameters, T: float) -> Plan:
    """Return a guess that leaves the eigenaxis on the way: the eigenaxis slew is a stationary point of the problem."""
    t = np.linspace(0.0, T, 61)
    s = t / T
    half = parameters.angle / 2.0 * (3.0 * s**2 - 2.0 * s**3)
    q = np.column_stack([np.cos(half), parameters.tilt * np.sin(np.pi * s) ** 2, 0.0 * s, np.sin(half)])
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    rates = np.gradient(q, t, axis=0)
    omega = 2.0 * (q[:, :1] * rates[:, 1:] - rates[:, :1] * q[:, 1:] - np.cross(q[:, 1:], rates[:, 1:]))
    torque = np.clip(
        parameters.inertia * np.gradient(omega, t, axis=0), -0.9 * parameters.limit, 0.9 * parameters.limit
    )
    return Plan(
        name="tilted",
        x=Trajectory(t=t, values=np.hstack([q, omega]), labels=eom.labels.x),
        u=Trajectory(t=t, values=torque, labels=eom.labels.u),
    )


def excursion(sim: Simulation) -> float:
    """Return the largest angle between the body's z axis and its direction at the start [rad]."""
    qx, qy = sim["attitude.qx"], sim["attitude.qy"]
    return float(2.0 * np.arcsin(np.clip(np.hypot(qx, qy), 0.0, 1.0)).max())


def draw(flights: dict[str, Simulation]) -> Figure:
    """Draw the torques of the optimal slew and the rates of both."""
    best, axis = flights["optimal"], flights["eigenaxis"]
    torques = tuple(
        Panel(lines=(Line(x=best.t, y=best[f"torque_{a}"], label="optimal"),), y_label=f"torque {a}", unit="N m")
        for a in "xyz"
    )
    rates = tuple(Line(x=best.t, y=best[f"attitude.w{a}"], label=f"optimal, {a}") for a in "xyz")
    about_axis = Line(x=axis.t, y=axis["attitude.wz"], label="eigenaxis, z", style="dashed")
    return Figure(
        name="slew",
        title="Half a turn in minimum time",
        panels=(
            *torques,
            Panel(lines=(*rates, about_axis), y_label="rates", unit="rad/s"),
        ),
        caption="The fastest slew nutates: torques about x and y, which an eigenaxis slew does not use, contribute to the "
        "rotation about z.",
    )


STUDY = Study(
    question="Is the rotation about the eigenaxis the fastest way to turn a body with three independent torques?",
    parameters=Parameters(),
    run=run,
)
