"""A free mother reels a massive line out and in: momentum, the force at the drum, and the power of the reel."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    Acceleration,
    ElasticTether,
    EquationsOfMotion,
    Figure,
    Free,
    Line,
    Panel,
    Part,
    Position,
    RigidBody,
    Simulation,
    Spherical,
    System,
    Tether,
    find_tension,
    form_equations,
    simulate,
)

BASE, STROKE, PULSE, SPOOL = 60.0, 40.0, 0.15, 150.0  # [m], [m], [rad/s], [m]
MOTHER, SATELLITE = 200.0, 20.0  # [kg]
SPIN, ANGLE = 0.3, 0.1  # [rad/s], [rad]: fast enough for a taut line while the reel accelerates
DRUM, CENTRE = (0.5, 0.2, 0.0), (0.0, -0.1, 0.05)  # [m], of the mother: where the line leaves it, centre of mass


def length_over_time(s: Any) -> Any:
    """Return the length: two strokes out, then in again."""
    return BASE + STROKE * (1.0 - ca.cos(PULSE * s.t))


def rate_over_time(t: np.ndarray) -> np.ndarray:
    """Return the rate of the length."""
    return STROKE * PULSE * np.sin(PULSE * t)


def reel_in_free_space(density: float, stiffness: float, *, quick: bool) -> tuple[dict[str, float], Figure]:
    """Reel out and in with both models; return conserved quantities and the force on the mother."""
    end = 2.0 * np.pi / PULSE
    straight = form_equations(with_straight_line(density))
    sim = simulate(straight, x0={"base.wz": SPIN, "line.first": ANGLE}, t_span=(0.0, end), rtol=1e-11, atol=1e-12)
    elastic_system = with_elastic_line(density, stiffness, masses=2 if quick else 6)
    elastic = form_equations(elastic_system)
    strain = find_tension(straight, "line", sim.t[:1], sim.x[:1])[0, 0] / stiffness
    bent = simulate(
        elastic, x0=elastic_start(elastic_system, strain), t_span=(0.0, end), rtol=1e-9, atol=1e-10, max_steps=300_000
    )
    felt, given = mother_force(straight, sim, density)
    metrics = {
        "straight_momentum_drift": drift(straight, sim),
        "elastic_momentum_drift": drift(elastic, bent),
        "drum_force_error": float(np.max(np.abs(felt - given)) / np.max(np.abs(felt))),
        "mass_flow_share": float(np.max(density * rate_over_time(sim.t) ** 2) / np.max(np.abs(felt))),
    }
    return metrics, draw(sim, straight, bent, elastic, felt, density)


def with_straight_line(density: float) -> System:
    """Return mother, straight line, and satellite with an offset centre of mass."""
    line = Tether(name="line", on="mother", at=DRUM, length=length_over_time, density=density, spool=SPOOL)
    satellite = RigidBody(name="satellite", mass=SATELLITE, inertia=(2.0, 3.0, 3.0), com=(0.3, 0.0, 0.0))
    return System(
        name="free mother with a straight tether",
        parts=(Part(_mother(), joint=Free(name="base")), Part(satellite, on="line", joint=Spherical(name="swivel"))),
        elements=(line,),
        sensors=(
            Acceleration(name="centre", on="mother", at=CENTRE),
            Acceleration(name="drum", on="mother", at=DRUM),
            Position(name="end", on="line"),
            Position(name="root", on="mother", at=DRUM),
        ),
    )


def with_elastic_line(density: float, stiffness: float, *, masses: int) -> System:
    """Return the same system with an elastic line to a free satellite."""
    line = ElasticTether(
        name="line",
        on="mother",
        at=DRUM,
        to="satellite",
        length=length_over_time,
        density=density,
        masses=masses,
        stiffness=stiffness,
        damping=0.05 * stiffness,
        spool=SPOOL,
    )
    satellite = RigidBody(name="satellite", mass=SATELLITE, inertia=(2.0, 3.0, 3.0), com=(0.3, 0.0, 0.0))
    parts = (Part(_mother(), joint=Free(name="base")), Part(satellite, joint=Free(name="far")))
    return System(name="free mother with an elastic tether", parts=parts, elements=(line,))


def _mother() -> RigidBody:
    return RigidBody(name="mother", mass=MOTHER, inertia=(80.0, 90.0, 100.0), com=CENTRE)


def elastic_start(system: System, strain: float) -> dict[str, float]:
    """Return the state with the satellite straight ahead, all turning slowly about the mother, as the straight line starts."""
    angle, spin = ANGLE, SPIN
    drum = np.array(DRUM)
    far = drum + BASE * (1.0 + strain) * np.array([np.cos(angle), np.sin(angle), 0.0])
    turning = np.array([0.0, 0.0, spin])
    speeds = {"start_rate": np.cross(turning, drum), "end_rate": np.cross(turning, far)}
    line = next(item for item in system.elements if isinstance(item, ElasticTether))
    attitude = {"far.qw": np.cos(0.5 * angle), "far.qz": np.sin(0.5 * angle), "far.wz": spin, "base.wz": spin}
    place = {f"far.{axis}": value for axis, value in zip("xyz", far, strict=True)}
    motion = {f"far.{axis}_dot": value for axis, value in zip("xyz", speeds["end_rate"], strict=True)}
    return {**attitude, **place, **motion, **line.straight(drum, far, **speeds)}


def drift(eom: EquationsOfMotion, sim: Simulation) -> float:
    """Return the largest change of momentum: linear over the mother's largest, angular over its own magnitude."""
    momentum = eom.along("momentum", sim.t, sim.x).reshape(len(sim.t), 6)
    change = np.abs(momentum - momentum[0])
    angular = np.max(change[:, :3]) / np.linalg.norm(momentum[0, :3])
    linear = np.max(change[:, 3:]) / (SATELLITE * STROKE * PULSE)
    return float(max(angular, linear))


