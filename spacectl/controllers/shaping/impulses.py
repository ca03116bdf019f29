"""Times and amplitudes of the impulses of a shaper for one mode: closed forms, or Newton's method.

With ``K = exp(-z pi / sqrt(1 - z^2))``, the decay in half a period: ZV is ``(1, K) / (1 + K)`` half a damped period
apart, ZVD and ZVDD are ZV convolved with itself. EI and unity-magnitude shapers with damping solve their defining
equations, starting from the closed form without damping.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
from scipy.optimize import root

from spacectl.core.errors import ModelError, SolverError

__all__ = ["find_impulses"]

REPEATS = {"ZV": 1, "ZVD": 2, "ZVDD": 3}
KINDS = (*REPEATS, "EI", "UM-ZV")
RESIDUAL = 1e-12  # of the defining equations, whose terms are of order 1
Equations = Callable[[np.ndarray, float], np.ndarray]  #: (unknown, damping ratio) -> what shall be zero
STEP = 0.05  # of the damping ratio, by which the solution is followed from 0


def find_impulses(kind: str, frequency: float, damping: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and amplitudes for a mode.

    Parameters
    ----------
    kind : str
        As in `design_shaper`.
    frequency, damping : float
        Undamped natural frequency [rad/s] and damping ratio.
    level : float
        Residual of EI at the frequency.
    """
    if kind not in KINDS:
        raise ModelError(f"shaper: kind is {kind!r}, expected {', '.join(map(repr, KINDS))}")
    if not frequency > 0.0:
        raise ModelError(
            f"shaper: frequency is {frequency:g} rad/s, expected a positive number; a rigid mode needs none"
        )
    if not 0.0 <= damping < 1.0:
        raise ModelError(
            f"shaper: the mode at {frequency:g} rad/s has the damping ratio {damping:g}, expected 0 to below 1: other modes "
            "do not oscillate, or grow"
        )
    if kind in REPEATS:
        n, root_of = REPEATS[kind], np.sqrt(1.0 - damping**2)
        K = np.exp(-np.pi * damping / root_of)
        half = np.pi / (frequency * root_of)
        return half * np.arange(n + 1), np.array([comb(n, k) * K**k for k in range(n + 1)]) / (1.0 + K) ** n
    if kind == "EI" and not 0.0 < level < 1.0:
        raise ModelError(f"shaper: level is {level!r}, expected a residual between 0 and 1, for example 0.05")
    scaled, amplitudes = _follow_insensitive(damping, level) if kind == "EI" else _follow_unity(damping)
    return scaled / frequency, amplitudes


def _sum(times: np.ndarray, amplitudes: np.ndarray, w: float, z: float) -> complex:
    """Return the amplitude that the impulses leave at the last of them, for a mode w, z; its size is V."""
    pole = w * (-z + 1j * np.sqrt(1.0 - z * z))
    return complex(amplitudes @ np.exp(pole * (times[-1] - times)))


def _slope(times: np.ndarray, amplitudes: np.ndarray, z: float) -> float:
    """Return half of dV^2/dw at w = 1."""
    unit = -z + 1j * np.sqrt(1.0 - z * z)
    back = times[-1] - times
    waves = amplitudes * np.exp(unit * back)
    return float((np.conj(np.sum(waves)) * np.sum(waves * unit * back)).real)


def _follow_insensitive(damping: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return EI for w = 1: V = level and dV/dw = 0 at 1, V = 0 at one frequency below and one above.

    Unknown: two amplitudes, two times, the two frequencies; equations: V, its derivative, and two for each zero.
    """

    def split(unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.0, unknown[2], unknown[3]]), np.array(
            [unknown[0], unknown[1], 1.0 - unknown[0] - unknown[1]]
        )

    def equations(unknown: np.ndarray, z: float) -> np.ndarray:
        times, amplitudes = split(unknown)
        low, high = (_sum(times, amplitudes, w, z) for w in unknown[4:])
        size = abs(_sum(times, amplitudes, 1.0, z))
        return np.array([size - level, _slope(times, amplitudes, z), low.real, low.imag, high.real, high.imag])

    # without damping: (1 + V)/4, (1 - V)/2, (1 + V)/4 half a period apart; zeros where cos(pi w) = -(1 - V)/(1 + V)
    away = np.arccos((1.0 - level) / (1.0 + level)) / np.pi
    start = np.array([(1 + level) / 4, (1 - level) / 2, np.pi, 2 * np.pi, 1.0 - away, 1.0 + away])
    return split(_follow(equations, start, damping, "EI"))


def _follow_unity(damping: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the amplitudes 1, -1, 1 for w = 1: no residual. Without damping at 0, 1/6 and 1/3 of a period."""
    amplitudes = np.array([1.0, -1.0, 1.0])

    def equations(unknown: np.ndarray, z: float) -> np.ndarray:
        value = _sum(np.array([0.0, *unknown]), amplitudes, 1.0, z)
        return np.array([value.real, value.imag])

    found = _follow(equations, np.array([np.pi / 3, 2 * np.pi / 3]), damping, "UM-ZV")
    return np.array([0.0, *found]), amplitudes


def _follow(equations: Equations, start: np.ndarray, damping: float, kind: str) -> np.ndarray:
    """Solve the equations at `damping`, in steps from 0."""
    unknown = start
    for z in np.linspace(0.0, damping, max(1, int(np.ceil(damping / STEP))) + 1)[1:]:
        with np.errstate(all="ignore"):  # the iteration may overflow; its result is checked
            unknown = root(equations, unknown, args=(float(z),), tol=1e-15).x
    with np.errstate(all="ignore"):
        error = float(np.max(np.abs(equations(unknown, damping))))
    if not error <= RESIDUAL or np.any(np.diff(unknown[2:4] if kind == "EI" else unknown) <= 0.0):
        raise SolverError(
            f"shaper {kind}: no impulses found for the damping ratio {damping:g} (equations off by {error:.1e}); use ZVD"
        )
    return unknown
