"""Bang-bang maneuvers from their own equations, with numpy alone: switch times by Newton, end states by integration.

References: Liu and Wie, Robust time-optimal control of uncertain flexible spacecraft, J. Guidance 15 (1992) 597, for the
two masses; Luus, Iterative Dynamic Programming (2000), for the two links.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["end_of_two_links", "two_mass_spring"]


def _switching_integral(times: np.ndarray, primitive: Callable[[np.ndarray], np.ndarray]) -> float:
    """Integral of u(t) f(t) for u = 1, -1, 1, ... between times, from the primitive of f."""
    ends = primitive(np.concatenate([[0.0], times]))
    signs = (-1.0) ** np.arange(len(times))
    return float(signs @ np.diff(ends))


def two_mass_spring(distance: float = 1.0, omega: float = np.sqrt(2.0), mass: float = 2.0) -> np.ndarray:
    """Three switch times and the final time of the rest-to-rest maneuver of the floating oscillator, force limit 1.

    No speed at the end, the distance covered, no share of the mode: ``int u = 0``, ``int (T - t) u = mass distance``,
    ``int u cos(omega t) = int u sin(omega t) = 0``. Newton from Liu and Wie's three digits.
    """

    def rows(times: np.ndarray) -> np.ndarray:
        T = times[-1]
        return np.array([
            _switching_integral(times, lambda t: t),
            _switching_integral(times, lambda t: T * t - t**2 / 2.0) - mass * distance,
            _switching_integral(times, lambda t: np.sin(omega * t) / omega),
            _switching_integral(times, lambda t: -np.cos(omega * t) / omega),
        ])  # fmt: skip

    times = np.array([1.0, 2.1, 3.2, 4.2])
    for _ in range(30):
        J = np.array([(rows(times + 1e-6 * e) - rows(times - 1e-6 * e)) / 2e-6 for e in np.eye(4)]).T
        times = times - np.linalg.solve(J, rows(times))
    return times


def end_of_two_links(x: np.ndarray, pieces: list[tuple[float, float, float]], steps: int = 400) -> np.ndarray:
    """End state of Luus' two-link arm under constant torques (duration, u1, u2), by Runge-Kutta steps.

    x: rates of both links from the inertial frame, angle between them, angle of the first. Uniform links of unit mass and
    length, a unit mass at the tip.
    """

    def rate(x: np.ndarray, u1: float, u2: float) -> np.ndarray:
        s, c = np.sin(x[2]), np.cos(x[2])
        D = 31.0 / 36.0 + 9.0 / 4.0 * s**2
        first = s * (9.0 / 4.0 * c * x[0] ** 2 + 2.0 * x[1] ** 2) + 4.0 / 3.0 * (u1 - u2) - 3.0 / 2.0 * c * u2
        second = s * (9.0 / 4.0 * c * x[1] ** 2 + 7.0 / 2.0 * x[0] ** 2) - 7.0 / 3.0 * u2 + 3.0 / 2.0 * c * (u1 - u2)
        return np.array([first / D, -second / D, x[1] - x[0], x[0]])

    for duration, u1, u2 in pieces:
        h = duration / steps
        for _ in range(steps):
            k1 = rate(x, u1, u2)
            k2 = rate(x + h / 2.0 * k1, u1, u2)
            k3 = rate(x + h / 2.0 * k2, u1, u2)
            k4 = rate(x + h * k3, u1, u2)
            x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return x