def mother_force(eom: EquationsOfMotion, sim: Simulation, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the force on mother and stored line: from their accelerations, and ``T(0) - density L_dot^2``."""
    stored = density * (SPOOL - BASE - STROKE * (1.0 - np.cos(PULSE * sim.t)))
    y = np.array([eom.outputs(t, x) for t, x in zip(sim.t, sim.x, strict=True)])
    centre, drum, along = y[:, 0:3], y[:, 3:6], y[:, 6:9] - y[:, 9:12]
    e = along / np.linalg.norm(along, axis=1)[:, None]
    force = np.einsum("ij,ij->i", MOTHER * centre + stored[:, None] * drum, e)
    tension = find_tension(eom, "line", sim.t, sim.x)[:, 0]
    return force, tension - density * rate_over_time(sim.t) ** 2


def draw(
    sim: Simulation,
    eom: EquationsOfMotion,
    bent: Simulation,
    elastic: EquationsOfMotion,
    felt: np.ndarray,
    density: float,
) -> Figure:
    """Draw length, tension and the force on the mother."""
    pulls = find_tension(elastic, "line", bent.t, bent.x)[:, 0]
    tension = find_tension(eom, "line", sim.t, sim.x)[:, 0]
    length = BASE + STROKE * (1.0 - np.cos(PULSE * sim.t))
    return Figure(
        name="free_reeling",
        title="A free mother reels a massive line out and in",
        caption=(
            "When the line moves, in either direction, the force on the mother is smaller than the tension: each element of line "
            "gains or loses its velocity at the drum. The elastic line has the same tension until its swings "
            "grow in the retrieval."
        ),
        panels=(
            Panel(lines=(Line(x=sim.t, y=length),), y_label="deployed length", unit="m"),
            Panel(
                lines=(
                    Line(x=bent.t, y=pulls, label="tension at the drum, elastic line", style="dotted"),
                    Line(x=sim.t, y=tension, label="tension at the drum, straight line"),
                    Line(x=sim.t, y=felt, label="force on the mother", style="dashed"),
                ),
                y_label="force",
                unit="N",
            ),
            Panel(
                lines=(
                    Line(x=sim.t, y=density * rate_over_time(sim.t) ** 2, label="density × L_dot²"),
                    Line(
                        x=sim.t[::8], y=(tension - felt)[::8], label="tension less force on the mother", style="markers"
                    ),
                ),
                y_label="force",
                unit="N",
            ),
        ),
    )
