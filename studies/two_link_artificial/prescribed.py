"""Section 3.4: the first link follows a program, by its own motor (which does not contribute) or by the elbow's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from spacectl import Figure, Line, Panel, check_adequacy, constraint_force_terms, form_equations, library


def prescribe_first_link(parameters: Any, points: int) -> tuple[dict[str, Any], tuple[Figure, ...]]:
    """Compute contribution, and authority over the angle of the elbow, for both choices of the motor."""
    angles = np.linspace(0.0, np.pi, points)
    states = np.zeros((points, 4))
    states[:, 1] = angles
    arms = {by: form_equations(library.prescribed_arm(by=by)) for by in ("shoulder", "elbow")}
    reports = {by: check_adequacy(arm, angles, states) for by, arm in arms.items()}
    relative = [
        float(constraint_force_terms(arms["elbow"], 0.0, x, dependent=("shoulder_dot",)).T_prime[0, 0])
        for x in states[:: max(points // 30, 1)]
    ]

    def gain(angle: float) -> float:
        """Return the acceleration of the first link for unit torque of the elbow, with its sign."""
        arm = arms["elbow"]
        _, M, _, J, _, E = arm.call("terms", 0.0, [0.0, angle], [0.0, 0.0], [0.0])
        return float((J @ np.linalg.solve(M, E))[0, 0])

    lost = float(brentq(gain, 2.0, 2.6, xtol=1e-14))
    metrics = {
        "shoulder_contributes": bool(reports["shoulder"].contributing),
        "elbow_contributes": bool(reports["elbow"].contributing),
        "shoulder_least_leverage": float(np.min(np.asarray(reports["shoulder"].leverage))),
        "elbow_least_leverage": float(np.min(np.asarray(reports["elbow"].leverage))),
        "elbow_largest_leverage": float(np.max(np.asarray(reports["elbow"].leverage))),
        # two uniform rods: M_12 = m l^2 (1/3 + cos(q2) / 2); the elbow accelerates the first link by -M_12 / det M
        "elbow_coupling_closed_form": 1.0 / 3.0 + 0.5 * np.cos(0.0),
        "elbow_adequate": reports["elbow"].is_adequate,
        "T_prime_relative_max": float(np.max(np.abs(relative))),
        "lost_angle": lost,
        "lost_cosine": float(np.cos(lost)),
        "elbow_diagnosis": reports["elbow"]
        .message.replace(" s and", " and")
        .replace(" s,", ",")
        .replace("t =", "q2 ="),
    }
    return metrics, (figure(angles, reports, arms, lost),)


def figure(angles: np.ndarray, reports: dict[str, Any], arms: dict[str, Any], lost: float) -> Figure:
    """Draw the authority, and the torque that the program needs."""
    labels = {"shoulder": "by the shoulder", "elbow": "by the elbow"}
    leverage = Panel(
        lines=(
            *(Line(x=angles, y=reports[by].leverage, label=labels[by]) for by in labels),
            Line(x=angles, y=np.zeros_like(angles), label="T' of section 3.6.3, by the elbow", style="dashed"),
            Line(x=np.array([lost]), y=np.array([0.0]), label="cos q2 = -2/3", style="markers"),
        ),
        y_label="authority (1 is best)",
        x_label="angle of the elbow",
        x_unit="rad",
    )
    torques = {}
    for by, arm in arms.items():
        values = [_torque(arm, q) for q in angles]
        torques[by] = np.abs(np.array(values))
    needed = Panel(
        lines=tuple(Line(x=angles, y=torques[by], label=labels[by]) for by in labels),
        y_label="torque at the start of the program",
        unit="N m",
        x_label="angle of the elbow",
        x_unit="rad",
        log_y=True,
    )
    return Figure(
        name="first_link_prescribed",
        title="Authority of shoulder and elbow over the first link",
        panels=(leverage, needed),
        caption="Smallest singular value of J M^-1 B_c in the metric of M^-1. According to the test of section 3.6.3 in relative "
        "speeds, the elbow has no authority anywhere (T' = 0). In fact it has none only at cos q2 = -2/3, where the torque grows "
        "without bound.",
    )


def _torque(arm: Any, angle: float) -> float:
    """Return the torque that starts the program from rest [N m]."""
    return float(arm.multipliers(0.0, [0.0, angle], [0.0, 0.0], [0.0])[0])
