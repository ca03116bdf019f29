"""Stability of a cantilever on a vibrating base: Floquet theory with any number of modes, and Mathieu's equation for one."""

from __future__ import annotations

import numpy as np
from scipy.special import mathieu_a, mathieu_b

from .constants import matrices

STEPS = 160  # of a period of the fastest motion in the map, classical Runge-Kutta of order 4


def largest_multiplier(
    modes: int, gravity: float, ratio: np.ndarray, amplitude: np.ndarray, *, damping: float = 0.0
) -> np.ndarray:
    """Return the largest modulus of the Floquet multipliers, for ``g + a0 cos(w t)``.

    Parameters
    ----------
    modes : int
        Bending modes.
    gravity : float
        ``(g / L) / omega1^2``.
    ratio, amplitude : arrays of the same shape
        Frequency of the base over omega1, and its acceleration ``(a0 / L) / omega1^2``.
    damping : float
        Damping ratio of every mode.
    """
    M, K, S = matrices(modes)
    first = np.min(np.linalg.eigvals(np.linalg.solve(M, K)).real)  # omega1^2; time is scaled by omega1 below
    stiff, soft = np.linalg.solve(M, K) / first, np.linalg.solve(M, S)
    drag = 2.0 * damping * np.diag(np.sqrt(np.diag(stiff)))  # the beam's own modes: M and K are diagonal
    shape, n = np.shape(ratio), 2 * modes
    w, a = np.ravel(ratio), np.ravel(amplitude)
    period = 2.0 * np.pi / w
    fastest = np.sqrt(np.max(np.linalg.eigvals(stiff).real))
    steps = int(np.ceil(STEPS * max(1.0, fastest * np.max(period) / (2.0 * np.pi))))
    h = period / steps

    def derivative(phase: float, state: np.ndarray) -> np.ndarray:
        field = stiff[None] - (gravity + a * np.cos(phase))[:, None, None] * soft[None]
        return np.concatenate([state[:, modes:], -field @ state[:, :modes] - drag @ state[:, modes:]], axis=1)

    state, wide = np.tile(np.eye(n), (w.size, 1, 1)), h[:, None, None]
    for k in range(steps):
        left, middle, right = 2.0 * np.pi * np.array([k, k + 0.5, k + 1.0]) / steps
        one = derivative(left, state)
        two = derivative(middle, state + 0.5 * wide * one)
        three = derivative(middle, state + 0.5 * wide * two)
        four = derivative(right, state + wide * three)
        state = state + wide / 6.0 * (one + 2.0 * two + 2.0 * three + four)
    return np.max(np.abs(np.linalg.eigvals(state)), axis=1).reshape(shape)


def is_stable_mathieu(alpha: float, gravity: float, ratio: np.ndarray, amplitude: np.ndarray) -> np.ndarray:
    """Return the same for one mode, from the characteristic values of ``q'' + (a - 2 Q cos 2 tau) q = 0``."""
    a, Q = 4.0 * (1.0 - alpha * gravity) / ratio**2, 2.0 * alpha * amplitude / ratio**2
    stable = np.zeros(np.shape(a), dtype=bool)
    for order in range(8):
        stable |= (mathieu_a(order, Q) < a) & (a < mathieu_b(order + 1, Q))
    return stable


def edges(alpha: float, gravity: float, amplitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequency ratios between which a beam beyond buckling is stable, over the base displacement ``Y / L``.

    Lower edge ``a = a_0(Q)``, and ``a = b_1(Q)``, which a negative a meets only at Q above 0.908 (nan below: no upper limit).
    """
    Q, push = 2.0 * alpha * amplitude, 4.0 * (alpha * gravity - 1.0)
    low, high = -mathieu_a(0, Q), -mathieu_b(1, Q)
    return np.sqrt(push / low), np.sqrt(np.where(high > 0.0, push / np.where(high > 0.0, high, 1.0), np.nan))
