"""Bodies at rest in the orbit frame: stability over Smelt's parameters, and librations small and large.

x is radial (yaw axis), y along track (roll axis), z the orbit normal (pitch axis).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ellipk

from spacectl import (
    CircularOrbit,
    EquationsOfMotion,
    Figure,
    JointSpring,
    Line,
    Panel,
    Part,
    RigidBody,
    Simulation,
    Spherical,
    System,
    form_equations,
    linearize,
    simulate,
)

PITCH_MOMENT = 100.0  # [kg m^2]


def body_in_orbit(rate: float, damping: float = 0.0) -> EquationsOfMotion:
    """Form a body that rotates freely about its centre of mass in the orbit frame; its inertia is a run-time parameter.

    With a damping [N m s/rad] its motion relative to the orbit frame is damped.
    """
    body = RigidBody(name="body", mass=100.0, inertia=(80.0, 120.0, 100.0))
    parts = (Part(body, on="orbit", joint=Spherical(name="ball")),)
    dampers = tuple(JointSpring(joint="ball", component=f"w{axis}", damping=damping) for axis in "xyz")
    system = System(
        name="body in orbit",
        environment=CircularOrbit(rate=rate),
        parts=parts,
        elements=dampers if damping else (),
    )
    return form_equations(system)


def inertia_values(eom: EquationsOfMotion, moments: Any) -> np.ndarray:
    """Return the run-time parameters of a body with principal moments about x, y, z."""
    return eom.parameters.vector({"body.inertia": (*moments, 0.0, 0.0, 0.0)})


def moments_of(roll: Any, yaw: Any) -> np.ndarray:
    """Return moments about x, y, z, from Smelt's ``roll = (I_z - I_x) / I_y`` and ``yaw = (I_z - I_y) / I_x``."""
    rest = 1.0 - roll * yaw
    return PITCH_MOMENT * np.stack([(1.0 - roll) / rest, (1.0 - yaw) / rest, np.ones_like(rest)], axis=-1)


def chart_at_rest(rate: float, size: int) -> tuple[dict[str, Any], Figure]:
    """Compare eigenvalues of the 6 x 6 attitude problem with the textbook conditions."""
    eom = body_in_orbit(rate)
    centres = (2.0 * np.arange(size) + 1.0) / size - 1.0
    roll, yaw = (
        grid.ravel() for grid in np.meshgrid(centres, centres - 0.37 / size)
    )  # so that no point is on a boundary
    poles = [linearize(eom, eom.state(), outputs=(), p=inertia_values(eom, row)).poles for row in moments_of(roll, yaw)]
    scaled = np.array(poles) / rate
    stable = np.max(scaled.real, axis=1) < 1e-6
    product, middle = roll * yaw, 1.0 + 3.0 * roll + roll * yaw
    textbook = (roll > yaw) & (product > 0.0) & (middle > 4.0 * np.sqrt(np.maximum(product, 0.0)))
    lagrange, gyric = stable & (roll > 0.0), stable & (roll < 0.0)
    kept = {"lagrange": damped_fraction(rate, roll[lagrange], yaw[lagrange])}
    kept["debra_delp"] = damped_fraction(rate, roll[gyric], yaw[gyric])
    metrics = {
        "rest_points": roll.size,
        "rest_agreement": np.mean(stable == textbook),
        "rest_lagrange_fraction": np.mean(lagrange),
        "rest_debra_delp_fraction": np.mean(gyric),
        "rest_lagrange_kept_with_damping": kept["lagrange"],
        "rest_debra_delp_kept_with_damping": kept["debra_delp"],
        "libration_frequency_error": frequency_error(scaled[stable], roll[stable], yaw[stable]),
    }
    # boundary 1 + 3 r + r y = 4 sqrt(r y): with s = sqrt(r y), (1 + 3 / y) s^2 - 4 s + 1 = 0
    y = np.linspace(-1.0, -1e-3, 400)
    c = 1.0 + 3.0 / y
    edge = ((4.0 - np.sqrt(16.0 - 4.0 * c)) / (2.0 * c)) ** 2 / y
    span = np.array([-1.0, 1.0])
    lines = [
        Line(x=roll[lagrange], y=yaw[lagrange], label="stable (Lagrange)", style="markers"),
        Line(x=roll[gyric], y=yaw[gyric], label="stable (DeBra-Delp)", style="markers"),
        Line(x=span, y=span, label="pitch boundary"),
        Line(x=edge, y=y, label="gyroscopic boundary"),
        Line(x=span, y=0.0 * span, label="static boundary, I_pitch = I_roll", style="dashed"),
        Line(x=0.0 * span, y=span, label="static boundary, I_pitch = I_yaw", style="dotted"),
    ]
    wrong = stable != textbook
    if np.any(wrong):
        lines.append(Line(x=roll[wrong], y=yaw[wrong], label="textbook differs", style="markers"))
    panel = Panel(
        lines=tuple(lines),
        x_label="(I_pitch - I_yaw) / I_roll",
        x_unit="",
        y_label="(I_pitch - I_roll) / I_yaw",
        equal_axes=True,
    )
    return metrics, Figure(
        name="bodies_at_rest",
        title="Stability of bodies at rest in the orbit frame",
        caption="Dots: no eigenvalue of the linearised attitude motion has a positive real part. Lines: textbook boundaries.",
        panels=(panel,),
    )


