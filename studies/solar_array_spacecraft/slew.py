"""The slew: a rest-to-rest angle about x, shaped or not, as a table for the regulator; the regulator; its vibrations."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Labels,
    LinearModel,
    LqrLaw,
    RestToRest,
    Shaper,
    Trajectory,
    design_lqr,
    design_shaper,
    shape_trajectory,
    smoothed_bang_bang,
)

DRIFTING = ("hub.x", "hub.y", "hub.z", "hub.x_dot", "hub.y_dot", "hub.z_dot")  # momentum that torques cannot change


def command(parameters: Any) -> RestToRest:
    """Return the angle about x from rest to rest, as fast as the acceleration limit allows."""
    angle = np.radians(parameters.angle)
    acceleration = 4.0 * angle / parameters.duration**2
    return smoothed_bang_bang(angle, acceleration=acceleration, jerk=acceleration / parameters.edge, name="angle")


def regulator(parameters: Any, model: LinearModel, reference: Trajectory | None = None) -> LqrLaw:
    """Return an LQR on attitude, rates and vibrations; the drift of the centre of mass is decoupled and omitted."""
    kept = [name for name in model.x.names if name not in DRIFTING]
    attitude = [name for name in kept if name.startswith("hub.") and not name.startswith("hub.w")]
    weights = {name: 1.0 / np.radians(parameters.attitude_scale) ** 2 for name in attitude}
    weights |= {name: 1.0 / parameters.rate_scale**2 for name in kept if name.startswith("hub.w")}
    weights |= {name: 1.0 / parameters.vibration_scale**2 for name in kept if ".eta" in name and name.endswith("_dot")}
    return design_lqr(
        model, Q=weights, R=1.0 / parameters.torque_scale**2, reduction=kept, reference=reference, name="slew LQR"
    )


def vibrations(law: LqrLaw, model: LinearModel) -> tuple[np.ndarray, np.ndarray]:
    """Return closed-loop vibrations excited by the command about x: frequencies [rad/s], damping ratios, strongest first."""
    names = [name for name in model.x.names if name not in DRIFTING]
    keep = [model.x.names.index(name) for name in names]
    A, B = np.asarray(model.A)[np.ix_(keep, keep)], np.asarray(model.B)[keep]
    K = np.asarray([[row[name] for name in names] for row in law.named_gains().values()])
    poles, right = np.linalg.eig(A - B @ K)
    left = np.linalg.inv(right)
    torque = [list(law.named_gains()).index("torque_x")]
    tips = [k for k, name in enumerate(names) if name in ("array1.eta1", "array2.eta1", "boom.eta1", "boom.eta2")]
    size = np.linalg.norm(right[tips], axis=0) * np.abs(left @ B[:, torque]).ravel() / np.abs(poles)
    swings = [k for k in np.argsort(-size) if poles[k].imag > 0.2 and -poles[k].real < 0.35 * abs(poles[k])]
    strong = [k for k in swings if size[k] > 0.02 * size[swings[0]]]
    return np.abs(poles[strong]), -poles[strong].real / np.abs(poles[strong])


def shaper_for(frequencies: np.ndarray, damping: np.ndarray, kind: str) -> Shaper:
    """Return a shaper that cancels these vibrations."""
    return design_shaper(frequencies, damping, kind=kind)


def table(eom: EquationsOfMotion, plan: RestToRest, shaper: Shaper | None, inertia: float, end: float) -> Trajectory:
    """Return states and torque of a rigid spacecraft along the command: quaternion, rate, feed-forward."""
    angle = plan.position if shaper is None else shape_trajectory(shaper, plan.position)
    push = plan.acceleration if shaper is None else shape_trajectory(shaper, plan.acceleration)
    t = np.unique(np.concatenate([np.linspace(0.0, end, 801), np.asarray(push.t)]))
    t = t[np.concatenate([[True], np.diff(t) > 1e-9])]
    phi, rate = angle(t)[:, 0], angle.rate(t)[:, 0]
    names = ("hub.qw", "hub.qx", "hub.qy", "hub.qz", "hub.wx", "u.torque_x")
    zero = np.zeros_like(t)
    values = [np.cos(0.5 * phi), np.sin(0.5 * phi), zero, zero, rate, inertia * push(t)[:, 0]]
    labels = Labels(names, ("1", "1", "1", "1", "rad/s", "N m"))
    return Trajectory(t=t, values=np.stack(values, axis=1), labels=labels, interpolation="linear")
