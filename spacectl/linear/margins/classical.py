"""`classical_margins`: gain, phase and delay margins of one loop, from exact crossings of its frequency response.

The frequencies where the loop gain has modulus one or phase 180 degrees are zeros of a system, found as generalised
eigenvalues and by changes of sign; they give the margins. `margins` has
the disk margins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, eigvals
from scipy.optimize import brentq

from spacectl.core.errors import ShapeError
from spacectl.linear.margins.loops import closed_loop
from spacectl.linear.margins.norms import Realisation, balanced, explain_growth, realisation, response
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["ClassicalMargins", "classical_margins"]


@dataclass(frozen=True, kw_only=True)
class ClassicalMargins:
    """Margins of a single loop closed with negative feedback, for one change at a time.

    Parameters
    ----------
    gain : tuple of float
        Interval (low, high) of factors of the loop gain; 0 and infinity where there is no limit, and (1, 1)
        if the nominal closed loop is unstable.
    phase : float
        Smallest change of phase, lag or lead, that destroys stability [rad]; infinite if none does, 0 if unstable.
    delay : float
        Smallest delay that destroys stability [s]; infinite if none does, 0 if unstable or if the direct gain
        has modulus one or more, for which any delay destroys stability.
    phase_crossings, gain_crossings : arrays
        Frequencies where the loop gain is real and negative, and where its size is one [rad/s].
    is_stable : bool
        Whether the nominal closed loop is stable.
    message : str
        The verdict in words.
    """

    gain: tuple[float, float]
    phase: float
    delay: float
    phase_crossings: np.ndarray
    gain_crossings: np.ndarray
    is_stable: bool
    message: str


def classical_margins(loop: LinearModel) -> ClassicalMargins:
    """Compute gain, phase and delay margins of a loop with one input and one output, closed with negative feedback.

    Crossings are the imaginary zeros of ``L(-s) L(s) - 1`` and of ``L(s) - L(-s)``, so no crossing is missed between
    grid points; changes of sign on a fine grid find zeros that rounding has moved off the axis.

    Parameters
    ----------
    loop : LinearModel
        The loop gain L.

    Returns
    -------
    ClassicalMargins
    """
    if (len(loop.u), len(loop.y)) != (1, 1):
        raise ShapeError(
            f"classical_margins: the loop has {len(loop.u)} inputs and {len(loop.y)} outputs, expected one of each; "
            "use disk_margins for several at once"
        )
    system = balanced(realisation(loop))
    growth = explain_growth(closed_loop(loop))
    mirror = _mirror(system)
    unit = _roots(_imaginary_zeros(_series(mirror, system), -1.0), system, lambda value: abs(value) ** 2 - 1.0)
    real = _roots(_imaginary_zeros(_difference(system, mirror), 0.0), system, _sine)
    negative = np.array([w for w in real if response(system, w)[0, 0].real < 0.0])
    if growth:
        summary = growth[1].removeprefix("infinite: ")
        limits, phase, delay, message = (1.0, 1.0), 0.0, 0.0, f"the closed loop is not stable: {summary}"
    else:
        factors = [-1.0 / response(system, w)[0, 0].real for w in negative]
        direct = float(system[3][0, 0])
        factors += [-1.0 / direct] if direct < 0.0 else []
        low = max((f for f in factors if f < 1.0), default=0.0)
        limits = (float(low), float(min((f for f in factors if f > 1.0), default=np.inf)))
        angles = [float(np.angle(-response(system, w)[0, 0])) for w in unit]  # phase of L relative to -1
        phase = min((abs(angle) for angle in angles), default=np.inf)
        lags = [float(angle % (2.0 * np.pi)) / w for angle, w in zip(angles, unit, strict=True) if w > 0.0]
        delay = float(min(lags, default=np.inf)) if abs(direct) < 1.0 else 0.0
        message = (
            f"gain from {limits[0]:.3g} to {limits[1]:.3g}, phase {np.degrees(phase):.3g} degrees, delay {delay:.3g} s"
        )
    return ClassicalMargins(
        gain=limits,
        phase=phase,
        delay=delay,
        phase_crossings=negative,
        gain_crossings=unit,
        is_stable=growth is None,
        message=message,
    )


def _mirror(system: Realisation) -> Realisation:
    """Return L(-s).T."""
    A, B, C, D = system
    return -A.T, C.T, -B.T, D.T


def _series(second: Realisation, first: Realisation) -> Realisation:
    """Return the series connection second(s) first(s)."""
    A = np.block([[first[0], np.zeros((len(first[0]), len(second[0])))], [second[1] @ first[2], second[0]]])
    B, C = np.vstack([first[1], second[1] @ first[3]]), np.hstack([second[3] @ first[2], second[2]])
    return A, B, C, second[3] @ first[3]


def _difference(one: Realisation, two: Realisation) -> Realisation:
    """Return the difference one(s) - two(s)."""
    return block_diag(one[0], two[0]), np.vstack([one[1], two[1]]), np.hstack([one[2], -two[2]]), one[3] - two[3]


def _imaginary_zeros(system: Realisation, shift: float) -> np.ndarray:
    """Return the frequencies of zeros of ``system + shift`` close to the imaginary axis."""
    A, B, C, D = system
    n = len(A)
    even = float(np.sqrt(np.linalg.norm(C) / np.linalg.norm(B))) if np.any(B) and np.any(C) else 1.0
    left = np.block([[A, B * even], [C / even, D + shift]])
    values = eigvals(left, np.diag([1.0] * n + [0.0]))
    values = values[np.isfinite(values)]
    return values.imag[(values.imag >= 0.0) & (np.abs(values.real) <= 1e-4 * np.abs(values) + 1e-12)]


def _roots(near: np.ndarray, loop: Realisation, function: Callable[[complex], float]) -> np.ndarray:
    """Return the frequencies at which a function of the loop gain vanishes, from guesses and changes of sign on a grid.

    The guesses find crossings between grid points, the grid those that rounding has moved off the imaginary axis.
    """
    poles = np.linalg.eigvals(loop[0]) if len(loop[0]) else np.zeros(0)
    floor = 1e-7 * float(np.max(np.abs(poles), initial=0.0))
    at_origin = np.abs(poles) <= floor  # integrators, which rounding may have moved: nothing below is meaningful
    lowest = 100.0 * float(np.max(np.abs(poles[at_origin]))) if np.any(at_origin) else 0.0
    size = np.abs(poles[~at_origin]) if np.any(~at_origin) else np.ones(1)
    grid = np.logspace(np.log10(np.min(size)) - 4.0, np.log10(np.max(size)) + 4.0, 600)
    places = np.union1d(grid[grid > lowest], near[near > lowest])
    off_axis = [float(w) for w in places if _distance(w, poles) > 1e-9 * w]
    values = np.array([function(complex(response(loop, w)[0, 0])) for w in off_axis])
    found = [w for w, value in zip(off_axis, values, strict=True) if w in near and abs(value) < 1e-9]
    if not np.any(at_origin) and abs(function(complex(response(loop, 0.0)[0, 0]))) < 1e-12:
        found.append(0.0)
    for k in np.flatnonzero(values[:-1] * values[1:] < 0.0):
        w = float(
            brentq(lambda w: function(complex(response(loop, w)[0, 0])), off_axis[k], off_axis[k + 1], xtol=1e-300)
        )
        if _distance(w, poles) > 1e-9 * w and abs(function(complex(response(loop, w)[0, 0]))) < 1e-6:  # no pole
            found.append(w)
    found.sort()
    return np.array([w for k, w in enumerate(found) if k == 0 or w - found[k - 1] > 1e-8 * w])


def _sine(value: complex) -> float:
    """Return the sine of the phase; 1 at a zero of the loop gain, where there is no phase crossing of 180 degrees."""
    return value.imag / abs(value) if value != 0.0 else 1.0


def _distance(w: float, poles: np.ndarray) -> float:
    return float(np.min(np.abs(1j * w - poles), initial=np.inf))
