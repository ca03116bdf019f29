"""Figure 3.1: the second link maintains its direction, by guides (natural) or by the elbow's torque (artificial)."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, Figure, Line, Panel, form_equations, library, simulate

KINDS = ("natural", "artificial")


def compare_kinds(parameters: Any, points: int) -> tuple[dict[str, Any], dict[str, Any], tuple[Figure, ...]]:
    """Compare generalised inertia, Eqs 3.7 and 3.8, and the motions under the same torque."""
    arms = {
        kind: form_equations(library.level_arm(kept=kind, mass=parameters.mass, length=parameters.length))
        for kind in KINDS
    }
    angles = np.linspace(-np.pi, np.pi, 361)
    inertias = {kind: np.array([felt_inertia(arm, q) for q in angles]) for kind, arm in arms.items()}
    errors = equation_errors(arms, parameters, points)
    runs = {kind: drive(arm, parameters) for kind, arm in arms.items()}
    gap = np.asarray(runs["natural"]["shoulder"]) - np.asarray(runs["artificial"]["shoulder"])
    metrics = {
        **errors,
        "inertia_natural": float(np.mean(inertias["natural"])),
        "inertia_natural_spread": float(np.ptp(inertias["natural"])),
        "inertia_artificial_max": float(np.max(inertias["artificial"])),
        "inertia_artificial_min": float(np.min(inertias["artificial"])),
        "level_angle_difference": float(np.max(np.abs(gap))),
        "level_residual": max(float(np.max(np.abs(residual(arms[kind], runs[kind])))) for kind in KINDS),
    }
    return metrics, {f"level_{kind}": sim for kind, sim in runs.items()}, (figure(angles, inertias, runs, arms),)


def command(arm: EquationsOfMotion, shoulder: float) -> list[float]:
    """Return inputs with a torque at the shoulder only; the elbow is an input where there are no guides."""
    return [shoulder if name == "shoulder" else 0.0 for name in arm.inputs]


def felt_inertia(arm: EquationsOfMotion, angle: float) -> float:
    """Return the torque at the shoulder for unit angular acceleration of the first link from rest [kg m^2]."""
    return 1.0 / float(arm.v_dot(0.0, [angle, -angle], [0.0, 0.0], command(arm, 1.0))[0])


def equation_errors(arms: dict[str, EquationsOfMotion], parameters: Any, points: int) -> dict[str, float]:
    """Return the largest difference from the published equations, relative to the largest term, at random states."""
    rng = np.random.default_rng(parameters.seed)
    inertia = 4.0 * parameters.mass * parameters.length**2 / 3.0
    worst = {"eq_3_7_error": 0.0, "eq_3_8_error": 0.0}
    for _ in range(points):
        q, v, tau_1 = rng.uniform(-3.0, 3.0, 3)
        state = ([q, -q], [v, -v])
        guided = inertia * arms["natural"].v_dot(0.0, *state, command(arms["natural"], tau_1))[0]
        worst["eq_3_7_error"] = max(worst["eq_3_7_error"], abs(guided - tau_1) / abs(tau_1))
        u = command(arms["artificial"], tau_1)
        driven = inertia * arms["artificial"].v_dot(0.0, *state, u)[0]
        tau_2 = float(arms["artificial"].multipliers(0.0, *state, u)[0])
        size = abs(driven) + abs(tau_1) + abs(tau_2)
        worst["eq_3_8_error"] = max(worst["eq_3_8_error"], abs(driven - (tau_1 - tau_2)) / size)
    return {name: float(value) for name, value in worst.items()}


def drive(arm: EquationsOfMotion, parameters: Any) -> Any:
    """Simulate the motion from rest under a constant torque at the shoulder."""
    start = arm.state(shoulder=parameters.angle_start, elbow=-parameters.angle_start)
    grid = np.linspace(0.0, parameters.duration, 251)
    u = command(arm, -parameters.torque)
    return simulate(arm, u=u, x0=start, t_span=(0.0, parameters.duration), grid=grid, rtol=1e-10, atol=1e-12)


def residual(arm: EquationsOfMotion, sim: Any) -> np.ndarray:
    """Return the rotation of the second link."""
    return np.asarray(sim["shoulder"]) + np.asarray(sim["elbow"])


def figure(angles: np.ndarray, inertias: dict[str, np.ndarray], runs: dict[str, Any], arms: dict[str, Any]) -> Figure:
    """Draw inertia over the angle, and the two motions."""
    labels = {"natural": "guides (natural)", "artificial": "elbow motor (artificial)"}
    felt = Panel(
        lines=tuple(Line(x=angles, y=inertias[kind], label=labels[kind]) for kind in KINDS),
        y_label="inertia at the shoulder",
        unit="kg m^2",
        x_label="angle of the first link",
        x_unit="rad",
    )
    moved = Panel(
        lines=tuple(Line(x=runs[kind].t, y=runs[kind]["shoulder"], label=labels[kind]) for kind in KINDS),
        y_label="angle of the first link",
        unit="rad",
    )
    arm, sim = arms["artificial"], runs["artificial"]
    torque = [float(arm.multipliers(0.0, x[:2], x[2:], u)[0]) for x, u in zip(sim.x, sim.u, strict=True)]
    kept = Panel(
        lines=(Line(x=sim.t, y=np.array(torque), label="elbow torque"),), y_label="torque of the elbow", unit="N m"
    )
    return Figure(
        name="guides_or_motor",
        title="A link of constant direction: by guides or by a motor",
        panels=(felt, moved, kept),
        caption="The same condition and the same torque at the shoulder (Sadigh 1995, Figure 3.1). Guides have "
        "no reaction at the "
        "shoulder. The motor's torque reacts on the first link, so the inertia at the shoulder depends on the posture.",
    )
