"""Motion in and relative to a Keplerian ellipse, in inertial axes or by the true anomaly. numpy and scipy only.

Sources: K. Yamanaka, F. Ankersen, New state transition matrix for relative motion on an arbitrary elliptical orbit,
J. Guidance 25(1), 2002; V. V. Beletsky, Motion of an artificial satellite about its centre of mass, 1966.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

__all__ = ["beletsky_pitch", "fly_pair", "orbit_axes", "true_anomaly", "yamanaka_ankersen"]


def true_anomaly(t: float, n: float, e: float, start: float) -> float:
    """True anomaly [rad] at t for mean motion n and true anomaly `start` at 0; Kepler's equation by bisection."""
    E0 = 2.0 * np.arctan(np.sqrt((1.0 - e) / (1.0 + e)) * np.tan(0.5 * start))
    M = E0 - e * np.sin(E0) + n * t
    E = brentq(lambda E: E - e * np.sin(E) - M, M - 1.0, M + 1.0, xtol=1e-15, rtol=1e-15)
    turns = np.round(E / (2.0 * np.pi))
    rest = E - 2.0 * np.pi * turns
    return float(
        2.0 * np.pi * turns + 2.0 * np.arctan2(np.sqrt(1.0 + e) * np.sin(rest / 2), np.sqrt(1.0 - e) * np.cos(rest / 2))
    )


def fly_pair(
    a: float, e: float, mu: float, start: float, offset: np.ndarray, rate: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Two bodies about one centre in inertial axes, as rows (chief's position, velocity, difference and its rate).

    `offset` and `rate` are the difference at t = 0, inertial axes; the difference is integrated as such, without loss
    of digits (Encke).
    """
    p = a * (1.0 - e * e)
    r = p / (1.0 + e * np.cos(start)) * np.array([np.cos(start), np.sin(start), 0.0])
    v = np.sqrt(mu / p) * np.array([-np.sin(start), e + np.cos(start), 0.0])

    def move(_: float, y: np.ndarray) -> np.ndarray:
        r, v, d, d_dot = y.reshape(4, 3)
        far = np.linalg.norm(r)
        q = d @ (d + 2.0 * r) / far**2  # |r + d|^2 = r^2 (1 + q)
        f = np.expm1(-1.5 * np.log1p(q))  # (1 + q)^-3/2 - 1
        return np.concatenate([v, -mu / far**3 * r, d_dot, -mu / far**3 * (d * (1.0 + f) + r * f)])

    y = np.concatenate([r, v, offset, rate])
    return solve_ivp(move, (t[0], t[-1]), y, method="DOP853", t_eval=t, rtol=1e-13, atol=1e-16 * a).y.T


def orbit_axes(r: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows: radial, along track, normal; and the angular velocity of these axes, inertial axes."""
    h = np.cross(r, v)
    x, z = r / np.linalg.norm(r), h / np.linalg.norm(h)
    return np.stack([x, np.cross(z, x), z]), h / (r @ r)


def yamanaka_ankersen(n: float, e: float, start: float, state: np.ndarray, t: float) -> np.ndarray:
    """Relative state (x radial, y along track, z normal, and rates) at t of small separations on an ellipse."""
    k2 = n / (1.0 - e * e) ** 1.5  # theta_dot = k2 rho^2
    theta = true_anomaly(t, n, e, start)

    def scaled(angle: float, y: np.ndarray) -> np.ndarray:  # to derivatives by the true anomaly, times rho
        rho = 1.0 + e * np.cos(angle)
        return np.concatenate([rho * y[:3], -e * np.sin(angle) * y[:3] + y[3:] / (k2 * rho)])

    def unscaled(angle: float, y: np.ndarray) -> np.ndarray:
        rho = 1.0 + e * np.cos(angle)
        return np.concatenate([y[:3] / rho, k2 * (e * np.sin(angle) * y[:3] + rho * y[3:])])

    def planar(angle: float, J: float) -> np.ndarray:  # columns of solutions: along track, down, and their derivatives
        rho = 1.0 + e * np.cos(angle)
        s, c = rho * np.sin(angle), rho * np.cos(angle)
        ds, dc = np.cos(angle) + e * np.cos(2 * angle), -(np.sin(angle) + e * np.sin(2 * angle))
        return np.array(
            [
                [1.0, -c * (1 + 1 / rho), s * (1 + 1 / rho), 3 * rho**2 * J],
                [0.0, s, c, 2 - 3 * e * s * J],
                [0.0, 2 * s, 2 * c - e, 3 * (1 - 2 * e * s * J)],
                [0.0, ds, dc, -3 * e * (ds * J + s / rho**2)],
            ]
        )

    first = scaled(start, state)
    plane = np.array([first[1], -first[0], first[4], -first[3]])
    plane = planar(theta, k2 * t) @ np.linalg.solve(planar(start, 0.0), plane)
    turn = theta - start
    normal = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) @ first[[2, 5]]
    return unscaled(theta, np.array([-plane[1], plane[0], normal[0], -plane[3], plane[2], normal[1]]))


def beletsky_pitch(e: float, ratio: float, start: float, alpha: float, slope: float, theta: np.ndarray) -> np.ndarray:
    """Pitch against the local vertical over the true anomaly; `ratio` is (I_y - I_x) / I_z, x the axis near the vertical.

    ``(1 + e cos theta) alpha'' - 2 e sin theta alpha' + 3 ratio sin alpha cos alpha = 2 e sin theta``.
    """

    def move(angle: float, y: np.ndarray) -> list[float]:
        push = 2.0 * e * np.sin(angle) * (1.0 + y[1]) - 3.0 * ratio * np.sin(y[0]) * np.cos(y[0])
        return [y[1], push / (1.0 + e * np.cos(angle))]

    found = solve_ivp(move, (start, theta[-1]), [alpha, slope], method="DOP853", t_eval=theta, rtol=1e-12, atol=1e-13)
    return found.y[0]
