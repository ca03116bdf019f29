"""Bodies that spin about the orbit normal: symmetric ones by eigenvalues, unsymmetric ones by Floquet theory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ellipk

from spacectl import (
    CircularOrbit,
    EquationsOfMotion,
    Figure,
    Line,
    Panel,
    Part,
    Revolute,
    RigidBody,
    System,
    Universal,
    form_equations,
    linearize,
    linearize_along,
    simulate,
)

from .at_rest import body_in_orbit, inertia_values

TRANSVERSE = 100.0  # [kg m^2], mean moment across the spin axis
KNOTS = 60  # intervals along half a uniform turn: the splines' error is (2 pi / 60)^4 / 384 = 3e-7


def spinner(rate: float) -> EquationsOfMotion:
    """Form a symmetric rotor that spins in a massless carrier: the carrier's two tilts do not rotate with it."""
    carrier = RigidBody(name="carrier", mass=0.0, inertia=(0.0, 0.0, 0.0))
    rotor = RigidBody(name="rotor", mass=100.0, inertia=(100.0, 100.0, 120.0))
    parts = (
        Part(carrier, on="orbit", joint=Universal(name="tilt", first="x", second="y")),
        Part(rotor, on="carrier", joint=Revolute(name="spin", axis="z")),
    )
    return form_equations(System(name="spinner in orbit", environment=CircularOrbit(rate=rate), parts=parts))


def symmetric_is_stable(ratio: Any, spin: Any) -> Any:
    """Return the textbook condition for a symmetric body that spins about the orbit normal by `spin` n relative to the orbit.

    With ``h = ratio (1 + spin)`` (axial momentum over n I_transverse) the tilts obey ``s^4 + b s^2 + c = 0`` in orbit rates,
    ``b = (2 - h)^2 + 2 (h - 1) + 3 (ratio - 1)``, ``c = (h - 1) (h - 1 + 3 (ratio - 1))``: stable for b > 0, c > 0,
    b^2 > 4 c (Thomson 1962, Likins 1965; derived here from H_dot = torque for the axis).
    """
    h = ratio * (1.0 + spin)
    c = (h - 1.0) * (h - 1.0 + 3.0 * (ratio - 1.0))
    b = (2.0 - h) ** 2 + 2.0 * (h - 1.0) + 3.0 * (ratio - 1.0)
    return (b > 0.0) & (c > 0.0) & (b**2 > 4.0 * c)


def chart_symmetric(rate: float, size: int, loops: int, spin_max: float) -> tuple[dict[str, Any], Figure]:
    """Compare eigenvalues in the frame that does not spin, the textbook, and Floquet multipliers in body axes."""
    eom = spinner(rate)
    ratio, spin = (
        grid.ravel()
        for grid in np.meshgrid(
            2.0 * (np.arange(size) + 0.52) / size, spin_max * (2.0 * np.arange(size) + 1.03 - size) / size
        )
    )
    stable = []
    for axial, turn in zip(ratio, spin, strict=True):
        p = eom.parameters.vector({"rotor.inertia": (TRANSVERSE, TRANSVERSE, axial * TRANSVERSE, 0.0, 0.0, 0.0)})
        model = linearize(eom, eom.state(spin_dot=turn * rate), outputs=(), p=p)
        rows = [k for k, name in enumerate(model.x.names) if name.startswith("tilt")]
        poles = np.linalg.eigvals(np.asarray(model.A)[np.ix_(rows, rows)]) / rate
        stable.append(np.max(poles.real) < 1e-6)
    found = np.array(stable)
    textbook = symmetric_is_stable(ratio, spin)
    some = np.linspace(0, ratio.size - 1, min(ratio.size, 4 * loops)).round().astype(int)
    some = some[np.abs(spin[some]) > 0.2]  # a slow turn has a long period, a body at rest none
    body = body_in_orbit(rate)
    by_floquet = [
        largest_multiplier(body, rate, (TRANSVERSE, TRANSVERSE, ratio[k] * TRANSVERSE), spin[k]) < 1.0 + 1e-4
        for k in some
    ]
    metrics = {
        "spin_points": ratio.size,
        "spin_agreement": np.mean(found == textbook),
        "spin_stable_fraction": np.mean(found),
        "floquet_points": some.size,
        "floquet_agreement": np.mean(np.array(by_floquet) == textbook[some]),
    }
    panel = Panel(
        lines=(Line(x=spin[found], y=ratio[found], label="stable", style="markers"), *boundaries(spin_max)),
        x_label="spin relative to the orbit / orbit rate",
        x_unit="",
        y_label="I_axial / I_transverse",
    )
    return metrics, Figure(
        name="symmetric_spinners",
        title="Symmetric bodies that spin about the orbit normal",
        caption="Dots: stable by eigenvalues. Lines: textbook boundaries. 0 rests in the orbit frame, -1 in inertial space.",
        panels=(panel,),
    )


