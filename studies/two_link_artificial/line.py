"""Figure 7.1: the elbow's torque holds a payload on the X axis while a PD law moves the first link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl import (
    ArtificialConstraintTracking,
    ControlLaw,
    EquationsOfMotion,
    Figure,
    Line,
    Panel,
    check_adequacy,
    design_pd,
    form_equations,
    library,
    make_consistent,
    simulate,
)


def move_along_line(parameters: Any, points: int) -> tuple[dict[str, Any], dict[str, Any], tuple[Figure, ...]]:
    """Verify Eqs 7.4 and 7.5; simulate the ideal motion, and the law of the thesis on a plant with another payload."""
    numbers = {"mass": parameters.mass, "length": parameters.length, "payload": parameters.payload}
    arm = form_equations(library.line_arm(**numbers))
    errors = equation_errors(arm, parameters, points)
    first = arm.state(shoulder=parameters.angle_start, elbow=-2.0 * parameters.angle_start)
    start = make_consistent(arm, first, hold=("shoulder",)).x
    law = pd_law(arm, parameters)
    options = {"x0": start, "t_span": (0.0, parameters.duration), "grid": np.linspace(0.0, parameters.duration, 251)}
    tight = {"rtol": 1e-10, "atol": 1e-12}
    ideal = simulate(arm, law, **options, **tight)
    elbow = [float(arm.multipliers(0.0, x[:2], x[2:], u)[0]) for x, u in zip(ideal.x, ideal.u, strict=True)]
    runs = {"line_ideal": ideal}
    heavier = {**numbers, "payload": parameters.payload * (1.0 + parameters.payload_error)}
    plant = form_equations(replace(library.line_arm(**heavier), constraints=()))
    believed = form_equations(replace(library.line_arm(**numbers), constraints=()))
    for name, frequency in (("line_open_loop", 0.0), ("line_feedback", parameters.frequency)):
        keep = ArtificialConstraintTracking(
            plant,
            constraints=library.line_arm(**numbers).constraints,
            others=pd_law(plant, parameters),
            frequency=frequency,
            p=believed.p,
        )
        runs[name] = simulate(plant, keep, **options, **tight)
    heights = {name: height(sim, parameters.length) for name, sim in runs.items()}
    report = check_adequacy(arm, ideal.t, ideal.x)
    metrics = {
        **errors,
        "line_error_ideal": float(np.max(np.abs(heights["line_ideal"]))),
        "line_error_open_loop": float(np.max(np.abs(heights["line_open_loop"]))),
        "line_error_feedback": float(np.max(np.abs(heights["line_feedback"]))),
        "line_final_angle": float(np.asarray(ideal["shoulder"])[-1]),
        "line_least_leverage": float(np.min(np.asarray(report.leverage))),
        "line_adequate": report.is_adequate,
        "line_elbow_torque_max": float(np.max(np.abs(elbow))),
    }
    return metrics, runs, (figure(runs, heights, np.array(elbow), parameters),)


def equation_errors(arm: EquationsOfMotion, parameters: Any, points: int) -> dict[str, float]:
    """Return the largest relative difference from Eqs 7.4 and 7.5 at random states on the line."""
    rng = np.random.default_rng(parameters.seed)
    m, l, M = parameters.mass, parameters.length, parameters.payload
    worst = {"eq_7_4_error": 0.0, "eq_7_5_error": 0.0}
    for _ in range(points):
        q_1, u_1, tau_1 = rng.uniform(-1.4, 1.4, 3)
        state = ([q_1, -2.0 * q_1], [u_1, -2.0 * u_1])  # published angles are from the X axis: elbow = q2 - q1
        u1_dot = float(arm.v_dot(0.0, *state, [tau_1])[0])
        tau_2 = float(arm.multipliers(0.0, *state, [tau_1])[0])
        terms = (
            (np.cos(2 * q_1) * (0.5 + M / m) - (M / m + 1.0 / 3.0)) * tau_1,
            -(l**2) * u_1**2 * np.sin(2 * q_1) * (m / 2 + M),
        )
        worst["eq_7_4_error"] = max(worst["eq_7_4_error"], abs(tau_2 - sum(terms)) / sum(map(abs, terms)))
        worst["eq_7_5_error"] = max(
            worst["eq_7_5_error"], abs(m * l**2 * u1_dot - tau_1) / (abs(tau_1) + abs(terms[1]))
        )
    return {name: float(value) for name, value in worst.items()}


def pd_law(arm: EquationsOfMotion, parameters: Any) -> ControlLaw:
    """Return proportional and rate feedback of the first link: with Eq 7.5 a critically damped second-order system."""
    inertia, w = parameters.mass * parameters.length**2, parameters.bandwidth
    gains = {"kp": inertia * w**2, "kd": 2.0 * inertia * w}
    return design_pd(arm, **gains, reference=lambda s: [parameters.angle_end], inputs=("shoulder",))


def height(sim: Any, length: float) -> np.ndarray:
    """Return the distance of the payload from the X axis [m]."""
    q_1 = np.asarray(sim["shoulder"])
    return length * (np.sin(q_1) + np.sin(q_1 + np.asarray(sim["elbow"])))


def figure(runs: dict[str, Any], heights: dict[str, np.ndarray], elbow: np.ndarray, parameters: Any) -> Figure:
    """Draw angles, torques and the distance of the payload from its line."""
    ideal = runs["line_ideal"]
    q_1, q_2 = np.asarray(ideal["shoulder"]), np.asarray(ideal["shoulder"]) + np.asarray(ideal["elbow"])
    t = np.asarray(ideal.t)
    w, change = parameters.bandwidth, parameters.angle_start - parameters.angle_end
    expected = parameters.angle_end + change * (1.0 + w * t) * np.exp(-w * t)  # Eq 7.5 with the PD law
    angles = Panel(
        lines=(
            Line(x=t, y=q_1, label="first link"),
            Line(x=t, y=q_2, label="second link"),
            Line(x=t[::10], y=expected[::10], label="first link by Eq 7.5", style="markers"),
        ),
        y_label="angle from the X axis",
        unit="rad",
    )
    torques = Panel(
        lines=(
            Line(x=t, y=np.asarray(ideal.u)[:, 0], label="shoulder (PD law)"),
            Line(x=t, y=elbow, label="elbow (enforces the line)"),
        ),
        y_label="torque",
        unit="N m",
    )
    plant = f"payload {parameters.payload_error:+.0%}"
    off = Panel(
        lines=(
            Line(x=t, y=heights["line_open_loop"], label=f"law of Eq 7.4, {plant}"),
            Line(x=t, y=heights["line_feedback"], label=f"with error feedback, {plant}"),
        ),
        y_label="distance of the payload from the line",
        unit="m",
    )
    return Figure(
        name="along_a_line",
        title="A payload moved along the X axis by one motor and held there by another",
        panels=(angles, torques, off),
        caption="The elbow enforces q1 + q2 = 0, and the inertia at the shoulder is m l^2 for every payload (Sadigh 1995, "
        "Eqs 7.4, 7.5). If the true payload differs from the assumed one, the law drifts; error feedback corrects this.",
    )
