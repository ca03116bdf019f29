"""Units in which a linear model is analysed: a characteristic rate for time, a reach for every state and input.

Margins of controllability are meaningless in raw SI units (an orbital rate of 1e-3 rad/s alone scales them by 1e-6);
`scale_pair` removes the units of time, states and inputs first. `group_poles` finds repeated
eigenvalues. `controllability` and `decompose` use both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import matrix_balance

__all__ = ["ScaledPair", "balancing_scale", "group_poles", "is_decaying", "scale_pair"]

#: In units that balance A, states whose reach is smaller than this fraction of the largest are not scaled up further: such a
#: difference is not due to units (a moment arm of 1e4 m) but to weak coupling, or rounding.
SMALLEST_REACH = 1e-4


@dataclass(frozen=True, kw_only=True)
class ScaledPair:
    """``A' = T^-1 A T / rate``, ``B' = T^-1 B S / rate`` with diagonal T and S.

    Parameters
    ----------
    A, B : arrays
        Scaled matrices, entries of order one.
    rate : float
        Unit of rates [1/s]: spectral radius of ``|A|``, 1 where that is zero.
    states, inputs : arrays
        Diagonals of T and S, in the units of states and inputs.
    """

    A: np.ndarray
    B: np.ndarray
    rate: float
    states: np.ndarray
    inputs: np.ndarray


def scale_pair(A: np.ndarray, B: np.ndarray) -> ScaledPair:
    """Scale time, states and inputs of ``x_dot = A x + B u``.

    The unit of time is 1 / rate, with the spectral radius of ``|A|`` (at least the fastest pole) as rate. The reach
    matrix ``exp(|A| / rate) |B|`` estimates the effect of each input on each state in that time; states and inputs are
    scaled until its rows and columns have a mean square of one; couplings that are rounding do not count.
    The result is invariant to a change of units, up to a spread of 1e4 between the reaches of two states.
    """
    n = len(A)
    plain = balancing_scale(A)
    size = np.abs(np.where(_is_rounding(A * plain / plain[:, None]), 0.0, A))
    rate = float(np.max(np.abs(np.linalg.eigvals(size)), initial=0.0)) if n else 0.0
    # a nilpotent chain of integrators has no rate of its own, and its scaling does not depend on one
    rate = rate if rate > 1e-150 and np.any(np.abs(np.linalg.matrix_power(size / max(size.max(), 1e-300), n))) else 1.0
    reach = term = np.abs(B) / rate
    for k in range(1, n + 25):  # terms of the exponential; the rest is below rounding, as |A| / rate has radius one
        term = size @ term / (rate * k)
        reach = reach + term
    states, inputs = _equilibrate(reach)
    # in units that balance A alone, no state is scaled up by more than rounding allows, reached or not
    largest = float(np.max(states / plain, initial=0.0))
    states = np.maximum(states, SMALLEST_REACH * largest * plain) if largest > 0.0 else plain
    return ScaledPair(
        A=A * states / states[:, None] / rate,
        B=B * inputs / states[:, None] / rate,
        rate=rate,
        states=states,
        inputs=inputs,
    )


def _equilibrate(reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return r, s such that reach s / r has rows and columns of mean square one, nearly; r is zero for unreached states."""
    n, m = reach.shape
    rows, columns = np.nonzero(reach)
    log_r, log_s = np.zeros(n), np.zeros(m)
    if len(rows):  # least squares of log(reach) = log r - log s: a start that follows the units exactly
        left = np.zeros((len(rows), n + m))
        left[np.arange(len(rows)), rows] = 1.0
        left[np.arange(len(rows)), n + columns] = -1.0
        found = np.linalg.lstsq(left, np.log(reach[rows, columns]), rcond=None)[0]
        log_r, log_s = found[:n], found[n:]
    inputs = np.where(np.any(reach > 0.0, axis=0), np.exp(log_s), 1.0)
    states = np.exp(log_r)
    for _ in range(10):
        states = np.sqrt(np.mean((reach * inputs) ** 2, axis=1)) if m else np.zeros(n)
        used = np.where(states > 0.0, states, 1.0)
        pushed = np.sqrt(np.mean((reach / used[:, None]) ** 2, axis=0)) if n else np.ones(m)
        inputs = np.where(pushed > 0.0, 1.0 / np.where(pushed > 0.0, pushed, 1.0), 1.0)
    return states, inputs


def _is_rounding(A: np.ndarray) -> np.ndarray:
    """Return entries of a balanced matrix that are rounding: scaling them up would create a spurious coupling of inputs."""
    return np.asarray(np.abs(A) < 1e-14 * np.max(np.abs(A), initial=0.0))


def balancing_scale(A: np.ndarray) -> np.ndarray:
    """Return a diagonal T that makes rows and columns of ``T^-1 A T`` similar in norm.

    Entries below 1e-14 of the largest are ignored: they are rounding, which balancing would amplify.
    """
    if not len(A):
        return np.ones(0)
    kept = np.where(_is_rounding(A), 0.0, A)
    _, (scale, _) = matrix_balance(kept, permute=False, separate=True)
    return np.asarray(scale, dtype=float)


def group_poles(poles: np.ndarray, *, nearness: float = 1e-6, floor: float | None = None) -> list[list[int]]:
    """Return indices of poles that are equal up to rounding, group by group, slowest first.

    Two poles belong together if they differ by less than `nearness` times their size, or by less than `floor` (default:
    `nearness` times the largest size; a double pole is only known to the square root of rounding).
    """
    size = np.abs(poles)
    least = nearness * float(np.max(size, initial=0.0)) if floor is None else floor
    groups: list[list[int]] = []
    loose = set(range(len(poles)))
    while loose:
        group, front = [], [min(loose, key=lambda i: (size[i], -poles[i].imag))]
        loose -= set(front)
        while front:
            k = front.pop()
            group.append(k)
            near = [i for i in loose if abs(poles[i] - poles[k]) <= max(nearness * max(size[i], size[k]), least)]
            front += near
            loose -= set(near)
        groups.append(sorted(group))
    return groups


def is_decaying(poles: np.ndarray) -> np.ndarray:
    """Return whether poles are in the open left half-plane by more than rounding (1e-13 times the fastest).

    Poles that are equal up to rounding are examined together: rounding splits a double integrator into a pair on
    both sides of the axis, neither of which decays.
    """
    values = np.asarray(poles)
    limit = -1e-13 * float(np.max(np.abs(values), initial=0.0))
    out = np.zeros(len(values), dtype=bool)
    for group in group_poles(values):
        out[group] = bool(np.all(values[group].real < limit) and np.mean(values[group].real) < limit)
    return out
