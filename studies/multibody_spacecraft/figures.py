"""Figures of the study, after Schutte and Udwadia (2010), Figs 4 to 9 (its text refers to them by numbers one too low)."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Figure, Line, Panel

from .histories import Motion
from .model import Parameters

FLOOR = 1e-18  # for logarithmic axes


def draw(
    motion: Motion, errors: dict[str, np.ndarray], drifting: dict[str, Any], parameters: Parameters
) -> tuple[Figure, ...]:
    """Draw all figures, over orbits."""
    thin = slice(None, None, max(1, motion.t.size // 4000))
    orbits = motion.t / parameters.period
    return (
        radii(motion, parameters, orbits, thin),
        quaternions(orbits[thin], (motion.u[0][thin], motion.u[1][thin])),
        rates(motion, orbits, thin),
        *stretch(motion, parameters),
        constraints(orbits[thin], {key: value[thin] for key, value in errors.items()}, drifting, parameters),
        closure(orbits[thin], errors["e1"][thin], errors["e2"][thin]),
    )


def _over_orbits(lines: list[Line], y_label: str, unit: str, **more: Any) -> Panel:
    return Panel(lines=tuple(lines), y_label=y_label, unit=unit, x_label="orbits", x_unit="1", **more)


def constraints(
    orbits: np.ndarray, errors: dict[str, np.ndarray], drifting: dict[str, Any], parameters: Parameters
) -> Figure:
    """Draw all eight constraint residuals (Fig 4), and their drift at the published tolerances."""
    unit = [
        Line(x=orbits, y=np.abs(errors["unit"][:, k]) + FLOOR, label=f"quaternion of body {k + 1}") for k in range(2)
    ]
    line = [
        Line(
            x=orbits,
            y=np.abs(errors["line"][:, 3 * (k // 2) + 1 + k % 2]) + FLOOR,
            label=f"n{k // 2 + 1} x D, {'yz'[k % 2]}",
        )
        for k in range(4)
    ]
    drift = [
        Line(x=t[1:] / parameters.period, y=off[1:] + FLOOR, label=name, style="solid" if "plain" in name else "dashed")
        for name, (t, off) in drifting.items()
    ]
    return Figure(
        name="constraints",
        title="The eight constraints over three orbits, with and without projection",
        caption="With projection the errors stay at rounding; the x rows of n x D in body axes are always zero. At the published "
        "tolerances plain integration drifts, most in absolute coordinates, whose rounding is 1e-9 m.",
        panels=(
            _over_orbits(unit, "|u'u - 1|", "1", log_y=True),
            _over_orbits(line, "|n x D|", "m", log_y=True),
            _over_orbits(
                drift, "largest n x D", "m", log_y=True, title="at the published tolerances: rtol 1e-10, atol 1e-13"
            ),
        ),
    )


def radii(motion: Motion, parameters: Parameters, orbits: np.ndarray, thin: slice) -> Figure:
    """Draw distances from the Earth's centre (Fig 5), the direction of the common line, and rotations about it."""
    angle = parameters.rate * motion.t
    up = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    lines = []
    for k, R in enumerate(motion.R):
        # |centre + R| - radius without cancellation
        z = np.sum(R * (R + 2.0 * parameters.orbit_radius * up), axis=1) / parameters.orbit_radius**2
        off = parameters.orbit_radius * z / (1.0 + np.sqrt(1.0 + z))
        lines.append(Line(x=orbits[thin], y=off[thin], label=f"body {k + 1}"))
    axis = motion.S[0][:, :, 0]
    spin = [np.arctan2(S[:, 2, 1], S[:, 2, 2]) for S in motion.S]
    return Figure(
        name="orbit",
        title="Positions of the bodies, and direction of their common line",
        caption=f"Radii less {parameters.orbit_radius / 1e3:.1f} km. The line swings about the radius and leaves the "
        "orbit plane, because the spring acts at 1 m from the centres of mass.",
        panels=(
            _over_orbits(lines, "radius less reference", "m"),
            _over_orbits(
                [
                    Line(x=orbits[thin], y=np.sum(axis * up, axis=1)[thin], label="along the radius"),
                    Line(x=orbits[thin], y=axis[thin, 2], label="along the orbit normal"),
                ],
                "cosine of the line",
                "1",
            ),
            _over_orbits(
                [Line(x=orbits[thin], y=np.unwrap(s)[thin], label=f"body {k + 1}") for k, s in enumerate(spin)],
                "rotation about the line",
                "rad",
            ),
        ),
    )


def rates(motion: Motion, orbits: np.ndarray, thin: slice) -> Figure:
    """Draw body rates (Fig 7)."""
    panels = [
        _over_orbits(
            [Line(x=orbits[thin], y=omega[thin, i], label=f"omega {'xyz'[i]}") for i in range(3)],
            f"body {k + 1}, own axes",
            "rad/s",
        )
        for k, omega in enumerate(motion.omega)
    ]
    return Figure(
        name="rates",
        title="Angular velocities of both bodies",
        caption="The bodies turn about the common line (x) relative to each other.",
        panels=tuple(panels),
    )


def quaternions(orbits: np.ndarray, u: tuple[np.ndarray, np.ndarray]) -> Figure:
    """Draw quaternions of both bodies (Fig 6)."""
    panels = [
        _over_orbits([Line(x=orbits, y=u_k[:, i], label=f"u{i + 1}") for i in range(4)], f"body {k + 1}", "1")
        for k, u_k in enumerate(u)
    ]
    return Figure(
        name="quaternions",
        title="Unit quaternions of both bodies, scalar part u1",
        caption="Both bodies turn through large angles.",
        panels=tuple(panels),
    )


def stretch(motion: Motion, parameters: Parameters) -> tuple[Figure, Figure]:
    """Draw the stretch of the spring (Fig 8): over all orbits, and at the beginning."""
    values = np.linalg.norm(motion.D, axis=1) - parameters.natural_length
    first = motion.t <= min(300.0, motion.t[-1])
    whole = Figure(
        name="stretch",
        title="Stretch of the spring between the ports",
        caption="The vibration decays; gravity gradient and tumbling keep the spring stretched. The band is the "
        "vibration of about 33 s, drawn in the next figure. Negative values are contractions.",
        panels=(_over_orbits([Line(x=motion.t / parameters.period, y=values, label="stretch")], "stretch", "m"),),
    )
    beginning = Figure(
        name="vibration",
        title="Stretch of the spring, the first minutes",
        caption="The period is 35.0 s here, that of two masses on the spring, and falls to 32.4 s as the bodies turn.",
        panels=(
            Panel(lines=(Line(x=motion.t[first], y=values[first], label="stretch"),), y_label="stretch", unit="m"),
        ),
    )
    return whole, beginning


def closure(orbits: np.ndarray, e1: np.ndarray, e2: np.ndarray) -> Figure:
    """Draw the left-hand sides of Eqs 61 and 62 (Fig 9)."""
    return Figure(
        name="closure",
        title="Closure of the vectors between the bodies (Schutte and Udwadia, Eqs 61 and 62)",
        caption="D is integrated from its rate; e1 is its difference from the vector between the positions.",
        panels=(
            _over_orbits([Line(x=orbits, y=e1[:, i], label=f"e1, {'xyz'[i]}") for i in range(3)], "e1", "m"),
            _over_orbits([Line(x=orbits, y=e2[:, i], label=f"e2, {'xyz'[i]}") for i in range(3)], "e2", "m/s"),
        ),
    )
