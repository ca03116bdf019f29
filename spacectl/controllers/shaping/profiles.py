"""Rest-to-rest profiles with limited rate, acceleration and jerk: bang-bang with its corners rounded off.

A distance and limits give position and acceleration over time. The acceleration times an inertia is the torque
command; limited jerk is a limited torque rate, which reduces the excitation of flexible modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spacectl.core.errors import ModelError, as_number
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

__all__ = ["RestToRest", "smoothed_bang_bang"]

Edge = Literal["ramp", "versine"]
POINTS = 32  # knots in an edge of versine form


@dataclass(frozen=True, kw_only=True)
class RestToRest:
    """A motion from rest to rest.

    Parameters
    ----------
    position : Trajectory
        Cubic, with rates: exact for ramps; for versine edges, off by less than 2e-8 of acceleration times
        edge^2, its rates by 2e-6 of acceleration times edge.
    acceleration : Trajectory
        Linear between knots: exact for ramps.
    duration : float
        [s]
    edge, flat, coast : float
        Durations [s] of a rise or fall of the acceleration, of its constant part, and of the part without any.
    peak_acceleration, peak_rate, peak_jerk : float
        Peak values of the motion, in units of the distance per s^2, s and s^3.
    """

    position: Trajectory
    acceleration: Trajectory
    duration: float
    edge: float
    flat: float
    coast: float
    peak_acceleration: float
    peak_rate: float
    peak_jerk: float


def smoothed_bang_bang(
    distance: float,
    *,
    acceleration: float,
    jerk: float,
    rate: float = np.inf,
    shape: Edge = "ramp",
    start: float = 0.0,
    begin: float = 0.0,
    name: str = "position",
    unit: str = "rad",
) -> RestToRest:
    """Return the fastest motion of its form from rest to rest within limits of rate, acceleration and jerk.

    Two equal and opposite pulses of acceleration, with edges of duration ``e = c a / jerk`` (c = 1 for ramps, pi/2 for
    versine edges, which rise as ``(1 - cos(pi s)) / 2``), a flat part f between them and a coast k between the pulses:
    ``v = a (e + f)``, ``distance = v (2 e + f + k)``. A ramp that lasts n periods of a mode does not excite it.

    Parameters
    ----------
    distance : float
        Distance, not zero; its sign is the direction.
    acceleration, jerk : float
        Largest acceleration (torque over inertia) and largest rate of it.
    rate : float
        Largest rate; infinite: no coast.
    shape : {"ramp", "versine"}
        Form of the edges: "ramp" is the fastest; "versine" has no jumps of jerk.
    start, begin : float
        Position at the beginning, and its time [s].
    name, unit : str
        Name and unit of the position, for the labels.

    Returns
    -------
    RestToRest

    Examples
    --------
    >>> slew = smoothed_bang_bang(2.0, acceleration=1.0, jerk=1.0)
    >>> slew.duration, slew.peak_acceleration
    (4.0, 1.0)
    """
    far = as_number(distance, "smoothed_bang_bang: distance")
    a, j, v = (
        as_number(value, f"smoothed_bang_bang: {key}")
        for key, value in (("acceleration", acceleration), ("jerk", jerk), ("rate", rate))
    )
    if not (np.isfinite(far) and far != 0.0):
        raise ModelError(f"smoothed_bang_bang: distance is {far:g}, expected a number other than zero")
    if not (0.0 < a < np.inf and 0.0 < j < np.inf and v > 0.0):
        raise ModelError(
            f"smoothed_bang_bang: acceleration {a:g}, jerk {j:g}, rate {v:g}; expected positive numbers (for bang-bang "
            "without smoothing use shape_command)"
        )
    if shape not in ("ramp", "versine"):
        raise ModelError(f"smoothed_bang_bang: shape is {shape!r}, expected 'ramp' or 'versine'")
    c = 1.0 if shape == "ramp" else 0.5 * np.pi
    a, e, f, k = _durations(abs(far), a, j, v, c)
    blocks = _blocks(a * np.sign(far), e, f, k)
    t, q, q_dot, q_ddot = _integrate(blocks, shape)
    q = q + float(start)
    labels = Labels((name,), (unit,), "reference")
    second = Labels((f"{name}_ddot",), (f"{unit}/s^2",), "reference")
    return RestToRest(
        position=Trajectory(t=t + begin, values=q[:, None], rates=q_dot[:, None], labels=labels),
        acceleration=Trajectory(t=t + begin, values=q_ddot[:, None], labels=second, interpolation="linear"),
        duration=float(t[-1]),
        edge=e,
        flat=f,
        coast=k,
        peak_acceleration=a,
        peak_rate=a * (e + f),
        peak_jerk=c * a / e,
    )


def _durations(far: float, a: float, j: float, v: float, c: float) -> tuple[float, float, float, float]:
    """Return peak acceleration, edge, flat and coast: full acceleration if possible, then the rate limit."""
    e = c * a / j
    f = 0.5 * (-3.0 * e + np.sqrt(e * e + 4.0 * far / a))  # of far = a (e + f) (2 e + f)
    if f < 0.0:  # far = 2 a e^2
        a = (far * j * j / (2.0 * c * c)) ** (1.0 / 3.0)
        e, f = c * a / j, 0.0
    if a * (e + f) <= v:
        return a, e, f, 0.0
    if v < a * e:  # the rate is reached before the acceleration: v = a e
        a = np.sqrt(v * j / c)
        e = c * a / j
        f = 0.0
    else:
        f = v / a - e
    return float(a), float(e), float(f), float(far / v - 2.0 * e - f)


def _blocks(a: float, e: float, f: float, k: float) -> list[tuple[float, float, float]]:
    """Return (duration, acceleration at the start, at the end) of the pieces that have a duration."""
    pulse = [(e, 0.0, 1.0), (f, 1.0, 1.0), (e, 1.0, 0.0)]
    pieces = [*pulse, (k, 0.0, 0.0), *((h, -first, -last) for h, first, last in pulse)]
    least = 1e-12 * (4.0 * e + 2.0 * f + k)
    return [(h, a * first, a * last) for h, first, last in pieces if h > least]


def _integrate(blocks: list[tuple[float, float, float]], shape: Edge) -> tuple[Any, Any, Any, Any]:
    """Return times, positions, rates and accelerations at the knots, in closed form within each piece."""
    t, q, v, a = [0.0], [0.0], [0.0], [0.0]
    for h, first, last in blocks:
        is_curved = shape == "versine" and first != last
        s = np.linspace(0.0, 1.0, POINTS + 1)[1:] if is_curved else np.array([1.0])
        if is_curved:
            value, once, twice = _versine(s)
        else:
            value, once, twice = s, s**2 / 2.0, s**3 / 6.0
        rise, t0, q0, v0 = last - first, t[-1], q[-1], v[-1]
        t += (t0 + h * s).tolist()
        a += (first + rise * value).tolist()
        v += (v0 + h * (first * s + rise * once)).tolist()
        q += (q0 + h * s * v0 + h * h * (first * s**2 / 2.0 + rise * twice)).tolist()
    v[-1] = a[-1] = 0.0  # at rest; rounding is left otherwise
    return np.array(t), np.array(q), np.array(v), np.array(a)


def _versine(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``(1 - cos(pi s)) / 2``, its integral, and the integral of that."""
    angle = np.pi * s
    once = 0.5 * (s - np.sin(angle) / np.pi)
    return 0.5 * (1.0 - np.cos(angle)), once, 0.5 * (0.5 * s**2 - (1.0 - np.cos(angle)) / np.pi**2)
