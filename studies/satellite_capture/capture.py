"""The fourth capture: relative speed at the grapple point, flexible arm, gains that change with the stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Exit,
    Guard,
    Stage,
    StagedSimulation,
    design_lqr,
    form_equations,
    linearize,
    simulate,
    simulate_stages,
)

from .cases import TIGHT, weights
from .model import Parameters, build_apart, centred, find_posture

BEFORE = 4.0  # [s], of approach
AFTER = 96.0  # [s], of the arrest
ANGLES = ("base.angle", "shoulder", "elbow")


@dataclass(frozen=True)
class Capture:
    """A run through approach and arrest, and the laws of both stages."""

    eom: EquationsOfMotion
    sim: StagedSimulation
    laws: dict[str, Any]


def fly_capture(parameters: Parameters, *, grid: int) -> Capture:
    """Simulate approach under the arm's own gains, capture with an impulse, arrest under the gains of the joined system."""
    eom = form_equations(build_apart(parameters, is_flexible=True), switchable=True)
    meeting = meeting_state(parameters, eom)
    laws = design_laws(parameters, eom, meeting)
    contact = Guard(name="contact", expression=lambda s: s.gap("grapple.x"), direction=-1)
    stages = [
        Stage(name="approach", law=laws["approach"], idle=("wrist",), exits=(Exit(guard=contact, to="captured"),)),
        Stage(name="captured", law=laws["captured"], active=("grapple",)),
    ]
    x0 = aim(parameters, eom, meeting, stages[0])
    sim = simulate_stages(
        eom, stages, x0=x0, t_span=(0.0, BEFORE + AFTER), grid=grid, rtol=1e-10, atol=1e-10, gap_tolerance=1e-8
    )
    return Capture(eom, sim, laws)


def meeting_state(parameters: Parameters, eom: EquationsOfMotion) -> np.ndarray:
    """Return the state just before contact: the arm rests in its posture, the spinning satellite approaches."""
    posture = find_posture(parameters)
    closing = parameters.approach_speed + parameters.spin_rate * parameters.satellite_offset
    return centred(
        eom,
        eom.state(
            **{
                "base.angle": posture.pitch,
                "shoulder": posture.angles[0],
                "elbow": posture.angles[1],
                "satellite.angle": np.pi,
                "satellite.y": parameters.distance,
                "satellite.angle_dot": parameters.spin_rate,
                "satellite.y_dot": -closing,
            }
        ),
    )


def design_laws(parameters: Parameters, eom: EquationsOfMotion, meeting: np.ndarray) -> dict[str, Any]:
    """Design an LQR for each stage about the posture at rest; exclude the motion of the total centre of mass."""
    rest = meeting.copy()
    rest[eom.n_q :] = 0.0
    alone = linearize(eom, rest, stage=(), check=False).select(inputs=("attitude", "shoulder", "elbow"))
    shape = tuple(name for name in eom.coordinates if name in ANGLES or ".eta" in name)
    joined = linearize(eom, rest, stage=("grapple",), independent=(*shape, "satellite.angle"), check=False)
    return {
        "approach": design_lqr(alone, reduction=_with_rates(shape), name="arm alone", **weights(parameters, ANGLES)),
        "captured": design_lqr(
            joined, reduction=_with_rates((*shape, "satellite.angle")), name="arm and satellite",
            **weights(parameters, (*ANGLES, "satellite.angle")),
        ),
    }  # fmt: skip


def _with_rates(names: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *(f"{name}_dot" for name in names))


def aim(parameters: Parameters, eom: EquationsOfMotion, meeting: np.ndarray, approach: Stage) -> np.ndarray:
    """Return the state `BEFORE` contact from which the grapple point meets the tip, by Newton's method."""
    names = ("satellite.x", "satellite.y")
    places = [eom.states.index(name) for name in names]
    x0 = meeting.copy()
    x0[eom.states.index("satellite.angle")] -= parameters.spin_rate * BEFORE
    x0[places[1]] -= BEFORE * meeting[eom.states.index("satellite.y_dot")]
    off = {f"{item.name}.active": 0.0 for item in eom.system.constraints}

    def miss(x: np.ndarray) -> np.ndarray:
        sim = simulate(eom, approach.law, x0=x, t_span=(0.0, BEFORE), grid=2, p=off, **TIGHT)
        end = sim.x[-1]
        return eom.call("gaps", BEFORE, end[: eom.n_q], end[eom.n_q :])[0].reshape(-1)[:2]

    for _ in range(6):
        gap = miss(x0)
        if np.max(np.abs(gap)) < 1e-12:
            break
        slopes = np.column_stack([(miss(x0 + 1e-3 * np.eye(eom.n_x)[k]) - gap) / 1e-3 for k in places])
        x0[places] -= np.linalg.solve(slopes, gap)
    return x0
