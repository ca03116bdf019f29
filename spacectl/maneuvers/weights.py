"""Default weights of a settling feedback: the energy of the error, and inputs in units of their limits."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.maneuvers.measure import flexible_bodies, strain_stiffness

__all__ = ["energy_weights", "input_weights"]


def energy_weights(eom: EquationsOfMotion, x: np.ndarray, omega: float, energy: float) -> np.ndarray:
    """Return Q, shape (2 n_v, 2 n_v): ``(v' M v + e' (K + omega^2 M) e) / energy`` with M at the state x, strain energy K.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    x : array, shape (n_x,)
        State.
    omega : float
        Additional stiffness of every coordinate, as a frequency [rad/s].
    energy : float
        Energy that has the same weight as inputs at their limits [J].
    """
    n, M = eom.n_v, eom.mass_matrix(0.0, x[: eom.n_q])
    Q = np.zeros((2 * n, 2 * n))
    Q[:n, :n], Q[n:, n:] = omega**2 * M, M
    speeds = {
        name: [eom.speeds.index(f"{eom.states[k]}_dot") for k in places]
        for name, places in flexible_bodies(eom).items()
    }
    for name, places in speeds.items():
        Q[np.ix_(places, places)] += strain_stiffness(eom, name)
    return Q / energy


def input_weights(eom: EquationsOfMotion, share: float = 1.0) -> dict[str, float]:
    """Return R by input: one over the square of `share` of each limit."""
    low, high = eom.limits()
    size = np.minimum(np.abs(low), np.abs(high))
    open_ended = [name for name, value in zip(eom.inputs, size, strict=True) if not np.isfinite(value) or value == 0.0]
    if open_ended:
        raise ModelError(f"input '{open_ended[0]}' has no limit for its default weight; give R")
    return {name: 1.0 / (share * value) ** 2 for name, value in zip(eom.inputs, size, strict=True)}
