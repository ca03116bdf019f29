"""A free body with a proof mass that slides along z at (b, 0, s), on a spring and a damper. numpy only.

About the common centre of mass, with the reduced mass mu = m M / (m + M) and the proof mass at rho = (b', 0, s) from the
body's centre, the kinetic energy is ``1/2 w'J w + w'h + 1/2 mu s_dot^2`` with ``J = I + mu (rho'rho 1 - rho rho')``,
``h = mu rho x rho_dot = (0, -mu b' s_dot, 0)``. Then ``H = J w + h`` obeys ``H_dot = -w x H`` and the slide's momentum
``P = mu (s_dot - b' w_y)`` obeys ``P_dot = mu (s (w_x^2 + w_y^2) - b' w_x w_z) - k s - c s_dot``.
"""

from __future__ import annotations

import numpy as np

__all__ = ["energy", "growth_rate", "rate", "speeds"]


def speeds(state: np.ndarray, body: dict) -> tuple[np.ndarray, float]:
    """Angular velocity (body axes) and s_dot, from (H, s, P)."""
    H, s, P = state[:3], state[3], state[4]
    mu, b = body["mu"], body["b"]
    rho = np.array([b, 0.0, s])
    J = np.diag(body["inertia"]) + mu * (rho @ rho * np.eye(3) - np.outer(rho, rho))
    across = np.array([0.0, -mu * b, 0.0])
    whole = np.block([[J, across[:, None]], [across[None, :], np.array([[mu]])]])
    found = np.linalg.solve(whole, np.concatenate([H, [P]]))
    return found[:3], float(found[3])


def rate(state: np.ndarray, body: dict) -> np.ndarray:
    """Rate of (H, s, P)."""
    w, s_dot = speeds(state, body)
    s, mu, b = state[3], body["mu"], body["b"]
    push = mu * (s * (w[0] ** 2 + w[1] ** 2) - b * w[0] * w[2]) - body["k"] * s - body["c"] * s_dot
    return np.concatenate([-np.cross(w, state[:3]), [s_dot, push]])


def energy(state: np.ndarray, body: dict) -> float:
    """Kinetic energy about the centre of mass and the spring's [J]."""
    w, s_dot = speeds(state, body)
    return float(0.5 * (w @ state[:3] + s_dot * state[4]) + 0.5 * body["k"] * state[3] ** 2)


def growth_rate(momentum: float, body: dict) -> float:
    """Largest real part of the eigenvalues about the steady spin with momentum H along z, by central differences."""
    steady = np.array([0.0, 0.0, momentum, 0.0, 0.0])
    h = 1e-4 * np.array([momentum, momentum, momentum, 1.0, body["mu"]])
    columns = [
        (rate(steady + step, body) - rate(steady - step, body)) / (2.0 * h[i]) for i, step in enumerate(np.diag(h))
    ]
    return float(np.max(np.linalg.eigvals(np.array(columns).T).real))
