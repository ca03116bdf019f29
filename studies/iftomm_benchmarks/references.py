"""References of the benchmarks: closed forms, published results of the test set, and reduced equations of our own.

This module uses numpy and scipy only, nothing of the package.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

__all__ = [
    "ANDREWS_END",
    "ANDREWS_RATES",
    "GOVERNOR_REFERENCE",
    "crank_motion",
    "governor_lift",
    "pendulum_place",
    "relative_error",
]

G = 9.81  # [m/s^2]
TIGHT = {"rtol": 1e-13, "atol": 1e-13}

#: Angles [rad] and rates [rad/s] at 0.03 s: test set for IVP solvers, release 2.4 (PSIDE, tolerances 1e-14, Cray C90)
ANDREWS_END = {
    "beta": 0.1581077119629904e2,
    "theta": -0.1575637105984298e2,
    "gamma": 0.4082224013073101e-1,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 0.1048080741042263e1,
}
ANDREWS_RATES = {
    "beta": 0.1139920302151208e4,
    "theta": -0.1424379294994111e4,
    "gamma": 0.1103291221937134e2,
    "phi": 0.1929337464421385e2,
    "delta": 0.5735699284790808,
    "omega": -0.1929337464421385e2,
    "epsilon": 0.3231791658026955,
}

#: Height of the governor's slider [m] at 0, 0.1, ... 3 s: the library's reference as drawn, with its digits, in the vector figure
#: `5MBS_PlotResults.pdf` of the OpenSim port (curve "Reference")
GOVERNOR_REFERENCE = (
    0.500000, 0.523836, 0.585079, 0.658632, 0.717713, 0.743249, 0.727631, 0.675467,
    0.603181, 0.536282, 0.501420, 0.513713, 0.567730, 0.640878, 0.705698, 0.740684,
    0.735264, 0.691027, 0.621601, 0.550746, 0.505909, 0.506231, 0.551569, 0.622584,
    0.691814, 0.735602, 0.740475, 0.705002, 0.639911, 0.566833, 0.513246,
)  # fmt: skip


def relative_error(found: np.ndarray, expected: np.ndarray, threshold: float = 1e-3) -> float:
    """Return the library's measure: largest difference relative to the expected value, or to the threshold if larger."""
    return float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), threshold)))


def pendulum_place(t: np.ndarray, length: float = 1.0) -> np.ndarray:
    """Return x, y of a pendulum that starts at rest at (-length, 0): Jacobi's elliptic functions, shape (n, 2)."""
    modulus = np.sin(np.pi / 4)  # half the amplitude of 90 degrees
    sn = ellipj(ellipk(modulus**2) - np.sqrt(G / length) * t, modulus**2)[0]
    angle = -2.0 * np.arcsin(modulus * sn)  # from the lowest point, positive towards +x
    return length * np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def crank_motion(t: np.ndarray, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return angle of all cranks from the x axis and its rate: the chain is one pendulum; upright with -1 rad/s."""
    inertia = (windows + 1) / 3.0 + windows  # [kg m^2]: cranks about their pivots, couplers moved along circles of 1 m
    weight = G * (0.5 * (windows + 1) + windows)  # [N m]
    found = solve_ivp(
        lambda _, y: [y[1], -weight * np.cos(y[0]) / inertia],
        (0.0, float(t[-1])),
        [np.pi / 2, -1.0],
        t_eval=t,
        method="DOP853",
        **TIGHT,
    )
    return found.y[0], found.y[1]


def governor_lift(t: np.ndarray) -> np.ndarray:
    """Return the height s of the slider [m] at the times of a uniform grid from zero (`_lift_over`)."""
    return _lift_over(float(t[-1]), len(t))


@cache
def _lift_over(duration: float, count: int) -> np.ndarray:
    """Return the height s of the slider: both arms move alike, and angular momentum determines the spin.

    Lagrange's equations remain in two coordinates, s and the angle a of the arms below the horizontal.
    """
    rod, ball, slider = 0.3, 5.0, 3.0  # [kg]
    thin, wide = rod * 2e-4 / 12.0, rod * (1.0 + 1e-4) / 12.0
    swing = wide + rod / 4.0 + ball  # of an arm about its pin

    def spin_inertia(a: float) -> tuple[float, float]:
        """Return the inertia about the shaft, and its derivative with respect to a."""
        c, s = np.cos(a), np.sin(a)
        arm = thin * s**2 + wide * c**2 + rod * (0.05 + 0.5 * c) ** 2 + ball * (0.05 + c) ** 2
        derivative = 2.0 * (thin - wide) * s * c - rod * (0.05 + 0.5 * c) * s - 2.0 * ball * (0.05 + c) * s
        return thin + slider * 0.01 / 6.0 + 2.0 * arm, 2.0 * derivative

    momentum = spin_inertia(np.pi / 6)[0] * 2.0 * np.pi

    def rates(_: float, y: np.ndarray) -> list[float]:
        s, a, v, w = y
        r, h = 0.5 * np.cos(a), 1.0 - 0.5 * np.sin(a) - s  # from the slider's spring to the arm's middle
        r_a, h_a = -0.5 * np.sin(a), -0.5 * np.cos(a)
        length = np.hypot(r, h)
        rate = (r * r_a * w + h * (h_a * w - v)) / length
        pull = 2.0 * (8e5 * (length - 0.5) + 4e4 * rate)
        inertia, derivative = spin_inertia(a)
        lift = pull * h / length - slider * G
        turn = 0.5 * derivative * (momentum / inertia) ** 2 - pull * (r * r_a + h * h_a) / length
        turn += 2.0 * G * np.cos(a) * (0.5 * rod + ball)
        return [v, w, lift / slider, turn / (2.0 * swing)]

    grid = np.linspace(0.0, duration, count)
    start = [0.5, np.pi / 6, 0.0, 0.0]
    found = solve_ivp(rates, (0.0, duration), start, t_eval=grid, method="Radau", rtol=1e-10, atol=1e-11)
    height: np.ndarray = found.y[0]
    return height