def boundaries(spin_max: float) -> list[Line]:
    """Return both lines c = 0 of the textbook conditions, and the lowest stable ratio where it is on b^2 = 4 c."""
    spin = np.linspace(-spin_max, spin_max, 401)
    lines = []
    for label, momentum in (("static boundary, radial", 4.0), ("static boundary, along track", 1.0)):
        part = spin[spin > -0.999 * momentum]
        curve = momentum / (momentum + part)
        lines.append(Line(x=part[curve < 2.0], y=curve[curve < 2.0], label=label))
    ratio = np.linspace(0.0, 2.0, 1001)[1:]
    lowest = ratio[np.argmax(symmetric_is_stable(ratio[None, :], spin[:, None]), axis=1)]
    with np.errstate(divide="ignore"):
        static = [np.abs(lowest - momentum / (momentum + spin)) < 5e-3 for momentum in (4.0, 1.0)]
    free = ~static[0] & ~static[1]
    return [*lines, Line(x=spin[free], y=lowest[free], label="gyroscopic boundary", style="dashed")]


def largest_multiplier(eom: EquationsOfMotion, rate: float, moments: Any, spin: float) -> float:
    """Return the largest modulus of the Floquet multipliers over half a turn relative to the orbit; 0 without rotation.

    The spin angle obeys ``theta'^2 = (spin n)^2 - 3 n^2 k sin(theta)^2`` with k = (I_y - I_x) / I_z, so half a turn takes
    ``2 K(m) / (|spin| n)`` with ``m = 3 k / spin^2``; the linear equations repeat after it.
    """
    m = 3.0 * (moments[1] - moments[0]) / moments[2] / spin**2
    if m >= 0.999:
        return 0.0
    period = 2.0 * ellipk(m) / (abs(spin) * rate)
    uneven = np.ceil(max(2.0 * ellipk(m) / np.pi, min(1.0 / abs(spin), 8.0)))  # slow and uneven turns need finer steps
    p = inertia_values(eom, moments)
    x0 = eom.state(**{"ball.wz": spin * rate})
    sim = simulate(eom, x0=x0, t_span=(0.0, period), grid=KNOTS * int(uneven) + 1, p=p, rtol=1e-9, atol=1e-12)
    model = linearize_along(eom, sim, outputs=(), p=p)
    rows = [model.x.index(f"ball.{name}") for name in ("rx", "ry", "wx", "wy")]
    monodromy = model.transition()[-1][np.ix_(rows, rows)]
    scale = np.array([1.0, 1.0, 1.0 / rate, 1.0 / rate])  # rates in orbit rates, so that entries are of similar size
    return float(np.max(np.abs(np.linalg.eigvals(scale[:, None] * monodromy / scale))))


def chart_unsymmetric(rate: float, size: int, spin_max: float, axial: float) -> tuple[dict[str, Any], Figure]:
    """Chart Floquet stability over the difference of transverse moments and the spin when the least one is radial."""
    eom = body_in_orbit(rate)
    widest = min(0.6, 0.98 * axial)  # the triangle inequality allows (I_y - I_x) / (I_y + I_x) up to axial / 2
    asymmetry, spin = (
        grid.ravel()
        for grid in np.meshgrid(
            0.5 * widest * np.arange(size // 2) / max(size // 2 - 1, 1),
            spin_max * (np.arange(2 * size) + 0.515 - size) / size,
        )
    )
    found = []
    for d, turn in zip(asymmetry, spin, strict=True):
        moments = TRANSVERSE * np.array([1.0 - d, 1.0 + d, axial])
        found.append(largest_multiplier(eom, rate, moments, turn))
    largest = np.array(found)
    turns = largest > 0.0
    stable = turns & (largest < 1.0 + 1e-4)
    symmetric = asymmetry == 0.0
    metrics = {
        "unsymmetric_points": int(np.sum(turns)),
        "unsymmetric_stable_fraction": np.mean(stable[turns]),
        "unsymmetric_edge_agreement": np.mean(
            stable[symmetric & turns] == symmetric_is_stable(axial, spin[symmetric & turns])
        ),
    }
    wild = turns & ~stable
    limit = np.linspace(0.0, 0.5 * widest, 100)
    libration = np.sqrt(3.0 * 2.0 * limit / axial)
    panel = Panel(
        lines=(
            Line(x=spin[stable], y=asymmetry[stable], label="stable", style="markers"),
            Line(x=spin[wild], y=asymmetry[wild], label="unstable", style="markers"),
            Line(x=np.r_[-libration[::-1], libration], y=np.r_[limit[::-1], limit], label="inside: libration, no spin"),
        ),
        x_label="spin relative to the orbit / orbit rate",
        x_unit="",
        y_label="(I_y - I_x) / (I_y + I_x)",
    )
    return metrics, Figure(
        name="unsymmetric_spinners",
        title=f"Unsymmetric bodies that spin about the orbit normal, axial ratio {axial:g}",
        caption="Floquet multipliers over half a turn; the spin is the one at which the axis of the least moment is radial.",
        panels=(panel,),
    )