def damped_fraction(rate: float, roll: np.ndarray, yaw: np.ndarray) -> float:
    """Return the fraction of bodies that stays stable with slight damping of the motion relative to the orbit frame."""
    eom = body_in_orbit(rate, damping=0.01 * PITCH_MOMENT * rate)
    some = np.unique(np.linspace(0, roll.size - 1, min(roll.size, 60)).round().astype(int))
    rows = moments_of(roll[some], yaw[some])
    poles = [linearize(eom, eom.state(), outputs=(), p=inertia_values(eom, row)).poles for row in rows]
    return float(np.mean(np.max(np.real(poles), axis=1) < 0.0)) if len(rows) else 0.0


def frequency_error(poles: np.ndarray, roll: np.ndarray, yaw: np.ndarray) -> float:
    """Return the largest error of frequencies, in orbit rates: pitch ``sqrt(3 (I_y - I_x) / I_z)`` and the roll-yaw roots."""
    I_x, I_y, I_z = moments_of(roll, yaw).T
    middle, product = 1.0 + 3.0 * roll + roll * yaw, roll * yaw
    root = np.sqrt(middle**2 - 16.0 * product)
    squares = np.stack([3.0 * (I_y - I_x) / I_z, (middle - root) / 2.0, (middle + root) / 2.0], axis=1)
    found = np.sort(np.abs(poles.imag), axis=1)[:, ::2]
    return float(np.max(np.abs(found - np.sort(np.sqrt(squares), axis=1)), initial=0.0))


def librations(rate: float, amplitude: float) -> tuple[dict[str, Any], Simulation]:
    """Simulate a thin rod along the radius: sqrt(3) in pitch and 2 in roll, and the period of its large pitch libration.

    ``theta'' + 3/2 n^2 k sin(2 theta) = 0`` has the period ``4 K(sin(amplitude)) / (n sqrt(3 k))``.
    """
    eom = body_in_orbit(rate)
    p = inertia_values(eom, (1e-6, 100.0, 100.0))
    model = linearize(eom, eom.state(), outputs=(), p=p)
    rows = [[model.x.index(f"ball.{letter}{axis}") for letter in "rw"] for axis in "zy"]
    pitch, roll = (np.max(np.abs(np.linalg.eigvals(np.asarray(model.A)[np.ix_(row, row)]))) / rate for row in rows)
    k = (100.0 - 1e-6) / 100.0
    period = 4.0 * ellipk(np.sin(amplitude) ** 2) / (rate * np.sqrt(3.0 * k))
    x0 = eom.state(**{"ball.qw": np.cos(amplitude / 2.0), "ball.qz": np.sin(amplitude / 2.0)})
    sim = simulate(eom, x0=x0, t_span=(0.0, 2.0 * period), grid=401, p=p, rtol=1e-10, atol=1e-14)
    angle = 2.0 * np.arctan2(sim["ball.qz"], sim["ball.qw"])
    down = [i for i in range(400) if angle[i] > 0.0 >= angle[i + 1]]
    # zero crossings by linear interpolation: the angle is odd about them, so the error is of third order in the step
    times = [sim.t[i] + (sim.t[i + 1] - sim.t[i]) * angle[i] / (angle[i] - angle[i + 1]) for i in down]
    metrics = {
        "rod_pitch_frequency": pitch,
        "rod_roll_frequency": roll,
        "libration_period": times[1] - times[0],
        "libration_period_error": abs((times[1] - times[0]) / period - 1.0),
    }
    return metrics, sim
