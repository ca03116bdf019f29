"""Small librations of a rigid body in a circular orbit, from the textbook formulas. numpy only.

Axes at equilibrium: yaw along the radius, roll along the track, pitch along the orbit normal.
Sources: Hughes, Spacecraft Attitude Dynamics, chapter 9; Sidi, Spacecraft Dynamics and Control, chapter 5.
"""

from __future__ import annotations

import numpy as np

__all__ = ["pitch_frequency", "roll_yaw_frequencies"]


def pitch_frequency(yaw: float, roll: float, pitch: float, orbit_rate: float) -> float:
    """``n sqrt(3 (I_roll - I_yaw) / I_pitch)`` [rad/s]; the moments [kg m^2] must satisfy I_roll > I_yaw."""
    return float(orbit_rate * np.sqrt(3.0 * (roll - yaw) / pitch))


def roll_yaw_frequencies(yaw: float, roll: float, pitch: float, orbit_rate: float) -> np.ndarray:
    """Both frequencies [rad/s], ascending, of ``s^4 + (1 + 3 k + k l) n^2 s^2 + 4 k l n^4 = 0``.

    ``k = (I_pitch - I_yaw) / I_roll`` and ``l = (I_pitch - I_roll) / I_yaw``; stable when both squares are positive.
    """
    k, l = (pitch - yaw) / roll, (pitch - roll) / yaw
    squares = -np.roots([1.0, 1.0 + 3.0 * k + k * l, 4.0 * k * l])
    return np.sort(orbit_rate * np.sqrt(squares.real))
